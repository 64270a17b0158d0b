"""What do grids gain for neighbour search on a GPU, then and now?

The numbers printed in chapters 5 to 7 of Breitbart (2008), each redone by rungs built as described
there. Values shown only as bars are not used.
"""

from collections.abc import Callable, Mapping, Sequence

from strata.model.cases import by_case
from strata.model.text import Sentence, Table, told
from strata.model.units import significant
from strata.report.tables._cells import over, percent, redone
from strata.run import Row, Run, grouped

ORDER = 318

STEPS = "steps_per_second"
BRUTE = ("tile",)
"""Its first version: tiles in shared memory, and all vectors copied in each step (5.2)."""
GRIDS = ("host_grid", "constant", "scan_grid")
"""Its static grids (6.2, 6.2.3, 6.3)."""


Place = Mapping[str, str]
"""Parameters of boids, uniformly distributed; others match any."""


class Cases:
    """The rates of a run's boids on a GPU, by rung."""

    def __init__(self, run: Run) -> None:
        boids = [
            row
            for row in run.rows
            if row.suite == "neighbours" and row.backend == "cuda"
            and row.text("problem") == "boids" and row.text("spread") == "uniform"
            and row.params.get("shown", "no") == "no"
        ]  # fmt: skip
        found = grouped(boids, lambda row: row.benchmark.removeprefix("neighbours_"))
        self.of: Mapping[str, Sequence[Row]] = found

    def best(self, place: Place, rungs: Sequence[str], quantity: str = STEPS) -> Row | None:
        """The fastest valid case of several rungs, by the first method of each."""
        here = [
            case.row(quantity)
            for rung in rungs
            for case in by_case(self.of.get(rung, ()))
            if all(case.text(axis) == value for axis, value in place.items())
        ]
        return max(filter(None, here), key=lambda row: (row.valid, row.value), default=None)


Answer = Callable[[Cases], tuple[Sentence, Row | None]]


def _shown(row: Row | None, write: Callable[[float], str]) -> tuple[Sentence, Row | None]:
    return told(row if row and row.valid else None, write), row


def _steps(place: Place, rungs: Sequence[str]) -> Answer:
    return lambda cases: _shown(
        cases.best(place, rungs), lambda value: f"{significant(value)} steps/s"
    )


def _used(rung: str) -> Answer:
    return lambda cases: _shown(
        cases.best(_FEW, (rung,), "used_threads"), lambda value: percent(100 * value)
    )


def _over(one: tuple[Place, Sequence[str]], other: tuple[Place, Sequence[str]]) -> Answer:
    def answer(cases: Cases) -> tuple[Sentence, Row | None]:
        row = cases.best(*one)
        return over(row, cases.best(*other)), row

    return answer


def _place(agents: int, **axes: int) -> Place:
    return {name: f"{value}" for name, value in {"agents": agents, **axes}.items()}


_MANY = _place(131072, world=200)
"""The largest of figure 6.2."""
_ALL = _place(131072)
"""An all-pairs search does the same work in any world."""
_FEW = _place(16384, world=50)
LINES: Sequence[tuple[str, str, Answer]] = (
    ("brute force, 16,384 agents (1.1)", "about 21 steps/s", _steps(_FEW, BRUTE)),
    ("static grid over brute force, 131,072 agents in world 200 (6.2.2)", "35×",
     _over((_MANY, GRIDS), (_ALL, BRUTE))),
    ("6³ cells over brute force, likewise", "slower",
     _over((_place(131072, world=200, cells=6), ("host_grid",)), (_ALL, BRUTE))),
    ("24³ over 23³ cells in world 50 (6.2.2)", "a drop",
     _over((_place(131072, world=50, cells=24), ("host_grid",)),
           (_place(131072, world=50, cells=23), ("host_grid",)))),
    ("48³ over 47³ cells in world 100", "a drop",
     _over((_place(131072, world=100, cells=48), ("host_grid",)),
           (_place(131072, world=100, cells=47), ("host_grid",)))),
    ("constant memory, 12³ cells in world 50 (6.2.3)", "at most 1.02×",
     _over((_place(16384, world=50, cells=12), ("constant",)),
           (_place(16384, world=50, cells=12), ("host_grid",)))),
    ("constant memory, 18³ cells in world 50", "a loss",
     _over((_place(16384, world=50, cells=18), ("constant",)),
           (_place(16384, world=50, cells=18), ("host_grid",)))),
    ("the best grid, 2¹⁵ agents (7.4)", "about 60 steps/s",
     _steps(_place(32768, world=200), (*GRIDS, "boxes", "early_stop"))),
    ("the best grid, 2¹⁸ agents in world 200 (7.4)", "over 5 steps/s",
     _steps(_place(262144, world=200), (*GRIDS, "boxes", "early_stop"))),
    ("dynamic over static grid, 2¹³ agents in world 200 (7.3)", "1.15×",
     _over((_place(8192, world=200), ("early_stop",)), (_place(8192, world=200), GRIDS))),
    ("threads used, parts of one dimension (table 7.1)", "59.5 %", _used("split_slabs")),
    ("threads used, parts of three dimensions (table 7.1)", "62.5 %", _used("boxes")),
)  # fmt: skip


def make(run: Run) -> Table | None:
    """The published numbers beside this run's; None if it has none of them."""
    cases = Cases(run)
    lines = []
    for question, printed, answer in LINES:
        here, row = answer(cases)
        rung = row.benchmark.removeprefix("neighbours_").replace("_", " ") if row else ""
        lines.append((question, printed, here, rung))
    return redone("neighbours_seed", "Chapters 5 to 7", lines)
