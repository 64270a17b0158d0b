"""Does each step of a report on two K80 GPUs still pay off, in rates and in seconds?

Figures 1 and 2 of Papadouli, Markovitsis and Sanchez Cabrera (2026), redone.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from strata import reference
from strata.figures import _chart as c
from strata.figures._figure import Figure, attributes, prose, times
from strata.ladder import seeds
from strata.ladder.rungs import GIGA, SEVERAL, gpus, rung_name, size_words, unshared
from strata.model.units import factor
from strata.run import Row, Run

OWN = c.Look(colour="#0072B2", marker="o", size=6)


class Pair(NamedTuple):
    """One step: their value and ours, in one unit."""

    step: seeds.ThessalyStep
    row: Row
    theirs: float

    @property
    def better(self) -> float:
        """Our speed-up over theirs, for rates and for times."""
        ratio = self.row.value / self.theirs
        return ratio if self.row.unit == "1/s" else 1 / ratio


def _like(run: Run) -> Sequence[seeds.ThessalyStep]:
    """The steps, with several GPUs by one of them alone."""
    return [one for one in seeds.thessaly(run) if not (one.row and unshared(one.row))]


def rates(run: Run) -> Sequence[Pair]:
    """The redone steps, in interactions per second."""
    steps = [(one, one.row) for one in _like(run)]
    return [Pair(one, row, one.rate) for one, row in steps if row and row.minimum > 0]


def all_times(run: Run) -> Sequence[Pair]:
    """The redone steps with the report's systems: seconds of everything that it timed."""
    steps = [(one, one.step_time) for one in _like(run)]
    known = [(one, row) for one, row in steps if row and row.minimum > 0]
    return [Pair(one, times(row, seeds.THESSALY_TIMED_STEPS), one.seconds) for one, row in known]


def chart(pairs: Sequence[Pair], label: str, scale: float) -> c.Chart:
    """Theirs open, ours filled, joined by lines, with the factor at the right."""
    grey = c.Look(colour=c.GREY, width=0.8)
    theirs, own, joined, beside = [], [], [], []
    for place, pair in enumerate(pairs):
        said = f"{pair.step.name}, two K80 and their host: {pair.theirs / scale:.4g} {label}"
        theirs.append(c.Mark(place, pair.theirs / scale, told=said))
        own.append(c.mark(place, pair.row, scale))
        ends = (place, pair.theirs / scale), (place, pair.row.value / scale)
        joined.append(c.Arrow(*ends, grey, "-"))
        beside.append((float(place), factor(pair.better) if pair.row.valid else "–", c.INK))
    beside.append((-0.75, "faster than theirs", c.INK))
    layers: list[c.Layer] = [
        *joined,
        c.Series(theirs, c.THEIRS, "two K80 and their host"),
        c.Series(own, OWN, "here", "bar"),
    ]
    places = c.names_axis([_name(pair) for pair in pairs], size=7)
    panel = c.Panel(layers, places, c.Axis(label, "log"), sideways=True, beside=beside)
    return c.Chart([[panel]], 7.6, 1.35 + 0.42 * len(pairs))


def _name(pair: Pair) -> str:
    """The report's step, and below it the rung that redoes it."""
    four = pair.step.hardware == seeds.FOUR
    name, many = pair.step.name, gpus(pair.row)
    shared = f", {many} GPU{'s' if many > 1 else ''}" if four else ""
    rung = rung_name(pair.row.benchmark)
    return f"{name}{', 4 GPUs' if four else ''}\n{rung}, {pair.row.text('layout')}{shared}"


def _caption(pairs: Sequence[Pair], what: str) -> str:
    shown = {pair.step.name for pair in pairs}
    missing = [name for name, *_ in seeds.THESSALY_STEPS if name not in shown]
    sizes = ", ".join(dict.fromkeys(size_words(pair.row) for pair in pairs))
    return prose(
        f"{what} Open: their Table 1, 32 systems on a CPU, on one GPU of two K80 (tiling, one "
        "launch) and on all four of their GPUs; filled: the rung beneath each name, in the "
        f"layout of the step, on the number of GPUs given there ({sizes}; medians, lines: "
        f"range of the samples). The numbers of {seeds.THESSALY} "
        f"{reference.cite('papadouli2026nbody')} are those of its table.",
        any(pair.step.hardware == seeds.FOUR for pair in pairs)
        and "Where theirs uses four GPUs, ours uses the number given: the factor is for the "
        "whole, not per GPU.",
        any(pair.row.benchmark in SEVERAL for pair in pairs)
        and "Several gpus distributes a kernel that includes all later steps, which theirs at "
        "this step did not.",
        missing and f"Not repeated in this run: {', '.join(missing)}.",
    )


def _figure(
    name: str, title: str, order: int, items: Callable[[Run], Sequence[Pair]], *,
    label: str, scale: float, unit: str, what: str,
) -> Figure[Pair]:  # fmt: skip
    return Figure(
        f"nbody_thessaly_{name}", f"n-body on two K80, repeated: {title}", order, items,
        lambda pairs: chart(pairs, label, scale),
        lambda pairs: _caption(pairs, what),
        attributes(step="step.name", their_hardware="step.hardware", rung="row.benchmark")
        | attributes(**{f"their_{unit}": "theirs", unit: "row"})
        | attributes(low="row.minimum", high="row.maximum"),
        label=lambda pair: pair.step.name,
    )  # fmt: skip


FIGURES = (
    _figure(
        "throughput", "throughput (Papadouli et al. 2026, Figure 1)", 321, rates,
        label="interactions (10⁹/s)", scale=GIGA, unit="interactions_per_second",
        what="After Figure 1 of Papadouli, Markovitsis and Sanchez Cabrera (2026), throughput "
             "with different optimisations of the code: pairs computed per second.",
    ),
    _figure(
        "time", "time (Papadouli et al. 2026, Figure 2)", 322, all_times,
        label="time of 4.3 × 10¹⁰ interactions (s)", scale=1.0, unit="seconds",
        what="After Figure 2 of Papadouli, Markovitsis and Sanchez Cabrera (2026), execution "
             "time with different optimisations of the code: 80 steps of 32 systems of 4096 "
             "bodies. Their times on several GPUs include copies to the GPUs and back; ours "
             "do not.",
    ),
)  # fmt: skip
