"""How much of a level's bandwidth remains for strided, misaligned or scattered accesses?

Useful bandwidth against stride, misalignment and gather window; beside it the bandwidth if a sector
cost the same in every pattern.
"""

from collections.abc import Mapping
from operator import attrgetter
from typing import NamedTuple

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from strata.figures._figure import Columns, attributes, prose
from strata.figures._plot import figure, table
from strata.figures._style import GREY, WIDTHS, bytes_axis, plain_log, points, scaled
from strata.model.cases import by_case
from strata.model.names import LEVELS, level_name, rank
from strata.model.units import number, size
from strata.run import Row, Run

PATTERNS: Mapping[str, tuple[str, str, str]] = {
    "strided": ("stride", "strided", "elements apart"),
    "misaligned": ("misalignment", "misaligned", "elements past a line"),
    "gather": ("locality", "gathered", "window of a gather"),
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


COLUMNS: Columns = {
    **attributes(
        "level", "pattern", width_bytes="width", stride_misalignment_or_window_bytes="setting"
    ),
    **attributes(of="useful", useful_bytes_per_second="value", low="minimum", high="maximum"),
    **attributes(
        requested_bytes_per_second="sectors", counted_sectors_per_request="counted",
        memory_bytes_per_second="from_memory", modelled_useful_bytes_per_second="modelled",
        share_of_sectors_at_stride_1="share",
    ),
}  # fmt: skip


def data(run: Run) -> pd.DataFrame:
    """Points in panel order; a stride of 1 is also a misalignment of 0."""
    found = []
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
            found.append(Point(*where, useful, sectors, counted, moved, None))
    neighbours = [one for one in found if (one.pattern, one.setting) == ("strided", 1)]
    off = {(one.level, one.width) for one in found if one.pattern == "misaligned"}
    found += [
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

    found = [one._replace(whole=whole.get((one.level, one.width))) for one in found]
    return table(sorted(found, key=place), COLUMNS, row=attrgetter("useful"), label=_label)


def _label(one: Point) -> str:
    name = PATTERNS[one.pattern][1]
    return f"{level_name(one.level)}, {name}, {one.setting}, {one.width} B"


def caption(data: pd.DataFrame) -> str:
    """What the patterns are, and which is furthest from the model."""
    furthest = ""
    known = data[data.valid & data.share_of_sectors_at_stride_1.notna()]
    if len(known):
        one = known.iloc[known.share_of_sectors_at_stride_1.astype(float).argmin()]
        name, words, _ = PATTERNS[one.pattern]
        setting = one.stride_misalignment_or_window_bytes
        gathered = one.pattern == "gather"
        where = f"window of {size(setting)}" if gathered else f"{name} {setting}"
        furthest = (
            f"Furthest from that: {level_name(one.level)}, {words}, {where}, {one.width_bytes} B "
            f"elements, with {number(100 * one.share_of_sectors_at_stride_1)} % of the sectors "
            "per second of stride 1."
        )
    return prose(
        "Wanted bytes per second, by all cores together; medians, with the range of the "
        "samples. Strided: elements at that distance. Misaligned: adjacent elements, starting "
        "that many elements after the start of a line. Gathered: each element of a window "
        "once, in a pseudo-random order that is computed in registers, so that no index is "
        "loaded.",
        data.modelled_useful_bytes_per_second.notna().any()
        and "Dashed: what would remain if every sector that the loads request, by the "
        "coalescing model, took as long as those of stride 1, where that is valid; more "
        "remains where L2 keeps a sector of memory until another load needs it.",
        furthest,
    )


@figure(
    "stride_gather", "Strides, misalignments and gathers", order=62, data=data, caption=caption
)  # fmt: skip
def draw(data: pd.DataFrame, figure: Figure) -> None:
    """Patterns from top to bottom, levels from left to right, with one scale of bandwidth."""
    levels = [*data.level.unique()]
    patterns = [one for one in PATTERNS if one in {*data.pattern}]
    scale, unit = scaled(data.high.max(), "B/s", least=1e9)
    figure.set_figheight(0.7 + 1.8 * len(patterns))
    grid = figure.subplots(len(patterns), len(levels), sharex="row", sharey=True, squeeze=False)
    rates = ["useful_bytes_per_second", "low", "high", "modelled_useful_bytes_per_second"]
    data = data.assign(at=data.stride_misalignment_or_window_bytes)
    data[rates] = data[rates].astype(float) / scale
    for pattern, row in zip(patterns, grid, strict=True):
        _, name, label = PATTERNS[pattern]
        for level, ax in zip(levels, row, strict=True):
            here = data[(data.level == level) & (data.pattern == pattern)]
            for width, of in here.groupby("width_bytes"):
                colour, marker = WIDTHS[width]
                look = {"color": colour, "marker": marker, "ms": 3.4, "lw": 1}
                points(ax, of, "at", rates[0], label=f"{width} B elements", **look)
                ax.vlines(of["at"], of.low, of.high, color=colour, lw=0.8)
                ax.plot(of["at"], of[rates[3]], color=colour, ls="--", lw=0.9)
            ax.set_title(f"{level_name(level)}, {name}")
            if pattern == "gather":
                bytes_axis(ax, label)
                continue
            settings = sorted({*data[data.pattern == pattern]["at"]})
            ax.set_xscale("symlog", base=2, linthresh=1)
            ax.set_xticks(settings, settings)
            ax.xaxis.set_minor_locator(NullLocator())
            ax.set_xlabel(label)
        row[0].set_ylabel(f"useful {unit}")
    plain_log(grid[0, 0])
    if data[rates[3]].notna().any():
        label = "sectors at the rate of stride 1"
        grid[0, 0].plot([], color=GREY, ls="--", lw=0.9, label=label)
