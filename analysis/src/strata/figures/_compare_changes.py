"""How far did every row of every benchmark move, and which rows and families are alarms?

One strip for each benchmark and one dot for each timed row, so that it reads the same with ten rows
and with ten thousand. All changes are changes of time.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from strata.compare import words
from strata.compare.changes import VERDICTS, Comparison, as_time, records
from strata.figures._plot import Plot
from strata.figures._style import GREY, foot, hover, listed
from strata.model.units import MINUS
from strata.run import params_text

LOOKS: Mapping[str, tuple[str, str, float]] = {
    "slower": ("#D55E00", "^", 5),
    "faster": ("#009E73", "v", 5),
    "changed": ("#CC79A7", "D", 4.5),
    "same": ("#0072B2", "o", 1.7),
    "undecided": ("#b0b0b0", "o", 1.7),
}
"""Colour, marker and size."""
TICKS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
LINEAR = 0.003
"""Around no change the axis is linear, beyond it logarithmic."""
NAMED = 12
"""So many alarms are named below the strips; the table has them all."""
GOLDEN = 0.6180339887498949


def plot_of(comparisons: Sequence[Comparison]) -> Plot:
    """The figure of these comparisons."""

    def draw(data: pd.DataFrame, figure: Figure) -> None:
        strips = max(2, data.benchmark.nunique())
        figure.set_figheight(len(comparisons) * (0.19 * strips + 0.8) + 0.3)
        panels = figure.subplots(len(comparisons), squeeze=False)[:, 0]
        for at, (ax, found) in enumerate(zip(panels, comparisons, strict=True)):
            draw_one(ax, data[data.comparison == at], found.settings.min_change)
            ax.set_title(found.after.context.run if len(comparisons) > 1 else "")
        foot(figure, [line for found in comparisons for line in below(found)])

    return Plot(
        "compare", "Changes of every row between runs", 0, (7.0, 3.0),
        lambda _: data(comparisons), draw, lambda _: "",
    )  # fmt: skip


def data(comparisons: Sequence[Comparison]) -> pd.DataFrame:
    """Every change, as of a time; the alarms that are named have an interval."""
    columns = ["comparison", "benchmark", "verdict", "change", "low", "high", "found", "named"]
    lines = [
        found.rows.assign(
            comparison=at,
            named=found.rows.index.isin(found.flagged().index[:NAMED]),
            **{end: as_time(found.rows, end) for end in ("change", "low", "high")},
        )
        for at, found in enumerate(comparisons)
    ]
    shown = pd.concat(lines, ignore_index=True)
    return (
        shown[[*columns, "after"]]
        .rename(columns={"found": "found_from", "after": "_row"})
        .assign(valid=True)
    )


def draw_one(ax: Axes, data: pd.DataFrame, least: float) -> None:
    """The strips of one comparison; `least` is the smallest change that matters."""
    reach = min(max(1.25 * data.change.abs().max(), 10 * least, LINEAR), 20.0)
    ends = max(-reach, -0.95), reach  # no time can fall by all of itself
    names = sorted(data.benchmark.unique())
    # Dots of a strip are spread evenly over its height, in an order without a pattern.
    spread = 0.7 * ((data.groupby("benchmark").cumcount() + 1) * GOLDEN % 1 - 0.5)
    data = data.assign(place=data.benchmark.map(names.index) + spread)
    for column in ("change", "low", "high"):
        data[column] = data[column].astype(float).clip(*ends)
    small = f"below {words.size(least)}"
    band = ax.axvspan(-least / (1 + least), least, color="#ededed", lw=0, label=small)
    hover(band, [f"changes {small}"])
    ax.axvline(0, color=GREY, lw=0.7)
    for order, verdict in enumerate(reversed(VERDICTS), start=2):
        here, (colour, marker, size) = data[data.verdict == verdict], LOOKS[verdict]
        if len(here):
            look: dict[str, Any] = {"ls": "", "color": colour, "ms": size, "mew": 0}
            look |= {"marker": marker, "label": verdict, "zorder": order}
            (line,) = ax.plot(here.change, here.place, **look)
            hover(line, here)
    named = data[data.named]
    ax.hlines(named.place, named.low, named.high, color="k", lw=0.8)
    middles = data.groupby("benchmark").found_from.median()
    middles = middles[middles <= reach]
    label = "found from (median row)"
    (line,) = ax.plot(middles, [*map(names.index, middles.index)], "k|", ms=11, label=label)
    hover(line, [f"found from {words.size(middle)} (median row)" for middle in middles])
    ax.set_xscale("asinh", linear_width=LINEAR)
    ticks = [s * at for s in (-1, 1) for at in TICKS if ends[0] <= s * at <= ends[1]]
    texts = [f"{100 * at:+.3g}".replace("-", MINUS) for at in ticks]
    ax.set_xticks([0, *ticks], ["0", *texts])
    ax.set_xticks([], minor=True)
    listed(ax, [f"{name} ({sum(data.benchmark == name)})" for name in names])
    ax.set(xlim=ends, xlabel="change, as of a time (%): left faster, right slower")


def below(found: Comparison) -> Iterator[str]:
    """The text below: what differs and which rows changed."""
    yield f"{words.title(found)}. {words.counts(found)}."
    if found.differences:
        yield "WARNING, conditions differ: " + "; ".join(map(str, found.differences))
    for line in records(found.moved()):
        family = f"{words.family(line)}, {words.along(found, line)}"
        yield f"{line.verdict}, {words.percent(line.change)}: {family}"
    flagged = found.flagged()
    for line in records(flagged[:NAMED]):
        what = f"{words.name(line.before)}, {params_text(line.before.params, ' ')}"
        yield f"{line.verdict}, {words.percent(line.change)}: {what}"
    if (more := len(flagged) - NAMED) > 0:
        yield f"and {more} more, in the table"
