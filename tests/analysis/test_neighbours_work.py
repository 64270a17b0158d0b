"""Cells and agents of the ladder of neighbours: their figures, from runs that are made up."""

from pathlib import Path
from typing import Any

import pytest
from matplotlib.axes import Axes
from test_ladder_time import FLOPS, atlas
from test_neighbours_figures import run_of, rung, stories

from builders import load2, measurement
from charts import caption_of, data_of
from plots import (
    check_texts_of,
    hollow_of,
    labels_of,
    plot_named,
    plotted,
    points_of,
    rules_of,
)
from strata.model.units import count
from strata.run import Run

SCALE, WORK = plot_named("neighbours_scale"), plot_named("neighbours_work")


def points(ax: Axes, label: str) -> list[tuple[float, float]]:
    """The valid points of the series of this name."""
    return [at for line in ax.lines if line.get_label() == label for at in points_of(line)]


def values(ax: Axes, label: str) -> list[float]:
    """Their values."""
    return [value for _, value in points(ax, label)]


def test_steps_and_tests_against_the_cells_of_each_rung(tmp_path: Path) -> None:
    run = run_of(
        tmp_path, *(rung("cpu_grid", 1e6 * cells, cells=cells) for cells in (24, 6, 12)),
        *(rung("cpu_packed", 2e6 * cells, cells=cells) for cells in (6, 12)),
    )  # fmt: skip
    of_grid = f"cpu grid, {count(4096)}"
    with plotted(WORK, run) as figure:
        check_texts_of(figure)
        upper, lower = figure.axes
        assert labels_of(figure) == [of_grid, f"cpu packed, {count(4096)}"]
        assert [place for place, _ in points(upper, of_grid)] == [6, 12, 24]
        assert values(upper, of_grid) == pytest.approx([1e6 * n / 4096 for n in (6, 12, 24)])
        assert values(lower, of_grid) == pytest.approx([20 / 7] * 3)
        assert upper.get_title("left") == "boids, uniform, radius 50"
    assert [line["cells"] for line in data_of(WORK, run)] == ["6", "12", "24", "6", "12"]
    assert "Below" in caption_of(WORK, run)


def test_without_several_requested_numbers_of_cells_there_is_no_figure(tmp_path: Path) -> None:
    one = run_of(tmp_path / "a", rung("cpu_grid", 1e6, cells=6), rung("serial", 1e5))
    assert not WORK.has(one)
    fitting = run_of(
        tmp_path / "b", rung("cpu_grid", 1e6, cells=0), rung("cpu_grid", 2e6, cells=6),
        rung("cpu_grid", 2e6, cells=12, world=100),
    )  # fmt: skip
    assert not WORK.has(fitting), "nor are cells of two worlds a line"


def test_a_column_for_each_world_and_a_marker_for_each_number_of_agents(tmp_path: Path) -> None:
    run = run_of(
        tmp_path,
        *(
            rung("cpu_grid", 1e6 * cells, cells=cells, world=world, agents=agents)
            for world in (50, 100)
            for agents in (4096, 16384)
            for cells in (6, 12, 23, 24)
        ),
    )
    with plotted(WORK, run) as figure:
        check_texts_of(figure)
        assert [ax.get_title("left") for ax in figure.axes[:2]] == [
            "boids, uniform, radius 50", "boids, uniform, radius 100",
        ]  # fmt: skip
        assert labels_of(figure) == [f"cpu grid, {count(4096)}", f"cpu grid, {count(16384)}"]
        assert [*figure.axes[2].get_xticks()] == [6, 12, 23], "24 would overlap 23"


def test_an_invalid_case_of_cells_is_hollow_and_named(tmp_path: Path) -> None:
    bad = rung("cpu_grid", 1e6, cells=6)
    bad["gates"] = [{"gate": "model", "verdict": "failed", "detail": "off"}]
    run = run_of(tmp_path, bad, rung("cpu_grid", 2e6, cells=12))
    with plotted(WORK, run) as figure:
        assert [cells for cells, _ in hollow_of(figure.axes[0])] == [6]
    assert "cpu grid, " in caption_of(WORK, run)
    assert "6 cells, boids, uniform, radius 50" in caption_of(WORK, run)


def test_a_line_for_each_rung_of_its_best_cases_by_agents(tmp_path: Path) -> None:
    run = run_of(
        tmp_path, rung("serial", 1e6), rung("serial", 3e5, agents=16384),
        rung("cpu_grid", 4e6, cells=6), rung("cpu_grid", 5e6, cells=12),
        rung("cpu_grid", 6e6, agents=16384), rung("openmp", 2e6),
    )  # fmt: skip
    with plotted(SCALE, run) as figure:
        check_texts_of(figure)
        (ax,) = figure.axes
        assert labels_of(figure) == ["serial", "cpu grid"], "openmp has one number of agents"
        assert points(ax, "serial") == [pytest.approx((4096, 1)), pytest.approx((16384, 0.3))]
        assert values(ax, "cpu grid") == pytest.approx([5, 6])
    assert "Dotted" not in caption_of(SCALE, run)


