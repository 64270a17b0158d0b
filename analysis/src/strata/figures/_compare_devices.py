"""How do devices differ? A panel per unit, a line per quantity, a dot per device."""

from textwrap import fill
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from strata.compare.changes import records
from strata.compare.devices import Devices, cell, notes, panels
from strata.figures import _chase as chase
from strata.figures._plot import Plot, columns
from strata.figures._style import bytes_axis, foot, hover, listed, plain_log
from strata.model.atlas import CHASE
from strata.run import Run

MARKERS = "osDv^PX*"
"""Of each device, in the colours of the style."""
APART = 0.7
"""How far the marks of a line are spread, so that equal ones all show."""
DIFFER = 1.03
"""A line is drawn if two of its numbers differ by this factor."""
SPACES = ("global_ca", "memory")
"""What is walked through all levels, on a GPU and on a CPU."""


def curves(found: Devices) -> pd.DataFrame:
    """The valid dependent loads of each run, in cycles and in ns."""

    def walked(at: int, run: Run) -> pd.DataFrame:
        loads = chase.lines(chase.rows(run, CHASE, "space"))
        of_one = loads[loads.curve.isin(SPACES) & (loads.cores == "one") & loads.valid]
        of_one = of_one.assign(at=at, name=found.names[at], ns=1e9 * of_one.load_seconds)
        return columns(of_one, "at", "name", bytes="footprint", cycles="value", ns="ns")

    return pd.concat([walked(at, run) for at, run in enumerate(found.runs)])


def draw_curves(data: pd.DataFrame, figure: Figure) -> None:
    """Cycles left, time right; curves that coincide show the markers of all in turn."""
    units = ("cycles", "In cycles of its own timer"), ("ns", "In time")
    for ax, (unit, title) in zip(figure.subplots(1, 2), units, strict=True):
        plain_log(ax)
        bytes_axis(ax, "footprint")
        ax.set(title=title, ylabel=f"{unit} per load")
        count = data.name.nunique()
        for at, (name, of) in enumerate(data.groupby("name", sort=False)):
            here = of.dropna(subset=[unit])
            look: dict[str, Any] = {"marker": MARKERS[at % len(MARKERS)], "ms": 3.6, "label": name}
            (line,) = ax.plot(here.bytes, here[unit].astype(float), markevery=(at, count), **look)
            hover(line, here)


def numbers(found: Devices) -> pd.DataFrame:
    """Each number of each device; `drawn` are those of lines in which two devices differ."""
    parts = []
    for panel, here in panels(found):
        value = here.groupby("label").value
        shown = [line.row or f"{line.label}: {cell(line)} {panel.unit}" for line in records(here)]
        parts.append(here.assign(
            panel=panel.title, unit=panel.unit, better=panel.better, valid=True, _row=shown,
            name=here["at"].map(found.names.__getitem__), low=here.low.fillna(here.value),
            high=here.high.fillna(here.value),
            drawn=value.transform("max") > DIFFER * value.transform("min"),
        ))  # fmt: skip
    return pd.concat(parts).drop(columns=["row", "cited"])


def plots_of(found: Devices) -> list[Plot]:
    """The figures of these devices."""

    def draw(data: pd.DataFrame, figure: Figure) -> None:
        hidden = data[~data.drawn].groupby(["panel", "label"]).ngroups
        shown = data[data.drawn] if data.drawn.any() else data
        panels = [here for _, here in shown.groupby("panel", sort=False)]
        line = max(0.19, 0.06 * len(found.names))
        tall = np.array([here.label.nunique() * line + 0.75 for here in panels])
        first = int((np.cumsum(tall) <= max(tall.sum() / 2, tall[0])).sum())
        columns = [part for part in (slice(first), slice(first, None)) if len(tall[part])]
        figure.set_figheight(0.3 + max(tall[part].sum() for part in columns))
        halves = figure.subfigures(1, len(columns), squeeze=False)[0]
        for half, part in zip(halves, columns, strict=True):
            axes = half.subplots(len(tall[part]), squeeze=False, height_ratios=tall[part])[:, 0]
            for ax, here in zip(axes, panels[part], strict=True):
                draw_numbers(ax, here, found)
        left = f"{hidden} lines without two devices that differ by {DIFFER - 1:.0%}: in the table."
        warnings = [f"WARNING, {warning}" for warning in found.warnings]
        foot(figure, [*([left] if hidden and data.drawn.any() else []), *warnings, *notes(found)])

    titles = "Dependent loads over the footprint", "Devices side by side"
    return [
        Plot("latency_curves", titles[0], 0, (7.0, 2.9), lambda _: curves(found), draw_curves, str),
        Plot("devices", titles[1], 0, (7.0, 3.0), lambda _: numbers(found), draw, str),
    ]


def draw_numbers(ax: Axes, here: pd.DataFrame, found: Devices) -> None:
    """One panel; published devices, which come after the runs, have open marks."""
    labels, count = [*here.label.unique()], len(found.names)
    at: Any
    for at, of in here.groupby("at"):
        places = of.label.map(labels.index) + APART * ((at + 0.5) / count - 0.5)
        colour = f"C{at % 8}"
        look: dict[str, Any] = {"marker": MARKERS[at % len(MARKERS)], "ls": "", "ms": 4.5}
        look["mfc"] = "white" if at >= len(found.runs) else colour
        (line,) = ax.plot(of.value, places, color=colour, label=found.names[at], **look)
        ax.hlines(places, of.low, of.high, color=colour, lw=0.9)
        hover(line, of)
    if 0 < 20 * here.low.min() < here.high.max():
        plain_log(ax, "x", digits=(1,))
    else:
        ax.set_xlim(0, 1.06 * here.high.max())
    better = "← better" if here.better.iloc[0] == "lower" else "better →"
    listed(ax, [fill(label, 22) for label in labels])
    ax.set(title=fill(here.panel.iloc[0], 28))
    ax.set_xlabel(f"{here.unit.iloc[0]}   ({better})", loc="right")
