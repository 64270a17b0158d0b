"""What does each rung of the n-body ladder gain, and how far is it from its limit?"""

from collections.abc import Sequence

import pandas as pd
from matplotlib.figure import Figure

from strata import reference
from strata.figures._figure import attributes, params, prose
from strata.figures._plot import figure, table
from strata.figures._style import COLUMN, bars, hover, marks, per_second, points
from strata.ladder.best import Best, best_cases, common_size, published
from strata.ladder.rungs import PROBLEM_WORDS, SEVERAL, rung_name, size, size_words
from strata.model import units
from strata.run import Run

SERIAL = "serial"
LANE = 0.16
"""From the middle of a bar to the lane of other cases, of the distance of two bars."""
FAR = 1.25
"""A limit of more than this over the best rate has no place on the axis."""
COLUMNS = (
    attributes("rung")
    | params("systems", "bodies", of="row")
    | attributes(of="row", interactions_per_second="value", low="minimum", high="maximum")
    | attributes(valid="row.valid")
    | attributes(of="before", rung_before="benchmark")
    | attributes(
        speedup_over_it="speedup", issue_limit="limit",
        other_problem_interactions_per_second="other",
        other_size_interactions_per_second="second", case="row.case",
        _limit="limit", _other="other", _second="second",
    )
)  # fmt: skip


def data(run: Run) -> pd.DataFrame:
    """The rungs of one GPU by their best cases; `attrs` has the size of most of them."""
    # Several GPUs have their own figure, and on one GPU they are not a separate rung.
    steps = [step for step in best_cases(run, alike=True) if step.rung not in SEVERAL]
    lines = table(steps, COLUMNS, label=lambda step: rung_name(step.rung))
    if steps:
        rows = [row for step in steps for row in (step.row, step.other, step.second) if row]
        reach = FAR * max(row.value for row in rows)
        lines["_words"] = [_words(step, steps, reach) for step in steps]
        lines.attrs |= {"common": common_size(steps), "reach": reach}
    return lines


def _rate(value: float) -> str:
    return units.significant(value) if value >= 0.9995 else f"{value:.3f}"


def _words(step: Best, steps: Sequence[Best], reach: float) -> str:
    """The words beside a bar: rate, step, on a CPU all steps, and the best setting."""
    scale, _ = per_second(step.row.value for step in steps)
    row, here = step.row, size_words(step.row)
    far = [one for one in (step.limit,) if one and one.value > reach]
    limit = "".join(f"limit {_rate(one.value / scale)}" for one in far)
    size_of = here if here != common_size(steps) else ""
    where = [word for word in (step.chosen, size_of, limit) if word]
    words = _rate(row.value / scale)
    if step.speedup and step.before:
        words += f"   {units.factor(step.speedup)} {rung_name(step.before.benchmark)}"
    serial = next((one.row for one in steps if one.rung == SERIAL and one.row.valid), None)
    apart = step.before and step.before.benchmark != SERIAL and row.valid
    if serial and apart and size(serial) == size(row):
        words += f"   {units.factor(row.value / serial.value)} {SERIAL}"
    return words + (f"   ({'; '.join(where)})" if where else "")


def sizes_of(rows: pd.Series) -> str:
    """The different sizes of rows in words."""
    return " or ".join(rows.dropna().map(size_words).unique())


def problem_of(data: pd.DataFrame) -> str:
    """The problem of the other cases in words."""
    return next((PROBLEM_WORDS[row.text("problem")] for row in data["_other"].dropna()), "")


