"""The figures of operations and of the ceilings of arithmetic."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure as Canvas
from matplotlib.patches import Rectangle

from builders import case, load, measurement
from strata import figures
from strata.figures import ceilings, instruction_cost
from strata.run import Row


def operation(
    name: str, cycles: float, ilp: int, warps: int, *, valid: bool = True
) -> dict[str, Any]:
    return case(
        [measurement("operation_cycles", [cycles, 1.01 * cycles, cycles], unit="cycle")],
        benchmark="instruction_cost",
        params={"operation": name, "ilp": ilp, "warps_per_sm": warps},
        gates=[("result", "passed" if valid else "failed", "ends of chains")],
    )


def arithmetic(
    kind: str, rate: float, limit: float | None, *, form: str = "steady", valid: bool = True
) -> dict[str, Any]:
    rows = [measurement("flops_per_second", [rate], unit="FLOP/s", method="event_slope")]
    if limit is not None:
        modelled = measurement(
            "flops_per_second", [limit], unit="FLOP/s", method="lanes_times_clock"
        )
        rows.append(modelled | {"provenance": "modelled"})
    return case(
        rows,
        benchmark="ceilings",
        params={"arithmetic": kind, "form": form, "warps_per_sm": "32"},
        gates=[("clock", "passed" if valid else "failed", "1980 MHz")],
    )


def rows(folder: Path, lines: list[dict[str, Any]]) -> tuple[Row, ...]:
    return load(folder, lines).rows


def drawn(figure: figures.Figure[Any], some: tuple[Row, ...]) -> Canvas:
    with figures.style():
        return figures.render(figure, figure.prepare(some))


def hollow(canvas: Canvas) -> int:
    marks = [
        line for panel in canvas.axes for line in panel.lines if line.get_label() == "_invalid"
    ]
    assert all(line.get_markerfacecolor() == "white" for line in marks)
    return sum(len(np.atleast_1d(line.get_xdata())) for line in marks)


FFMA = [
    operation("ffma", 4.02, 1, 1),
    operation("ffma", 0.5, 1, 32),
    operation("ffma", 0.25, 4, 32),
]


def test_latency_is_one_chain_on_one_warp_and_throughput_the_best_shape(tmp_path: Path) -> None:
    (cost,) = instruction_cost.prepare(rows(tmp_path, [*FFMA, operation("ffma", 1.0, 4, 1)]))
    assert cost.latency is not None
    assert cost.full is not None
    assert cost.latency.value == pytest.approx(4.02)
    assert cost.full.value == pytest.approx(0.25)
    assert cost.g80 == 4


def test_an_invalid_best_shape_gives_way_to_a_valid_one(tmp_path: Path) -> None:
    lines = [operation("ffma", 0.1, 8, 32, valid=False), *FFMA]
    (cost,) = instruction_cost.prepare(rows(tmp_path, lines))
    assert cost.full is not None
    assert cost.full.value == pytest.approx(0.25)


def test_invalid_operations_are_hollow_and_named(tmp_path: Path) -> None:
    some = rows(tmp_path, [*FFMA, operation("shuffle", 24, 1, 1, valid=False)])
    assert hollow(drawn(instruction_cost.FIGURE, some)) == 1
    words = instruction_cost.caption(instruction_cost.prepare(some))
    assert "Invalid, drawn hollow (1): instruction_cost/cuda/ilp=1/operation=shuffle" in words
    assert hollow(drawn(instruction_cost.FIGURE, some[:2])) == 0


def test_the_g80_stands_beside_the_operations_that_it_had(tmp_path: Path) -> None:
    some = rows(tmp_path, [*FFMA, operation("shuffle", 24, 1, 1)])
    canvas = drawn(instruction_cost.FIGURE, some)
    (published,) = [
        line for panel in canvas.axes for line in panel.lines if line.get_label() == "_published"
    ]
    assert list(np.atleast_1d(published.get_xdata())) == [4]
    assert "Breitbart 2008, Table 2.2" in instruction_cost.caption(instruction_cost.prepare(some))


def test_operations_stand_in_the_order_of_the_list(tmp_path: Path) -> None:
    lines = [operation(name, 4, 1, 1) for name in reversed(list(instruction_cost.OPERATIONS))]
    items = instruction_cost.prepare(rows(tmp_path, lines))
    assert [item.operation for item in items] == list(instruction_cost.OPERATIONS)


def test_measured_arithmetic_has_its_limit_beside_it(tmp_path: Path) -> None:
    lines = [arithmetic("int8_dp4a", 9e12, None), arithmetic("fp32", 66e12, 66.9e12)]
    some = rows(tmp_path, lines)
    first, second = ceilings.prepare(some)
    assert first.kind == "fp32"
    assert first.share == pytest.approx(66 / 66.9)
    assert second.limit is None
    assert "No limit is published for int8, dp4a." in ceilings.caption((first, second))
    (panel,) = drawn(ceilings.FIGURE, some).axes
    bars = [bar for bar in panel.patches if isinstance(bar, Rectangle)]
    assert [bar.get_width() for bar in bars] == pytest.approx([66, 9])


def test_the_ceiling_is_the_best_valid_form(tmp_path: Path) -> None:
    some = rows(
        tmp_path,
        [
            arithmetic("fp64", 27e12, 33.5e12, form="alternating"),
            arithmetic("fp64", 32e12, 33.4e12, form="square"),
            arithmetic("fp64", 33e12, 33.5e12, form="uniform", valid=False),
        ],
    )
    (one,) = ceilings.prepare(some)
    assert one.form == "square"
    assert one.share == pytest.approx(32 / 33.4)
    assert [row.value for row in one.others] == [27e12]
    (panel,) = drawn(ceilings.FIGURE, some).axes
    (others,) = [line for line in panel.lines if line.get_label() == "_others"]
    assert list(np.atleast_1d(others.get_xdata())) == pytest.approx([27])


def test_invalid_arithmetic_is_hollow_and_named(tmp_path: Path) -> None:
    some = rows(tmp_path, [arithmetic("fp64", 33e12, 33.5e12, valid=False)])
    (panel,) = drawn(ceilings.FIGURE, some).axes
    assert [bar.get_facecolor() for bar in panel.patches] == [(1, 1, 1, 1)]
    assert "ceilings/cuda/arithmetic=fp64" in ceilings.caption(ceilings.prepare(some))


@pytest.mark.parametrize("figure", [instruction_cost.FIGURE, ceilings.FIGURE])
def test_cells_fit_their_columns_and_nothing_gives_nothing(
    figure: figures.Figure[Any], tmp_path: Path
) -> None:
    assert not figure.prepare([])
    some = rows(tmp_path, [*FFMA, arithmetic("fp32", 66e12, 66.9e12)])
    for item in figure.prepare(some):
        assert len(figure.cells(item)) == len(figure.columns)
        assert figure.cells(item)[-1] == figure.source(item).case
