"""The figure of atomics: marks, hollow marks, caption."""

from pathlib import Path
from typing import Any

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


def atomic(
    space: str = "shared",
    operation: str = "add_int",
    target: str = "same",
    returns: str = "yes",
    *,
    noise: str = "passed",
) -> dict[str, Any]:
    """One case of the benchmark."""
    found = [
        measurement("atomics_per_cycle", [0.9, 1.0, 1.2], unit="1/cycle", noise=noise),
        measurement("warp_atomic_cycles", [32.0]),
    ]
    if returns == "yes":
        found.append(measurement("atomic_latency", [90.0, 100.0, 120.0], noise=noise))
        found.append(measurement("atomic_latency", [101.0], method="event_slope"))
    return case(
        found,
        benchmark="atomics",
        params={"space": space, "operation": operation, "target": target, "returns": returns},
    )


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


def of_a_cpu(target: str, returns: str = "yes", cycle: str = "cycle") -> dict[str, Any]:
    """One case of the benchmark on a CPU."""
    found = [measurement("atomics_per_cycle", [0.01], unit=f"1/{cycle}", method="tsc_slope")]
    if returns == "yes":
        found += [
            measurement("atomic_latency", [13.0], unit=cycle, method="tsc_slope"),
            measurement("atomic_latency", [13.1], unit=cycle, method="monotonic_slope"),
        ]
    return case(
        found,
        benchmark="atomics",
        backend="host",
        params={"space": "global", "operation": "add_int", "target": target, "returns": returns},
    )


def test_axes_name_the_cycles_of_a_run(tmp_path: Path) -> None:
    for cycle, word in ("cycle", "cycle"), ("tsc_cycle", "TSC cycle"):
        run = load(tmp_path / cycle, [of_a_cpu("same", cycle=cycle)], backend="host")
        with plotted(FIGURE, run) as figure:
            found = [ax.get_xlabel() for ax in figure.axes]
        assert found == [
            f"latency of a lone core's operation ({word}s)", f"operations per core and {word}",
        ]  # fmt: skip


def test_a_cpu_has_cores_and_no_lanes(tmp_path: Path) -> None:
    lines = [of_a_cpu("same"), of_a_cpu("line"), of_a_cpu("disjoint"), of_a_cpu("same", "no")]
    run = load(tmp_path, lines, backend="host")
    with plotted(FIGURE, run) as figure:
        check_texts_of(figure)
        latency, rate = figure.axes
        assert values(latency) == [13] * 3
        assert values(rate) == [0.01] * 4
        assert latency.get_title("left") == "memory"
        assert "SM" not in rate.get_xlabel()
        assert names(latency) == ["add int32", "add int32, no return"]
        assert labels_of(figure) == [
            "a line for each core", "a word for each core, on shared lines", "one word for all",
        ]  # fmt: skip
    words = caption_of(FIGURE, run)
    assert "lanes" not in words
    assert "warp" not in words
