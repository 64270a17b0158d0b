"""What does each rung of the ladder of neighbours bring, from all pairs to lists?"""

from collections.abc import Sequence
from dataclasses import dataclass

from strata.figures import _chart as c
from strata.figures._figure import Figure, attributes, params, prose
from strata.model import units
from strata.run import Row, Run, grouped

SUITE = "neighbours"
RATES = {
    "boids": "agent_steps_per_second",
    "circles": "agent_steps_per_second",
    "list": "neighbours_per_second",
}
"""What stands for a problem: agents moved, or neighbours written."""
LABELS = {"agent_steps_per_second": "agent steps", "neighbours_per_second": "neighbours"}
COLOUR = "#0072B2"

Place = tuple[str, str, str]
"""Problem, spread, world: what a panel shows."""


@dataclass(frozen=True, slots=True)
class Step:
    """The best case of a rung at a place and a size, and that of the rung that it changes."""

    row: Row
    before: Row | None
    tests: float | None
    """Distance tests for each neighbour found."""

    @property
    def speedup(self) -> float | None:
        """By which factor the rung is faster; None where either is not valid, or it is alone."""
        if self.before is None or not (self.row.valid and self.before.valid):
            return None
        return self.row.value / self.before.value

    @property
    def rung(self) -> str:
        """The rung without its suite."""
        return short(self.row)


def short(row: Row) -> str:
    """`neighbours_cpu_grid` as people write it: cpu grid."""
    return row.benchmark.removeprefix(f"{SUITE}_").replace("_", " ")


def place_of(row: Row) -> Place:
    """Where a case stands: its problem, how agents are spread, and in which world."""
    return row.text("problem"), row.text("spread"), row.text("world")


def _tests(run: Run) -> dict[str, float]:
    """Counted distance tests for each neighbour, by case."""
    found: dict[str, dict[str, float]] = {}
    for row in run.rows:
        if row.suite == SUITE and (row.quantity != "distance_tests" or row.provenance == "counted"):
            found.setdefault(row.case, {}).setdefault(row.quantity, row.value)
    per_neighbour = {}
    for case, of in found.items():
        rates = (of.get("steps_per_second"), of.get("neighbours_per_second"))
        if (tests := of.get("distance_tests")) and all(rates):
            per_neighbour[case] = tests * (rates[0] or 0) / (rates[1] or 1)
    return per_neighbour


def items(run: Run) -> Sequence[Step]:
    """A step for each rung at each place and size that it has, in the order of the ladder."""
    stories = {story.name: story for story in run.context.ladders.get(SUITE, ())}
    rows = [
        row
        for name in stories
        for row in run.of(name)
        if row.suite == SUITE and row.quantity == RATES.get(row.text("problem"))
    ]
    best: dict[tuple[Place, str, str], Row] = {}
    for row in rows:
        key = (place_of(row), row.text("agents"), row.benchmark)
        # The first method of a case is the one that its other rows are of.
        known = best.setdefault(key, row)
        if row.method == known.method and (row.valid, row.value) > (known.valid, known.value):
            best[key] = row
    tests = _tests(run)

    def step(place: Place, agents: str, row: Row) -> Step:
        before = best.get((place, agents, stories[row.benchmark].before))
        return Step(row, before, tests.get(row.case))

    return [step(place, agents, row) for (place, agents, _), row in best.items()]


def _words(step: Step) -> str:
    """What stands beside a bar: rate, the step, distance tests for each neighbour."""
    words = units.significant(step.row.value / 1e6)
    if step.speedup and step.before:
        words += f"   {units.factor(step.speedup)} {short(step.before)}"
    return words + (f"   {units.significant(step.tests)} tests" if step.tests else "")


def _title(place: Place) -> str:
    problem, spread, world = place
    return f"{problem}, {spread}" + (f", radius {world}" if world != "fit" else "")


def chart(steps: Sequence[Step]) -> c.Chart:
    """A panel for each problem, spread and world; bars from zero in the order of the ladder."""
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
                layers, c.names_axis(names), c.Axis(label, zero=True), _title(place), sideways=True
            )
        )
    heights = [len(panel.places.names or ()) + 2.0 for panel in panels]
    return c.Chart([[panel] for panel in panels], 8.4, 1.0 + 0.3 * sum(heights), heights=heights)


def _caption(steps: Sequence[Step]) -> str:
    return prose(
        "Steps of an agent in a second, or, where lists are written, neighbours in a second, each "
        "of a pair for itself. Bars: medians of the best case of each rung with that number of "
        "agents; lines in them: range of the samples.",
        any(step.speedup for step in steps)
        and "Then the step over the rung that it changes, with as many agents.",
        any(step.tests for step in steps)
        and "Tests: distances that the rung computed for each neighbour that it found.",
    )


FIGURE = Figure(
    "neighbours_ladder", "The ladder of neighbours", 201, items, chart, _caption,
    attributes("rung")
    | params("problem", "spread", "world", "agents", of="row")
    | attributes(of="row", quantity="quantity", per_second="value", low="minimum", high="maximum")
    | attributes(of="before", rung_before="benchmark")
    | attributes(speedup_over_it="speedup", tests_per_neighbour="tests"),
    label=lambda step: f"{step.rung}, {_title(place_of(step.row))}",
)  # fmt: skip
