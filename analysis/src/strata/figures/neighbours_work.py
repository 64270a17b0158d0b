"""How many cells per dimension are best, and what do more or fewer of them cost?"""

from dataclasses import dataclass
from textwrap import fill

import pandas as pd
from matplotlib.figure import Figure

from strata.figures._figure import attributes, params, prose
from strata.figures._neighbours import (
    first_of_each_case,
    place_of,
    rates,
    short,
    tests_per_neighbour,
    title,
)
from strata.figures._plot import figure, table
from strata.figures._style import plain_log, points, values_axis
from strata.model.units import count
from strata.run import Row, Run, grouped

APART = 1.25
"""Ticks that differ by less stand too near each other."""
MARKERS = ("o", "s", "^", "D", "v")
"""Of the numbers of agents, fewest first."""


@dataclass(frozen=True, slots=True)
class Point:
    """The steps of a rung with a number of cells, and its distance tests per neighbour."""

    row: Row
    tests: float | None

    @property
    def cells(self) -> int:
        """Cells per dimension."""
        return self.row.count("cells") or 0

    @property
    def agents(self) -> int:
        """The number of agents."""
        return self.row.count("agents") or 0

    @property
    def label(self) -> str:
        """The rung and its agents."""
        return f"{short(self.row)}, {count(self.agents)}"


COLUMNS = (
    {"rung": lambda one: short(one.row)}
    | params("problem", "spread", "world", of="row")
    | attributes("agents", "cells")
    | attributes(of="row", steps_per_second="value", low="minimum", high="maximum")
    | attributes(tests_per_neighbour="tests", _name="label")
)


def data(run: Run) -> pd.DataFrame:
    """The cases of rungs with cells, at places with several requested numbers of cells.

    The automatic number (`cells=0`) is not a value of the axis.
    """
    tests = tests_per_neighbour(run)
    asked = [row for row in rates(run, "steps_per_second") if row.count("cells")]
    found = [Point(row, tests.get(row.case)) for row in first_of_each_case(asked)]
    lines = grouped(found, lambda one: (place_of(one.row), one.label))
    shown = [
        one
        for line in lines.values()
        if len({one.cells for one in line}) > 1
        for one in sorted(line, key=lambda one: one.cells)
    ]
    return table(
        shown, COLUMNS,
        label=lambda one: f"{one.label}, {one.cells} cells, {title(place_of(one.row))}",
    )  # fmt: skip


def caption(data: pd.DataFrame) -> str:
    """The measures."""
    return prose(
        "Steps of all agents per second against the number of cells along each edge of the "
        "world: medians. Cells shorter than the reach are searched further to each side, by "
        "whole cells.",
        data.tests_per_neighbour.notna().any()
        and "Below: distances that the rung computed per neighbour found.",
        "Markers: the number of agents, after the rung's name.",
    )


@figure(
    "neighbours_work", "Cells and search work", order=203, data=data, caption=caption
)  # fmt: skip
def draw(data: pd.DataFrame, figure: Figure) -> None:
    """One column per place: steps per second, and below them tests per neighbour."""
    rungs, sizes = [*data.rung.unique()], sorted(data.agents.unique())
    places = [*data.groupby(data["_row"].map(place_of), sort=False)]
    labels = {"steps_per_second": "steps (1/s)", "tests_per_neighbour": "tests per neighbour"}
    shown = [name for name in labels if data[name].notna().any()]
    figure.set_figheight(0.8 + 2 * len(shown))
    letters = 9 * figure.get_figwidth() / len(places)
    panels = figure.subplots(len(shown), len(places), squeeze=False, sharey="row")
    for row, name in zip(panels, shown, strict=True):
        for ax, (place, here) in zip(row, places, strict=True):
            for label, part in here[here[name].notna()].groupby("_name", sort=False):
                look = {
                    "color": f"C{rungs.index(part.rung.iloc[0])}",
                    "marker": MARKERS[sizes.index(part.agents.iloc[0]) % len(MARKERS)],
                }
                points(ax, part, "cells", name, label=label, **look)
            plain_log(ax)
            values_axis(ax, here.cells, APART)
            ax.set(
                title=fill(title(place), int(letters)),
                xlabel="cells a dimension",
                ylabel=labels[name],
            )
            ax.label_outer()
    for ax in panels[1:].flat:
        ax.set_title("")
