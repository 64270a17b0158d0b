"""What does each rung of the neighbours ladder gain, from all pairs to lists?"""

from collections.abc import Sequence
from dataclasses import dataclass

from strata.figures import _chart as c
from strata.figures._figure import Figure, attributes, params, prose
from strata.figures._neighbours import (
    LABELS,
    SUITE,
    Place,
    best,
    place_of,
    rates,
    short,
    tests_per_neighbour,
    title,
)
from strata.model import units
from strata.run import Row, Run, grouped

COLOUR = "#0072B2"


@dataclass(frozen=True, slots=True)
class Step:
    """The best case of a rung at a place and size, and that of the rung that it changes."""

    row: Row
    before: Row | None
    tests: float | None
    """Distance tests per found neighbour."""

    @property
    def speedup(self) -> float | None:
        """The speed-up of the rung; None if either is invalid, or it has no predecessor."""
        if self.before is None or not (self.row.valid and self.before.valid):
            return None
        return self.row.value / self.before.value

    @property
    def rung(self) -> str:
        """The rung without its suite."""
        return short(self.row)


def items(run: Run) -> Sequence[Step]:
    """One step per rung, place and size, in ladder order."""
    stories = {story.name: story for story in run.context.ladders.get(SUITE, ())}
    found = best(rates(run))
    tests = tests_per_neighbour(run)

    def step(place: Place, agents: str, row: Row) -> Step:
        before = found.get((place, agents, stories[row.benchmark].before))
        return Step(row, before, tests.get(row.case))

    return [step(place, agents, row) for (place, agents, _), row in found.items()]


def _words(step: Step) -> str:
    """The words beside a bar: rate, step, distance tests per neighbour."""
    words = units.significant(step.row.value / 1e6)
    if step.speedup and step.before:
        words += f"   {units.factor(step.speedup)} {short(step.before)}"
    return words + (f"   {units.significant(step.tests)} tests" if step.tests else "")


def chart(steps: Sequence[Step]) -> c.Chart:
    """One panel per problem, distribution and world; bars from zero in ladder order."""
    panels = []
    for place, here in sorted(grouped(steps, lambda step: place_of(step.row)).items()):
        bars = [c.mark(at, step.row, 1e6) for at, step in enumerate(here)]
        words = [
            c.Mark(at, step.row.value / 1e6, high=step.row.maximum / 1e6, words=_words(step))
            for at, step in enumerate(here)
        ]
        layers: list[c.Layer] = [
            c.Bars(bars, c.Look(COLOUR)),
            c.Series(words, c.Look(), words_size=7.0),
        ]
        names = [f"{step.rung} · {units.count(int(step.row.text('agents', '0')))}" for step in here]
        label = f"{LABELS[here[0].row.quantity]} (10⁶/s)"
        panels.append(
            c.Panel(
                layers, c.names_axis(names), c.Axis(label, zero=True), title(place), sideways=True
            )
        )
    heights = [len(panel.places.names or ()) + 2.0 for panel in panels]
    return c.Chart([[panel] for panel in panels], 8.4, 1.0 + 0.3 * sum(heights), heights=heights)


def _caption(steps: Sequence[Step]) -> str:
    return prose(
        "Agent steps per second, or, where lists are written, neighbours per second, counted "
        "for each agent of a pair. Bars: medians of each rung's best case with that number of "
        "agents; lines in them: range of the samples.",
        any(step.speedup for step in steps)
        and "Then the gain over the rung that it changes, with as many agents.",
        any(step.tests for step in steps)
        and "Tests: distances that the rung computed per neighbour found.",
    )


FIGURE = Figure(
    "neighbours_ladder", "The neighbours ladder", 201, items, chart, _caption,
    attributes("rung")
    | params("problem", "spread", "world", "agents", of="row")
    | attributes(of="row", quantity="quantity", per_second="value", low="minimum", high="maximum")
    | attributes(of="before", rung_before="benchmark")
    | attributes(speedup_over_it="speedup", tests_per_neighbour="tests"),
    label=lambda step: f"{step.rung}, {title(place_of(step.row))}",
)  # fmt: skip
