"""What bandwidth does each layout reach with more warps per SM, and how long do reads take?

Useful bytes are those of the requested fields (28 or 16 per particle), not the moved ones. Where
the time begins to grow in proportion to the warps, the layout has saturated the level.
"""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from math import inf
from operator import attrgetter

from strata.figures import _chart as c
from strata.figures._figure import Figure, attributes, prose
from strata.model import FIELDS, LEVELS, Point, curves, fields_name, level_name
from strata.model.layouts import COUNTED, best_points, counts_by_layout
from strata.model.text import plain
from strata.model.units import unit_name
from strata.run import Row, Run

BEYOND = 1.1
"""Times the best median of a level, which no sample of a bandwidth passes but by its error."""
DODGE = 0.06
"""Octaves between the markers of neighbouring layouts, so that equal values stay visible."""


def chart(points: Sequence[Point]) -> c.Chart:
    """Sets of fields one below the other, levels side by side, one line per layout.

    Bandwidths are linear from zero, so that a plateau looks like one; times are logarithmic, so
    that saturation is a slope of one.
    """
    first, scale = points[0].row, 1.0
    values = c.Axis(f"{unit_name(first.unit)} per warp-read", "log")
    if first.quantity == "useful_bandwidth":
        scale, unit = c.scaled(max(point.row.value for point in points), "B/s")
        values = c.Axis(f"useful bandwidth ({unit})", zero=True)
    most = _most(points)
    looks = c.layout_looks(point.layout for point in points)
    places = list(looks)
    warps = sorted({point.warps for point in points})
    label, ends = "warps per SM", (warps[0] / 1.25, warps[-1] * 1.25)
    label = "chains per core" if first.backend == "host" else label
    across = c.Axis(label, "log2", ends, ticks=warps, size=7)

    def mark(point: Point) -> c.Mark:
        shift = 2 ** (DODGE * (places.index(point.layout) - (len(places) - 1) / 2))
        ends = point.row.value, point.low, min(point.high, most.get(point.level, inf))
        value, low, high = (one / scale for one in ends)
        return c.Mark(point.warps * shift, value, low, high, point.row.valid)

    def panel(fields: str, level: str, here: Sequence[Point]) -> c.Panel:
        layers = c.by_look(here, attrgetter("layout"), looks, mark, spread="band")
        return c.Panel(layers, across, values, f"{level_name(level)}, {fields_name(fields)}")

    by = (attrgetter("fields"), attrgetter("level"))
    rows = c.facets(points, *by, panel, rows=FIELDS, columns=LEVELS)
    width, height = max(0.4 + 2.75 * len(rows[0]), 4.8), 0.7 + 2.1 * len(rows)
    return c.Chart(rows, width, height, share="column", below=_counts(points))


def _counts(points: Sequence[Point]) -> list[str]:
    """The counts of each layout at its best bandwidth, reading all fields: a line per level."""
    if points[0].row.quantity != "useful_bandwidth":
        return []
    whole = [one for one in best_points(points).values() if one.fields == "all"]
    levels = c.grouped(whole, attrgetter("level"))
    counted_words = {level: plain(counts_by_layout(here)) for level, here in levels.items()}
    return [f"{level_name(level)}: {words}." for level, words in counted_words.items() if words]


def _most(points: Sequence[Point]) -> dict[str, float]:
    """The upper end of bandwidth bands: slightly above the best median of their level."""
    known = [p for p in points if p.row.valid and p.row.quantity == "useful_bandwidth"]
    by_level = c.grouped(known, attrgetter("level"))
    return {level: BEYOND * max(p.row.value for p in here) for level, here in by_level.items()}


def _caption(points: Sequence[Point]) -> str:
    row = points[0].row
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
    sizes = sorted(Counter(point.block_size for point in points).items())
    listed = ", ".join(f"{size} threads at {count}" for size, count in sizes)
    most = _most(points)
    beyond = sum(point.high > most.get(point.level, inf) for point in points if point.row.valid)
    served_first = sum("little: " in point.row.reasons for point in points)
    return prose(
        f"{what} Each point uses the block size of the best useful bandwidth: {listed} of "
        f"{len(points)} points. Layouts are set apart sideways to stay visible.",
        beyond
        and f"Bands end at {BEYOND:g} times the best median of a level; at {beyond} points, "
        "single samples lie beyond, by their timing error.",
        served_first
        and f"At {served_first} points Little's law does not hold for the median by the warps' "
        "clocks: some warps were served before others.",
    )


def _label(point: Point) -> str:
    place = f"{level_name(point.level)} {point.layout}, {fields_name(point.fields)}"
    return f"{place}, {point.warps} warps"


def _count(name: str, point: Point) -> Row | None:
    return point.counted.get(name)


def _items(quantity: str, run: Run) -> Sequence[Point]:
    return curves(run.of("layout_read"), quantity)


COLUMNS = attributes(
    "level", "fields", "layout", warps_per_sm="warps", block_size="block_size",
    unit="row.unit", value="row", low="low", high="high",
) | {name: partial(_count, name) for name in COUNTED}  # fmt: skip
FIGURES = tuple(
    Figure(
        name, title, order,
        partial(_items, quantity), chart, _caption, COLUMNS, label=_label,
    )
    for name, title, order, quantity in (
        ("latency_vs_warps", "Latency under load", 12, "warp_read_cycles"),
        ("bandwidth_vs_warps", "Useful bandwidth", 11, "useful_bandwidth"),
    )
)  # fmt: skip
