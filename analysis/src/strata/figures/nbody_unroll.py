"""How far does it pay to write the inner loop of n-body out?

Siegel, Ributzka and Li (2009, IV-A) and Table 14.2 of the CUDA Handbook, redone.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from matplotlib.artist import Artist
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from strata.figures import AxesGrid, Figure, Grid, flat
from strata.figures._palette import INK, hollow_key, invalid_note, legend_beside
from strata.figures._series import series
from strata.ladder import rungs as ladder
from strata.ladder.best import AxisPoint, along
from strata.ladder.seeds import UNROLL_GAINS
from strata.run import Row, Run

STYLE = {"single": ("#0072B2", "o"), "galaxies": ("#009E73", "s"), "gravit": ("#CC79A7", "^")}
WHOLE = 256
"""Bodies of a tile: the factor that leaves no loop."""

GAINS = (
    (4, UNROLL_GAINS[4][0], "CUDA Handbook, 14.3", "P"),
    (128, UNROLL_GAINS[128][0], "Siegel et al. 2009", "D"),
)
"""Factor, speed-up over the loop as it was, who says so, marker. The Handbook's 4 is its best of
Table 14.2; Siegel's 128 is the whole of the tile."""
GAIN_COLOUR = "#D55E00"
TERA = 1e12


@dataclass(frozen=True, slots=True)
class Gain:
    """The rate at one factor, and that of the loop that is not unrolled."""

    point: AxisPoint
    base: Row

    @property
    def row(self) -> Row:
        """The rate over that of factor 1, as a row, with its range."""
        row, one = self.point.row, self.base.value
        return replace(
            row, value=row.value / one, minimum=row.minimum / one, maximum=row.maximum / one,
            valid=row.valid and self.base.valid,
        )  # fmt: skip


def prepare(run: Run) -> Sequence[Gain]:
    """One item per problem and factor; nothing of a problem without the factor 1."""
    points = along(run, "unrolled", "unroll")
    base = {point.problem: point.row for point in points if point.value == 1 and point.row.value}
    return [Gain(point, base[point.problem]) for point in points if point.problem in base]


def _problems(gains: Sequence[Gain]) -> list[str]:
    return list(dict.fromkeys(gain.point.problem for gain in gains))


def grid(_: Sequence[Gain]) -> Grid:
    """One panel."""
    return Grid(1, 1, width=7.2, height=3.2)


def draw(gains: Sequence[Gain], axes: AxesGrid) -> None:
    """A line for each problem; open marks for what was published."""
    (panel,) = flat(axes)
    handles: list[Artist] = []
    for problem in _problems(gains):
        here = [gain for gain in gains if gain.point.problem == problem]
        colour, marker = STYLE[problem]
        series(
            panel, [(gain.point.value, gain.row) for gain in here],
            colour=colour, marker=marker, linewidth=1.4, markersize=4.5,
        )  # fmt: skip
        base = here[0].base
        handles.append(
            Line2D([], [], color=colour, marker=marker, markersize=4.5,
                   label=f"{ladder.size_words(base)}\n(1 is {base.value / TERA:.3g} × 10¹²/s)")
        )  # fmt: skip
    for factor, gain, who, marker in GAINS:
        panel.plot(
            [factor], [gain], marker=marker, markersize=6.5, markerfacecolor="white",
            markeredgecolor=GAIN_COLOUR, markeredgewidth=1.2, linestyle="none", label="_published",
        )  # fmt: skip
        handles.append(
            Line2D([], [], color=GAIN_COLOUR, marker=marker, markersize=6.5,
                   markerfacecolor="white", linestyle="none", label=who)
        )  # fmt: skip
    if any(not gain.row.valid for gain in gains):
        handles.append(hollow_key())
    factors = sorted({gain.point.value for gain in gains} | {factor for factor, *_ in GAINS})
    panel.axhline(1, color=INK, linewidth=0.7)
    panel.set_xscale("log", base=2)
    panel.set_xlim(0.8, 1.25 * max(factors))
    rows, theirs = [gain.row for gain in gains], [gain for _, gain, *_ in GAINS]
    low = min(row.minimum for row in rows)
    high = max([row.maximum for row in rows] + theirs)
    panel.set_ylim(low - 0.05 * (high - low), high + 0.08 * (high - low))
    panel.xaxis.set_major_locator(FixedLocator([float(factor) for factor in factors]))
    panel.xaxis.set_minor_locator(NullLocator())
    panel.xaxis.set_major_formatter(FuncFormatter(_tick))
    panel.set_xlabel("bodies in a turn of the inner loop")
    panel.set_ylabel("rate over that of one body in a turn (×)")
    legend_beside(panel, handles)


def _tick(value: float, _: int | None = None) -> str:
    return f"{value:g}\n(all)" if value == WHOLE else f"{value:g}"


def caption(gains: Sequence[Gain]) -> str:
    """What lines and marks are."""
    return (
        "The rung unrolled: interactions in a second by the unroll factor, over those of a loop "
        "that takes one body in a turn; 256 bodies are the whole tile. Lines: medians; bands: "
        "range of the samples. Open marks, on GPUs of their time: the best of Table 14.2 of the "
        "CUDA Handbook (factor 4: 18 % more) and the full unroll of Siegel, Ributzka and Li "
        "(2009, IV-A: a tile of 128, 18 % more)."
        + invalid_note(
            f"{ladder.size_words(gain.point.row)}, unroll {gain.point.value}"
            for gain in gains
            if not gain.row.valid
        )
    )


def cells(gain: Gain) -> tuple[object, ...]:
    """One line of the data file."""
    systems, bodies = ladder.size(gain.point.row)
    row = gain.point.row
    return (
        gain.point.problem, systems, bodies, gain.point.value, row.value, row.minimum, row.maximum,
        gain.row.value, gain.row.valid, row.case,
    )  # fmt: skip


def source(gain: Gain) -> Row:
    """The rate."""
    return gain.point.row


FIGURE = Figure(
    name="nbody_unroll",
    title="n-body: unrolling the inner loop",
    order=203,
    prepare=prepare,
    grid=grid,
    draw=draw,
    caption=caption,
    columns=(
        "problem", "systems", "bodies", "unroll", "interactions_per_second", "low", "high",
        "over_unroll_1", "valid", "case",
    ),
    cells=cells,
    source=source,
    of_run=True,
)  # fmt: skip
