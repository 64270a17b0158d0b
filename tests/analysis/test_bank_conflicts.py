"""The figure of bank conflicts: marks, hollow marks, caption."""

from math import gcd
from pathlib import Path
from typing import Any

import pytest

from builders import case, count, counts, load2, measurement, predicted
from charts import caption_of, data_of
from plots import check_texts_of, hollow_of, plot_named, plotted, solid_of
from strata.run import Run

FIGURE = plot_named("bank_conflicts")


def access(
    width: int = 4,
    stride: int = 1,
    operation: str = "load",
    pattern: str = "stride",
    *,
    counted: float | None = None,
    gate: str = "passed",
) -> list[dict[str, Any]]:
    """Lines of one case: timed, and counted if `counted`."""
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


def run_of(folder: Path, *lines: list[dict[str, Any]]) -> Run:
    return load2(folder, [line for some in lines for line in some])


def test_lines_are_predicted_and_marks_are_counted(tmp_path: Path) -> None:
    run = run_of(
        tmp_path,
        access(4, 1, counted=1),
        access(4, 2, counted=2.1, gate="failed"),
        access(4, 4),
        access(8, 1, "store", counted=2),
    )
    with plotted(FIGURE, run) as figure:
        check_texts_of(figure)
        first, loads, stores, latency = figure.axes
        assert solid_of(first, marked=False) == [[(1, 1), (2, 2), (4, 4)], [(1, 2)]]
        assert solid_of(first) == [[(1, 1)], [(1, 2)]]
        assert hollow_of(first) == [(2, 2.1)]
        assert solid_of(loads) == [[(1, 1.5), (4, 4.5)]]
        assert hollow_of(loads) == [(2, 2.5)]
        assert solid_of(stores) == [[(1, 2.5)]]
        assert solid_of(latency) == [[(1, 31), (4, 31)]]
    words = caption_of(FIGURE, run)
    assert "Counts equal the prediction in 2 of 3 cases." in words
    assert "Invalid, drawn hollow (1): load, 4 bytes, stride 2." in words


def test_a_case_is_as_valid_as_each_of_its_rows(tmp_path: Path) -> None:
    (line,) = access()
    line["measurements"][0]["noise"]["verdict"] = "failed"
    assert "Invalid, drawn hollow (1)" in caption_of(FIGURE, run_of(tmp_path, [line]))


def test_a_run_without_counts_says_so(tmp_path: Path) -> None:
    assert "No counts are available" in caption_of(FIGURE, run_of(tmp_path, access(16, 3)))


@pytest.mark.parametrize("operation", ["load", "store"])
def test_the_data_say_what_was_predicted_and_counted(tmp_path: Path, operation: str) -> None:
    (one,) = data_of(FIGURE, run_of(tmp_path, access(8, 5, operation, counted=2)))
    assert list(one.values())[:5] == [operation, "8", "5", "2.0", "2.0"]
