"""The figure of the ladder of neighbours, from runs that are made up."""

from pathlib import Path
from typing import Any

import pytest

from builders import case, load2, measurement
from charts import caption_of, data_of
from plots import bars_of, check_texts_of, plot_named, plotted
from strata.run import Run

FIGURE = plot_named("neighbours_ladder")
NAMES = ("serial", "openmp", "cpu_grid", "cpu_packed", "cell_array")


def stories() -> list[dict[str, str]]:
    """The ladder, each rung changing the one before it; the last two change the same one."""
    before = {"cell_array": "cpu_grid"}
    told = []
    for place, name in enumerate(NAMES):
        of = before.get(name, NAMES[place - 1] if place else "")
        told.append(
            {
                "name": f"neighbours_{name}", "backend": "host",
                "before": f"neighbours_{of}" if of else "",
                "question": "?", "change": "one", "source": "somebody", "expectation": "more",
            }
        )  # fmt: skip
    return told


def rung(name: str, rate: float, *, noise: str = "passed", **params: Any) -> dict[str, Any]:
    """A case of so many agent steps a second, of 7 neighbours and 20 tests an agent."""
    where: dict[str, Any] = {
        "problem": "boids",
        "spread": "uniform",
        "agents": 4096,
        "world": 50,
    } | params
    agents = int(where["agents"])

    def row(quantity: str, value: float, **more: Any) -> dict[str, Any]:
        return measurement(quantity, [value] * 7, unit="1/s", method="monotonic", **more)

    return case(
        [
            row("agent_steps_per_second", rate, noise=noise),
            row("steps_per_second", rate / agents),
            row("neighbours_per_second", 7 * rate),
            measurement("agent_steps_per_second", [2 * rate], unit="1/s", method="tsc"),
            measurement("distance_tests", [20.0 * agents], unit="1", method="code",
                        provenance="counted", noise="not_applicable"),
            measurement("distance_tests", [1.0], unit="1", method="model",
                        provenance="modelled", noise="not_applicable"),
        ],
        suite="neighbours", benchmark=f"neighbours_{name}", backend="host", params=where,
    )  # fmt: skip


def run_of(folder: Path, *lines: dict[str, Any]) -> Run:
    return load2(folder, lines, backend="host", ladders={"neighbours": stories()})


def test_without_the_suite_there_is_nothing(tmp_path: Path) -> None:
    assert not FIGURE.has(load2(tmp_path, [case([measurement()])]))


def test_a_bar_for_each_rung_in_the_order_of_the_ladder(tmp_path: Path) -> None:
    run = run_of(
        tmp_path, rung("cell_array", 9e6), rung("cpu_grid", 6e6), rung("serial", 1e6),
        rung("openmp", 2e6),
    )  # fmt: skip
    with plotted(FIGURE, run) as figure:
        (ax,) = figure.axes
        assert [name.get_text().split(" · ")[0] for name in ax.get_yticklabels()] == [
            "serial", "openmp", "cpu grid", "cell array",
        ]  # fmt: skip
        assert [bar.get_width() for bar in bars_of(figure)] == pytest.approx([1, 2, 6, 9])
        assert ax.get_xlabel() == "agent steps (10⁶/s)"
        assert ax.get_title("left") == "boids, uniform, radius 50"
        words = [text.get_text() for text in ax.texts]
    lines = data_of(FIGURE, run)
    assert [float(line["speedup_over_it"] or 0) for line in lines] == [0, 2, 3, 1.5]
    assert [line["rung_before"] for line in lines][3] == "neighbours_cpu_grid"
    assert [float(line["tests_per_neighbour"]) for line in lines] == pytest.approx([20 / 7] * 4)
    assert any("3.00× openmp" in text or "3× openmp" in text for text in words), words
    assert any(text.endswith("2.86 tests") for text in words), words


def test_a_step_is_over_the_same_number_of_agents(tmp_path: Path) -> None:
    run = run_of(
        tmp_path, rung("serial", 1e6), rung("openmp", 8e6, agents=16384), rung("openmp", 2e6)
    )
    found = {line["agents"]: line["speedup_over_it"] for line in data_of(FIGURE, run)[1:]}
    assert found == {"4096": "2.0", "16384": ""}


def test_of_the_choices_of_a_rung_the_best_valid_one_stands(tmp_path: Path) -> None:
    run = run_of(
        tmp_path, rung("cpu_grid", 3e6, cells=6), rung("cpu_grid", 5e6, cells=0),
        rung("cpu_grid", 9e6, cells=24, noise="failed"),
    )  # fmt: skip
    (line,) = data_of(FIGURE, run)
    assert "cells=0" in line["case"]


def test_a_panel_for_each_problem_and_spread(tmp_path: Path) -> None:
    run = run_of(
        tmp_path, rung("cpu_grid", 3e6), rung("cpu_grid", 1e6, spread="clustered"),
        rung("cpu_grid", 2e6, problem="list", world="fit", agents=32768),
    )  # fmt: skip
    with plotted(FIGURE, run) as figure:
        check_texts_of(figure)
        assert [ax.get_title("left") for ax in figure.axes] == [
            "boids, clustered, radius 50", "boids, uniform, radius 50", "list, uniform",
        ]  # fmt: skip
        assert figure.axes[2].get_xlabel() == "neighbours (10⁶/s)"
        assert bars_of(figure)[2].get_width() == pytest.approx(14)


def test_the_caption_says_what_is_there(tmp_path: Path) -> None:
    alone = caption_of(FIGURE, run_of(tmp_path / "a", rung("serial", 1e6)))
    assert "over the rung" not in alone
    assert "Tests:" in alone
    both = caption_of(
        FIGURE, run_of(tmp_path / "b", rung("serial", 1e6), rung("openmp", 2e6, noise="failed"))
    )
    assert "over the rung" not in both
    assert "openmp, boids, uniform, radius 50" in both
