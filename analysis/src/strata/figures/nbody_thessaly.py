"""Does each step of a report on two K80 still pay, in interactions a second and in seconds?

Figures 1 and 2 of Papadouli, Markovitsis and Sanchez Cabrera (2026), redone.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from strata import reference
from strata.figures import _chart as c
from strata.figures._figure import Figure, attributes
from strata.ladder import seeds
from strata.ladder.rungs import GIGA, gpus, rung_name, size_words
from strata.model.units import factor
from strata.run import Row, Run

OWN = c.Look(colour="#0072B2", marker="o", size=6)


class Pair(NamedTuple):
    """One step: their value and ours, in one unit; `row` is what ours is made of."""

    step: seeds.ThessalyStep
    row: Row
    own: Row
    theirs: float

    @property
    def better(self) -> float:
        """How many times faster we are, whether the value is a rate or a time."""
        ratio = self.own.value / self.theirs
        return ratio if self.row.unit == "1/s" else 1 / ratio


def rates(run: Run) -> Sequence[Pair]:
    """The steps that were redone, in interactions a second."""
    steps = [(one, one.row) for one in seeds.thessaly(run)]
    return [Pair(one, row, row, one.rate) for one, row in steps if row and row.minimum > 0]


def times(run: Run) -> Sequence[Pair]:
    """The steps that were redone with the report's systems, in seconds."""
    steps = [(one, one.step_time) for one in seeds.thessaly(run)]
    return [Pair(one, row, _all(row), one.seconds) for one, row in steps if row and row.minimum > 0]


def _all(row: Row) -> Row:
    """The time of one step as that of all that the report timed."""
    value, low, high = (
        seeds.THESSALY_TIMED_STEPS * seconds for seconds in (row.value, row.minimum, row.maximum)
    )
    return replace(row, value=value, minimum=low, maximum=high)


def chart(pairs: Sequence[Pair], label: str, scale: float) -> c.Chart:
    """Theirs open, ours filled, joined; how far apart at the right."""
    grey = c.Look(colour=c.GREY, width=0.8)
    theirs, own, joined, beside = [], [], [], []
    for place, pair in enumerate(pairs):
        theirs.append(c.Mark(place, pair.theirs / scale))
        own.append(c.mark(place, pair.own, scale))
        ends = (place, pair.theirs / scale), (place, pair.own.value / scale)
        joined.append(c.Arrow(start=ends[0], end=ends[1], heads="-", look=grey))
        beside.append((float(place), factor(pair.better) if pair.row.valid else "–", c.INK))
    panel = c.Panel(
        layers=[
            *joined,
            c.Series(marks=theirs, look=c.THEIRS, label="two K80 and their host"),
            c.Series(marks=own, look=OWN, label="here", spread="bar"),
        ],
        sideways=True, beside=[*beside, (-0.75, "faster than theirs", c.INK)],
        places=c.names_axis([_name(pair) for pair in pairs], size=7),
        values=c.Axis(label=label, scale="log"),
    )  # fmt: skip
    return c.one(panel, width=7.6, height=1.35 + 0.42 * len(pairs))


def _name(pair: Pair) -> str:
    """The report's step, and beneath it the rung that redoes it."""
    many = gpus(pair.row)
    shared = f", {many} GPU{'s' if many > 1 else ''}" if pair.step.hardware == seeds.FOUR else ""
    rung = rung_name(pair.row.benchmark)
    return f"{pair.step.name}\n{rung}, {pair.row.text('layout')}{shared}"


def caption(pairs: Sequence[Pair], what: str) -> str:
    """What the marks are, and which steps the report has besides."""
    shown = {pair.step.name for pair in pairs}
    missing = [name for name, *_ in seeds.THESSALY_STEPS if name not in shown]
    sizes = ", ".join(dict.fromkeys(size_words(pair.row) for pair in pairs))
    words = (
        f"{what} Open: their Table 1, 32 systems on a CPU, on one GPU of two K80 (tiling, one "
        f"launch) and on all four of their GPUs; filled: the rung beneath each name, in the layout "
        f"of the step, here on so many GPUs as stand there ({sizes}; medians, lines: range of the "
        f"samples). The numbers of {seeds.THESSALY} {reference.cite('papadouli2026nbody')} are "
        "those of its table."
    )
    return words + (f" Not redone in this run: {', '.join(missing)}." if missing else "")


def _figure(
    name: str, title: str, order: int, items: Callable[[Run], Sequence[Pair]], *,
    label: str, scale: float, unit: str, what: str,
) -> Figure[Pair]:  # fmt: skip
    return Figure(
        name=f"nbody_thessaly_{name}",
        title=f"n-body on two K80, redone: {title}",
        order=order,
        items=items,
        chart=lambda pairs: chart(pairs, label, scale),
        caption=lambda pairs: caption(pairs, what),
        columns=attributes(step="step.name", their_hardware="step.hardware", rung="row.benchmark")
        | attributes(**{f"their_{unit}": "theirs", unit: "own"})
        | attributes(low="own.minimum", high="own.maximum"),
        label=lambda pair: pair.step.name,
    )


FIGURES = (
    _figure(
        "throughput", "throughput (Papadouli et al. 2026, Figure 1)", 208, rates,
        label="interactions (10⁹/s)", scale=GIGA, unit="interactions_per_second",
        what="After Figure 1 of Papadouli, Markovitsis and Sanchez Cabrera (2026), throughput with "
        "different optimisations of the code: pairs computed in a second.",
    ),
    _figure(
        "time", "time (Papadouli et al. 2026, Figure 2)", 209, times,
        label="time of 4.3 × 10¹⁰ interactions (s)", scale=1.0, unit="seconds",
        what="After Figure 2 of Papadouli, Markovitsis and Sanchez Cabrera (2026), execution time "
        "with different optimisations of the code: 80 steps of 32 systems of 4096 bodies. Copies "
        "to the GPUs and back are in their times of several GPUs, and in none of ours.",
    ),
)  # fmt: skip
