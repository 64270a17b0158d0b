"""What does each step bring to Gravit, from the copy to the GPU to the copy back?

Siegel, Ributzka and Li (2009, Fig. 12), redone: levels of optimisation at several problem sizes.
"""

from collections.abc import Mapping, Sequence

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

from strata import ladder, units
from strata.figures import AxesGrid, Figure, Grid, flat
from strata.figures._palette import hollow_key, invalid_note, legend_beside
from strata.figures._series import series
from strata.ladder import Copied
from strata.records import Row

STYLE: Mapping[str, tuple[str, str]] = {
    "naive": ("#D55E00", "o"),
    "tiled": ("#E69F00", "s"),
    "fast_math": ("#56B4E9", "^"),
    "unrolled": ("#0072B2", "D"),
    "invariants": ("#7a7a7a", "v"),
    "block_size": ("#009E73", "P"),
    "register_banks": ("#CC79A7", "X"),
    "pair_once": ("#262626", "*"),
}
"""Of the rungs that are drawn: those of the paper, and what came after it."""


def prepare(rows: Sequence[Row]) -> Sequence[Copied]:
    """One item per rung and number of particles."""
    return [one for one in ladder.copied(rows) if one.rung in STYLE]


def _rungs(points: Sequence[Copied]) -> list[str]:
    return list(dict.fromkeys(point.rung for point in points))


def grid(_: Sequence[Copied]) -> Grid:
    """The time of a step, and beneath it how much of it is not the kernel."""
    return Grid(2, 1, width=7.2, height=5.6)


def draw(points: Sequence[Copied], axes: AxesGrid) -> None:
    """A line for each rung."""
    upper, lower = flat(axes)
    handles: list[Artist] = []
    for rung in _rungs(points):
        here = [point for point in points if point.rung == rung]
        colour, marker = STYLE[rung]
        series(
            upper, [(point.bodies, point.row) for point in here],
            colour=colour, marker=marker, linewidth=1.2, markersize=4.5,
        )  # fmt: skip
        shown = [point for point in here if point.valid]
        lower.plot(
            [point.bodies for point in shown], [100 * point.outside for point in shown],
            color=colour, marker=marker, linewidth=1.2, markersize=4.5, label="_outside",
        )  # fmt: skip
        handles.append(
            Line2D([], [], color=colour, marker=marker, markersize=4.5,
                   label=ladder.rung_name(rung))
        )  # fmt: skip
    if any(not point.row.valid for point in points):
        handles.append(hollow_key())
    upper.set_yscale("log")
    in_milliseconds = FuncFormatter(lambda value, _: units.tick(value * 1e3))
    upper.yaxis.set_major_formatter(in_milliseconds)
    upper.yaxis.set_minor_formatter(NullFormatter())
    upper.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    upper.set_ylabel("a step, copies included (ms)")
    lower.set_ylim(bottom=0)
    lower.set_ylabel("of it not the kernel (%)")
    for panel in (upper, lower):
        _sizes(panel, points)
    lower.set_xlabel("particles")
    legend_beside(upper, handles)


def _sizes(panel: Axes, points: Sequence[Copied]) -> None:
    sizes = sorted({point.bodies for point in points})
    # Ticks apart enough for their labels: a quarter more than the one before.
    kept: list[int] = []
    for size in sizes:
        if not kept or size >= 1.4 * kept[-1]:
            kept.append(size)
    panel.set_xscale("log")
    panel.set_xlim(0.85 * sizes[0], 1.18 * sizes[-1])
    panel.xaxis.set_major_locator(FixedLocator([float(size) for size in kept]))
    panel.xaxis.set_minor_locator(NullLocator())
    panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: units.short(value)))


def caption(points: Sequence[Copied]) -> str:
    """What the lines are."""
    return (
        "The far-field force of Gravit once, by the best case of some rungs, from the copy of all "
        "particles to the GPU to that of their accelerations back, by the host's clock. Lines: "
        "medians; bands: range of the samples. Beneath: what is left of that time without the "
        "kernel's own. After Siegel, Ributzka and Li (2009, Fig. 12), who on an 8800 GTX came from "
        "their first GPU code to 1.27 times its speed, and to 87 times that of a serial CPU."
        + invalid_note(
            f"{ladder.rung_name(point.rung)}, {units.count(point.bodies)}"
            for point in points
            if not point.row.valid
        )
    )


def cells(point: Copied) -> tuple[object, ...]:
    """One line of the data file."""
    row = point.row
    return (
        point.rung, point.bodies, row.value, row.minimum, row.maximum,
        point.kernel.value if point.kernel else "", row.valid, row.case,
    )  # fmt: skip


def source(point: Copied) -> Row:
    """The time with copies."""
    return point.row


FIGURE = Figure(
    name="nbody_gravit",
    title="n-body: Gravit's step, copies included",
    order=205,
    prepare=prepare,
    grid=grid,
    draw=draw,
    caption=caption,
    columns=(
        "rung", "particles", "copied_step_time_seconds", "low", "high", "kernel_seconds", "valid",
        "case",
    ),
    cells=cells,
    source=source,
)  # fmt: skip
