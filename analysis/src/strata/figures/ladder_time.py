"""What does a step of each rung spend its time on, and how much of it was predicted?"""

import re
from dataclasses import dataclass
from textwrap import fill

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from strata.figures._figure import attributes, prose
from strata.figures._plot import figure, table
from strata.figures._style import COLUMN, GREY, hollow, hover, listed, stacked
from strata.ladder.phases import PHASES, Step, best, steps
from strata.model import units
from strata.run import Row, Run

WORDS = {phase: phase.replace("_", " ") for phase in PHASES}
COLOURS = dict(
    zip(
        PHASES,
        ("#666666", "#56B4E9", "#E69F00", "#0072B2", "#009E73", "#D55E00", "#CC79A7", "#e3e3e3"),
        strict=True,
    )
)
"""Idle is pale: nothing is done."""
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
        """`neighbours_host_grid` as shown: host grid."""
        row = self.step.first
        return row.benchmark.removeprefix(f"{row.suite}_").replace("_", " ")


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


COLUMNS = (
    attributes("rung")
    | {"place": lambda part: _title(part.step)}
    | attributes("phase", seconds="row", predicted_seconds="predicted")
    | attributes(of="step", traced_step_seconds="traced", timed_step_seconds="timed")
    | attributes("valid", case="step.first.case", _step="step")
)


def _label(part: Part) -> str:
    """The name of a rung, at the first phase of its step."""
    first = part.phase == next(iter(part.step.phases))
    return f"{part.rung}, {_title(part.step)}" if first else ""


def data(run: Run) -> pd.DataFrame:
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
    parts = [
        Part(step, phase)
        for step in found
        for phase in PHASES
        if phase in step.phases or phase in step.predicted
    ]
    return table(parts, COLUMNS, label=_label)


def caption(data: pd.DataFrame) -> str:
    """The measure, and the rule of each prediction."""
    steps = data["_step"]
    methods = {step.first.method for step in steps}
    predicted = {phase for step in steps for phase in step.predicted}
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


def _bars(ax: Axes, rows: pd.DataFrame, place: float, column: str) -> None:
    """The phases of a step, one behind the other: as traced, or paler as predicted."""
    known, traced = rows[rows[column].notna()], column == "seconds"
    start, thick = 0.0, 0.34 if traced else 0.26
    for phase, value, row in zip(known.phase, known[column], known["_row"], strict=True):
        words = f"{WORDS[phase]}, predicted: {units.quantity(value, 's')}"
        (bar,) = ax.barh(place, value, thick, start, color=COLOURS[phase])
        hover(bar, [row if traced else words])
        hollow(bar, valid=not traced or row.valid)
        bar.set_alpha(None if traced else 0.6)
        start += value


@figure("ladder_time", "Where the time of a step goes", order=202, data=data, caption=caption)
def draw(data: pd.DataFrame, figure: Figure) -> None:
    """A panel per place with two bars per rung: traced, and below it predicted with the rest."""
    wide = figure.get_figwidth() > COLUMN
    places = [*data.groupby("place", sort=False)]
    panels = stacked(figure, [here.rung.nunique() for _, here in places], 0.4)
    for phase, colour in COLOURS.items():  # keys of a step in order, filled for hollow bars too
        if (data.phase[data.seconds.notna()] == phase).any():
            panels[0].fill_between([], [], color=colour, label=WORDS[phase])
    for ax, (title, here) in zip(panels, places, strict=True):
        apart, longest = APART if here.predicted_seconds.notna().any() else 0.0, 0.0
        for at, (_, rows) in enumerate(here.groupby("rung", sort=False)):
            step: Step = rows["_step"].iloc[0]
            _bars(ax, rows, at - apart, "seconds")
            _bars(ax, rows, at + apart, "predicted_seconds")
            if step.left and step.left > 0:
                start = step.traced - step.left
                (bar,) = ax.barh(at + apart, step.left, 0.26, start, label="not predicted")
                bar.set(fc="white", ec=GREY, hatch="//////")
                hover(bar, [f"not predicted: {units.quantity(step.left, 's')}"])
            if step.timed:
                (stroke,) = ax.plot(step.timed, at - apart, "k|", ms=9, label="timed")
                hover(stroke, ["the step as timed"])
            end = max(step.traced, step.traced - (step.left or 0), step.timed)
            words = _words(step)
            text = words if wide else words.partition("   ")[0]
            ax.annotate(text, (end, at), (7, 0), textcoords="offset points", va="center")
            longest = max(longest, end)
        listed(ax, here.rung.unique())
        ax.locator_params(axis="x", nbins=5)
        ax.xaxis.set_major_formatter(lambda at, _: re.sub(r"\.0+\b", "", units.quantity(at, "s")))
        ax.set(title=fill(f"{title}", 70 if wide else 26), xlim=(0, 1.4 * longest))
    panels[-1].set_xlabel("time of a step")
