"""How much of a level's bandwidth is left to wanted bytes that lie apart, off, or anywhere?

Useful bandwidth against stride, misalignment and the window of a gather; beside it what would be
left if a sector cost the same whatever the pattern.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

from strata.figures import AxesGrid, Figure, Grid
from strata.figures._palette import GREY, hollow_key, invalid_note, width_style
from strata.model import LEVELS, level_name, ordered
from strata.model.units import number
from strata.run import Row

BENCHMARK = "stride_gather"
PATTERNS = ("strided", "misaligned", "gather")
_TITLE = {"strided": "strided", "misaligned": "misaligned", "gather": "gathered"}
_X = {
    "strided": "stride (elements)",
    "misaligned": "misalignment (elements)",
    "gather": "window of a gather (bytes)",
}
TERA, GIGA = 1e12, 1e9


@dataclass(frozen=True, slots=True)
class Point:
    """One case: where it stands, its useful bandwidth, and that of the sectors it asks for."""

    level: str
    pattern: str
    width: int
    setting: int
    """Stride or misalignment in elements, window in bytes."""
    useful: Row
    sectors: Row | None
    counted: Row | None
    """Sectors of a warp-load."""
    whole: float | None
    """Bytes of sectors a second where neighbours lie side by side; None where that is not known."""

    @property
    def valid(self) -> bool:
        """Whether all that is drawn of it is."""
        return self.useful.valid

    @property
    def modelled(self) -> float | None:
        """The useful bandwidth, were a sector as dear as where neighbours lie side by side."""
        if self.sectors is None or self.whole is None:
            return None
        return self.whole * self.useful.value / self.sectors.value

    @property
    def share(self) -> float | None:
        """Sectors a second, over those where neighbours lie side by side."""
        if self.sectors is None or self.whole is None:
            return None
        return self.sectors.value / self.whole


def _setting(row: Row) -> tuple[str, int]:
    """Pattern and what varies in it."""
    pattern = row.params["pattern"]
    if pattern == "gather":
        return pattern, int(row.params["locality"]) * int(row.params["width"])
    return pattern, int(row.params["stride" if pattern == "strided" else "misalignment"])


def prepare(rows: Sequence[Row]) -> Sequence[Point]:
    """Points in the order of the panels; a stride of 1 is also a misalignment of 0."""
    mine = [row for row in rows if row.benchmark == BENCHMARK]
    timed = [row for row in mine if row.provenance == "timed"]
    sectors = {row.case: row for row in timed if row.quantity == "sector_bandwidth"}
    counted = {
        row.case: row
        for row in mine
        if row.quantity == "sectors_per_request" and row.provenance == "counted"
    }
    useful = [
        row
        for row in timed
        if row.quantity == "useful_bandwidth" and row.params.get("pattern") in PATTERNS
    ]
    whole = {
        (row.params["level"], row.params["width"]): sectors[row.case].value
        for row in useful
        if _setting(row) == ("strided", 1) and row.valid and row.case in sectors
    }
    misaligned = {
        (row.params["level"], row.params["width"])
        for row in useful
        if row.params["pattern"] == "misaligned"
    }
    points = []
    for row in useful:
        place = row.params["level"], row.params["width"]
        here = [_setting(row)]
        if here[0] == ("strided", 1) and place in misaligned:
            here.append(("misaligned", 0))
        points += [
            Point(
                level=place[0],
                pattern=pattern,
                width=int(place[1]),
                setting=setting,
                useful=row,
                sectors=sectors.get(row.case),
                counted=counted.get(row.case),
                whole=whole.get(place),
            )
            for pattern, setting in here
        ]
    order = ordered((one.level for one in points), LEVELS)
    return sorted(
        points,
        key=lambda one: (
            order.index(one.level),
            PATTERNS.index(one.pattern),
            one.width,
            one.setting,
        ),
    )


def _levels(points: Sequence[Point]) -> list[str]:
    return ordered((one.level for one in points), LEVELS)


def _patterns(points: Sequence[Point]) -> list[str]:
    return ordered((one.pattern for one in points), PATTERNS)


def _scale(points: Sequence[Point]) -> tuple[float, str]:
    most = max(one.useful.maximum for one in points)
    return (TERA, "TB/s") if most >= TERA else (GIGA, "GB/s")


def grid(points: Sequence[Point]) -> Grid:
    """A row for each level, a column for each pattern."""
    rows, columns = len(_levels(points)), len(_patterns(points))
    return Grid(rows, columns, width=0.7 + 2.6 * columns, height=0.8 + 2.1 * rows)


def _bytes(value: float, _: object = None) -> str:
    """A power of two in as few letters as a tick has room for."""
    units = ("B", "K", "M", "G")
    step = min(int(math.log2(value)) // 10, 3) if value >= 1 else 0
    return f"{value / 1024**step:g}{units[step]}"


def _draw_panel(panel: Axes, points: Sequence[Point], scale: float) -> None:
    """Markers: medians with the range of their samples. Thin lines: the model. Hollow: invalid."""
    for width in sorted({one.width for one in points}):
        colour, marker = width_style(width)
        here = [one for one in points if one.width == width]
        model = [(one.setting, one.modelled / scale) for one in here if one.modelled is not None]
        if model:
            panel.plot(
                *zip(*model, strict=True), color=colour, linestyle=(0, (3, 2)), linewidth=0.9,
                label="_model", zorder=1.5,
            )  # fmt: skip
        valid = [one for one in here if one.valid]
        if valid:
            panel.vlines(
                [one.setting for one in valid], [one.useful.minimum / scale for one in valid],
                [one.useful.maximum / scale for one in valid], color=colour, linewidth=1.0,
            )  # fmt: skip
            panel.plot(
                [one.setting for one in valid], [one.useful.value / scale for one in valid],
                color=colour, marker=marker, markersize=3.6, linewidth=1.1, label="_valid",
            )  # fmt: skip
        invalid = [(one.setting, one.useful.value / scale) for one in here if not one.valid]
        if invalid:
            panel.plot(
                *zip(*invalid, strict=True), linestyle="none", color=colour, marker=marker,
                markersize=3.6, markerfacecolor="white", markeredgewidth=0.8, zorder=4,
                label="_invalid",
            )  # fmt: skip


def _lay_axis(panel: Axes, pattern: str, settings: Sequence[int]) -> None:
    """Abscissae: powers of two, but for misalignments, which begin at 0."""
    ticks = sorted(set(settings))
    if pattern == "misaligned":
        panel.set_xscale("symlog", base=2, linthresh=1)
        panel.set_xlim(-0.35, max(ticks[-1], 1) * 1.35)
    else:
        panel.set_xscale("log", base=2)
        panel.set_xlim(ticks[0] / 1.4, ticks[-1] * 1.4)
    if pattern == "gather":
        panel.xaxis.set_major_locator(LogLocator(16, numticks=12))
        panel.xaxis.set_major_formatter(FuncFormatter(_bytes))
    else:
        panel.xaxis.set_major_locator(FixedLocator([float(tick) for tick in ticks]))
        panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    panel.xaxis.set_minor_locator(NullLocator())


def draw(points: Sequence[Point], axes: AxesGrid) -> None:
    """Levels from top to bottom, patterns from left to right; a row has one scale."""
    scale, unit = _scale(points)
    levels, patterns = _levels(points), _patterns(points)
    for down, level in enumerate(levels):
        row = [one for one in points if one.level == level]
        drawn = [one.useful.minimum for one in row] + [one.useful.maximum for one in row]
        drawn += [one.modelled for one in row if one.modelled is not None]
        for across, pattern in enumerate(patterns):
            panel = axes[down][across]
            here = [one for one in row if one.pattern == pattern]
            panel.set_visible(bool(here))
            if not here:
                continue
            _draw_panel(panel, here, scale)
            panel.set_yscale("log")
            panel.set_ylim(min(drawn) / scale / 1.4, max(drawn) / scale * 1.4)
            panel.yaxis.set_major_locator(LogLocator(10, subs=(1, 2, 5)))
            panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            panel.yaxis.set_minor_formatter(NullFormatter())
            settings = [one.setting for one in points if one.pattern == pattern]
            _lay_axis(panel, pattern, settings)
            panel.set_title(f"{level_name(level)}, {_TITLE[pattern]}")
            below = [one.level for one in points if one.pattern == pattern]
            if level == levels[max(levels.index(one) for one in below)]:
                panel.set_xlabel(_X[pattern])
            if across == 0:
                panel.set_ylabel(f"useful bandwidth ({unit})")
    handles = [
        Line2D([], [], color=width_style(width)[0], marker=width_style(width)[1],
               markersize=3.6, linewidth=1.1, label=f"{width} B elements")
        for width in sorted({one.width for one in points})
    ]  # fmt: skip
    if any(one.modelled is not None for one in points):
        handles.append(
            Line2D([], [], color=GREY, linestyle=(0, (3, 2)), linewidth=0.9,
                   label="sectors at the rate of stride 1")
        )  # fmt: skip
    if any(not one.valid for one in points):
        handles.append(hollow_key())
    axes[0][0].figure.legend(handles=handles, loc="outside upper center", ncols=len(handles))


def _worst(points: Sequence[Point]) -> str:
    """The sentence of a caption on the case that is furthest below its model; empty without any."""
    known = [(one.share, one) for one in points if one.valid and one.share is not None]
    if not known:
        return ""
    share, one = min(known, key=lambda pair: pair[0])
    what = "window of" if one.pattern == "gather" else _X[one.pattern].split(" ")[0]
    setting = _bytes(one.setting) if one.pattern == "gather" else f"{one.setting}"
    return (
        f" Furthest from that: {level_name(one.level)}, {_TITLE[one.pattern]}, {what} {setting}, "
        f"{one.width} B elements, with {number(100 * share)} % of the sectors a second of stride 1."
    )


def caption(points: Sequence[Point]) -> str:
    """What is drawn, and what the dashed lines say."""
    model = (
        " Dashed: what would be left if every sector that the loads ask for, by the coalescing "
        "model, took as long as those of a stride of 1; more is left where L2 holds a sector of "
        "memory until another load wants it."
        if any(one.modelled is not None for one in points)
        else ""
    )
    return (
        "Bytes that were wanted, a second, by all cores together; medians, with the range of the "
        "samples. Strided: each element lies that many elements behind the last. Misaligned: "
        "neighbours, read from that many elements behind the start of a line. Gathered: each "
        "element of a window once, in an order that looks random and is computed in registers, so "
        f"that no index is loaded.{model}{_worst(points)}"
        + invalid_note(
            f"{level_name(one.level)}, {_TITLE[one.pattern]}, {one.setting}, {one.width} B"
            for one in points
            if not one.valid
        )
    )


def cells(point: Point) -> tuple[object, ...]:
    """One line of the data file."""
    row = point.useful
    return (
        point.level, point.pattern, point.width, point.setting, row.value, row.minimum,
        row.maximum, point.sectors.value if point.sectors else "",
        point.counted.value if point.counted else "",
        "" if point.modelled is None else point.modelled,
        "" if point.share is None else point.share, row.valid, row.case,
    )  # fmt: skip


def source(point: Point) -> Row:
    """The row of its useful bandwidth."""
    return point.useful


FIGURE = Figure(
    name="stride_gather",
    title="Strides, misalignments and gathers",
    order=62,
    prepare=prepare,
    grid=grid,
    draw=draw,
    caption=caption,
    columns=(
        "level", "pattern", "width_bytes", "stride_misalignment_or_window_bytes",
        "useful_bytes_per_second", "low", "high", "sector_bytes_per_second",
        "counted_sectors_per_request", "modelled_useful_bytes_per_second",
        "share_of_sectors_at_stride_1", "valid", "case",
    ),
    cells=cells,
    source=source,
)  # fmt: skip
