"""How does each rung of the neighbours ladder scale with the number of agents?"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from strata import reference
from strata.figures import _chart as c
from strata.figures._figure import Figure, attributes, params, prose
from strata.figures._neighbours import LABELS, best, place_of, rates, short, title
from strata.ladder.phases import Atlas
from strata.model.units import count
from strata.reference import PublishedSearch
from strata.run import Row, Run, grouped

SCALE = 1e6
LIMITS = ("issue_limit", "bytes_limit")
"""In agent steps a second, as the rung's model has them."""
APART = 4
"""Ticks that differ by less stand too near each other."""
PUBLISHED_MARKERS = "DPX*"
"""Of who published them, in the order of the table."""


@dataclass(frozen=True, slots=True)
class Point:
    """The best case of a rung for a number of agents, and its rate limit."""

    row: Row
    limit: float | None
    """The lowest known limit, in the quantity of the row."""

    @property
    def agents(self) -> int:
        """The number of agents."""
        return self.row.count("agents") or 0

    @property
    def rung(self) -> str:
        """The rung without its suite."""
        return short(self.row)


def items(run: Run) -> Sequence[Point]:
    """The rungs measured with several numbers of agents at one place."""
    rate = Atlas(run).instructions
    of_cases = {
        (row.case, row.quantity, row.method): row.value
        for row in run.rows
        if row.benchmark.startswith("neighbours_")
    }
    known = {(case, quantity): value for (case, quantity, _), value in of_cases.items()}

    def point(row: Row) -> Point:
        limits = [found for name in LIMITS if (found := known.get((row.case, name)))]
        if rate and (work := known.get((row.case, "fp32_instructions"))):
            limits.append((row.count("agents") or 0) * rate / work)
        # For lists: neighbours, as many per step as there are.
        agent_steps = of_cases.get((row.case, "agent_steps_per_second", row.method), row.value)
        return Point(row, min(limits) * row.value / agent_steps if limits else None)

    lines = grouped(best(rates(run)).values(), lambda row: (place_of(row), row.benchmark))
    return [
        point(row)
        for line in lines.values()
        if len(line) > 1
        for row in sorted(line, key=lambda row: row.count("agents") or 0)
    ]


def published(points: Sequence[Point]) -> Sequence[PublishedSearch]:
    """Published values for GPUs at the place of a panel; none for a CPU."""
    row = points[0].row
    problem, spread, world = place_of(row)
    if row.backend != "cuda" or spread != "uniform":
        return ()
    there = (one for one in reference.neighbours() if one.problem == problem)
    return [one for one in there if one.world in ("", world)]


def _looks(points: Sequence[Point]) -> dict[str, c.Look]:
    markers = "os^DvPX*<>h"
    names = list(dict.fromkeys(one.rung for one in points))
    return {
        name: c.Look(c.COLOURS[at % len(c.COLOURS)], markers[at % len(markers)], "-")
        for at, name in enumerate(names)
    }


def _told(one: PublishedSearch) -> str:
    return f"{one.label}, {one.gpu}"


def _others(theirs: Sequence[PublishedSearch]) -> list[c.Layer]:
    """Open marks: one marker per source, labelled with the GPU if a source has several."""
    sources = list(dict.fromkeys(one.label for one in reference.neighbours()))
    layers: list[c.Layer] = []
    for label, here in grouped(theirs, _told).items():
        marker = PUBLISHED_MARKERS[sources.index(here[0].label)]
        colour = c.GREY if "H100" not in here[0].gpu else c.INK
        marks = [c.Mark(one.agents, one.rate / SCALE, told=f"{label}: published") for one in here]
        layers.append(c.Series(marks, c.Look(colour, marker, size=5.5, hollow=True), label))
    return layers


def _panel(points: Sequence[Point], looks: dict[str, c.Look], heading: str) -> c.Panel:
    layers: list[c.Layer] = []
    for name, line in grouped(points, lambda one: one.rung).items():
        limits = [
            c.Mark(one.agents, one.limit / SCALE, told=f"limit of {name}")
            for one in line
            if one.limit
        ]
        if limits:
            dotted = replace(looks[name], marker="", line=":", width=0.9)
            layers.append(c.Series(limits, dotted, order=1.0))
        marks = [c.mark(one.agents, one.row, SCALE) for one in line]
        layers.append(c.Series(marks, looks[name], name, "band"))
    theirs = published(points)
    layers += _others(theirs)
    own = sorted({one.agents for one in points})
    sizes = sorted({*own, *(one.agents for one in theirs)})
    ticks: list[int] = []
    for one in own:
        if not ticks or one >= APART * ticks[-1]:
            ticks.append(one)
    places = c.Axis("agents", "log2", (sizes[0] / 1.3, sizes[-1] * 1.3), ticks=ticks)
    label = f"{LABELS[points[0].row.quantity]} (10⁶/s)"
    return c.Panel(layers, places, c.Axis(label, "log"), heading)


def chart(points: Sequence[Point]) -> c.Chart:
    """One panel per place, one line per rung; dotted in its colour: its limit."""
    looks = _looks(points)
    places = grouped(points, lambda one: place_of(one.row))
    panels = [_panel(here, looks, title(place)) for place, here in places.items()]
    keys = [c.Key("limit", c.Look(c.GREY, line=":", width=0.9))]
    columns = min(len(panels), 2)
    return c.Chart(
        c.wrapped(panels, columns), 1.4 + 3.4 * columns, 1.2 + 2.6 * -(-len(panels) // columns),
        legend_columns=4, share="all", keys=keys if any(one.limit for one in points) else (),
    )  # fmt: skip


def _caption(points: Sequence[Point]) -> str:
    panels = grouped(points, lambda one: place_of(one.row)).values()
    theirs = dict.fromkeys(one for here in panels for one in published(here))
    sources = dict.fromkeys(key for one in theirs for key in one.origin.keys)
    doubts = [
        f"{one.label}, {count(one.agents)} agents: {one.origin.doubt}"
        for one in theirs
        if one.origin.doubt
    ]
    return prose(
        "Agent steps per second, or, where lists are written, neighbours per second, against "
        "the number of agents, for each rung's best case: medians; bands: range of the "
        "samples.",
        any(one.limit for one in points)
        and "Dotted: the lowest of its known limits: warps that issue nothing but tests, "
        "including idle threads, in every cycle; the floating-point instructions of these "
        "at the best rate that the run measured; memory that moves what L2 cannot keep "
        "from one step to the next.",
        theirs
        and f"Open marks: published for other agents on other GPUs {reference.cite(*sources)}.",
        doubts and f"{'; '.join(doubts)}.",
    )


FIGURE = Figure(
    "neighbours_scale", "The neighbours ladder by number of agents", 204, items, chart, _caption,
    attributes("rung")
    | params("problem", "spread", "world", of="row")
    | attributes("agents")
    | attributes(of="row", quantity="quantity", per_second="value", low="minimum", high="maximum")
    | attributes(limit_per_second="limit"),
    label=lambda one: f"{one.rung}, {one.agents} agents, {title(place_of(one.row))}",
)  # fmt: skip
