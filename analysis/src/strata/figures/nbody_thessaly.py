"""Does each step of a report on two K80 GPUs still pay off, in rates and in seconds?

Figures 1 and 2 of Papadouli, Markovitsis and Sanchez Cabrera (2026), redone.
"""

from collections.abc import Iterator
from functools import partial
from textwrap import fill
from typing import NamedTuple

import pandas as pd
from matplotlib.figure import Figure

from strata import reference
from strata.figures._figure import attributes, prose, times
from strata.figures._plot import figure, table
from strata.figures._style import COLUMN, GREY, hover, listed, marks, plain_log, points
from strata.ladder import seeds
from strata.ladder.rungs import GIGA, SEVERAL, gpus, rung_name, size_words, unshared
from strata.model.units import factor
from strata.run import Row, Run


class Pair(NamedTuple):
    """One step: their value and ours, in one unit, and our speed-up over theirs."""

    step: seeds.ThessalyStep
    row: Row
    theirs: float
    better: float


def _pairs(run: Run, unit: str) -> Iterator[Pair]:
    """The repeated steps, with several GPUs by one of them alone.

    In seconds those with the report's systems: the time of all steps that it timed.
    """
    for step in seeds.thessaly(run):
        row, rate = step.step_time if unit == "seconds" else step.row, unit != "seconds"
        if row and row.minimum > 0 and not (step.row and unshared(step.row)):
            ours = row if rate else times(row, seeds.THESSALY_TIMED_STEPS)
            theirs = step.rate if rate else step.seconds
            ratio = ours.value / theirs
            yield Pair(step, ours, theirs, ratio if rate else 1 / ratio)


def data(unit: str, run: Run) -> pd.DataFrame:
    """Their values beside ours, in the order of the report."""
    columns = (
        attributes(step="step.name", their_hardware="step.hardware", rung="row.benchmark")
        | attributes(**{f"their_{unit}": "theirs", unit: "row"}, _theirs="theirs", _better="better")
        | attributes(low="row.minimum", high="row.maximum")
    )
    return table(_pairs(run, unit), columns, label=lambda pair: pair.step.name)


def _name(step: str, hardware: str, row: Row) -> tuple[str, str]:
    """The report's step, and the rung that repeats it."""
    many, rung = gpus(row), f"{rung_name(row.benchmark)}, {row.text('layout')}"
    if hardware != seeds.FOUR:
        return step, rung
    return f"{step}, 4 GPUs", f"{rung}, {many} GPU{'s' if many > 1 else ''}"


def caption(what: str, data: pd.DataFrame) -> str:
    """Their hardware and ours, and what was not repeated."""
    missing = [name for name, *_ in seeds.THESSALY_STEPS if name not in {*data.step}]
    sizes = ", ".join(data["_row"].map(size_words).unique())
    return prose(
        f"{what} Open: {seeds.THESSALY}, Table 1 {reference.cite('papadouli2026nbody')}, 32 "
        "systems on a CPU, on one GPU of two K80 (tiling, one launch) and on all four of their "
        "GPUs; filled: the rung beneath each name, in the layout of the step, on the number of "
        f"GPUs given there ({sizes}; medians, lines: range of the samples); numbers: how much "
        "faster.",
        (data.their_hardware == seeds.FOUR).any()
        and "Where theirs uses four GPUs, the factor is for the whole, not per GPU.",
        data.rung.isin(SEVERAL).any()
        and "Several gpus distributes a kernel that includes all later steps, which theirs at "
        "this step did not.",
        missing and f"Not repeated in this run: {', '.join(missing)}.",
    )


def draw(data: pd.DataFrame, figure: Figure) -> None:
    """Theirs open, ours filled, joined by lines, with the factor at the right."""
    rows, wide = data["_row"], figure.get_figwidth() > COLUMN
    scale, label = (
        (GIGA, "interactions (10⁹/s)") if rows[0].unit == "1/s" else (1.0, "time of 80 steps (s)")
    )
    steps = map(_name, data.step, data.their_hardware, rows)
    names = ["\n".join(fill(part, 60 if wide else 20) for part in step) for step in steps]
    figure.set_figheight(1 + sum(0.25 + 0.13 * name.count("\n") for name in names))
    ax, shown = figure.add_subplot(), marks(rows, data.index, scale)
    plain_log(ax, "x", (1, 2, 5) if wide else (1,))
    theirs = data["_theirs"] / scale
    ax.hlines(data.index, theirs, shown.value, GREY, lw=0.8)
    who = "two K80 and their host"
    (mark,) = ax.plot(theirs, data.index, "D", c="#D55E00", mfc="white", ms=5, label=who)
    hover(mark, (f"{step}, {who}: {one:.4g}" for step, one in zip(data.step, theirs, strict=True)))
    points(ax, shown, "value", "at", ls="", c="#0072B2", marker="o", ms=6, label="here")
    ax.hlines(data.index, data.low / scale, data.high / scale, color="#0072B2")
    for at, valid, better in zip(data.index, data.valid, data["_better"], strict=True):
        words = factor(better) if valid else "–"
        ax.text(1.02, at, words, va="center", transform=ax.get_yaxis_transform())
    listed(ax, names)
    ax.set_xlabel(label)


for name, order, unit, what in (
    ("throughput", 321, "interactions_per_second", "throughput: pairs computed per second."),
    (
        "time", 322, "seconds",
        "time: 80 steps of 32 systems of 4096 bodies. Theirs on several GPUs include copies.",
    ),
):  # fmt: skip
    source = f"Figure {order - 320}"
    figure(
        f"nbody_thessaly_{name}",
        f"n-body on two K80, repeated: {name} (Papadouli et al. 2026, {source})",
        order=order, data=partial(data, unit),
        caption=partial(caption, f"After {source}, {what}"),
    )(draw)  # fmt: skip
