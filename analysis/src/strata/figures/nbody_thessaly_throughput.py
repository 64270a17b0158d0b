"""Does each step of a report on two K80 still pay, in interactions a second?

Figure 1 of Papadouli, Markovitsis and Sanchez Cabrera (2026), redone.
"""

from collections.abc import Sequence

from strata.figures import AxesGrid, Figure, _thessaly, flat
from strata.figures._thessaly import Pair
from strata.ladder import seeds as ladder_seeds
from strata.ladder.rungs import GIGA
from strata.run import Row, Run


def prepare(run: Run) -> Sequence[Pair]:
    """One item per step of the report that was redone; rates in interactions a second."""
    return [
        Pair(one, one.row, one.rate, one.row.value, one.row.minimum, one.row.maximum)
        for one in ladder_seeds.thessaly(run)
        if one.row is not None and one.row.minimum > 0
    ]


def draw(pairs: Sequence[Pair], axes: AxesGrid) -> None:
    """Rates in 10⁹/s."""
    (panel,) = flat(axes)
    scaled = [
        Pair(p.step, p.row, p.theirs / GIGA, p.own / GIGA, p.low / GIGA, p.high / GIGA)
        for p in pairs
    ]
    _thessaly.draw(panel, scaled, "interactions (10⁹/s)")


def caption(pairs: Sequence[Pair]) -> str:
    """What the marks are."""
    return _thessaly.caption(
        pairs,
        "After Figure 1 of Papadouli, Markovitsis and Sanchez Cabrera (2026), throughput with "
        "different optimisations of the code: pairs computed in a second.",
    )


def source(pair: Pair) -> Row:
    """The rate."""
    return pair.row


FIGURE = Figure(
    name="nbody_thessaly_throughput",
    title="n-body on two K80, redone: throughput (Papadouli et al. 2026, Figure 1)",
    order=208,
    prepare=prepare,
    grid=_thessaly.grid,
    draw=draw,
    caption=caption,
    columns=(
        "step", "their_hardware", "rung", "their_interactions_per_second",
        "interactions_per_second", "low", "high", "valid", "case",
    ),
    cells=_thessaly.cells,
    source=source,
    of_run=True,
)  # fmt: skip
