"""Curves of a dependent load against the footprint that it walks through."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedFormatter, FixedLocator, FuncFormatter, LogLocator, NullLocator

from strata.figures._palette import hollow_key, invalid_note, legend_beside
from strata.model.units import SPACE, size, tick, unit_name
from strata.run import Row

INSIDE = frozenset({"clock64_slope", "tsc_slope"})
"""The methods that read a clock on the core that loads."""

COLUMNS = (
    "curve", "cores", "stride_bytes", "footprint_bytes", "load_cycles", "unit", "low", "high",
    "valid", "case",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Point:
    """A median of one curve; `low` and `high` bound its samples, or its cores if several walk."""

    curve: str
    cores: str
    stride: int
    footprint: int
    row: Row
    low: float
    high: float
    l2: float | None = None
    """Bytes, as the driver reports them."""
    shared_memory: float | None = None
    """Bytes of an SM, as the driver reports them."""
    walked: bool | None = None
    """Whether a lap was walked before; False where all was evicted instead."""
    seconds: float | None = None
    """Of the same loads, by a timer outside; None where that is not valid."""
    plateau: float | None = None
    """The level of the plateau that it lies on, in the unit of `row`."""


def points(rows: Sequence[Row], benchmark: str, curve: str) -> list[Point]:
    """The cycles of a load of every case, by the axis `curve`, in the order of their footprints."""
    edges = {
        (row.case, row.quantity): row
        for row in rows
        if row.quantity in {"load_cycles_nearest", "load_cycles_farthest"} and row.method in INSIDE
    }
    beside = {
        (row.case, row.quantity): row.value
        for row in rows
        if row.benchmark == benchmark and row.provenance == "modelled"
    }
    seconds = {
        row.case: row.value
        for row in rows
        if (row.benchmark, row.quantity, row.unit) == (benchmark, "load_time", "s") and row.valid
    }
    found = []
    for row in rows:
        if (row.benchmark, row.quantity) != (benchmark, "load_cycles") or row.method not in INSIDE:
            continue
        numbers = [row.params.get(axis, "") for axis in ("stride", "footprint")]
        if row.provenance != "timed" or not all(number.isdecimal() for number in numbers):
            continue
        near = edges.get((row.case, "load_cycles_nearest"))
        far = edges.get((row.case, "load_cycles_farthest"))
        footprint = int(numbers[1])
        walked = beside.get((row.case, "walked_before"))
        found.append(
            Point(
                curve=row.params.get(curve, "?"),
                cores=row.params.get("cores", "one"),
                stride=int(numbers[0]),
                footprint=footprint,
                row=row,
                low=near.value if near else row.minimum,
                high=far.value if far else row.maximum,
                l2=_size(footprint, beside.get((row.case, "footprint_over_l2"))),
                shared_memory=_size(
                    footprint, beside.get((row.case, "footprint_over_shared_memory"))
                ),
                walked=None if walked is None else walked > 0,
                seconds=seconds.get(row.case),
            )
        )
    return sorted(found, key=lambda point: (point.curve, point.cores, point.footprint))


def _size(footprint: int, share: float | None) -> float | None:
    return footprint / share if share else None


def marks(found: Sequence[Point]) -> list[tuple[str, float]]:
    """Footprints to mark: sizes by the driver, and where evicting takes the place of walking."""
    result = []
    for name, sizes in (
        ("shared memory of an SM", {point.shared_memory for point in found}),
        ("L2", {point.l2 for point in found}),
    ):
        known = {round(size) for size in sizes if size is not None}
        if len(known) == 1:  # of one device
            result.append((name, float(known.pop())))
    walked = [point.footprint for point in found if point.walked]
    evicted = [point.footprint for point in found if point.walked is False]
    if walked and evicted and max(walked) < min(evicted):
        result.append(("evicted before", (max(walked) * min(evicted)) ** 0.5))
    return result


def draw_marks(found: Sequence[Point], panel: Axes) -> None:
    """Thin upright lines with their names beside them, inside what is drawn."""
    low, high = panel.get_xlim()
    for name, place in marks(found):
        if not low < place < high:
            continue
        panel.axvline(
            place, color="#8c8c8c", linewidth=0.7, linestyle=(0, (1.5, 1.5)), zorder=0.5,
            label="_mark",
        )  # fmt: skip
        panel.annotate(
            name, (place, 0.985), xycoords=("data", "axes fraction"), xytext=(-2, 0),
            textcoords="offset points", rotation=90, ha="right", va="top", fontsize=6.5,
            color="#595959", zorder=4,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6, "alpha": 0.85},
        )  # fmt: skip


def usual_stride(found: Sequence[Point]) -> int:
    """The stride of most points; the smallest of those that have as many."""
    strides = Counter(point.stride for point in found)
    return min(strides, key=lambda stride: (-strides[stride], stride))


def draw(
    found: Sequence[Point],
    panel: Axes,
    curves: Sequence[str],
    style: Callable[[str], str],
    name: Callable[[str], str],
) -> None:
    """A line per curve, a band over its samples; dashed with a band over cores where all walk."""
    handles: list[Artist] = []
    for curve in curves:
        for cores in ("one", "several"):
            here = [p for p in found if (p.curve, p.cores) == (curve, cores)]
            if not here:
                continue
            _curve(here, panel, style(curve), several=cores == "several")
        handles.append(Line2D([], [], color=style(curve), label=name(curve)))
    if any(point.cores == "several" for point in found):
        handles.append(Line2D([], [], color="#262626", linestyle="--", label="every SM at once"))
    if any(not point.row.valid for point in found):
        handles.append(hollow_key())
    _footprint_axis(panel, [point.footprint for point in found])
    _cycles_axis(panel, found)
    legend_beside(panel, handles)


def _curve(here: Sequence[Point], panel: Axes, colour: str, *, several: bool) -> None:
    valid = [point for point in here if point.row.valid]
    if valid:
        x = np.array([point.footprint for point in valid], dtype=float)
        panel.fill_between(
            x, [point.low for point in valid], [point.high for point in valid],
            color=colour, alpha=0.13 if several else 0.25, linewidth=0,
        )  # fmt: skip
        panel.plot(
            x, [point.row.value for point in valid], color=colour, linewidth=1.0,
            linestyle="--" if several else "-", marker="o", markersize=1.6, label="_valid",
        )  # fmt: skip
    invalid = [point for point in here if not point.row.valid]
    if invalid:
        panel.plot(
            [point.footprint for point in invalid], [point.row.value for point in invalid],
            color=colour, linestyle="none", marker="o", markersize=3.0, markerfacecolor="white",
            markeredgewidth=0.7, zorder=4, label="_invalid",
        )  # fmt: skip


def _footprint_axis(panel: Axes, footprints: Sequence[int]) -> None:
    low, high = min(footprints), max(footprints)
    first, last = low.bit_length() - 1, high.bit_length()
    step = max(1, -(-(last - first) // 9))
    powers = [2**power for power in range(first, last + 1, step) if low <= 2**power <= high]
    ticks = powers or [low]
    panel.set_xscale("log", base=2)
    panel.set_xlim(low / 1.2, high * 1.2)
    panel.xaxis.set_major_locator(FixedLocator(ticks))
    panel.xaxis.set_major_formatter(
        FixedFormatter([size(value).replace(SPACE, "\n") for value in ticks])
    )
    panel.xaxis.set_minor_locator(NullLocator())
    panel.set_xlabel("footprint")


def _cycles_axis(panel: Axes, found: Sequence[Point]) -> None:
    drawn = [p.row.value for p in found] + [p.low for p in found if p.row.valid]
    drawn += [p.high for p in found if p.row.valid]
    panel.set_yscale("log")
    panel.set_ylim(max(min(drawn), 0.1) / 1.3, max(drawn) * 1.3)
    panel.yaxis.set_major_locator(LogLocator(10, subs=(1, 2, 5)))
    panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: tick(value)))
    panel.yaxis.set_minor_locator(NullLocator())
    panel.set_ylabel(f"{unit_name(found[0].row.unit)} per load")


def invalid(found: Sequence[Point]) -> str:
    """The points that do not count."""
    return invalid_note(
        f"{point.curve}, {size(point.footprint)}" for point in found if not point.row.valid
    )


def cells(point: Point) -> tuple[object, ...]:
    """One line of the data file."""
    row = point.row
    return (
        point.curve, point.cores, point.stride, point.footprint, row.value, row.unit, point.low,
        point.high, row.valid, row.case,
    )  # fmt: skip


def source(point: Point) -> Row:
    """The row behind a point."""
    return point.row
