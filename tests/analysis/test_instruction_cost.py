"""The figure of operations: of an SM and its warps, and of the core of a CPU."""

from pathlib import Path
from typing import Any

import pytest

from builders import case, load, measurement
from charts import caption_of, data_of
from plots import hollow_of, labels_of, plot_named, plotted, points_of
from strata.figures.instruction_cost import OPERATIONS

FIGURE = plot_named("instruction_cost")


def operation(
    name: str, cycles: float, ilp: int, warps: int, *, valid: bool = True
) -> dict[str, Any]:
    axes = {"operation": name, "ilp": ilp, "warps_per_sm": warps}
    gates = [("result", "passed" if valid else "failed", "ends of chains")]
    rows = [measurement("operation_cycles", [cycles, 1.01 * cycles, cycles])]
    return case(rows, benchmark="instruction_cost", params=axes, gates=gates)


def chain(operation: str, ilp: int, cycles: float) -> dict[str, Any]:
    axes = {"operation": operation, "ilp": ilp, "warps_per_sm": 1}
    rows = [
        measurement("operation_cycles", [9.0], unit="tsc_cycle", method="tsc_slope"),
        measurement("operation_core_cycles", [cycles], method="over_dependent_adds"),
    ]
    return case(rows, benchmark="instruction_cost", backend="host", params=axes)


FFMA = [
    operation("ffma", 4.02, 1, 1),
    operation("ffma", 0.5, 1, 32),
    operation("ffma", 0.25, 4, 32),
]


def test_latency_is_one_chain_on_one_warp_and_throughput_the_best_valid_shape(
    tmp_path: Path,
) -> None:
    lines = [*FFMA, operation("ffma", 1.0, 4, 1), operation("ffma", 0.1, 8, 32, valid=False)]
    run = load(tmp_path, [*lines, operation("shuffle", 24, 1, 1)])
    ffma, _ = data_of(FIGURE, run)
    names = ("latency_cycles", "cycles_per_warp_operation", "best_ilp", "g80_cycles_per_warp")
    assert [float(ffma[name]) for name in names] == pytest.approx([4.02, 0.25, 4, 4])
    with plotted(FIGURE, run) as figure:
        found = {line.get_label(): points_of(line) for line in figure.axes[1].lines}
        assert found["G80, published"] == [(4, 0)]  # the shuffle has none
    assert "Breitbart 2008, Table 2.2" in caption_of(FIGURE, run)


def test_an_operation_is_as_valid_as_its_latency_and_its_rate(tmp_path: Path) -> None:
    lines = [operation("ffma", 4, 1, 1), operation("ffma", 1, 4, 32, valid=False)]
    run = load(tmp_path, [*lines, operation("shuffle", 24, 1, 1, valid=False)])
    with plotted(FIGURE, run) as figure:
        assert hollow_of(figure.axes[0]) == [(24, 1)]
    words = caption_of(FIGURE, run)
    assert "Invalid, drawn hollow (2): instruction_cost/cuda/ilp=4/operation=ffma" in words


def test_operations_stand_in_the_order_of_the_list(tmp_path: Path) -> None:
    lines = [operation(name, 4, 1, 1) for name in reversed(list(OPERATIONS))]
    assert [*FIGURE.data(load(tmp_path, lines)).operation] == list(OPERATIONS)


def test_costs_of_a_cpu_are_cycles_of_its_core_and_have_no_g80_beside_them(tmp_path: Path) -> None:
    lines = [chain("rcp_ieee", 1, 11.0), chain("rcp_ieee", 4, 3.1), chain("rcp_ieee", 10, 3.0)]
    run = load(tmp_path, lines, backend="host")
    with plotted(FIGURE, run) as figure:
        assert [text.get_text() for text in figure.axes[0].get_yticklabels()] == ["divide, fp32"]
        assert labels_of(figure) == ["measured"]
        assert [points_of(ax.lines[0]) for ax in figure.axes] == [[(11, 0)], [(3, 0)]]
    assert "warp" not in caption_of(FIGURE, run)
    assert data_of(FIGURE, run)[0]["thread_operations_per_cycle"] == f"{1 / 3.0}"


def test_latencies_of_a_quick_run_on_a_cpu_stand_alone(tmp_path: Path) -> None:
    run = load(tmp_path, [chain("imul", 1, 3.0)], backend="host")
    with plotted(FIGURE, run) as figure:
        (latency,) = figure.axes
        assert points_of(latency.lines[0]) == [(3, 0)]
    assert "Left" not in caption_of(FIGURE, run)
