"""What does each rung of the n-body ladder gain, and how far is it from its limit?"""

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from strata import reference
from strata.figures import _ladder
from strata.figures._plot import columns, figure, of_items, prose
from strata.figures._style import beside_marks, listed, marks, points, theirs
from strata.ladder.best import Best, best_cases, common_size, published
from strata.ladder.rungs import PROBLEM_WORDS, SEVERAL, rung_name, size, size_words
from strata.model.units import count, factor, quantity
from strata.run import Run

LANE = 0.16
"""From the middle of a bar to the lane of other cases, of the distance of two bars."""
FAR = 1.25
"""A limit of more than this over the best rate has no place on the axis."""
OTHERS = ["other_problem_interactions_per_second", "other_size_interactions_per_second"]


def data(run: Run) -> pd.DataFrame:
    """The rungs of one GPU by their best cases; `attrs` has the size of most of them."""
    # Several GPUs have their own figure, and on one GPU they are not a separate rung.
    steps = [step for step in best_cases(run, alike=True) if step.rung not in SEVERAL]
    if not steps:
        return pd.DataFrame()
    lines = columns(
        of_items(steps, lambda step: rung_name(step.rung)), "systems", "bodies",
        rung="benchmark", interactions_per_second="value", low="minimum", high="maximum",
        rung_before="_item.before.benchmark", speedup_over_it="_item.speedup",
        issue_limit="_item.limit.value", other_problem_interactions_per_second="_item.other.value",
        other_size_interactions_per_second="_item.second.value",
        _limit="_item.limit", _other="_item.other", _second="_item.second",
    )  # fmt: skip
    rates = lines[["interactions_per_second", *OTHERS]].astype(float)
    limits = lines.issue_limit.astype(float)
    near = limits <= FAR * float(rates.max().max())
    common = common_size(steps)
    lines = lines.assign(
        _limit=lines["_limit"].where(near),
        _end=rates.assign(limit=limits.where(near)).max(axis=1),
        _name=lines["_label"],
        _words=["   ".join(_words(step, common)) for step in steps],
    )
    lines.attrs["common"] = common
    return lines


def _words(step: Best, common: str) -> Iterator[str]:
    """The words after a rate: the step, and in brackets the best setting and another size."""
    if step.speedup and step.before:
        yield f"{factor(step.speedup)} {rung_name(step.before.benchmark)}"
    place = size_words(step.row)
    if where := [words for words in (step.chosen, place if place != common else "") if words]:
        yield f"({'; '.join(where)})"


def _sizes_of(rows: pd.Series) -> str:
    return " or ".join(rows.dropna().map(size_words).unique())


def _problem_of(data: pd.DataFrame) -> str:
    return next((PROBLEM_WORDS[row.text("problem")] for row in data["_other"].dropna()), "")


def caption(data: pd.DataFrame) -> str:
    others, seconds = _sizes_of(data["_other"]), _sizes_of(data["_second"])
    codes = "; ".join(map(_cited, _published(data)))
    return prose(
        "Pairs computed per second, N² for each system and step including self-interaction, "
        f"as in the literature. Bars: medians of each rung's best case, {data.attrs['common']} "
        "where possible; lines in them: range of the samples. Beside them: the rate, the gain over "
        "the rung that it changes, and in brackets the best case.",
        others and f"Circles: {_problem_of(data)} ({others.replace(' or ', ', ')}).",
        seconds and f"Diamonds: {seconds}.",
        data["_limit"].notna().any()
        and "Strokes: what the instructions of a rung's inner loop allow if a warp issues in "
        "every cycle of the clock under this load, or what its reciprocal roots allow if "
        "they take longer.",
        codes and f"Other codes: {codes}.",
    )


@figure("nbody_ladder", "The n-body ladder", order=200, data=data, caption=caption)
def draw(data: pd.DataFrame, figure: Figure) -> None:
    codes = _published(data)
    lines = data.assign(_panel="", _what="interactions", per_second=data.interactions_per_second)
    ((ax, _),) = _ladder.panels(figure, lines, data.attrs["common"])
    for name, lane, marker, colour, label in (
        ("_second", -LANE, "D", "#56B4E9", _sizes_of(data["_second"])),
        ("_other", LANE, "o", "#E69F00", _problem_of(data)),
        ("_limit", 0, "|", "k", "issue limit"),
    ):
        rows = data[name].dropna()
        look: Any = {"ls": "", "color": colour, "ms": 11 if marker == "|" else 3.6, "zorder": 3}
        shown = marks(rows, rows.index + lane)
        points(ax, shown, "value", "at", marker=marker, label=label, **look)
    if codes:
        rates, places = [code.rate for code in codes], range(len(data), len(data) + len(codes))
        words = [quantity(code.rate, "1/s") for code in codes]
        theirs(ax, rates, places, map(_cited, codes), label="others' code", ms=5.5)
        beside_marks(ax, words, rates, places)
        listed(ax, [*data["_name"], *(code.label for code in codes)])
        figure.set_figheight(figure.get_figheight() + 0.27 * len(codes))


def _published(data: pd.DataFrame) -> Sequence[reference.Published]:
    """Published rates at the size of most rungs, if measured there."""
    row = next(row for row in data["_row"] if size_words(row) == data.attrs["common"])
    return published(row.device, size(row)[1])


def _cited(code: reference.Published) -> str:
    bodies = f"; {count(code.bodies)} bodies" if code.bodies else ""
    doubt = f"; in doubt: {code.origin.doubt}" if code.origin.doubt else ""
    source = f"{code.origin.text}; {code.origin.locator}) {reference.cite(*code.origin.keys)}"
    return f"{code.label} ({code.implementation}{bodies}{doubt}; {source}"
