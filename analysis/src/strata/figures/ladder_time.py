"""What does a step of each rung spend its time on, and how much of it was predicted?"""

import re
from textwrap import fill
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from strata.figures._ladder import rung_name
from strata.figures._plot import figure, prose
from strata.figures._style import COLUMN, GREY, hollow, hover, listed, note, stacked
from strata.ladder.phases import PHASES, Step, best, steps
from strata.model import units
from strata.run import Run

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


def _words(phase: str) -> str:
    return phase.replace("_", " ")


def _title(step: Step) -> str:
    """The words of a place; an axis with the answer `yes` by its name, `no` not at all."""
    words = [
        f"{axis} {units.count(int(value))}" if value.isdecimal()
        else axis if value == "yes" else value
        for axis, value in step.place
        if value != "no"
    ]  # fmt: skip
    return ", ".join(words)


def data(run: Run) -> pd.DataFrame:
    """The phases of every rung at each of its places, in ladder order."""
    order = [story.name for ladder in run.context.ladders.values() for story in ladder]
    lines = []
    for step in sorted(
        best(steps(run)),
        key=lambda step: [*order, step.first.benchmark].index(step.first.benchmark),
    ):
        rung, place = rung_name(step.first), _title(step)
        for phase in PHASES:
            row, predicted = step.phases.get(phase), step.predicted.get(phase)
            if row is None and predicted is None:
                continue
            lines.append(
                {
                    "rung": rung, "place": place, "phase": phase,
                    "seconds": row.value if row else None, "predicted_seconds": predicted,
                    "traced_step_seconds": step.traced, "timed_step_seconds": step.timed,
                    "valid": step.first.valid, "case": step.first.case, "_step": step, "_row": row,
                    "_label": f"{rung}, {place}" if phase == next(iter(step.phases)) else "",
                }
            )  # fmt: skip
    return pd.DataFrame(lines)


def caption(data: pd.DataFrame) -> str:
    """The measure, and the rules of the predictions."""
    methods = {step.first.method for step in data["_step"]}
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
        data.predicted_seconds.notna().any()
        and "Below, paler: predictions from the run's own measurements, none of them fitted. "
        "Copies by the line through the run's pinned transfers; allocations as its smallest; build "
        "by the bytes of its kernels at the read bandwidth of L2 or DRAM; search by the "
        "floating-point instructions of the distances at the best rate; idle by the cost of "
        "launches. Hatched: the unexplained remainder.",
    )


def _bars(ax: Axes, rows: pd.DataFrame, place: float, column: str) -> None:
    """The phases of a step, one behind the other: as traced, or paler as predicted."""
    known, traced = rows[rows[column].notna()], column == "seconds"
    start = 0.0
    for phase, value, row in zip(known.phase, known[column], known["_row"], strict=True):
        words = f"{_words(phase)}, predicted: {units.quantity(value, 's')}"
        (bar,) = ax.barh(place, value, 0.34 if traced else 0.26, start, color=COLOURS[phase])
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
            panels[0].fill_between([], [], color=colour, label=_words(phase))
    for ax, (title, here) in zip(panels, places, strict=True):
        apart, longest = APART if here.predicted_seconds.notna().any() else 0.0, 0.0
        for at, (_, rows) in enumerate(here.groupby("rung", sort=False)):
            step: Step = rows["_step"].iloc[0]
            left, text = step.left or 0.0, units.quantity(step.traced, "s")
            _bars(ax, rows, at - apart, "seconds")
            _bars(ax, rows, at + apart, "predicted_seconds")
            if left > 0:
                look: Any = {"fc": "white", "ec": GREY, "hatch": "//////", "label": "not predicted"}
                (bar,) = ax.barh(at + apart, left, 0.26, step.traced - left, **look)
                hover(bar, [f"not predicted: {units.quantity(left, 's')}"])
            if step.timed:
                (stroke,) = ax.plot(step.timed, at - apart, "k|", ms=9, label="timed")
                hover(stroke, ["the step as timed"])
            if wide and step.left is not None:
                text += f"   {units.significant(100 - 100 * left / step.traced)} % predicted"
            end = max(step.traced, step.traced - left, step.timed)
            note(ax, text, end, at)
            longest = max(longest, end)
        listed(ax, here.rung.unique())
        ax.locator_params(axis="x", nbins=5 if wide else 3)
        ax.xaxis.set_major_formatter(lambda at, _: re.sub(r"\.0+\b", "", units.quantity(at, "s")))
        ax.set(title=fill(f"{title}", 70 if wide else 26), xlim=(0, 1.4 * longest))
    panels[-1].set_xlabel("time of a step")
