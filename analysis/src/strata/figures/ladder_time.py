"""What does a step of each rung spend its time on, and how much of it was predicted?"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from strata.figures import _chart as c
from strata.figures._figure import Figure, attributes, prose
from strata.ladder.phases import PHASES, Step, best, steps
from strata.model import units
from strata.run import Row, Run, grouped

WORDS = {phase: phase.replace("_", " ") for phase in PHASES}
COLOURS = dict(
    zip(
        PHASES,
        ("#666666", "#56B4E9", "#E69F00", "#0072B2", "#009E73", "#D55E00", "#CC79A7", c.PALE),
        strict=True,
    )
)
"""Idle is pale: nothing is done."""
LEFT = c.Look(c.GREY, hollow=True, hatch="//////")
APART = 0.19
"""From the middle of a rung to that of either of its bars."""


@dataclass(frozen=True, slots=True)
class Part:
    """A phase of the best case of a rung: traced, predicted, or both."""

    step: Step
    phase: str

    @property
    def row(self) -> Row | None:
        """The traced row; None for a phase that did not occur."""
        return self.step.phases.get(self.phase)

    @property
    def predicted(self) -> float | None:
        """Predicted seconds of a step; None without a rule for the phase."""
        return self.step.predicted.get(self.phase)

    @property
    def valid(self) -> bool:
        """The phases of a case are valid together."""
        return self.step.first.valid

    @property
    def rung(self) -> str:
        """The rung without its suite."""
        return rung_of(self.step)


def rung_of(step: Step) -> str:
    """`neighbours_host_grid` as shown: host grid."""
    row = step.first
    return row.benchmark.removeprefix(f"{row.suite}_").replace("_", " ")


def items(run: Run) -> Sequence[Part]:
    """The phases of every rung at each of its places, in ladder order."""
    ladders = run.context.ladders.values()
    order = [story.name for ladder in ladders for story in ladder]
    found = best(steps(run))
    found = sorted(
        found,
        key=lambda step: (
            order.index(step.first.benchmark) if step.first.benchmark in order else len(order)
        ),
    )
    return [
        Part(step, phase)
        for step in found
        for phase in PHASES
        if phase in step.phases or phase in step.predicted
    ]


def _stacked(
    parts: Sequence[Part], place: float, apart: float
) -> Iterator[tuple[str, bool, c.Mark]]:
    """The marks of a rung, by phase, traced or predicted."""
    ends = {True: 0.0, False: 0.0}
    for part in parts:
        row = part.row
        traced = row.value if row else None
        for value, predicted in ((traced, False), (part.predicted, True)):
            if value is None:
                continue
            start = ends[predicted]
            ends[predicted] += value
            at = place + (apart if predicted else -apart)
            told = f"{WORDS[part.phase]}, predicted: {units.quantity(value, 's')}"
            yield part.phase, predicted, c.Mark(
                at, ends[predicted], start=start, valid=predicted or part.valid,
                row=None if predicted else row, told=told if predicted else "",
            )  # fmt: skip


def _words(step: Step) -> str:
    words = units.quantity(step.traced, "s")
    if step.left is None:
        return words
    share = sum(step.predicted.values()) / step.traced
    return f"{words}   {units.significant(100 * share)} % predicted"


def _title(step: Step) -> str:
    """The words of a place; an axis with the answer `yes` by its name, `no` not at all."""
    words = [
        f"{axis} {units.count(int(value))}" if value.isdecimal()
        else axis if value == "yes" else value
        for axis, value in step.place
        if value != "no"
    ]  # fmt: skip
    return ", ".join(words)


def _panel(parts: Sequence[Part]) -> c.Panel:
    """Two bars per rung: traced, and below it predicted, with the unexplained rest.

    One bar where nothing is predicted.
    """
    apart = APART if any(part.step.predicted for part in parts) else 0.0
    rungs = list(grouped(parts, lambda part: part.rung).values())
    bars: dict[tuple[str, bool], list[c.Mark]] = {}
    left, ends, timed = [], [], []
    for place, of_rung in enumerate(rungs):
        step = of_rung[0].step
        for phase, predicted, mark in _stacked(of_rung, place, apart):
            bars.setdefault((phase, predicted), []).append(mark)
        if step.left is not None and step.left > 0:
            left.append(c.Mark(place + apart, step.traced, start=step.traced - step.left))
        longest = max(step.traced, step.traced - (step.left or 0), step.timed)
        ends.append(c.Mark(place, longest, words=_words(step)))
        if step.timed:
            timed.append(c.Mark(place - apart, step.timed, told="the step as it was timed"))
    layers: list[c.Layer] = [
        c.Bars(bars[phase, predicted], c.Look(COLOURS[phase], alpha=0.6 if predicted else 1.0),
               "" if predicted else WORDS[phase], thick=0.26 if predicted else 0.34)
        for phase in PHASES
        for predicted in (False, True)
        if (phase, predicted) in bars
    ]  # fmt: skip
    if left:
        layers.append(c.Bars(left, LEFT, "not predicted", thick=0.26))
    if timed:
        layers.append(c.Series(timed, c.Look(marker="|", size=9), "timed", order=3))
    layers.append(c.Series(ends, c.Look(), words_size=7.0))
    names = c.names_axis([of_rung[0].rung for of_rung in rungs])
    values = c.Axis("time of a step", zero=True, text=c.seconds)
    return c.Panel(layers, names, values, _title(rungs[0][0].step), sideways=True)


def chart(parts: Sequence[Part]) -> c.Chart:
    """One panel per place; bars from zero in ladder order."""
    panels = [_panel(here) for here in grouped(parts, lambda part: part.step.place).values()]
    heights = [len(panel.places.names or ()) + 1.3 for panel in panels]
    return c.Chart(
        [[panel] for panel in panels], 8.4, 1.2 + 0.45 * sum(heights), heights=heights,
        legend_columns=6,
    )  # fmt: skip


def _caption(parts: Sequence[Part]) -> str:
    methods = {part.step.first.method for part in parts}
    predicted = {phase for part in parts for phase in part.step.predicted}
    return prose(
        "The time of a step of each rung's best case, by phase: medians of samples that were "
        "traced after all timing and counting; stroke: the timed step.",
        "cupti_activity" in methods
        and "Kernels, copies and fills by CUPTI's records, host work by the host's clock. "
        "Where both are busy the GPU counts; time that no record covers is idle.",
        "cuda_event" in methods
        and "Without CUPTI: kernels, copies and fills by CUDA events around each, which "
        "themselves take part of the step.",
        methods == {"host_clock"} and "All by the host's clock.",
        predicted
        and "Below, paler: predictions from the run's own measurements, none of them fitted.",
        predicted & {"copy_in", "copy_out"}
        and "Copies: their number and bytes, by the line through the run's pinned transfers; "
        "those to the GPU, for which nobody waits, as one of many.",
        "allocate" in predicted
        and "Allocations: their number, each with its release, as the smallest of the run.",
        "build" in predicted
        and "Build: the bytes that its kernels read and write, at the run's read bandwidth of "
        "L2, or of DRAM where L2 does not hold them; comparisons of all agents with all "
        "cells by their instructions. Launch overhead is not included.",
        "search" in predicted
        and "Search: the floating-point instructions of the distances, including idle "
        "threads, at the best rate of the run; loads and loops are not included.",
        "idle" in predicted
        and "Idle: launches, at the cost of one more launch in a "
        "stream, or of one that the host waits for if a copy to the host follows each.",
        predicted and "Hatched: the unexplained remainder.",
    )


FIGURE = Figure(
    "ladder_time", "Where the time of a step goes", 202, items, chart, _caption,
    attributes("rung")
    | {"place": lambda part: _title(part.step)}
    | attributes("phase", seconds="row", predicted_seconds="predicted")
    | attributes(of="step", traced_step_seconds="traced", timed_step_seconds="timed")
    | {"case": lambda part: part.step.first.case, "valid": lambda part: part.valid},
    label=lambda part: f"{part.rung}, {_title(part.step)}"
    if part.phase == next(iter(part.step.phases)) else "",
)  # fmt: skip
