"""What does each step bring to Gravit, from the copy to the GPU to the copy back?

Siegel, Ributzka and Li (2009, Fig. 12), redone: levels of optimisation at several problem sizes.
"""

from collections.abc import Mapping, Sequence

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

from strata import reference
from strata.figures import AxesGrid, Figure, Grid, flat
from strata.figures._palette import GREY, hollow_key, invalid_note, legend_beside
from strata.figures._series import series
from strata.ladder import rungs as ladder
from strata.ladder.best import Copied, copied
from strata.ladder.seeds import GRAVIT_BASE, GRAVIT_GAINS, GRAVIT_SERIAL
from strata.model import units
from strata.run import Row, Run

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


THEIRS = "#D55E00"
KEY = "siegel2009gravit"
MARKERS = ("P", "D")


def prepare(run: Run) -> Sequence[Copied]:
    """One item per rung and number of particles."""
    return [one for one in copied(run) if one.rung in STYLE]


def _rungs(points: Sequence[Copied]) -> list[str]:
    return list(dict.fromkeys(point.rung for point in points))


def gains(points: Sequence[Copied]) -> Mapping[str, Sequence[tuple[int, float]]]:
    """Speed over the paper's first GPU code by rung: particles, and how many times as fast.

    Copies included, valid steps alone; empty without that code.
    """
    base = {
        point.bodies: point.row.value
        for point in points
        if point.rung == GRAVIT_BASE and point.row.valid
    }
    found = {
        rung: [
            (point.bodies, base[point.bodies] / point.row.value)
            for point in points
            if point.rung == rung and point.row.valid and point.bodies in base
        ]
        for rung in _rungs(points)
        if rung != GRAVIT_BASE
    }
    return {rung: line for rung, line in found.items() if line}


def grid(points: Sequence[Copied]) -> Grid:
    """The time of a step, how much of it is not the kernel, and the speed over the first code."""
    rows = 3 if gains(points) else 2
    return Grid(rows, 1, width=7.2, height=2.7 * rows)


def draw(points: Sequence[Copied], axes: AxesGrid) -> None:
    """A line for each rung."""
    panels = flat(axes)
    upper, lower = panels[:2]
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
    if len(panels) > 2:
        handles += _gains(panels[2], points)
    if any(not point.row.valid for point in points):
        handles.append(hollow_key())
    upper.set_yscale("log")
    in_milliseconds = FuncFormatter(lambda value, _: units.tick(value * 1e3))
    upper.yaxis.set_major_formatter(in_milliseconds)
    upper.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    upper.yaxis.set_minor_locator(NullLocator())
    upper.set_ylabel("a step, copies included (ms)")
    lower.set_ylim(bottom=0)
    lower.set_ylabel("of it not the kernel (%)")
    for panel in panels:
        _sizes(panel, points)
    panels[-1].set_xlabel("particles")
    legend_beside(upper, handles)


def _gains(panel: Axes, points: Sequence[Copied]) -> list[Artist]:
    """Speed over the first code; the paper's at the left edge. Returns what its marks are."""
    for rung, line in gains(points).items():
        colour, marker = STYLE[rung]
        panel.plot(
            *zip(*line, strict=True), color=colour, marker=marker, linewidth=1.2, markersize=4.5,
            label="_gain",
        )  # fmt: skip
    panel.axhline(1, color=GREY, linewidth=0.8)
    edge = 0.91 * min(point.bodies for point in points)
    handles: list[Artist] = []
    for (what, gain), marker in zip(GRAVIT_GAINS, MARKERS, strict=True):
        panel.plot(
            [edge], [gain], marker=marker, markersize=6, markerfacecolor="white",
            markeredgecolor=THEIRS, markeredgewidth=1.2, linestyle="none", label="_published",
        )  # fmt: skip
        handles.append(
            Line2D([], [], color=THEIRS, marker=marker, markersize=6, markerfacecolor="white",
                   linestyle="none", label=f"8800 GTX: {what}")
        )  # fmt: skip
    panel.set_ylim(bottom=0)
    panel.set_ylabel(f"speed over {ladder.rung_name(GRAVIT_BASE)} (×)")
    return handles


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
    listed = ", ".join(f"{gain:.2f} times ({what})" for what, gain in GRAVIT_GAINS)
    lowest = (
        f" Lowest: speed over {ladder.rung_name(GRAVIT_BASE)}, which is their first GPU code, at "
        "the same number of particles; open marks: theirs."
        if gains(points)
        else ""
    )
    return (
        f"After Figure 12 of Siegel et al. 2009 {reference.cite(KEY)}, "
        "levels of optimisation at several problem sizes: "
        "the far-field force of Gravit once, by the best case of some rungs, from the copy of all "
        "particles to the GPU to that of their accelerations back, by the host's clock. Lines: "
        "medians; bands: range of the samples. Beneath: what is left of that time without the "
        f"kernel's own.{lowest} On an 8800 GTX they came from their first GPU code to {listed} its "
        f"speed, and to {GRAVIT_SERIAL} times that of a serial CPU; other values of theirs are "
        "drawn without numbers."
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
    title="n-body: Gravit's step, copies included (Siegel et al. 2009, Figure 12)",
    order=206,
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
    of_run=True,
)  # fmt: skip
