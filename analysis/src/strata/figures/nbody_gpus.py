"""How far does n-body go with several GPUs?"""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.artist import Artist
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter

from strata.figures import AxesGrid, Figure, Grid, flat
from strata.figures._palette import GREY, INK, hollow_key, invalid_note, legend_beside
from strata.figures._series import series
from strata.figures.nbody_unroll import STYLE
from strata.ladder import rungs as ladder
from strata.ladder.best import AxisPoint, along
from strata.run import Row, Run

TERA = 1e12


@dataclass(frozen=True, slots=True)
class Shared:
    """The rate of some GPUs, and that of one by the same code."""

    point: AxisPoint
    alone: Row

    @property
    def efficiency(self) -> float | None:
        """Of what so many times one GPU would do; None where one of both is invalid."""
        if not (self.point.row.valid and self.alone.valid) or self.alone.value <= 0:
            return None
        return self.point.row.value / (self.point.value * self.alone.value)


def prepare(run: Run) -> Sequence[Shared]:
    """One item per problem and number of GPUs; nothing of a problem without one GPU."""
    points = along(run, ladder.SEVERAL, "gpus")
    alone = {point.problem: point.row for point in points if point.value == 1}
    return [Shared(point, alone[point.problem]) for point in points if point.problem in alone]


def grid(_: Sequence[Shared]) -> Grid:
    """The rate, and beneath it the efficiency."""
    return Grid(2, 1, width=7.2, height=4.8)


def draw(items: Sequence[Shared], axes: AxesGrid) -> None:
    """A line for each problem; dotted: so many times one GPU."""
    upper, lower = flat(axes)
    handles: list[Artist] = []
    counts = sorted({item.point.value for item in items})
    for problem in dict.fromkeys(item.point.problem for item in items):
        here = [item for item in items if item.point.problem == problem]
        colour, marker = STYLE[problem]
        upper.plot(
            counts, [count * here[0].alone.value for count in counts], color=colour,
            linewidth=0.9, linestyle=":", label="_ideal",
        )  # fmt: skip
        series(
            upper, [(item.point.value, item.point.row) for item in here],
            colour=colour, marker=marker, linewidth=1.4, markersize=4.5,
        )  # fmt: skip
        shares = [(item.point.value, item.efficiency) for item in here]
        known = [(count, 100 * share) for count, share in shares if share is not None]
        lower.plot(
            [count for count, _ in known], [share for _, share in known], color=colour,
            marker=marker, linewidth=1.4, markersize=4.5, label="_efficiency",
        )  # fmt: skip
        handles.append(
            Line2D([], [], color=colour, marker=marker, markersize=4.5,
                   label=ladder.size_words(here[0].alone))
        )  # fmt: skip
    handles.append(
        Line2D([], [], color=GREY, linewidth=0.9, linestyle=":", label="so many times one GPU")
    )
    if any(not item.point.row.valid for item in items):
        handles.append(hollow_key())
    lower.axhline(100, color=INK, linewidth=0.7)
    for panel in (upper, lower):
        panel.set_xlim(counts[0] - 0.3, counts[-1] + 0.3)
        panel.xaxis.set_major_locator(FixedLocator([float(count) for count in counts]))
        panel.set_ylim(bottom=0)
    lower.set_ylim(0, 112)
    upper.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value / TERA:g}"))
    upper.set_ylabel("interactions (10¹²/s)")
    lower.set_ylabel("efficiency (%)")
    lower.set_xlabel("GPUs")
    legend_beside(upper, handles)


def caption(items: Sequence[Shared]) -> str:
    """What the lines are, and the efficiency with most GPUs."""
    told = []
    for problem in dict.fromkeys(item.point.problem for item in items):
        last = [item for item in items if item.point.problem == problem][-1]
        if last.efficiency is not None and last.point.value > 1:
            words = ladder.size_words(last.point.row)
            told.append(f"{100 * last.efficiency:.1f} % with {last.point.value} ({words})")
    efficiency = f" Efficiency: {'; '.join(told)}." if told else ""
    return (
        "The rung several GPUs: systems, or the bodies of a single one, shared out among GPUs. "
        "Lines: medians of the best case; bands: range of the samples. Efficiency is the rate over "
        f"so many times that of one GPU by the same code.{efficiency}"
        + invalid_note(
            f"{ladder.size_words(item.point.row)}, {item.point.value}"
            for item in items
            if not item.point.row.valid
        )
    )


def cells(item: Shared) -> tuple[object, ...]:
    """One line of the data file."""
    systems, bodies = ladder.size(item.point.row)
    row = item.point.row
    return (
        item.point.problem, systems, bodies, item.point.value, row.value, row.minimum, row.maximum,
        "" if item.efficiency is None else item.efficiency, row.valid, row.case,
    )  # fmt: skip


def source(item: Shared) -> Row:
    """The rate."""
    return item.point.row


FIGURE = Figure(
    name="nbody_gpus",
    title="n-body: several GPUs",
    order=207,
    prepare=prepare,
    grid=grid,
    draw=draw,
    caption=caption,
    columns=(
        "problem", "systems", "bodies", "gpus", "interactions_per_second", "low", "high",
        "efficiency", "valid", "case",
    ),
    cells=cells,
    source=source,
    of_run=True,
)  # fmt: skip
