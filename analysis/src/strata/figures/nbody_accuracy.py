"""How right is each rung of n-body, and how right must it be?"""

from collections.abc import Sequence

from matplotlib.artist import Artist
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullFormatter

from strata.figures import AxesGrid, Figure, Grid, flat
from strata.figures._palette import INK, hollow_key, invalid_note, legend_above
from strata.figures.nbody_unroll import STYLE
from strata.ladder import rungs as ladder
from strata.ladder.best import Accuracy, accuracies
from strata.model import ordered, units
from strata.run import Row, Run

ROOM = 2 * units.SPACE
LEAST = 1e-9
"""Where an error of nothing is drawn: some systems are so small that every digit is right."""


def prepare(run: Run) -> Sequence[Accuracy]:
    """One item per case."""
    return accuracies(run)


def _rungs(points: Sequence[Accuracy]) -> list[str]:
    return list(dict.fromkeys(point.rung for point in sorted(points, key=lambda one: one.order)))


def _problems(points: Sequence[Accuracy]) -> list[str]:
    return ordered((point.problem for point in points), ladder.PROBLEMS)


def grid(points: Sequence[Accuracy]) -> Grid:
    """One panel, a line for each rung."""
    return Grid(1, 1, width=7.2, height=1.3 + 0.3 * len(_rungs(points)))


def draw(points: Sequence[Accuracy], axes: AxesGrid) -> None:
    """A mark for each case, a stroke for what is allowed, in the colour of the problem."""
    (panel,) = flat(axes)
    rungs, problems = _rungs(points), _problems(points)
    step = 0.5 / len(problems)
    for point in points:
        colour, marker = STYLE[point.problem]
        shift = (problems.index(point.problem) - (len(problems) - 1) / 2) * step
        place = rungs.index(point.rung) + shift
        panel.plot(
            [max(point.row.value, LEAST)], [place], marker=marker, markersize=4, color=colour,
            markerfacecolor=colour if point.row.valid else "white", linestyle="none",
            label="_valid" if point.row.valid else "_invalid",
        )  # fmt: skip
        if point.bound:
            panel.vlines(
                point.bound, place - 0.45 * step, place + 0.45 * step, color=colour, linewidth=1.8,
                label="_bound",
            )  # fmt: skip
    panel.set_xscale("log")
    values = [max(point.row.value, LEAST) for point in points]
    bounds = [point.bound for point in points if point.bound]
    panel.set_xlim(min(values) / 2, 2 * max(values + bounds))
    panel.xaxis.set_major_locator(LogLocator(base=10))
    panel.xaxis.set_minor_formatter(NullFormatter())
    panel.set_ylim(len(rungs) - 0.45, -0.6)
    panel.set_yticks(range(len(rungs)), [ROOM + ladder.rung_name(rung) for rung in rungs])
    panel.tick_params(axis="y", length=0)
    panel.grid(visible=False, axis="y")
    panel.grid(visible=True, axis="x")
    panel.set_xlabel("relative root mean square error (ratio)")
    handles: list[Artist] = []
    for problem in problems:
        colour, marker = STYLE[problem]
        here = [point.row for point in points if point.problem == problem]
        handles.append(
            Line2D([], [], color=colour, marker=marker, markersize=4, linestyle="none",
                   label=_label(problem, here))
        )  # fmt: skip
    if bounds:
        handles.append(
            Line2D([], [], color=INK, marker="|", markersize=9, markeredgewidth=1.8,
                   linestyle="none", label="bound")
        )  # fmt: skip
    if any(not point.row.valid for point in points):
        handles.append(hollow_key())
    legend_above(panel, handles)


def _label(problem: str, rows: Sequence[Row]) -> str:
    """The size of a problem, or its name where rungs computed several sizes."""
    sizes = {ladder.size_words(row) for row in rows}
    return sizes.pop() if len(sizes) == 1 else ladder.PROBLEM_WORDS[problem]


def caption(points: Sequence[Accuracy]) -> str:
    """What marks and strokes are."""
    return (
        "Accelerations of every case of a rung, at the largest size that it computed, against "
        "double precision, over the root mean square of them all. Strokes: the bound, from the "
        "roundings of 2⁻²⁴ of a term (8) and of its sum: "
        "√n in one running sum, √256 + √(n/256) in blocks; twice that with an approximate "
        "reciprocal square root (Higham 2002, 2.8 and 4.2). A case beyond it is invalid."
        + invalid_note(
            f"{ladder.rung_name(point.rung)} ({point.problem})"
            for point in points
            if not point.row.valid
        )
    )


def cells(point: Accuracy) -> tuple[object, ...]:
    """One line of the data file."""
    systems, bodies = ladder.size(point.row)
    return (
        point.rung, point.problem, systems, bodies, point.row.value, point.bound or "",
        point.row.valid, point.row.case,
    )  # fmt: skip


def source(point: Accuracy) -> Row:
    """The error."""
    return point.row


FIGURE = Figure(
    name="nbody_accuracy",
    title="n-body: error against double precision",
    order=205,
    prepare=prepare,
    grid=grid,
    draw=draw,
    caption=caption,
    columns=(
        "rung", "problem", "systems", "bodies", "relative_rms_error", "bound", "valid", "case",
    ),
    cells=cells,
    source=source,
    of_run=True,
)  # fmt: skip
