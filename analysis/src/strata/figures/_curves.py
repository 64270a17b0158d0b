"""Small multiples against warps per SM: a panel per level and set of fields, a line per layout."""

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from strata.figures import AxesGrid, Grid
from strata.figures._palette import (
    GREY,
    hollow_key,
    invalid_note,
    layout_style,
    legend_above,
    present_layouts,
)
from strata.model import FIELDS, LEVELS, Point, fields_name, level_name, ordered
from strata.run import Row

COLUMNS = (
    "level", "fields", "layout", "warps_per_sm", "block_size", "unit", "value", "low", "high",
    "valid", "case",
)  # fmt: skip


DODGE = 0.06
"""Octaves between the markers of neighbouring layouts, so that equal values stay visible."""


def grid(points: Sequence[Point]) -> Grid:
    """Sets of fields as rows, levels as columns."""
    rows = len({point.fields for point in points})
    columns = len({point.level for point in points})
    return Grid(
        rows, columns, width=max(0.4 + 2.75 * columns, 4.8), height=0.7 + 2.1 * max(rows, 1)
    )


def draw(
    points: Sequence[Point],
    axes: AxesGrid,
    *,
    label: str,
    scale: float,
    finish: Callable[[Axes, Sequence[Point]], None],
) -> None:
    """Lines over valid medians, bands over their spread, hollow markers for what is not valid.

    Values are divided by `scale`; `finish` sets the y axis of a column of panels to its points.
    """
    levels = ordered((point.level for point in points), LEVELS)
    groups = ordered((point.fields for point in points), FIELDS)
    layouts = present_layouts(point.layout for point in points)
    warps = sorted({point.warps for point in points})
    for row, fields in zip(axes, groups, strict=True):
        for panel, level in zip(row, levels, strict=True):
            column = [point for point in points if point.level == level]
            here = [point for point in column if point.fields == fields]
            for layout in layouts:
                _line([p for p in here if p.layout == layout], layouts, panel, scale)
            finish(panel, column)
            _warps_axis(panel, warps)
            panel.set_title(f"{level_name(level)}, {fields_name(fields)}")
            if not here:
                panel.text(
                    0.5, 0.5, "not measured", transform=panel.transAxes, ha="center", color=GREY
                )
        row[0].set_ylabel(label)
    host = points[0].row.backend == "host"
    for panel in axes[-1]:
        panel.set_xlabel("chains per core" if host else "warps per SM")
    handles: list[Artist] = [
        Line2D([], [], color=layout_style(x)[0], marker=layout_style(x)[1], label=x)
        for x in layouts
    ]
    if any(not point.row.valid for point in points):
        handles.append(hollow_key())
    legend_above(axes[0][0], handles)


def _line(points: Sequence[Point], layouts: Sequence[str], panel: Axes, scale: float) -> None:
    if not points:
        return
    colour, marker = layout_style(points[0].layout)
    dodge = 2 ** (DODGE * (layouts.index(points[0].layout) - (len(layouts) - 1) / 2))
    valid = [point for point in points if point.row.valid]
    if valid:
        warps = [point.warps * dodge for point in valid]
        low = np.array([point.low for point in valid]) / scale
        high = np.array([point.high for point in valid]) / scale
        panel.fill_between(warps, low, high, color=colour, alpha=0.18, linewidth=0)
        values = [point.row.value / scale for point in valid]
        panel.plot(warps, values, color=colour, marker=marker, clip_on=False, label="_valid")
    invalid = [point for point in points if not point.row.valid]
    if invalid:
        panel.plot(
            [point.warps * dodge for point in invalid],
            [point.row.value / scale for point in invalid],
            color=colour, marker=marker, markerfacecolor="white", linestyle="none",
            clip_on=False, label="_invalid",
        )  # fmt: skip


def extent(points: Sequence[Point]) -> tuple[float, float]:
    """The lowest and highest value that is drawn: bands belong to valid points alone."""
    low = min(min(p.low, p.row.value) if p.row.valid else p.row.value for p in points)
    high = max(max(p.high, p.row.value) if p.row.valid else p.row.value for p in points)
    return low, high


def _warps_axis(panel: Axes, warps: Sequence[int]) -> None:
    panel.set_xscale("log", base=2)
    panel.set_xlim(warps[0] / 1.25, warps[-1] * 1.25)
    panel.xaxis.set_major_locator(FixedLocator(warps))
    panel.xaxis.set_major_formatter(FixedFormatter([f"{count}" for count in warps]))
    panel.xaxis.set_minor_locator(NullLocator())
    panel.tick_params(axis="x", labelsize=7)


def setting(points: Sequence[Point]) -> str:
    """What the x axis counts, and who takes part, in the words of the backend."""
    host = points[0].row.backend == "host"
    counted = "independent chains that each core interleaves" if host else "warps on each SM"
    who = {
        "all": "every core at work" if host else "every SM at work",
        "one": "one core at work" if host else "one SM at work",
    }.get(points[0].row.params.get("cores", ""), "")
    return f"the number of {counted}" + (f", {who}" if who else "")


def block_sizes(points: Sequence[Point]) -> str:
    """Which block sizes were the best ones, and how often; and why markers stand beside a tick."""
    return f"{_block_sizes(points)} Layouts are set apart sideways to stay visible."


def _block_sizes(points: Sequence[Point]) -> str:
    counts = Counter(point.block_size for point in points)
    if len(counts) == 1:
        return f"Blocks of {next(iter(counts))} threads."
    listed = ", ".join(f"{size} threads at {counts[size]}" for size in sorted(counts))
    return (
        "Each point stands at the block size of the best useful bandwidth: "
        f"{listed} of {len(points)} points."
    )


def invalid(points: Sequence[Point]) -> str:
    """The points that do not count."""
    return invalid_note(
        f"{level_name(p.level)} {p.layout}, {fields_name(p.fields)}, {p.warps} warps"
        for p in points
        if not p.row.valid
    )


def cells(point: Point) -> tuple[object, ...]:
    """One line of the data file."""
    row = point.row
    return (
        point.level, point.fields, point.layout, point.warps, point.block_size, row.unit,
        row.value, point.low, point.high, row.valid, row.case,
    )  # fmt: skip


def source(point: Point) -> Row:
    """The row behind a point."""
    return point.row
