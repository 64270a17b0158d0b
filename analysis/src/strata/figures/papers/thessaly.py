"""Does each step of a report on two K80 GPUs still pay off, in rates and in seconds?

Figures 1 and 2 of Papadouli, Markovitsis and Sanchez Cabrera (2026), redone.
"""

from functools import partial
from textwrap import fill

import pandas as pd
from matplotlib.figure import Figure

from strata import reference
from strata.figures._plot import columns, figure, prose, worded
from strata.figures._style import GREY, in_column, listed, plain_log, points, si_axis, theirs
from strata.ladder import seeds
from strata.ladder.rungs import gpus, rung_name, size_words, unshared
from strata.model.units import factor
from strata.run import Row, Run, tidy

WHO = "two K80 and their host"
AXES = {"interactions_per_second": ("", "interactions (1/s)"), "seconds": ("s", "time of 80 steps")}


def data(unit: str, run: Run) -> pd.DataFrame:
    """Their values beside ours, in the order of the report.

    Several GPUs only where they share the work; seconds only of the report's systems, for all the
    steps that it timed.
    """
    rates = unit != "seconds"
    steps = [(step, step.row if rates else step.step_time) for step in seeds.thessaly(run)]
    steps = [(step, row) for step, row in steps if row and row.minimum > 0 and not unshared(row)]
    lines = tidy(row for _, row in steps if row)
    if lines.empty:
        return lines
    lines["_step"] = lines["_label"] = [step.name for step, _ in steps]
    lines["_hardware"] = [step.hardware for step, _ in steps]
    lines["_theirs"] = [step.rate if rates else step.seconds for step, _ in steps]
    ours = ["value", "minimum", "maximum"]
    lines[ours] *= 1 if rates else seeds.THESSALY_TIMED_STEPS
    ratio = lines.value / lines["_theirs"]
    lines["_better"] = ratio if rates else 1 / ratio
    return columns(
        lines, step="_step", their_hardware="_hardware", rung="benchmark",
        **{f"their_{unit}": "_theirs", unit: "value"}, low="minimum", high="maximum",
    )  # fmt: skip


def _name(step: str, hardware: str, row: Row) -> tuple[str, str]:
    """The report's step, and the rung that repeats it."""
    many, rung = gpus(row), f"{rung_name(row.benchmark)}, {row.text('layout')}"
    if hardware != seeds.FOUR:
        return step, rung
    return f"{step}, 4 GPUs", f"{rung}, {many} GPU{'s' if many > 1 else ''}"


def caption(what: str, data: pd.DataFrame) -> str:
    missing = [name for name, *_ in seeds.THESSALY_STEPS if name not in {*data.step}]
    sizes = ", ".join(data["_row"].map(size_words).unique())
    return prose(
        f"{what} Open: {seeds.THESSALY}, Table 1 {reference.cite('papadouli2026nbody')}, 32 "
        "systems on a CPU, one GPU of two K80, or all four of their GPUs; filled: the rung beneath "
        f"each name ({sizes}; medians, lines: range of the samples); numbers: how much faster.",
        (data.their_hardware == seeds.FOUR).any()
        and "Where theirs uses four GPUs, the factor is for the whole, and several gpus "
        "distributes a kernel that includes all later steps, which theirs at this step did not.",
        missing and f"Not repeated in this run: {', '.join(missing)}.",
    )


def draw(data: pd.DataFrame, figure: Figure) -> None:
    unit = next(unit for unit in AXES if unit in data)
    wide = not in_column(figure)
    prefix, label = AXES[unit]
    steps = map(_name, data.step, data.their_hardware, data["_row"])
    names = ["\n".join(fill(part, 60 if wide else 20) for part in step) for step in steps]
    figure.set_figheight(1 + sum(0.25 + 0.13 * name.count("\n") for name in names))
    ax = figure.add_subplot()
    plain_log(ax, "x", (1, 2, 5) if wide else (1,))
    si_axis(ax, "x", prefix)
    ax.hlines(data.index, data["_theirs"], data[unit], GREY, lw=0.8)
    words = worded(data, f"{{step}}, {WHO}: {{_theirs:.4g}}")
    theirs(ax, data["_theirs"], data.index, words, label=WHO, ms=5)
    look = {"ls": "", "c": "#0072B2", "marker": "o", "ms": 6, "label": "here"}
    points(ax, data.assign(at=data.index), unit, "at", "x", **look)
    for at, valid, better in zip(data.index, data.valid, data["_better"], strict=True):
        text = factor(better) if valid else "–"
        ax.text(1.02, at, text, va="center", transform=ax.get_yaxis_transform())
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
