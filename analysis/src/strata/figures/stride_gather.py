"""How much of a level's bandwidth remains for strided, misaligned or scattered accesses?

Useful bandwidth against stride, misalignment and gather window; beside it the bandwidth if a sector
cost the same in every pattern.
"""

from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from strata.figures import _style
from strata.figures._plot import columns, figure, in_order, prose, rows_of, worded
from strata.figures._style import GREY, WIDTHS, in_column, parts, plain_log, series, si_axis
from strata.model.names import LEVELS, level_name, ordered
from strata.model.units import number, size
from strata.run import Run, beside

PATTERNS = {
    "strided": ("stride", "strided", "elements apart"),
    "misaligned": ("misalignment", "misaligned", "elements past a line"),
    "gather": ("locality", "gathered", "window of a gather"),
}
"""Of each pattern the axis that varies, and how title and abscissae call it."""
PLACE = ["level", "width"]
RATE, MODELLED = "useful_bytes_per_second", "modelled_useful_bytes_per_second"


def data(run: Run) -> pd.DataFrame:
    """Cases in panel order; a stride of 1 is also a misalignment of 0.

    The setting is a stride or misalignment in elements, or a window in bytes. Modelled: the useful
    bandwidth if a sector cost as much as in contiguous accesses.
    """
    axes: Any = {"level": "?", "pattern": "?", "width": 0}
    rows = rows_of(run, "stride_gather", stride=0, misalignment=0, locality=0, **axes)
    timed, counted = (rows[rows.provenance == kind] for kind in ("timed", "counted"))
    lines = timed[(timed.quantity == "useful_bandwidth") & timed.pattern.isin(PATTERNS)]
    if lines.empty:
        return lines
    setting = lines.stride.where(lines.pattern == "strided", lines.misalignment)
    setting = lines.locality.where(lines.pattern == "gather", setting)
    older = beside(lines, timed, "sector_bandwidth")
    lines = lines.assign(
        setting=setting * lines.width.where(lines.pattern == "gather", 1),
        sectors=beside(lines, timed, "requested_bandwidth").fillna(older),
        counted=beside(lines, counted, "sectors_per_request"),
        memory=lines.value * beside(lines, counted, "memory_bytes_per_used_byte"),
    )
    contiguous = lines[(lines.pattern == "strided") & (lines.setting == 1)]
    misaligned = lines[lines.pattern == "misaligned"][PLACE].drop_duplicates()
    aligned = contiguous.assign(pattern="misaligned", setting=0).merge(misaligned)
    whole = contiguous[contiguous.valid].set_index(PLACE).sectors.rename("whole")
    lines = pd.concat([lines, aligned], ignore_index=True).join(whole, on=PLACE)
    lines = lines.assign(
        memory=lines.memory.where(lines.level == "dram"),
        modelled=lines.whole * lines.value / lines.sectors,
        share=lines.sectors / lines.whole,
        level_name=lines.level.map(level_name),
        name=lines.pattern.map({pattern: name for pattern, (_, name, _) in PATTERNS.items()}),
    )
    lines["_label"] = worded(lines, "{level_name}, {name}, {setting}, {width} B")
    order = {"level": ordered(lines.level, LEVELS), "pattern": PATTERNS}
    return columns(
        in_order(lines, "level", "pattern", "width", "setting", **order),
        "level", "pattern", width_bytes="width", stride_misalignment_or_window_bytes="setting",
        useful_bytes_per_second="value", low="minimum", high="maximum",
        requested_bytes_per_second="sectors", counted_sectors_per_request="counted",
        memory_bytes_per_second="memory", modelled_useful_bytes_per_second="modelled",
        share_of_sectors_at_stride_1="share",
    )  # fmt: skip


def caption(data: pd.DataFrame) -> str:
    furthest = ""
    known = data[data.valid & data.share_of_sectors_at_stride_1.notna()]
    if len(known):
        line = known.sort_values("share_of_sectors_at_stride_1").iloc[0]
        name, words, _ = PATTERNS[line.pattern]
        setting = line.stride_misalignment_or_window_bytes
        where = f"window of {size(setting)}" if line.pattern == "gather" else f"{name} {setting}"
        furthest = (
            f"Furthest from that: {level_name(line.level)}, {words}, {where}, {line.width_bytes} B "
            f"elements, with {number(100 * line.share_of_sectors_at_stride_1)} % of the sectors "
            "per second of stride 1."
        )
    return prose(
        "Wanted bytes per second, by all cores together; medians, with the range of the samples. "
        "Strided: elements at that distance. Misaligned: adjacent elements that many after the "
        "start of a line. Gathered: each element of a window once, in a pseudo-random order that "
        "is computed in registers.",
        data[MODELLED].notna().any()
        and "Dashed: what would remain if every sector that the loads request, by the coalescing "
        "model, took as long as those of stride 1; more remains where L2 keeps sectors.",
        furthest,
    )


@figure("stride_gather", "Strides, misalignments and gathers", 62, data, caption)
def draw(data: pd.DataFrame, figure: Figure) -> None:
    levels = [*data.level.unique()]
    patterns = [pattern for pattern in PATTERNS if pattern in {*data.pattern}]
    figure.set_figheight(0.7 + 1.8 * len(patterns))
    grid = figure.subplots(len(patterns), len(levels), sharex="row", sharey=True, squeeze=False)
    data = data.assign(at=data.stride_misalignment_or_window_bytes)
    gap = "\n" if in_column(figure) else " "
    for pattern, row in zip(patterns, grid, strict=True):
        _, name, label = PATTERNS[pattern]
        for level, ax in zip(levels, row, strict=True):
            here = data[(data.level == level) & (data.pattern == pattern)]
            look = {"label": "{} B elements", "ms": 3.4, "lw": 1}
            series(ax, here, "width_bytes", WIDTHS, "at", RATE, "y", **look)
            for width, of in parts(here, "width_bytes"):
                ax.plot(of["at"], of[MODELLED], color=WIDTHS[width][0], ls="--", lw=0.9)
            ax.set_title(f"{level_name(level)},{gap}{name}")
            if pattern == "gather":
                _style.bytes_axis(ax, label)
            else:
                settings = sorted({*data[data.pattern == pattern]["at"]})
                ax.set_xscale("symlog", base=2, linthresh=1)
                ax.set_xticks(settings, settings)
                ax.xaxis.set_minor_locator(NullLocator())
                ax.set_xlabel(label)
        row[0].set_ylabel("useful bandwidth (B/s)")
    plain_log(grid[0, 0])
    si_axis(grid[0, 0])
    if data[MODELLED].notna().any():
        label = "sectors at the rate of stride 1"
        grid[0, 0].plot([], color=GREY, ls="--", lw=0.9, label=label)
