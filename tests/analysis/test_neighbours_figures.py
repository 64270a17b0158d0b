"""The figures of the ladder of neighbours: rungs, cells and agents, from made-up runs."""

from pathlib import Path
from typing import Any

import pytest
from matplotlib.axes import Axes

from builders import case, count, load2, measurement
from charts import caption_of, data_of
from plots import bars_of, hollow_of, labels_of, plot_named, plotted, points_of
from strata.model.units import count as grouped
from strata.run import Run

LADDER, SCALE, WORK = map(plot_named, ("neighbours_ladder", "neighbours_scale", "neighbours_work"))
FLOPS = 6e13
CEILING = case(
    [measurement("flops_per_second", [FLOPS], unit="FLOP/s", method="event_slope")],
    benchmark="ceilings", params={"arithmetic": "fp32", "form": "steady"},
)  # fmt: skip
BEFORE = {
    "serial": "", "openmp": "serial", "cpu_grid": "openmp", "cpu_packed": "cpu_grid",
    "cell_array": "cpu_grid",
}  # fmt: skip


def stories(backend: str = "host") -> list[dict[str, str]]:
    """The ladder, each rung changing the one before it; the last two change the same one."""
    return [
        {
            "name": f"neighbours_{name}", "backend": backend,
            "before": f"neighbours_{before}" if before else "",
            "question": "?", "change": "one", "source": "somebody", "expectation": "more",
        }
        for name, before in BEFORE.items()
    ]  # fmt: skip


def rung(
    name: str, rate: float, *, noise: str = "passed", limits: dict[str, float] | None = None,
    backend: str = "host", **params: Any,
) -> dict[str, Any]:  # fmt: skip
    """A case of so many agent steps a second, of 7 neighbours and 20 tests an agent."""
    where: dict[str, Any] = {
        "problem": "boids",
        "spread": "uniform",
        "agents": 4096,
        "world": 50,
    } | params
    agents = int(where["agents"])
    rates = {
        "agent_steps_per_second": rate, "steps_per_second": rate / agents,
        "neighbours_per_second": 7 * rate,
    }  # fmt: skip
    rows = [
        measurement(what, [value] * 7, unit="1/s", method="monotonic", noise=noise)
        for what, value in rates.items()
    ]
    rows += [
        measurement("agent_steps_per_second", [2 * rate], unit="1/s", method="tsc"),
        count("distance_tests", 20.0 * agents, unit="1", method="code"),
        count("distance_tests", 1.0, unit="1", method="model", provenance="modelled"),
        *(
            count(what, value, unit="1/s", method="model", provenance="modelled")
            for what, value in (limits or {}).items()
        ),
    ]
    return case(
        rows, suite="neighbours", benchmark=f"neighbours_{name}", backend=backend, params=where
    )


def run_of(folder: Path, *lines: dict[str, Any], backend: str = "host") -> Run:
    known = [CEILING] if backend == "cuda" else []
    ladders = {"neighbours": stories(backend)}
    return load2(folder, [*known, *lines], backend=backend, ladders=ladders)


def values(ax: Axes, label: str) -> list[tuple[float, float]]:
    """The valid points of the series of this name."""
    return [at for line in ax.lines if line.get_label() == label for at in points_of(line)]


def titles(axes: list[Axes]) -> list[str]:
    return [ax.get_title("left") for ax in axes]


@pytest.mark.parametrize("figure", [LADDER, SCALE, WORK])
def test_without_several_cases_there_is_nothing(figure: Any, tmp_path: Path) -> None:
    assert not figure.has(load2(tmp_path, [case([measurement()])]))
    one = run_of(tmp_path / "a", rung("cpu_grid", 1e6, cells=6), rung("serial", 1e5))
    assert figure.has(one) == (figure is LADDER)
    worlds = [rung("cpu_grid", 1e6, cells=cells, world=9 * cells) for cells in (0, 6, 12)]
    assert figure.has(run_of(tmp_path / "b", *worlds)) == (figure is LADDER)


def test_a_line_for_each_rung_in_the_order_of_the_ladder(tmp_path: Path) -> None:
    run = run_of(
        tmp_path, rung("cell_array", 9e6), rung("cpu_grid", 6e6), rung("serial", 1e6),
        rung("openmp", 2e6), rung("cpu_packed", 8e6, agents=16384),
    )  # fmt: skip
    with plotted(LADDER, run) as figure:
        (ax,) = figure.axes
        assert [name.get_text().split(" · ")[0] for name in ax.get_yticklabels()] == [
            "serial", "openmp", "cpu grid", "cpu packed", "cell array",
        ]  # fmt: skip
        assert [bar.get_width() for bar in bars_of(figure)] == pytest.approx(
            [1e6, 2e6, 6e6, 8e6, 9e6]
        )
        assert ax.get_xlabel() == "agent steps (1/s)"
        assert titles([ax]) == ["boids, uniform, radius 50"]
        assert "6.00\u00a0M/s   3.00× openmp   2.86 tests" in [text.get_text() for text in ax.texts]
    lines = data_of(LADDER, run)
    steps = [line["speedup_over_it"] for line in lines]
    assert steps == ["", "2.0", "3.0", "", "1.5"], "over as many agents"
    assert lines[4]["rung_before"] == "neighbours_cpu_grid"
    assert {line["tests_per_neighbour"] for line in lines} == {f"{20 / 7}"}


