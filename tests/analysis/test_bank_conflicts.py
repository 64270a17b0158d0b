"""The figure of bank conflicts: what is drawn, what is hollow, what is told."""

from math import gcd
from pathlib import Path
from typing import Any

import pytest

from builders import case, count, counts, load2, measurement, predicted
from strata import figures
from strata.figures import bank_conflicts
from strata.run import Row

FIGURE = bank_conflicts.FIGURE


def access(
    width: int = 4,
    stride: int = 1,
    operation: str = "load",
    pattern: str = "stride",
    *,
    counted: float | None = None,
    gate: str = "passed",
) -> list[dict[str, Any]]:
    """Lines of one case: timed, and counted where `counted` says so."""
    lanes = 32 // (width // 4)
    degree = float(width // 4 * gcd(stride, lanes))
    found = [
        measurement("warp_access_cycles", [degree, degree + 0.5, degree + 1.0]),
        predicted("wavefronts_per_access", degree),
    ]
    if operation == "load":
        found.append(measurement("shared_load_latency", [30.0, 31.0, 33.0]))
    line = case(
        found,
        benchmark="bank_conflicts",
        params={"operation": operation, "pattern": pattern, "width": width, "stride": stride},
    )
    if counted is None:
        return [line]
    name = f"shared_{operation}_wavefronts_per_access"
    lines = [predicted(name, degree), count(name, counted)]
    return [line, counts(line, lines, gates=[("model", gate, "")])]


def rows_of(folder: Path, *lines: list[dict[str, Any]]) -> tuple[Row, ...]:
    return load2(folder, [line for some in lines for line in some]).rows


def points(panel: Any, label: str) -> list[tuple[float, float]]:
    return [
        (float(x), float(y))
        for line in panel.lines
        if line.get_label() == label
        for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)
    ]


def drawn(rows: tuple[Row, ...]) -> Any:
    with figures.style():
        return figures.render(FIGURE, FIGURE.prepare(rows))


def test_nothing_is_prepared_without_its_rows(tmp_path: Path) -> None:
    other = case([measurement()], benchmark="coalescing", params={"width": 4, "stride": 1})
    assert not FIGURE.prepare(load2(tmp_path, [other]).rows)


def test_shared_elements_stand_on_no_curve_of_strides(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, access(pattern="broadcast"), access(pattern="multicast"))
    assert not FIGURE.prepare(rows)


def test_lines_are_predicted_and_marks_are_counted(tmp_path: Path) -> None:
    rows = rows_of(
        tmp_path,
        access(4, 1, counted=1),
        access(4, 2, counted=3, gate="failed"),
        access(4, 4),
        access(8, 1, "store", counted=2),
    )
    first, loads, stores, latency = drawn(rows).axes
    assert points(first, "_model") == [(1, 1), (2, 2), (4, 4), (1, 2)]
    assert points(first, "_valid") == [(1, 1), (1, 2)]
    assert points(first, "_invalid") == [(2, 3)]
    assert points(loads, "_valid") == [(1, 1.5), (4, 4.5)]
    assert points(loads, "_invalid") == [(2, 2.5)]
    assert points(stores, "_valid") == [(1, 2.5)]
    assert points(latency, "_valid") == [(1, 31), (4, 31)]
    words = FIGURE.caption(FIGURE.prepare(rows))
    assert "Counted equals predicted in 2 of 3 cases." in words
    assert "Invalid, drawn hollow (1): load, 4 bytes, stride 2." in words


def test_a_run_without_counts_says_so(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, access(16, 3))
    assert "Nothing was counted" in FIGURE.caption(FIGURE.prepare(rows))


@pytest.mark.parametrize("operation", ["load", "store"])
def test_data_have_a_cell_for_each_column(tmp_path: Path, operation: str) -> None:
    (one,) = FIGURE.prepare(rows_of(tmp_path, access(8, 5, operation, counted=2)))
    assert len(FIGURE.cells(one)) == len(FIGURE.columns)
    assert FIGURE.cells(one)[-1] == FIGURE.source(one).case
    assert FIGURE.cells(one)[:5] == (operation, 8, 5, 2, 2)
