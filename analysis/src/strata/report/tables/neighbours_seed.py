"""What do grids gain for neighbour search on a GPU, then and now?

The numbers printed in chapters 5 to 7 of Breitbart (2008), each redone by rungs built as described
there. Values shown only as bars are not used.
"""

from collections.abc import Sequence

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
BEST = (*GRIDS, "boxes", "early_stop")
BOIDS = {"problem": "boids", "spread": "uniform", "shown": "no"}


def make(run: Run) -> Table | None:
    """The published numbers beside this run's; None if it has none of them."""
    boids = (
        row for row in run.rows
        if row.suite == "neighbours" and row.backend == "cuda"
        and all(row.text(axis, "no") == value for axis, value in BOIDS.items())
    )  # fmt: skip
    rungs = grouped(boids, lambda row: row.benchmark.removeprefix("neighbours_"))

    def best(names: Sequence[str], quantity: str = STEPS, **place: int) -> Row | None:
        """The fastest valid case of several rungs at a place, by the first method of each."""
        rows = [
            case.row(quantity)
            for name in names
            for case in by_case(rungs.get(name, ()))
            if all(case.text(axis) == f"{value}" for axis, value in place.items())
        ]
        return max(filter(None, rows), key=lambda row: (row.valid, row.value), default=None)

    def steps(row: Row | None) -> tuple[Row | None, Sentence]:
        valid = row if row and row.valid else None
        return row, told(valid, lambda value: f"{significant(value)} steps/s")

    def used(name: str) -> tuple[Row | None, Sentence]:
        row = best([name], "used_threads", agents=16384, world=50)
        valid = row if row and row.valid else None
        return row, told(valid, lambda value: percent(100 * value))

    def gain(row: Row | None, base: Row | None) -> tuple[Row | None, Sentence]:
        return row, over(row, base)

    def cells(name: str, count: int, agents: int, world: int) -> Row | None:
        return best([name], agents=agents, world=world, cells=count)

    many = 131072  # the most of figure 6.2
    brute = best(BRUTE, agents=many)  # does the same work in any world
    answers = {
        ("brute force, 16,384 agents (1.1)", "about 21 steps/s"):
            steps(best(BRUTE, agents=16384, world=50)),
        ("static grid over brute force, 131,072 agents in world 200 (6.2.2)", "35×"):
            gain(best(GRIDS, agents=many, world=200), brute),
        ("6³ cells over brute force, likewise", "slower"):
            gain(cells("host_grid", 6, many, 200), brute),
        ("24³ over 23³ cells in world 50 (6.2.2)", "a drop"):
            gain(cells("host_grid", 24, many, 50), cells("host_grid", 23, many, 50)),
        ("48³ over 47³ cells in world 100", "a drop"):
            gain(cells("host_grid", 48, many, 100), cells("host_grid", 47, many, 100)),
        ("constant memory, 12³ cells in world 50 (6.2.3)", "at most 1.02×"):
            gain(cells("constant", 12, 16384, 50), cells("host_grid", 12, 16384, 50)),
        ("constant memory, 18³ cells in world 50", "a loss"):
            gain(cells("constant", 18, 16384, 50), cells("host_grid", 18, 16384, 50)),
        ("the best grid, 2¹⁵ agents (7.4)", "about 60 steps/s"):
            steps(best(BEST, agents=32768, world=200)),
        ("the best grid, 2¹⁸ agents in world 200 (7.4)", "over 5 steps/s"):
            steps(best(BEST, agents=262144, world=200)),
        ("dynamic over static grid, 2¹³ agents in world 200 (7.3)", "1.15×"):
            gain(best(["early_stop"], agents=8192, world=200),
                 best(GRIDS, agents=8192, world=200)),
        ("threads used, parts of one dimension (table 7.1)", "59.5 %"): used("split_slabs"),
        ("threads used, parts of three dimensions (table 7.1)", "62.5 %"): used("boxes"),
    }  # fmt: skip
    lines = [
        (
            *question,
            here,
            row.benchmark.removeprefix("neighbours_").replace("_", " ") if row else "",
        )
        for question, (row, here) in answers.items()
    ]
    return redone("neighbours_seed", "Chapters 5 to 7", lines)