def test_the_best_valid_choice_of_a_rung_is_drawn(tmp_path: Path) -> None:
    run = run_of(
        tmp_path, rung("cpu_grid", 3e6, cells=6), rung("cpu_grid", 5e6, cells=0),
        rung("cpu_grid", 9e6, cells=24, noise="failed"), rung("openmp", 2e6, noise="failed"),
    )  # fmt: skip
    assert ["cells=0" in line["case"] for line in data_of(LADDER, run)] == [False, True]
    caption = caption_of(LADDER, run)
    assert "openmp, boids, uniform, radius 50" in caption


def test_steps_and_tests_against_the_cells_of_each_rung(tmp_path: Path) -> None:
    run = run_of(
        tmp_path, *(rung("cpu_grid", 1e6 * cells, cells=cells) for cells in (24, 6, 12)),
        *(rung("cpu_packed", 2e6 * cells, cells=cells) for cells in (6, 12)),
        rung("cpu_packed", 9e6, cells=0),
    )  # fmt: skip
    name = f"cpu grid, {grouped(4096)}"
    with plotted(WORK, run) as figure:
        upper, lower = figure.axes
        assert labels_of(figure) == [name, f"cpu packed, {grouped(4096)}"]
        assert values(upper, name) == [pytest.approx((n, 1e6 * n / 4096)) for n in (6, 12, 24)]
        assert [tests for _, tests in values(lower, name)] == pytest.approx([20 / 7] * 3)
    assert [line["cells"] for line in data_of(WORK, run)] == ["6", "12", "24", "6", "12"]


def test_a_line_for_each_rung_by_agents(tmp_path: Path) -> None:
    run = run_of(
        tmp_path, rung("serial", 1e6), rung("serial", 3e5, agents=16384),
        rung("cpu_grid", 4e6, cells=6), rung("cpu_grid", 5e6, cells=12),
        rung("cpu_grid", 6e6, agents=16384), rung("openmp", 2e6),
    )  # fmt: skip
    with plotted(SCALE, run) as figure:
        (ax,) = figure.axes
        assert labels_of(figure) == ["serial", "cpu grid"], "openmp has one number of agents"
        assert values(ax, "serial") == [pytest.approx((4096, 1e6)), pytest.approx((16384, 3e5))]
        assert [rate for _, rate in values(ax, "cpu grid")] == pytest.approx([5e6, 6e6])
    caption = caption_of(SCALE, run)
    assert "Dotted" not in caption
    assert "published" not in caption, "for a CPU"


@pytest.mark.parametrize(
    ("limits", "place", "wanted"),
    [
        ({}, {}, [FLOPS / 2 / 6e4 * size for size in (4096, 16384)]),
        ({"issue_limit": 3e9, "bytes_limit": 5e9}, {}, [3e9, 3e9]),
        ({"issue_limit": 4e9, "bytes_limit": 2e9}, {}, [2e9, 2e9]),
        ({"issue_limit": 2e9}, {"problem": "list", "world": "fit"}, [1.4e10, 1.4e10]),
    ],
)
def test_the_least_limit_is_drawn(
    limits: dict[str, float], place: dict[str, str], wanted: list[float], tmp_path: Path
) -> None:
    limits = {"fp32_instructions": 6e4 if not limits else 1.0} | limits
    rungs = [
        rung("serial", 1e9, agents=size, limits=limits, backend="cuda", **place)
        for size in (4096, 16384)
    ]
    run = run_of(tmp_path, *rungs, backend="cuda")
    found = [float(line["limit_per_second"]) for line in data_of(SCALE, run)]
    assert found == pytest.approx(wanted)
    with plotted(SCALE, run) as figure:
        rates = [rate for _, rate in values(figure.axes[0], "serial")]
        assert rates == pytest.approx([7e9 if place else 1e9] * 2)
        assert labels_of(figure)[-1] == "limit"
    assert "Dotted" in caption_of(SCALE, run)


def test_published_rates_are_open_marks_beside_a_gpu(tmp_path: Path) -> None:
    rungs = [
        rung("serial", 1e9, agents=size, problem=problem, world=world, spread=spread,
             backend="cuda")
        for problem, world, spread in (
            ("boids", 200, "uniform"), ("boids", 50, "clustered"), ("circles", "fit", "uniform"),
            ("list", "fit", "uniform"),
        )
        for size in (4096, 16384)
    ]  # fmt: skip
    run = run_of(tmp_path, *rungs, backend="cuda")
    with plotted(SCALE, run) as figure:
        of = {ax.get_title("left"): ax for ax in figure.axes}
        seed = values(of["boids, uniform, radius 200"], "Breitbart 2008, GeForce 8800 GTS")
        assert seed == [(16384, 344064), (32768, 1966080), (262144, 1310720)]
        circles = values(of["circles, uniform"], "FLAME GPU 2, H100 PCIe")
        assert circles == [pytest.approx((1_000_000, 472.1e6))]
        assert values(of["list, uniform"], "nvalchemi, H100 SXM")
        assert not hollow_of(of["boids, clustered, radius 50"]), "nothing is published"
    caption = caption_of(SCALE, run)
    assert "Open marks: published" in caption
    assert "517 neighbours each" in caption
