"""The figure of the ceilings of arithmetic."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure as Canvas
from matplotlib.patches import Rectangle

from builders import case, load, measurement
from strata import figures
from strata.figures import ceilings
from strata.run import Row


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


def test_ceilings_of_a_cpu_have_no_limit(tmp_path: Path) -> None:
    line = case(
        [
            measurement("flops_per_second", [4e11], unit="FLOP/s", method="monotonic_slope"),
            measurement(
                "flops_per_second_of_one_core", [2e11], unit="FLOP/s", method="monotonic_slope"
            ),
        ],
        benchmark="ceilings",
        backend="host",
        params={"arithmetic": "fp32", "form": "steady", "warps_per_sm": "32"},
    )
    items = ceilings.prepare(load(tmp_path, [line], backend="host").rows)
    (one,) = items
    assert (one.measured.value, one.limit, one.others) == (4e11, None, ())
    with figures.style():
        canvas = figures.render(ceilings.FIGURE, items)
    texts = [text.get_text() for legend in canvas.legends for text in legend.get_texts()]
    assert texts == ["all cores"]
    assert "every core" in ceilings.caption(items)
