"""How many cells per dimension are best, and what do more or fewer of them cost?"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from strata.figures import _chart as c
from strata.figures._figure import Figure, attributes, params, prose
from strata.figures._neighbours import (
    Place,
    first_of_each_case,
    place_of,
    rates,
    short,
    tests_per_neighbour,
    title,
)
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


def items(run: Run) -> Sequence[Point]:
    """The cases of rungs with cells, at places with several requested numbers of cells.

    The automatic number (`cells=0`) is not a value of the axis.
    """
    tests = tests_per_neighbour(run)
    asked = [row for row in rates(run, "steps_per_second") if row.count("cells")]
    found = [Point(row, tests.get(row.case)) for row in first_of_each_case(asked)]
    lines = grouped(found, lambda one: (place_of(one.row), one.label))
    return [
        one
        for line in lines.values()
        if len({one.cells for one in line}) > 1
        for one in sorted(line, key=lambda one: one.cells)
    ]


def _looks(points: Sequence[Point]) -> dict[str, c.Look]:
    """One colour per rung, one marker per number of agents."""
    rungs = list(dict.fromkeys(one.row.benchmark for one in points))
    sizes = sorted({one.agents for one in points})
    return {
        one.label: c.Look(
            c.COLOURS[rungs.index(one.row.benchmark) % len(c.COLOURS)],
            MARKERS[sizes.index(one.agents) % len(MARKERS)],
            "-",
        )
        for one in points
    }


def _panel(
    points: Sequence[Point], looks: dict[str, c.Look], of: Callable[[Point], c.Mark | None],
    values: c.Axis, heading: str = "",
) -> c.Panel:  # fmt: skip
    layers = c.by_look(
        points, lambda one: one.label, {name: (name, look) for name, look in looks.items()}, of
    )
    places = c.Axis("cells a dimension", "log2", ticks=_ticks({one.cells for one in points}))
    return c.Panel(layers, places, values, heading)


def _ticks(cells: Collection[int]) -> list[int]:
    """The tick labels, without those that would overlap the previous one."""
    kept: list[int] = []
    for one in sorted(cells):
        if not kept or one >= APART * kept[-1]:
            kept.append(one)
    return kept


def chart(points: Sequence[Point]) -> c.Chart:
    """One column per place: steps per second, and below them tests per neighbour."""
    looks = _looks(points)
    columns: dict[Place, list[Point]] = grouped(points, lambda one: place_of(one.row))
    steps = c.Axis("steps (1/s)", "log")
    tests = c.Axis("tests for each neighbour", "log")
    upper = [
        _panel(here, looks, lambda one: c.mark(one.cells, one.row), steps, title(place))
        for place, here in columns.items()
    ]
    lower = [
        _panel(
            here,
            looks,
            lambda one: c.Mark(one.cells, one.tests, valid=one.row.valid) if one.tests else None,
            tests,
        )
        for here in columns.values()
    ]
    rows: list[list[c.Panel | None]] = [list(upper), list(lower)]
    kept = rows if any(one.tests for one in points) else rows[:1]
    if len(kept) > 1:
        kept[0] = [replace(one, places=replace(one.places, label="")) for one in upper]
    return c.Chart(
        kept, max(5.0, 1.2 + 2.9 * len(columns)), 1.2 + 2.2 * len(kept), share="row",
        legend_columns=3,
    )  # fmt: skip


def _caption(points: Sequence[Point]) -> str:
    return prose(
        "Steps of all agents per second against the number of cells along each edge of the "
        "world: medians. Cells shorter than the reach are searched further to each side, by "
        "whole cells.",
        any(one.tests for one in points)
        and "Below: distances that the rung computed per neighbour found.",
        "Markers: the number of agents, after the rung's name.",
    )


FIGURE = Figure(
    "neighbours_work", "Cells and search work", 203, items, chart, _caption,
    {"rung": lambda one: short(one.row)}
    | params("problem", "spread", "world", of="row")
    | attributes("agents", "cells")
    | attributes(of="row", steps_per_second="value", low="minimum", high="maximum")
    | attributes(tests_per_neighbour="tests"),
    label=lambda one: f"{one.label}, {one.cells} cells, {title(place_of(one.row))}",
)  # fmt: skip
