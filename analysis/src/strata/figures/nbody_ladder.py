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
from strata.model.units import count, factor, short
from strata.run import Run

SERIAL = "serial"
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
    reach = FAR * float(rates.max().max())
    limits = lines.issue_limit.astype(float)
    lines["_end"] = rates.assign(limit=limits.where(limits <= reach)).max(axis=1)
    lines["_name"] = lines["_label"]
    lines["_words"] = ["   ".join(_words(step, steps, reach)) for step in steps]
    lines.attrs |= {"common": common_size(steps), "reach": reach}
    return lines


def _words(step: Best, steps: Sequence[Best], reach: float) -> Iterator[str]:
    """The words after a rate: the step, on a CPU all steps, and the best setting."""
    row, before = step.row, step.before
    if step.speedup and before:
        yield f"{factor(step.speedup)} {rung_name(before.benchmark)}"
    serial = next((one.row for one in steps if one.rung == SERIAL and one.row.valid), None)
    apart = before and before.benchmark != SERIAL and row.valid
    if serial and apart and size(serial) == size(row):
        yield f"{factor(row.value / serial.value)} {SERIAL}"
    where = [step.chosen, size_words(row) if size_words(row) != common_size(steps) else ""]
    if step.limit and step.limit.value > reach:
        scale = _ladder.scale_of(one.row.value for one in steps)
        where.append(f"limit {short(step.limit.value / scale)}")
    if any(where):
        yield f"({'; '.join(filter(None, where))})"


def _sizes_of(rows: pd.Series) -> str:
    """The different sizes of rows in words."""
    return " or ".join(rows.dropna().map(size_words).unique())


def _problem_of(data: pd.DataFrame) -> str:
    """The problem of the other cases in words."""
    return next((PROBLEM_WORDS[row.text("problem")] for row in data["_other"].dropna()), "")


def caption(data: pd.DataFrame) -> str:
    """The measures, other sizes, limits and published rates."""
    sizes = data["_row"].map(size_words)
    odd = "; ".join((data["_name"] + " " + sizes)[sizes != data.attrs["common"]])
    others, seconds = _sizes_of(data["_other"]), _sizes_of(data["_second"])
    limits = data.issue_limit.dropna()
    codes = "; ".join(map(_cited, _published(data)))
    return prose(
        "Pairs computed per second, N² for each system and step including self-interaction, "
        "as in the literature. Bars: medians of each rung's best case, all of one size where "
        "possible; lines in them: range of the samples. Beside them: the rate, the gain over "
        "the rung that it changes, and in brackets the best case.",
        odd and f"Of another size: {odd}.",
        others and f"Circles: {_problem_of(data)} ({others.replace(' or ', ', ')}).",
        seconds and f"Diamonds: {seconds}.",
        bool(len(limits))
        and "Strokes: what the instructions of a rung's inner loop allow if a warp issues in "
        "every cycle of the clock under this load, or what its reciprocal roots allow if "
        "they take longer.",
        (limits > data.attrs["reach"]).any() and "Limits far beyond all rates: in brackets.",
        codes and f"Other codes: {codes}.",
    )


@figure("nbody_ladder", "The n-body ladder", order=200, data=data, caption=caption)
def draw(data: pd.DataFrame, figure: Figure) -> None:
    """Rungs in ladder order, other cases as marks in lanes, limits as strokes, others' codes."""
    lines = data.assign(per_second=data.interactions_per_second, _panel="")
    common, reach, codes = data.attrs["common"], data.attrs["reach"], _published(data)
    ((ax, _, scale),) = _ladder.panels(figure, lines, "interactions", common)
    for name, lane, marker, colour, label in (
        ("_second", -LANE, "D", "#56B4E9", _sizes_of(data["_second"])),
        ("_other", LANE, "o", "#E69F00", _problem_of(data)),
        ("_limit", 0, "|", "k", "issue limit"),
    ):
        rows = data[name].dropna()
        near = rows[[name != "_limit" or row.value <= reach for row in rows]]
        look: Any = {"ls": "", "color": colour, "ms": 11 if marker == "|" else 3.6, "zorder": 3}
        shown = marks(near, near.index + lane, scale)
        points(ax, shown, "value", "at", marker=marker, label=label, **look)
    if codes:
        rates = [code.rate / scale for code in codes]
        both = zip(rates, codes, strict=True)
        words = [f"{short(rate)}{_bodies(code, '   ({})')}" for rate, code in both]
        places = range(len(data), len(data) + len(codes))
        theirs(ax, rates, places, map(_cited, codes), label="others' code", ms=5.5)
        beside_marks(ax, words, rates, places)
        listed(ax, [*data["_name"], *(code.label for code in codes)])
        figure.set_figheight(figure.get_figheight() + 0.27 * len(codes))


def _published(data: pd.DataFrame) -> Sequence[reference.Published]:
    """Published rates at the size of most rungs, if measured there."""
    row = next(row for row in data["_row"] if size_words(row) == data.attrs["common"])
    return published(row.device, size(row)[1])


def _bodies(code: reference.Published, words: str) -> str:
    return words.format(f"{count(code.bodies)} bodies") if code.bodies else ""


def _cited(code: reference.Published) -> str:
    doubt = f"; in doubt: {code.origin.doubt}" if code.origin.doubt else ""
    source = f"{code.origin.text}; {code.origin.locator}) {reference.cite(*code.origin.keys)}"
    return f"{code.label} ({code.implementation}{_bodies(code, '; {}')}{doubt}; {source}"
