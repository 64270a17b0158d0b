"""What bandwidth does each layout reach with more warps per SM, and how long do reads take?

Useful bytes are those of the requested fields (28 or 16 per particle), not the moved ones. Where
the time begins to grow in proportion to the warps, the layout has saturated the level.
"""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import product
from operator import attrgetter

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from strata.figures._figure import attributes, prose
from strata.figures._plot import figure, table
from strata.figures._style import LAYOUTS, plain_log, points, scaled
from strata.model import FIELDS, LEVELS, Point, curves, fields_name, level_name, ordered
from strata.model.layouts import COUNTED, best_points, counts_by_layout
from strata.model.text import plain
from strata.model.units import unit_name
from strata.run import Row, Run, grouped

BEYOND = 1.1
"""Times the best median of a level, which no sample of a bandwidth passes but by its error."""

NARROW = 3
"""More panels than these side by side have titles of two lines."""


def _count(name: str, point: Point) -> Row | None:
    return point.counted.get(name)


COLUMNS = attributes(
    "level", "fields", "layout", warps_per_sm="warps", block_size="block_size",
    unit="row.unit", value="row", low="low", high="high",
) | {name: partial(_count, name) for name in COUNTED}  # fmt: skip


def data(quantity: str, run: Run) -> pd.DataFrame:
    """A line for each layout and number of warps; `attrs` has the counts of the best ones."""
    found = curves(run.of("layout_read"), quantity)
    lines = table(found, COLUMNS, label=_label)
    lines.attrs["counts"] = _counts(found) if quantity == "useful_bandwidth" else []
    return lines


def _label(point: Point) -> str:
    place = f"{level_name(point.level)} {point.layout}, {fields_name(point.fields)}"
    return f"{place}, {point.warps} warps"


def _counts(found: Sequence[Point]) -> list[str]:
    """The counts of each layout at its best bandwidth, reading all fields: a line per level."""
    whole = [one for one in best_points(found).values() if one.fields == "all"]
    levels = grouped(whole, attrgetter("level"))
    words = {level: plain(counts_by_layout(here)) for level, here in levels.items()}
    return [f"{level_name(level)}: {text}." for level, text in words.items() if text]


def bounded(data: pd.DataFrame) -> pd.Series:
    """The upper ends of bands: of bandwidths at most slightly above the best of their level."""
    if data["_row"][0].quantity != "useful_bandwidth":
        return data.high
    most = data.level.map(data[data.valid].groupby("level").value.max()) * BEYOND
    return data.high.where(~(data.high > most), most)


def caption(data: pd.DataFrame) -> str:
    """The measure, the block sizes, cut bands and the counts."""
    row = data["_row"][0]
    core, counted = "SM", "warps on each SM"
    if row.backend == "host":
        core, counted = "core", "independent chains that each core interleaves"
    who = {"all": f", every {core} at work", "one": f", one {core} at work"}
    against = f"against the number of {counted}{who.get(row.text('cores'), '')}"
    what = (
        f"Useful bandwidth (bytes of the requested fields) {against}. Lines: medians; bands: "
        "range of the samples."
        if row.quantity == "useful_bandwidth"
        else f"Time of one warp-read {against}. Lines: with several warps their mean by Little's "
        "law (older runs: median over warps); bands: 5th to 95th percentile by the warps' clocks."
    )
    sizes = sorted(Counter(data.block_size).items())
    listed = ", ".join(f"{size} threads at {count}" for size, count in sizes)
    beyond = (data.valid & (data.high > bounded(data))).sum()
    served_first = sum("little: " in row.reasons for row in data["_row"])
    return prose(
        f"{what} Each point uses the block size of the best useful bandwidth: {listed} of "
        f"{len(data)} points.",
        bool(beyond)
        and f"Bands end at {BEYOND:g} times the best median of a level; at {beyond} points, "
        "single samples lie beyond, by their timing error.",
        served_first
        and f"At {served_first} points Little's law does not hold for the median by the warps' "
        "clocks: some warps were served before others.",
        *data.attrs["counts"],
    )


def draw(data: pd.DataFrame, figure: Figure) -> None:
    """Sets of fields one below the other, levels side by side, one line per layout.

    Bandwidths are linear from zero, so that a plateau looks like one; times are logarithmic and on
    one axis, so that saturation is a slope of one.
    """
    row = data["_row"][0]
    times, (scale, unit) = row.quantity != "useful_bandwidth", scaled(data.value.max(), "B/s")
    label = f"{unit_name(row.unit)} per warp-read" if times else f"useful bandwidth ({unit})"
    scale = 1.0 if times else scale
    shown = data.assign(high=bounded(data) / scale, low=data.low / scale, value=data.value / scale)
    fields, levels = ordered(data.fields, FIELDS), ordered(data.level, LEVELS)
    figure.set_figheight(0.7 + 2.1 * len(fields))
    panels = figure.subplots(
        len(fields), len(levels), squeeze=False, sharey="all" if times else "col"
    )
    warps = sorted({*data.warps_per_sm})
    for ax, (field, level) in zip(panels.flat, product(fields, levels), strict=True):
        here = shown[(shown.fields == field) & (shown.level == level)]
        for layout in ordered(here.layout, tuple(LAYOUTS)):
            colour, marker = LAYOUTS.get(layout, ("#666666", "X"))
            part = here[here.layout == layout]
            look = {"color": colour, "marker": marker, "label": layout}
            points(ax, part, "warps_per_sm", "value", **look)
            good = part[part.valid]
            ax.fill_between(good.warps_per_sm, good.low, good.high, color=colour, alpha=0.2, lw=0)
        if times:
            plain_log(ax)
        ax.set_xscale("log", base=2)
        ax.set_xticks(warps, [f"{one}" if one & (one - 1) == 0 else "" for one in warps])
        ax.xaxis.set_minor_locator(NullLocator())
        ax.set_xlabel("chains per core" if row.backend == "host" else "warps per SM")
        title = f"{level_name(level)}, {fields_name(field)}"
        ax.set_title(title.replace(", ", ",\n") if len(levels) > NARROW else title)
    for ax in panels[:, 0]:
        ax.set_ylabel(label)
    for column in panels.T if not times else ():
        column[0].set_ylim(0, 1.05 * max(ax.dataLim.y1 for ax in column))


for name, title, order, quantity in (
    ("latency_vs_warps", "Latency under load", 12, "warp_read_cycles"),
    ("bandwidth_vs_warps", "Useful bandwidth", 11, "useful_bandwidth"),
):
    figure(name, title, order=order, data=partial(data, quantity), caption=caption)(draw)
