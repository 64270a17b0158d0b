"""How far does it pay to write the inner loop of n-body out?

Siegel, Ributzka and Li (2009, IV-A) and Table 14.2 of the CUDA Handbook, redone.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from msgspec import structs

from strata.figures import _chart as c
from strata.figures._figure import Figure, attributes
from strata.ladder import rungs as ladder
from strata.ladder.best import AxisPoint, along
from strata.ladder.seeds import UNROLL_GAINS
from strata.run import Row, Run

WHOLE = 256
"""Bodies of a tile: the factor that leaves no loop."""
GAINS = ((4, "CUDA Handbook, 14.3", "P"), (128, "Siegel et al. 2009", "D"))
"""Factor, who published a speed-up over the loop as it was, marker. The Handbook's 4 is its best
of Table 14.2; Siegel's 128 is the whole of the tile."""


@dataclass(frozen=True, slots=True)
class Gain:
    """The rate at one factor, and that of the loop that is not unrolled."""

    point: AxisPoint
    base: Row

    @property
    def row(self) -> Row:
        """The rate."""
        return self.point.row

    @property
    def ratio(self) -> Row:
        """The rate over that of factor 1, as a row, with its range."""
        row, one = self.row, self.base.value
        return structs.replace(
            row, value=row.value / one, minimum=row.minimum / one, maximum=row.maximum / one,
            valid=row.valid and self.base.valid,
        )  # fmt: skip


def items(run: Run) -> Sequence[Gain]:
    """One item per problem and factor; nothing of a problem without the factor 1."""
    points = along(run, "unrolled", "unroll")
    base = {point.problem: point.row for point in points if point.value == 1 and point.row.value}
    return [Gain(point, base[point.problem]) for point in points if point.problem in base]


def chart(gains: Sequence[Gain]) -> c.Chart:
    """A line for each problem; open marks for what was published."""
    layers: list[c.Layer] = [
        c.Series(
            marks=[c.mark(gain.point.value, gain.ratio) for gain in here],
            look=c.PROBLEM_LOOK[problem], spread="band",
            label=f"{ladder.size_words(here[0].base)}\n"
            f"(1 is {here[0].base.value / 1e12:.3g} × 10¹²/s)",
        )
        for problem, here in c.grouped(gains, lambda gain: gain.point.problem).items()
    ]  # fmt: skip
    layers += [
        c.Series(
            marks=[c.Mark(factor, UNROLL_GAINS[factor][0])], label=who,
            look=replace(c.THEIRS, marker=marker, size=6.5),
        )
        for factor, who, marker in GAINS
    ]  # fmt: skip
    layers.append(c.Rule(at=1, look=c.Look(line="-", width=0.7)))
    factors = sorted({gain.point.value for gain in gains} | {factor for factor, *_ in GAINS})
    names = [f"{factor}\n(all)" if factor == WHOLE else f"{factor}" for factor in factors]
    places = c.Axis(
        label="bodies in a turn of the inner loop", scale="log2", ticks=factors, names=names
    )
    values = c.Axis(label="rate over that of one body in a turn (×)")
    panel = c.Panel(layers=layers, places=places, values=values)
    return c.one(panel, width=7.2, height=3.2, legend="beside")


def caption(_: Sequence[Gain]) -> str:
    """What lines and marks are."""
    return (
        "The rung unrolled: interactions in a second by the unroll factor, over those of a loop "
        "that takes one body in a turn; 256 bodies are the whole tile. Lines: medians; bands: "
        "range of the samples. Open marks, on GPUs of their time: the best of Table 14.2 of the "
        "CUDA Handbook (factor 4: 18 % more) and the full unroll of Siegel, Ributzka and Li "
        "(2009, IV-A: a tile of 128, 18 % more)."
    )


FIGURE = Figure(
    name="nbody_unroll",
    title="n-body: unrolling the inner loop",
    order=203,
    items=items,
    chart=chart,
    caption=caption,
    columns={
        "problem": lambda gain: gain.point.problem,
        "systems": lambda gain: ladder.size(gain.row)[0],
        "bodies": lambda gain: ladder.size(gain.row)[1],
        "unroll": lambda gain: gain.point.value,
    }
    | attributes(of="row", interactions_per_second="value", low="minimum", high="maximum")
    | attributes(of="ratio", over_unroll_1="value", valid="valid", case="case"),
    invalid=lambda gain: (
        "" if gain.ratio.valid else f"{ladder.size_words(gain.row)}, unroll {gain.point.value}"
    ),
)
