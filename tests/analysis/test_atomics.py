"""The figure of atomics: marks, hollow marks, caption."""

from pathlib import Path
from typing import Any

import pytest
from matplotlib.axes import Axes

from builders import case, load, load2, measurement
from charts import caption_of
from plots import check_texts_of, hollow_of, labels_of, plot_named, plotted, points_of

FIGURE = plot_named("atomics")


def values(ax: Axes) -> list[float]:
    """The marks of a panel, valid or not."""
    return [x for line in ax.lines for x, _ in points_of(line)]


def names(ax: Axes) -> list[str]:
    """The names of the lines of a panel."""
    return [label.get_text() for label in ax.get_yticklabels()]


def atomic(space: str = "shared", target: str = "same", returns: str = "yes", *,
           noise: str = "passed") -> dict[str, Any]:  # fmt: skip
    """One case of a GPU."""
    found = [measurement("atomics_per_cycle", [0.9, 1.0, 1.2], unit="1/cycle", noise=noise)]
    if returns == "yes":
        found.append(measurement("atomic_latency", [90.0, 100.0, 120.0], noise=noise))
        found.append(measurement("atomic_latency", [101.0], method="event_slope"))
    axes = {"space": space, "operation": "add_int", "target": target, "returns": returns}
    return case(found, benchmark="atomics", params=axes)


def of_a_cpu(target: str, returns: str = "yes", cycle: str = "cycle") -> dict[str, Any]:
    """One case of a CPU."""
    found = [measurement("atomics_per_cycle", [0.01], unit=f"1/{cycle}", method="tsc_slope")]
    if returns == "yes":
        found.append(measurement("atomic_latency", [13.0], unit=cycle, method="tsc_slope"))
        found.append(measurement("atomic_latency", [13.1], unit=cycle, method="monotonic_slope"))
    axes = {"space": "global", "operation": "add_int", "target": target, "returns": returns}
    return case(found, benchmark="atomics", backend="host", params=axes)


def test_latency_stands_beside_rate_and_global_beneath_shared(tmp_path: Path) -> None:
    run = load2(tmp_path, [atomic(), atomic("global"), atomic(returns="no")])
    with plotted(FIGURE, run) as figure:
        titles = [ax.get_title("left") for ax in figure.axes]
        assert titles == ["shared memory"] * 2 + ["global memory"] * 2
        latency, rate, *_ = figure.axes
        assert values(latency) == [100]
        assert values(rate) == [1, 1]
        assert names(latency) == ["add int32", "add int32, red"]


def test_invalid_rows_are_hollow_and_named(tmp_path: Path) -> None:
    run = load2(tmp_path, [atomic(noise="failed"), atomic(target="warp")])
    with plotted(FIGURE, run) as figure:
        latency, rate = figure.axes
        assert [x for x, _ in hollow_of(latency)] == [100]
        assert values(latency) == [100, 100]
        assert [x for x, _ in hollow_of(rate)] == [1]
    assert "Invalid, drawn hollow (2): shared, add int32, same" in caption_of(FIGURE, run)


@pytest.mark.parametrize(("cycle", "word"), [("cycle", "cycle"), ("tsc_cycle", "TSC cycle")])
def test_a_cpu_has_cores_and_no_lanes(tmp_path: Path, cycle: str, word: str) -> None:
    cases = [("same", "yes"), ("line", "yes"), ("disjoint", "yes"), ("same", "no")]
    run = load(tmp_path, [of_a_cpu(*axes, cycle) for axes in cases], backend="host")
    with plotted(FIGURE, run) as figure:
        check_texts_of(figure)
        latency, rate = figure.axes
        assert values(latency) == [13] * 3
        assert values(rate) == [0.01] * 4
        assert latency.get_title("left") == "memory"
        assert latency.get_xlabel() == f"latency of a lone core's operation ({word}s)"
        assert rate.get_xlabel() == f"operations per core and {word}"
        assert names(latency) == ["add int32", "add int32, no return"]
        assert labels_of(figure) == [
            "a line for each core", "a word for each core, on shared lines", "one word for all",
        ]  # fmt: skip
    words = caption_of(FIGURE, run)
    assert "lanes" not in words
    assert "warp" not in words
