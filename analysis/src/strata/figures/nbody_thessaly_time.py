"""Does each step of a report on two K80 still pay, in seconds of a whole simulation?

Figure 2 of Papadouli, Markovitsis and Sanchez Cabrera (2026), redone.
"""

from collections.abc import Sequence

from strata.figures import AxesGrid, Figure, _thessaly, flat
from strata.figures._thessaly import Pair
from strata.ladder import seeds as ladder_seeds
from strata.ladder.seeds import THESSALY_TIMED_STEPS
from strata.run import Row, Run


def prepare(run: Run) -> Sequence[Pair]:
    """One item per step that was redone with the report's systems; times in seconds."""
    result = []
    for one in ladder_seeds.thessaly(run):
        time, steps = one.step_time, THESSALY_TIMED_STEPS
        if time is not None and time.minimum > 0:
            values = (steps * time.value, steps * time.minimum, steps * time.maximum)
            result.append(Pair(one, time, one.seconds, *values))
    return result


def draw(pairs: Sequence[Pair], axes: AxesGrid) -> None:
    """Times in seconds."""
    (panel,) = flat(axes)
    _thessaly.draw(panel, pairs, "time of 4.3 × 10¹⁰ interactions (s)")


def caption(pairs: Sequence[Pair]) -> str:
    """What the marks are."""
    return _thessaly.caption(
        pairs,
        "After Figure 2 of Papadouli, Markovitsis and Sanchez Cabrera (2026), execution time with "
        "different optimisations of the code: 80 steps of 32 systems of 4096 bodies. Copies to the "
        "GPUs and back are in their times of several GPUs, and in none of ours.",
    )


def source(pair: Pair) -> Row:
    """The time of one step."""
    return pair.row


FIGURE = Figure(
    name="nbody_thessaly_time",
    title="n-body on two K80, redone: time (Papadouli et al. 2026, Figure 2)",
    order=209,
    prepare=prepare,
    grid=_thessaly.grid,
    draw=draw,
    caption=caption,
    columns=(
        "step", "their_hardware", "rung", "their_seconds", "seconds", "low", "high", "valid",
        "case",
    ),
    cells=_thessaly.cells,
    source=source,
    of_run=True,
)  # fmt: skip