def caption(data: pd.DataFrame) -> str:
    """The measures, other sizes, limits and published rates."""
    sizes = data["_row"].map(size_words)
    named = data.rung.map(rung_name) + " " + sizes
    odd = "; ".join(named[sizes != data.attrs["common"]])
    others, seconds = sizes_of(data["_other"]), sizes_of(data["_second"])
    limits = data.issue_limit.dropna()
    theirs = "; ".join(map(_cited, _others(data)))
    return prose(
        "Pairs computed per second, N² for each system and step including self-interaction, "
        "as in the literature. Bars: medians of each rung's best case, all of one size where "
        "possible; lines in them: range of the samples. Beside them: the rate, the gain over "
        "the rung that it changes, and in brackets the best case.",
        odd and f"Of another size: {odd}.",
        others and f"Circles: {problem_of(data)} ({others.replace(' or ', ', ')}).",
        seconds and f"Diamonds: {seconds}.",
        bool(len(limits))
        and "Strokes: what the instructions of a rung's inner loop allow if a warp issues in "
        "every cycle of the clock under this load, or what its reciprocal roots allow if "
        "they take longer.",
        (limits > data.attrs["reach"]).any() and "Limits far beyond all rates: in brackets.",
        theirs and f"Other codes: {theirs}.",
    )


@figure("nbody_ladder", "The n-body ladder", order=200, data=data, caption=caption)
def draw(data: pd.DataFrame, figure: Figure) -> None:
    """Bars in ladder order, other cases as marks in lanes, limits as strokes, gains beside them."""
    scale, unit = per_second(data.interactions_per_second)
    ax, theirs = figure.add_subplot(), _others(data)
    names = [*map(rung_name, data.rung), *(one.label for one in theirs)]
    figure.set_figheight(1.1 + 0.27 * len(names))
    rates = data.interactions_per_second / scale
    bars(ax, data.assign(rate=rates), "rung", "rate", label=data.attrs["common"])
    good = data[data.valid]
    ax.hlines(good.index, good.low / scale, good.high / scale, color="k", lw=0.8)
    ends = [*rates, *(one.rate / scale for one in theirs)]
    for name, lane, marker, colour, label in (
        ("_second", -LANE, "D", "#56B4E9", sizes_of(data["_second"])),
        ("_other", LANE, "o", "#E69F00", problem_of(data)),
        ("_limit", 0, "|", "k", "issue limit"),
    ):
        rows = data[name].dropna()
        near = rows[[name != "_limit" or row.value <= data.attrs["reach"] for row in rows]]
        shown = marks(near, near.index + lane, scale)
        size_of = 11 if marker == "|" else 3.6
        look = {"ls": "", "marker": marker, "color": colour, "ms": size_of, "zorder": 3}
        points(ax, shown, "value", "at", label=label, **look)
        for at, rate in zip(near.index.to_numpy(), shown.value, strict=True):
            ends[at] = max(ends[at], rate)
    if theirs:
        places = range(len(data), len(names))
        (published_ones,) = ax.plot(
            ends[len(data) :], places, "D", ms=5.5, c="#D55E00", mfc="white", label="others' code"
        )
        hover(
            published_ones, (f"{_rate(one.rate / scale)} {unit}, {_cited(one)}" for one in theirs)
        )
    words = [f"{_rate(one.rate / scale)}{_bodies(one, '   ({})')}" for one in theirs]
    for at, whole in enumerate([*data["_words"], *words]):
        text = whole if figure.get_figwidth() > COLUMN else whole.partition("   ")[0]
        ax.annotate(text, (ends[at], at), (7, 0), textcoords="offset points", va="center")
    ax.set_yticks(range(len(names)), names)
    ax.set(
        ylim=(len(names) - 0.4, -0.6), xlim=(0, 1.7 * max(ends)), xlabel=f"interactions ({unit})"
    )


def _others(data: pd.DataFrame) -> Sequence[reference.PublishedRate]:
    """Published rates at the size of most rungs, if measured there."""
    row = next(row for row in data["_row"] if size_words(row) == data.attrs["common"])
    return published(row.device, size(row)[1])


def _bodies(one: reference.PublishedRate, words: str) -> str:
    return words.format(f"{units.count(one.bodies)} bodies") if one.bodies else ""


def _cited(one: reference.PublishedRate) -> str:
    bodies = _bodies(one, "; {}")
    doubt = f"; in doubt: {one.origin.doubt}" if one.origin.doubt else ""
    source = f"{one.origin.text}; {one.origin.locator}) {reference.cite(*one.origin.keys)}"
    return f"{one.label} ({one.implementation}{bodies}{doubt}; {source}"
