"""What does a step of each rung spend its time on, and how much of it was predicted?"""

from textwrap import fill
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from strata.figures import _style
from strata.figures._ladder import rung_name
from strata.figures._plot import figure, prose
from strata.figures._style import GREY, hollow, hover, listed, note, parts, si_axis, stacked
from strata.ladder.phases import PHASES, Step, best, steps
from strata.model import units
from strata.run import Run

HUES = "#666666", "#56B4E9", "#E69F00", "#0072B2", "#009E73", "#D55E00", "#CC79A7", "#e3e3e3"
COLOURS = dict(zip(PHASES, HUES, strict=True))
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
    found = best(steps(run))
    order += sorted({step.first.benchmark for step in found} - {*order})
    return pd.DataFrame(
        {
            "rung": rung_name(step.first), "place": _title(step), "phase": phase,
            "seconds": row.value if row else None,
            "predicted_seconds": step.predicted.get(phase),
            "traced_step_seconds": step.traced, "timed_step_seconds": step.timed,
            "valid": step.first.valid, "case": step.first.case, "_step": step, "_row": row,
            "_label": f"{rung_name(step.first)}, {_title(step)}" if phase in first else "",
        }
        for step in sorted(found, key=lambda step: order.index(step.first.benchmark))
        for first in [[*step.phases][:1]]
        for phase in PHASES
        for row in [step.phases.get(phase)]
        if row or phase in step.predicted
    )  # fmt: skip


def caption(data: pd.DataFrame) -> str:
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
        and "Below, paler: predictions from the run's own measurements of copies, allocations, "
        "bandwidth, instruction rate and launches, none of them fitted. Hatched: the unexplained "
        "remainder.",
    )


def _bars(ax: Axes, rows: pd.DataFrame, place: float, column: str) -> None:
    """The phases of a step, one behind the other: as traced, or paler as predicted."""
    known, traced, start = rows[rows[column].notna()], column == "seconds", 0.0
    for phase, value, row in zip(known.phase, known[column], known["_row"], strict=True):
        words = f"{_words(phase)}, predicted: {units.quantity(value, 's')}"
        (bar,) = ax.barh(place, value, 0.34 if traced else 0.26, start, color=COLOURS[phase])
        hover(bar, [row if traced else words])
        hollow(bar, valid=not traced or row.valid)
        bar.set_alpha(None if traced else 0.6)
        start += value


@figure("ladder_time", "Where the time of a step goes", order=202, data=data, caption=caption)
def draw(data: pd.DataFrame, figure: Figure) -> None:
    wide, places = not _style.in_column(figure), parts(data, "place")
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
        si_axis(ax, "x", "s")
        ax.set(title=fill(f"{title}", 70 if wide else 26), xlim=(0, 1.4 * longest))
    panels[-1].set_xlabel("time of a step")
