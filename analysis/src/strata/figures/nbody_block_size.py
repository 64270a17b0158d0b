"""Which size of blocks is best for n-body, and is it for its occupancy?

Siegel, Ributzka and Li (2009, IV-B) won 6 % by an occupancy of 67 % in place of 50 %.
"""

from collections.abc import Sequence

from matplotlib.artist import Artist
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from strata.figures import AxesGrid, Figure, Grid, flat
from strata.figures._palette import hollow_key, invalid_note, legend_beside
from strata.figures._series import series
from strata.figures.nbody_unroll import STYLE
from strata.ladder import rungs as ladder
from strata.ladder.best import AxisPoint, along
from strata.model import units
from strata.run import Row, Run

TERA = 1e12


def prepare(run: Run) -> Sequence[AxisPoint]:
    """One item per problem and size of blocks."""
    return along(run, "block_size", "block_size")


def _occupied(points: Sequence[AxisPoint]) -> bool:
    return any(point.occupancy for point in points)


def grid(points: Sequence[AxisPoint]) -> Grid:
    """The rate, and beneath it the occupancy where it was counted."""
    rows = 2 if _occupied(points) else 1
    return Grid(rows, 1, width=7.2, height=1.0 + 1.9 * rows)


def draw(points: Sequence[AxisPoint], axes: AxesGrid) -> None:
    """A line for each problem."""
    panels = flat(axes)
    handles: list[Artist] = []
    for problem in dict.fromkeys(point.problem for point in points):
        here = [point for point in points if point.problem == problem]
        colour, marker = STYLE[problem]
        look = {"colour": colour, "marker": marker}
        series(
            panels[0], [(point.value, point.row) for point in here],
            **look, linewidth=1.4, markersize=4.5,
        )  # fmt: skip
        counted = [(point.value, point.occupancy) for point in here if point.occupancy]
        if counted:
            series(panels[1], counted, **look, linewidth=1.4, markersize=4.5)
        handles.append(
            Line2D([], [], color=colour, marker=marker, markersize=4.5,
                   label=ladder.size_words(here[0].row))
        )  # fmt: skip
    if any(not point.row.valid for point in points):
        handles.append(hollow_key())
    sizes = sorted({point.value for point in points})
    for panel in panels:
        panel.set_xscale("log", base=2)
        panel.set_xlim(0.85 * sizes[0], 1.18 * sizes[-1])
        panel.xaxis.set_major_locator(FixedLocator([float(size) for size in sizes]))
        panel.xaxis.set_minor_locator(NullLocator())
        panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: units.tick(value)))
        panel.set_ylim(bottom=0)
    top = max(point.row.maximum for point in points)
    panels[0].set_ylim(0, 1.08 * top)
    panels[0].yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value / TERA:g}"))
    panels[0].set_ylabel("interactions (10¹²/s)")
    if len(panels) > 1:
        panels[1].set_ylim(0, 105)
        panels[1].set_ylabel("occupancy (%)")
    panels[-1].set_xlabel("threads of a block, and bodies of a tile")
    legend_beside(panels[0], handles)


def caption(points: Sequence[AxisPoint]) -> str:
    """What the lines are."""
    occupancy = (
        " Beneath: counted warps in flight as a share of all that an SM can hold."
        if _occupied(points)
        else ""
    )
    return (
        "The rung block size: a block is as many threads as a tile has bodies. Lines: medians; "
        f"bands: range of the samples.{occupancy} On an 8800 GTX blocks of 128 threads and a "
        "register less brought 67 % of occupancy in place of 50 %, and 6 % (Siegel, Ributzka and "
        "Li 2009, IV)."
        + invalid_note(
            f"{ladder.size_words(point.row)}, blocks of {point.value}"
            for point in points
            if not point.row.valid
        )
    )


def cells(point: AxisPoint) -> tuple[object, ...]:
    """One line of the data file."""
    systems, bodies = ladder.size(point.row)
    return (
        point.problem, systems, bodies, point.value, point.row.value, point.row.minimum,
        point.row.maximum, point.occupancy.value if point.occupancy else "", point.row.valid,
        point.row.case,
    )  # fmt: skip


def source(point: AxisPoint) -> Row:
    """The rate."""
    return point.row


FIGURE = Figure(
    name="nbody_block_size",
    title="n-body: the size of blocks, and occupancy",
    order=204,
    prepare=prepare,
    grid=grid,
    draw=draw,
    caption=caption,
    columns=(
        "problem", "systems", "bodies", "block_size", "interactions_per_second", "low", "high",
        "occupancy_percent", "valid", "case",
    ),
    cells=cells,
    source=source,
    of_run=True,
)  # fmt: skip
