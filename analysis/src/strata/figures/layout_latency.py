"""What does one warp-read cost in each layout, when nothing else runs?

After Figures 10 and 11 of Siegel et al. 2009, once per level of the hierarchy. The time of the sum
and of the address arithmetic is inside each bar; it is hatched where it was measured.
"""

from collections.abc import Sequence

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from strata.figures import AxesGrid, Figure, Grid, flat
from strata.figures._palette import (
    GREY,
    INK,
    invalid_note,
    layout_style,
    legend_above,
    present_layouts,
)
from strata.model import FIELDS, LEVELS, Bar, fields_name, latency_bars, level_name, ordered
from strata.model.units import short, unit_name
from strata.run import Row

BAR_WIDTH = 0.86


def grid(bars: Sequence[Bar]) -> Grid:
    """One panel per level, at most three abreast, four as two by two."""
    levels = len({bar.level for bar in bars})
    columns = levels if levels <= 3 else 2
    rows = -(-levels // columns)
    return Grid(rows, columns, width=max(3.2 * columns, 4.8), height=0.5 + 2.5 * rows)


def draw(bars: Sequence[Bar], axes: AxesGrid) -> None:
    """Bars: medians over warps. Whiskers: 5th to 95th percentile over warps. Hatch: arithmetic."""
    levels = ordered((bar.level for bar in bars), LEVELS)
    panels = flat(axes)
    layouts = present_layouts(bar.layout for bar in bars)
    for panel, level in zip(panels, levels, strict=False):
        _panel([bar for bar in bars if bar.level == level], layouts, panel)
        panel.set_title(level_name(level))
    for panel in panels[len(levels) :]:
        panel.set_visible(False)
    for row in axes:
        row[0].set_ylabel(f"{unit_name(bars[0].cycles.unit)} per warp-read")
    handles: list[Artist] = [Patch(facecolor=layout_style(x)[0], label=x) for x in layouts]
    if any(bar.arithmetic for bar in bars):
        handles.append(Patch(facecolor="white", edgecolor=GREY, hatch="/////", label="arithmetic"))
    if any(not bar.cycles.valid for bar in bars):
        handles.append(
            Patch(facecolor="white", edgecolor=GREY, linestyle="--", label="invalid (hollow)")
        )
    legend_above(panels[0], handles)


def _panel(bars: Sequence[Bar], layouts: Sequence[str], panel: Axes) -> None:
    groups = ordered((bar.fields for bar in bars), FIELDS)
    pitch = len(layouts) + 1
    tops = []
    for bar in bars:
        x = groups.index(bar.fields) * pitch + layouts.index(bar.layout)
        tops.append(_bar(bar, x, panel))
    panel.set_ylim(0, 1.14 * max(tops))
    panel.set_xlim(-1, pitch * len(groups) - 1)
    middle = (len(layouts) - 1) / 2
    panel.set_xticks(
        [middle + pitch * place for place in range(len(groups))], [fields_name(g) for g in groups]
    )
    panel.tick_params(axis="x", length=0)


def _bar(bar: Bar, x: float, panel: Axes) -> float:
    """Draws one bar; returns the height of what it reaches up to, in data units."""
    colour, _ = layout_style(bar.layout)
    value, valid = bar.cycles.value, bar.cycles.valid
    panel.bar(
        x, value, BAR_WIDTH, facecolor=colour if valid else "none", edgecolor=colour,
        linestyle="-" if valid else "--", linewidth=0.8,
    )  # fmt: skip
    if bar.arithmetic:
        panel.bar(
            x, min(bar.arithmetic.value, value), BAR_WIDTH, facecolor="none",
            edgecolor="white" if valid else colour, hatch="/////", linewidth=0,
        )  # fmt: skip
    top = value
    if bar.p5 and bar.p95:
        low, high = max(value - bar.p5.value, 0), max(bar.p95.value - value, 0)
        panel.errorbar(
            x, value, yerr=[[low], [high]], color=INK, elinewidth=0.8, capsize=1.6, capthick=0.8
        )
        top = max(value, bar.p95.value)
    panel.annotate(
        short(value), (x, top), (0, 2), textcoords="offset points",
        ha="center", va="bottom", fontsize=6, color=INK if valid else GREY,
    )  # fmt: skip
    return top


def caption(bars: Sequence[Bar]) -> str:
    """What the bars are, and which of them do not count."""
    row = bars[0].cycles
    core = "core" if row.backend == "host" else "SM"
    where = {"one": f"on one {core}", "all": f"on every {core}"}.get(
        row.params.get("cores", ""), ""
    )
    spread = " Whiskers: 5th to 95th percentile over warps." if any(b.p5 for b in bars) else ""
    hatch = (
        " Hatched: the part that is sum and address arithmetic, not load."
        if any(bar.arithmetic for bar in bars)
        else ""
    )
    invalid = invalid_note(
        f"{level_name(b.level)} {b.layout}, {fields_name(b.fields)}"
        for b in bars
        if not b.cycles.valid
    )
    return (
        "Time of one warp-read (32 particles, one per lane) by memory layout, one warp at a time "
        f"{where}. Bars: median over warps.{spread}{hatch}{invalid}"
    ).replace(" .", ".")


def cells(bar: Bar) -> tuple[object, ...]:
    """One line of the data file."""
    row = bar.cycles
    spread = [other.value if other else "" for other in (bar.p5, bar.p95, bar.arithmetic)]
    return (bar.level, bar.fields, bar.layout, row.unit, row.value, *spread, row.valid, row.case)


def source(bar: Bar) -> Row:
    """The row behind a bar."""
    return bar.cycles


FIGURE = Figure(
    name="layout_latency",
    title="Latency of a warp-read by memory layout",
    order=10,
    prepare=latency_bars,
    grid=grid,
    draw=draw,
    caption=caption,
    columns=(
        "level", "fields", "layout", "unit", "median", "p5", "p95", "arithmetic", "valid", "case",
    ),
    cells=cells,
    source=source,
)  # fmt: skip