def on_gpu(
    name: str, rate: float, agents: int, *, work: float, limits: dict[str, float] | None = None,
    **params: Any,
) -> dict[str, Any]:  # fmt: skip
    """A case of a GPU, whose distances need so many instructions."""
    line = rung(name, rate, agents=agents, **params)
    line |= {"backend": "cuda", "case": line["case"].replace("/host/", "/cuda/")}
    modelled = {"fp32_instructions": work} | (limits or {})
    line["measurements"] += [
        measurement(name, [value], unit="1/s", method="model", provenance="modelled",
                    noise="not_applicable")
        for name, value in modelled.items()
    ]  # fmt: skip
    return line


def gpu_run(folder: Path, *rungs: dict[str, Any]) -> Run:
    told = [story | {"backend": "cuda"} for story in stories()]
    return load2(folder, [*atlas(), *rungs], ladders={"neighbours": told})


def test_the_limit_is_the_arithmetic_of_the_distances(tmp_path: Path) -> None:
    rungs = [on_gpu("serial", 1e9, size, work=6.0 * size * size) for size in (4096, 16384)]
    run = gpu_run(tmp_path, *rungs)
    lines = data_of(SCALE, run)
    wanted = [FLOPS / 2 / 6 / size for size in (4096, 16384)]
    assert [float(line["limit_per_second"]) for line in lines] == pytest.approx(wanted)
    with plotted(SCALE, run) as figure:
        check_texts_of(figure)
        assert [labels_of(figure)[at] for at in (0, -1)] == ["serial", "limit"]
    assert "Dotted" in caption_of(SCALE, run)


@pytest.mark.parametrize(("name", "most"), [("issue_limit", 3e9), ("bytes_limit", 2e9)])
def test_of_several_limits_the_least_is_drawn(tmp_path: Path, name: str, most: float) -> None:
    limits = {"issue_limit": 4e9, "bytes_limit": 5e9} | {name: most}
    run = gpu_run(
        tmp_path,
        *(on_gpu("serial", 1e9, size, work=6.0 * size, limits=limits) for size in (4096, 16384)),
    )
    assert [float(line["limit_per_second"]) for line in data_of(SCALE, run)] == [most] * 2


def test_of_lists_neighbours_are_counted_and_limited(tmp_path: Path) -> None:
    run = gpu_run(
        tmp_path,
        *(
            on_gpu("serial", 1e9, size, work=6.0 * size, limits={"issue_limit": 2e9},
                   problem="list", world="fit")
            for size in (4096, 16384)
        ),
    )  # fmt: skip
    with plotted(SCALE, run) as figure:
        assert figure.axes[0].get_ylabel() == "neighbours (10⁶/s)"
        assert values(figure.axes[0], "serial") == pytest.approx([7e3] * 2)
    assert [float(line["limit_per_second"]) for line in data_of(SCALE, run)] == [1.4e10] * 2


def test_published_rates_are_open_marks_beside_a_gpu(tmp_path: Path) -> None:
    rungs = [
        on_gpu("serial", 1e9, size, work=6.0 * size, problem=problem, world=world, spread=spread)
        for problem, world, spread in (
            ("boids", 200, "uniform"), ("boids", 50, "clustered"), ("circles", "fit", "uniform"),
            ("list", "fit", "uniform"),
        )
        for size in (4096, 16384)
    ]  # fmt: skip
    run = gpu_run(tmp_path, *rungs)
    with plotted(SCALE, run) as figure:
        check_texts_of(figure)
        of = {ax.get_title("left"): ax for ax in figure.axes}
        seed = points(of["boids, uniform, radius 200"], "Breitbart 2008, GeForce 8800 GTS")
        assert [place for place, _ in seed] == [16384, 32768, 262144]
        assert [rate for _, rate in seed] == pytest.approx([0.344064, 1.96608, 1.31072])
        ((agents, rate),) = points(of["circles, uniform"], "FLAME GPU 2, H100 PCIe")
        assert agents == 1_000_000
        assert rate == pytest.approx(472.1)
        assert points(of["list, uniform"], "nvalchemi, H100 SXM")
        clustered = of["boids, clustered, radius 50"]
        assert not hollow_of(clustered), "nothing is published"
        assert len(rules_of(clustered)) == 1, "a limit"
    caption = caption_of(SCALE, run)
    assert "Open marks: published" in caption
    assert "517 neighbours each" in caption
    alone = run_of(tmp_path / "cpu", rung("serial", 1e6), rung("serial", 1e6, agents=16384))
    assert "published" not in caption_of(SCALE, alone)


def test_without_the_suite_there_is_nothing(tmp_path: Path) -> None:
    run = run_of(tmp_path, rung("serial", 1e6))
    assert not WORK.has(run)
    assert not SCALE.has(run)
