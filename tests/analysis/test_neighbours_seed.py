"""The table of the seed's searches, redone, from runs that are made up."""

from pathlib import Path
from typing import Any

from test_neighbours_figures import stories

from builders import case, load2, measurement
from strata.model.text import plain
from strata.report.tables import papers
from strata.run import Run


def rung(
    name: str, steps: float, agents: int, world: int, *, used: float | None = None, **more: Any
) -> dict[str, Any]:
    """A case of so many steps a second on a GPU."""
    noise = more.pop("noise", "passed")
    params = {"problem": "boids", "spread": "uniform", "agents": agents, "world": world} | more
    rows = [measurement("steps_per_second", [steps] * 7, unit="1/s", method="event", noise=noise)]
    if used is not None:
        rows.append(
            measurement("used_threads", [used], unit="1", method="code", provenance="counted",
                        noise="not_applicable")
        )  # fmt: skip
    return case(
        rows, suite="neighbours", benchmark=f"neighbours_{name}", backend="cuda", params=params
    )


def run_of(folder: Path, *lines: dict[str, Any]) -> Run:
    return load2(folder, lines, ladders={"neighbours": stories()})


def lines_of(run: Run) -> dict[str, tuple[str, str]]:
    """The value here and its rung, by the beginning of the question."""
    table = papers.neighbour_search(run)
    assert table
    return {plain(row[0]).partition(" (")[0]: (plain(row[2]), plain(row[3])) for row in table.rows}


def test_without_a_case_of_any_there_is_no_table(tmp_path: Path) -> None:
    assert papers.neighbour_search(run_of(tmp_path, rung("tile", 9e3, 4096, 50))) is None


def test_each_number_is_redone_by_the_rungs_that_it_is_of(tmp_path: Path) -> None:
    found = lines_of(
        run_of(
            tmp_path,
            rung("tile", 5e3, 16384, 50), rung("tile", 100, 131072, 50),
            rung("host_grid", 800, 131072, 200, cells=36),
            rung("scan_grid", 700, 131072, 200, cells=36),
            rung("host_grid", 50, 131072, 200, cells=6),
            rung("host_grid", 400, 131072, 50, cells=23),
            rung("host_grid", 300, 131072, 50, cells=24),
            rung("host_grid", 1000, 16384, 50, cells=18, shown="no"),
            rung("constant", 900, 16384, 50, cells=18),
            rung("host_grid", 100, 262144, 200, shown="yes"),
            rung("boxes", 90, 262144, 200),
            rung("boxes", 3e3, 16384, 50, used=0.627),
        )
    )  # fmt: skip
    assert found["brute force, 16,384 agents"] == ("5000 steps/s", "tile")
    assert found["static grid over brute force, 131,072 agents in world 200"][0].startswith("8")
    assert found["6³ cells over brute force, likewise"][0].startswith("0.5")
    assert found["24³ over 23³ cells in world 50"][0].startswith("0.75")
    assert found["constant memory, 18³ cells in world 50"][0].startswith("0.9")
    assert found["the best grid, 2¹⁸ agents in world 200"] == ("90.0 steps/s", "boxes"), "not shown"
    assert found["threads used, parts of three dimensions"] == ("62.7 %", "boxes")
    assert (
        found["threads used, parts of one dimension"][0]
        == found["48³ over 47³ cells in world 100"][0]
    )


def test_an_invalid_case_tells_nothing(tmp_path: Path) -> None:
    run = run_of(
        tmp_path, rung("tile", 5e3, 16384, 50, noise="failed"), rung("host_grid", 9, 32768, 200)
    )
    found = lines_of(run)
    assert not found["brute force, 16,384 agents"][0].startswith("5000")
    assert found["the best grid, 2¹⁵ agents"][0] == "9.00 steps/s"
