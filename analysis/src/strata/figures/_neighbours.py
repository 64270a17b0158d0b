"""Shared parts of the figures of the neighbours ladder: rates, places, and words."""

from collections.abc import Sequence

from strata.run import Row, Run

SUITE = "neighbours"
RATES = {
    "boids": "agent_steps_per_second",
    "circles": "agent_steps_per_second",
    "list": "neighbours_per_second",
}
"""What stands for a problem: agents moved, or neighbours written."""
LABELS = {"agent_steps_per_second": "agent steps", "neighbours_per_second": "neighbours"}

Place = tuple[str, str, str]
"""Problem, spread, world: what a panel shows."""


def short(row: Row) -> str:
    """`neighbours_cpu_grid` as shown: cpu grid."""
    return row.benchmark.removeprefix(f"{SUITE}_").replace("_", " ")


def place_of(row: Row) -> Place:
    """The place of a case: its problem, the distribution of agents, and its world."""
    return row.text("problem"), row.text("spread"), row.text("world")


def title(place: Place) -> str:
    """A place in words."""
    problem, spread, world = place
    return f"{problem}, {spread}" + (f", radius {world}" if world != "fit" else "")


def rates(run: Run, quantity: str = "") -> Sequence[Row]:
    """Every row of the quantity, or of that of its problem, in ladder order."""
    return [
        row
        for story in run.context.ladders.get(SUITE, ())
        for row in run.of(story.name)
        if row.suite == SUITE and row.quantity == (quantity or RATES.get(row.text("problem")))
    ]


def best(rows: Sequence[Row]) -> dict[tuple[Place, str, str], Row]:
    """The best valid case by place, agents and rung, by the first method of a case."""
    found: dict[tuple[Place, str, str], Row] = {}
    for row in rows:
        key = (place_of(row), row.text("agents"), row.benchmark)
        known = found.setdefault(key, row)
        if row.method == known.method and (row.valid, row.value) > (known.valid, known.value):
            found[key] = row
    return found


def first_of_each_case(rows: Sequence[Row]) -> Sequence[Row]:
    """One row per case, by its first method, to which its other rows refer."""
    return list({row.case: row for row in reversed(rows)}.values())[::-1]


def tests_per_neighbour(run: Run) -> dict[str, float]:
    """Counted distance tests per neighbour, by case."""
    found: dict[str, dict[str, float]] = {}
    for row in run.rows:
        if row.suite == SUITE and (row.quantity != "distance_tests" or row.provenance == "counted"):
            found.setdefault(row.case, {}).setdefault(row.quantity, row.value)
    per_neighbour = {}
    for case, of in found.items():
        steps, neighbours = of.get("steps_per_second"), of.get("neighbours_per_second")
        if (tests := of.get("distance_tests")) and steps and neighbours:
            per_neighbour[case] = tests * steps / neighbours
    return per_neighbour
