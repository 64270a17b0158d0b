"""What does a warp-read cost in each layout, alone and with more and more warps?

Useful bytes are those of the requested fields (28 or 16 per particle), not the moved ones. Where
the time begins to grow in proportion to the warps, the layout has saturated the level.
"""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import product
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from strata.figures import _style
from strata.figures._plot import columns, figure, of_items, prose
from strata.figures._style import LAYOUTS, by_layout, in_column, layout_bars, points
from strata.model import FIELDS, LEVELS, Bar, Point, curves, fields_name, latency_bars, level_name
from strata.model.layouts import COUNTED, best_points, counts_by_layout
from strata.model.names import ordered
from strata.model.text import plain
from strata.model.units import unit_name
from strata.run import Run, grouped


def _place(item: Bar | Point) -> str:
    return f"{level_name(item.level)} {item.layout}, {fields_name(item.fields)}"


def data_alone(run: Run) -> pd.DataFrame:
    """A line for each level, set of fields and layout: one warp at a time."""
    bars = latency_bars(run.of("layout_read"))
    return columns(
        of_items(bars, _place, "cycles"),
        "fields", "layout", "unit", level="residency", median="value", p5="_item.p5.value",
        p95="_item.p95.value", arithmetic="_item.arithmetic.value", _inner="_item.arithmetic",
    )  # fmt: skip


def caption_alone(data: pd.DataFrame) -> str:
    """The measure, and what whiskers and hatched parts are."""
    row = data["_row"][0]
    core = "core" if row.backend == "host" else "SM"
    where = {"one": f" on one {core}", "all": f" on every {core}"}.get(row.text("cores"), "")
    return prose(
        "Time of one warp-read (32 particles, one per lane) by memory layout, one warp at a time"
        f"{where}. Bars: median over warps.",
        data.p5.notna().any() and "Whiskers: 5th to 95th percentile over warps.",
        data.arithmetic.notna().any()
        and "Hatched: the part for sums and address arithmetic, not loads.",
    )


@figure(
    "layout_latency", "Latency of a warp-read by memory layout", order=10,
    data=data_alone, caption=caption_alone,
)  # fmt: skip
def draw_alone(data: pd.DataFrame, figure: Figure) -> None:
    """Medians over warps from zero, their whiskers, and the arithmetic part."""
    for ax, level, here in by_layout(figure, data, "level"):
        layout_bars(ax, here, "median", "p5", "p95")
        inner = here[here.valid & here.arithmetic.notna()]
        part = inner[["arithmetic", "median"]].min(axis=1)
        look: dict[str, Any] = {"fc": "none", "ec": "#333333", "hatch": "/////", "lw": 0}
        hatched = ax.barh(inner["at"], part, 0.7, label="arithmetic", **look)
        for bar, row in zip(hatched, inner["_inner"], strict=True):
            _style.hover(bar, [row])
        ax.set_ylabel(level_name(level), weight="bold")
        ax.set_xlabel(f"{unit_name(data.unit[0])} per warp-read")
        ax.label_outer(remove_inner_ticks=False)
        ax.tick_params(labelbottom=True)


# --- more and more warps --------------------------------------------------------------------------

BEYOND = 1.1
"""Times the best median of a level, which no sample of a bandwidth passes but by its error."""

NARROW = 3
"""More panels than these side by side have titles of two lines."""


def data(quantity: str, run: Run) -> pd.DataFrame:
    """A line for each layout and number of warps; `attrs` has the counts of the best ones."""
    found = curves(run.of("layout_read"), quantity)
    lines = of_items(found, _label)
    for name in COUNTED:
        rows = [point.counted.get(name) for point in found]
        lines[name] = pd.Series([row and row.value for row in rows], dtype=float)
    lines = columns(
        lines, "fields", "layout", "warps_per_sm", "block_size", "unit", "value", *COUNTED,
        level="residency", low="_item.low", high="_item.high",
    )  # fmt: skip
    lines.attrs["counts"] = _counts(found) if quantity == "useful_bandwidth" else []
    return lines


def _label(point: Point) -> str:
    return f"{_place(point)}, {point.warps} warps"


def _counts(found: Sequence[Point]) -> list[str]:
    """The counts of each layout at its best bandwidth, reading all fields: a line per level."""
    whole = [point for point in best_points(found).values() if point.fields == "all"]
    levels = grouped(whole, lambda point: point.level)
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
    what = "warps on each SM" if row.backend == "cuda" else "chains that each core interleaves"
    sizes = sorted(Counter(data.block_size).items())
    listed = ", ".join(f"{size} threads at {count}" for size, count in sizes)
    beyond = (data.valid & (data.high > bounded(data))).sum()
    served_first = sum("little: " in row.reasons for row in data["_row"])
    return prose(
        "Useful bandwidth (bytes of the requested fields): medians; bands: range of the samples;"
        if row.quantity == "useful_bandwidth"
        else "Time of one warp-read, with several warps their mean by Little's law; bands: 5th to "
        "95th percentile by the warps' clocks;",
        f"against the number of {what}, {row.text('cores')} at work. Each point uses the block "
        f"size of the best useful bandwidth: {listed} of {len(data)} points.",
        bool(beyond)
        and f"Bands end at {BEYOND:g} times the best median of a level; at {beyond} points, "
        "single samples are beyond, by their timing error.",
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
    times, (scale, unit) = (
        row.quantity != "useful_bandwidth",
        _style.scaled(data.value.max(), "B/s"),
    )
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
            points(ax, part, "warps_per_sm", "value", "band", **look)
        if times:
            _style.plain_log(ax)
        ax.set_xscale("log", base=2)
        ax.set_xticks(warps, [f"{one}" if one & (one - 1) == 0 else "" for one in warps])
        ax.xaxis.set_minor_locator(NullLocator())
        ax.set_xlabel("chains per core" if row.backend == "host" else "warps per SM")
        title = f"{level_name(level)}, {fields_name(field)}"
        if len(levels) > NARROW or in_column(figure):
            title = title.replace(", ", ",\n").replace(" and ", "\nand ")
        ax.set_title(title)
    for ax in panels[:, 0]:
        ax.set_ylabel(label)
    for column in panels.T if not times else ():
        column[0].set_ylim(0, 1.05 * max(ax.dataLim.y1 for ax in column))


for name, title, order, quantity in (
    ("latency_vs_warps", "Latency under load", 12, "warp_read_cycles"),
    ("bandwidth_vs_warps", "Useful bandwidth", 11, "useful_bandwidth"),
):
    figure(name, title, order=order, data=partial(data, quantity), caption=caption)(draw)
