"""The figures of synchronization and of tensor cores."""

from pathlib import Path
from typing import Any

from builders import case, load, measurement
from charts import caption_of, data_of
from plots import plot_named, plotted

Line = dict[str, Any]


def price(benchmark: str, quantity: str, seconds: float, **params: Any) -> Line:
    rows = [measurement(quantity, [seconds] * 7, unit="s", method="event_slope")]
    return case(rows, benchmark=benchmark, params=params)


PRICES = [
    price("barriers", "barrier_time", 2e-8, kind="block", warps=8, cluster=1),
    price("barriers", "barrier_time", 2e-7, kind="cluster", warps=8, cluster=8),
    price("barriers", "barrier_time", 9e-9, kind="block", warps=2, cluster=1),
    price("fences", "operation_time", 4e-7, operation="fence_sc", scope="gpu", stores=8),
    price("messages", "message_time", 5e-7, route="l2", order="relaxed", blocks=2),
    price(
        "kernel_boundary", "boundary_seconds", 1e-6,
        launch="graph", start="after_end", grid="one_block",
    ),
]  # fmt: skip


def test_prices_are_listed_by_benchmark_in_nanoseconds(tmp_path: Path) -> None:
    figure = plot_named("synchronization_cost")
    run = load(tmp_path, PRICES)
    found = [
        (line["group"], line["price"], line["of"], round(float(line["nanoseconds"])))
        for line in data_of(figure, run)
    ]
    assert found == [
        ("barriers", "block", "8", 20),
        ("barriers", "cluster of 8 blocks", "8", 200),
        ("barriers", "block", "2", 9),
        ("fences", "fence sc, 8 stores before", "gpu", 400),
        ("messages", "through l2", "relaxed", 500),
        ("kernel_boundary", "after end, graph", "one block", 1000),
    ]
    assert "6 prices" in caption_of(figure, run)
    with plotted(figure, run) as drawn:
        assert drawn.axes[-1].get_xlabel() == "time (ns)"


def product(share: float, **params: str) -> Line:
    usual = {"measure": "rate", "instruction": "wgmma", "type": "fp16", "shape": "n256"}
    usual |= {"a": "shared", "sparsity": "dense", "data": "random"}
    rows = [
        measurement("operations_per_cycle", [share * 4096] * 7, unit="operation/cycle"),
        measurement("share_of_limit", [share] * 7, unit="1", method="event_slope"),
        measurement("instruction_cycles", [128.0] * 7, unit="cycle"),
        measurement("instruction_cycles", [128.0] * 7, unit="cycle", method="event_slope"),
    ]
    return case(rows, benchmark="tensor_rate", params=usual | params)


def test_products_are_beside_the_limit_of_the_chip(tmp_path: Path) -> None:
    figure = plot_named("tensor")
    run = load(
        tmp_path,
        [
            product(1, data="zeros"),
            product(0.66, instruction="mma", shape="largest", a="registers"),
        ],
    )
    found = {line["product"]: (line["operations"], line["limit"]) for line in data_of(figure, run)}
    assert found.keys() == {
        "fp16 wgmma, shared, zeros",
        "fp16 mma",
    }
    assert all(abs(float(limit) - 4096) < 1 for _, limit in found.values())
    assert "Dashed" in caption_of(figure, run)
    with plotted(figure, run) as drawn:
        assert "per SM and cycle" in drawn.axes[0].get_xlabel()
