"""How long does a read of a whole particle take in each layout of a 2009 paper?

Figure 10 of Siegel, Ributzka and Li (2009), redone at every level of memory.
"""

from collections.abc import Sequence

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from strata import reference
from strata.figures import AxesGrid, Figure, Grid, flat
from strata.figures._palette import GREY, INK, invalid_note, layout_style, legend_above
from strata.ladder import seeds as ladder_seeds
from strata.ladder.seeds import SIEGEL_LAYOUTS
from strata.model import LEVELS, Bar, level_name, ordered
from strata.model.units import short, unit_name
from strata.run import Row

KEY = "siegel2009gravit"


def grid(times: Sequence[Bar]) -> Grid:
    """One panel for each level, at most three abreast, four as two by two."""
    levels = len({time.level for time in times})
    columns = levels if levels <= 3 else 2
    rows = -(-levels // columns)
    return Grid(rows, columns, width=max(2.5 * columns, 4.6), height=0.6 + 2.2 * rows)


def draw(times: Sequence[Bar], axes: AxesGrid) -> None:
    """Bars of medians from zero; whiskers: 5th to 95th percentile over warps."""
    panels = flat(axes)
    levels = ordered((time.level for time in times), LEVELS)
    for panel, level in zip(panels, levels, strict=False):
        _panel(panel, [time for time in times if time.level == level])
        panel.set_title(level_name(level))
    for panel in panels[len(levels) :]:
        panel.set_visible(False)
    for row in axes:
        row[0].set_ylabel(f"{unit_name(times[0].cycles.unit)} per warp-read")
    handles: list[Artist] = [
        Patch(facecolor=layout_style(one)[0], label=one)
        for one in SIEGEL_LAYOUTS
        if any(time.layout == one for time in times)
    ]
    if any(not time.cycles.valid for time in times):
        handles.append(
            Patch(facecolor="white", edgecolor=GREY, linestyle="--", label="invalid (hollow)")
        )
    legend_above(panels[0], handles)


def _panel(panel: Axes, times: Sequence[Bar]) -> None:
    tops = []
    for place, time in enumerate(times):
        row, (colour, _) = time.cycles, layout_style(time.layout)
        panel.bar(
            place, row.value, 0.7, facecolor=colour if row.valid else "none", edgecolor=colour,
            linestyle="-" if row.valid else "--", linewidth=0.8,
            label="_valid" if row.valid else "_invalid",
        )  # fmt: skip
        top = row.value
        if time.p5 and time.p95:
            low, high = max(row.value - time.p5.value, 0), time.p95.value - row.value
            panel.errorbar(
                place, row.value, yerr=[[low], [max(high, 0)]], color=INK, elinewidth=0.8,
                capsize=2, capthick=0.8,
            )  # fmt: skip
            top = max(top, time.p95.value)
        panel.annotate(
            short(row.value), (place, top), (0, 2), textcoords="offset points", ha="center",
            va="bottom", fontsize=7, color=INK if row.valid else GREY,
        )  # fmt: skip
        tops.append(top)
    panel.set_ylim(0, 1.14 * max(tops))
    panel.set_xlim(-0.6, len(times) - 0.4)
    panel.set_xticks(
        range(len(times)), [f"{time.layout}\n{SIEGEL_LAYOUTS[time.layout]}" for time in times],
        fontsize=7,
    )  # fmt: skip
    panel.tick_params(axis="x", length=0)


def caption(times: Sequence[Bar]) -> str:
    """What the bars are, and what the paper has."""
    words = (
        f"After Figure 10 of Siegel et al. 2009 {reference.cite(KEY)}, "
        "run times of their reading benchmarks (sections "
        "II-A to II-D): all seven fields of 32 particles, by one warp at a time, at every level of "
        "memory; the sum of the fields is in the time, as in theirs. Bars: medians over warps; "
        "whiskers: 5th to 95th percentile. They read uncached global memory of an 8800 GTX, with "
        "CUDA 1.0, 1.1 and 2.2; their cycles are printed as bars alone, so none are drawn here."
    )
    return words + invalid_note(
        f"{level_name(time.level)} {time.layout}" for time in times if not time.cycles.valid
    )


def cells(time: Bar) -> tuple[object, ...]:
    """One line of the data file."""
    row = time.cycles
    spread = [one.value if one else "" for one in (time.p5, time.p95)]
    return (
        time.level, time.layout, SIEGEL_LAYOUTS[time.layout], row.unit, row.value, *spread,
        row.valid, row.case,
    )  # fmt: skip


def source(time: Bar) -> Row:
    """The time of a warp-read."""
    return time.cycles


FIGURE = Figure(
    name="siegel_10",
    title="Reads of a particle by layout (Siegel et al. 2009, Figure 10)",
    order=11,
    prepare=ladder_seeds.layout_times,
    grid=grid,
    draw=draw,
    caption=caption,
    columns=("level", "layout", "section", "unit", "median", "p5", "p95", "valid", "case"),
    cells=cells,
    source=source,
)
