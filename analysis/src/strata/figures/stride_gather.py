"""How much of a level's bandwidth remains for strided, misaligned or scattered accesses?

Useful bandwidth against stride, misalignment and gather window; beside it the bandwidth if a sector
cost the same in every pattern.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import attrgetter, itemgetter
from typing import NamedTuple

from strata.figures import _chart as c
from strata.figures._figure import Figure, attributes, prose
from strata.model.cases import by_case
from strata.model.names import LEVELS, level_name, rank
from strata.model.units import number
from strata.run import Row, Run

PATTERNS: Mapping[str, tuple[str, str, str]] = {
    "strided": ("stride", "strided", "stride (elements)"),
    "misaligned": ("misalignment", "misaligned", "misalignment (elements)"),
    "gather": ("locality", "gathered", "window of a gather (bytes)"),
}
"""Of each pattern the axis that varies, and how title and abscissae call it."""


class Point(NamedTuple):
    """One case: its place, its useful bandwidth, and that of the sectors that it requests.

    `setting` is a stride or misalignment in elements, or a window in bytes; `counted` is sectors
    per warp-load; `moved` is bytes from memory per useful byte; `whole` is bytes of sectors per
    second for contiguous accesses.
    """

    level: str
    pattern: str
    width: int
    setting: int
    useful: Row
    sectors: Row | None
    counted: Row | None
    moved: Row | None
    whole: float | None

    @property
    def share(self) -> float | None:
        """Sectors per second, relative to contiguous accesses."""
        return self.sectors.value / self.whole if self.sectors and self.whole else None

    @property
    def from_memory(self) -> float | None:
        """Bytes per second from memory, if they were counted."""
        return self.useful.value * self.moved.value if self.moved and self.level == "dram" else None

    @property
    def modelled(self) -> float | None:
        """The useful bandwidth if a sector cost as much as in contiguous accesses."""
        if self.sectors is None or self.whole is None:
            return None
        return self.whole * self.useful.value / self.sectors.value


def _bytes(value: float) -> str:
    """A window, short enough for a tick label."""
    step = min(int(math.log2(value)) // 10, 3) if value >= 1 else 0
    return f"{value / 1024**step:g}{'BKMG'[step]}"


def items(run: Run) -> Sequence[Point]:
    """Points in panel order; a stride of 1 is also a misalignment of 0."""
    points = []
    for case in by_case(run.of("stride_gather")):
        useful, pattern = case.row("useful_bandwidth", provenance="timed"), case.text("pattern")
        if useful and pattern in PATTERNS:
            width, setting = case.count("width"), case.count(PATTERNS[pattern][0])
            setting *= width if pattern == "gather" else 1
            sectors = case.row("requested_bandwidth", provenance="timed")
            sectors = sectors or case.row("sector_bandwidth", provenance="timed")  # older runs
            counted = case.row("sectors_per_request", provenance="counted")
            moved = case.row("memory_bytes_per_used_byte", provenance="counted")
            where = (case.text("level"), pattern, width, setting)
            points.append(Point(*where, useful, sectors, counted, moved, None))
    neighbours = [one for one in points if (one.pattern, one.setting) == ("strided", 1)]
    off = {(one.level, one.width) for one in points if one.pattern == "misaligned"}
    points += [
        one._replace(pattern="misaligned", setting=0)
        for one in neighbours
        if (one.level, one.width) in off
    ]
    whole = {
        (one.level, one.width): one.sectors.value
        for one in neighbours
        if one.useful.valid and one.sectors
    }

    def place(one: Point) -> tuple[object, ...]:
        return rank(one.level, LEVELS), list(PATTERNS).index(one.pattern), one.width, one.setting

    points = [one._replace(whole=whole.get((one.level, one.width))) for one in points]
    return sorted(points, key=place)


def chart(points: Sequence[Point]) -> c.Chart:
    """Levels from top to bottom, patterns from left to right; each row has one scale."""
    scale, unit = c.scaled(max(one.useful.maximum for one in points), "B/s", least=1e9)
    dashed = c.Look(line="--", width=0.9, colour=c.GREY)

    def panel(level: str, pattern: str, here: Sequence[Point]) -> c.Panel | None:
        layers: list[c.Layer] = []
        for width, of in c.grouped(here, lambda one: one.width).items():
            look = c.look_of(c.WIDTH_LOOK, width, size=3.6, width=1.1)
            model = [c.Mark(one.setting, one.modelled / scale) for one in of if one.modelled]
            marks = [c.mark(one.setting, one.useful, scale) for one in of]
            layers.append(c.Series(model, replace(dashed, colour=look.colour), order=1.5))
            layers.append(c.Series(marks, look, f"{width} B elements", "bar"))
        settings = sorted({one.setting for one in points if one.pattern == pattern})
        _, name, label = PATTERNS[pattern]
        ends = (-0.35, max(settings[-1], 1) * 1.35)
        places = {
            "strided": c.Axis(label, "log2", ticks=settings),
            "misaligned": c.Axis(label, "symlog2", ends, ticks=settings),
            "gather": c.Axis(label, "log2", text=_bytes, most=8),
        }[pattern]
        values = c.Axis(f"useful bandwidth ({unit})", "log")
        return c.Panel(layers, places, values, f"{level_name(level)}, {name}") if here else None

    by = (attrgetter("level"), attrgetter("pattern"))
    rows = c.facets(points, *by, panel, rows=LEVELS, columns=tuple(PATTERNS))
    modelled = any(one.modelled for one in points)
    keys = [c.Key("sectors at the rate of stride 1", dashed)] if modelled else []
    width, height = 0.7 + 2.6 * len(rows[0]), 0.8 + 2.1 * len(rows)
    return c.Chart(rows, width, height, keys=keys, share="row")


def _caption(points: Sequence[Point]) -> str:
    shares = [(one.share, one) for one in points if one.useful.valid and one.share is not None]
    furthest = ""
    if shares:
        share, one = min(shares, key=itemgetter(0))
        setting, name, _ = PATTERNS[one.pattern]
        where = f"{setting} {one.setting}"
        if one.pattern == "gather":
            where = f"window of {_bytes(one.setting)}"
        furthest = (
            f"Furthest from that: {level_name(one.level)}, {name}, {where}, {one.width} B "
            f"elements, with {number(100 * share)} % of the sectors per second of stride 1."
        )
    return prose(
        "Wanted bytes per second, by all cores together; medians, with the range of the "
        "samples. Strided: elements at that distance. Misaligned: adjacent elements, starting "
        "that many elements after the start of a line. Gathered: each element of a window "
        "once, in a pseudo-random order that is computed in registers, so that no index is "
        "loaded.",
        any(one.modelled for one in points)
        and "Dashed: what would remain if every sector that the loads request, by the "
        "coalescing model, took as long as those of stride 1; more remains where L2 keeps "
        "a sector of memory until another load needs it.",
        furthest,
    )


FIGURE = Figure(
    "stride_gather", "Strides, misalignments and gathers", 62, items, chart, _caption,
    attributes(
        "level", "pattern", width_bytes="width", stride_misalignment_or_window_bytes="setting"
    )
    | attributes(of="useful", useful_bytes_per_second="value", low="minimum", high="maximum")
    | attributes(
        requested_bytes_per_second="sectors", counted_sectors_per_request="counted",
        memory_bytes_per_second="from_memory", modelled_useful_bytes_per_second="modelled",
        share_of_sectors_at_stride_1="share",
    ),
    row=lambda one: one.useful,
    label=lambda one: (
        f"{level_name(one.level)}, {PATTERNS[one.pattern][1]}, {one.setting}, {one.width} B"
    ),
)  # fmt: skip
