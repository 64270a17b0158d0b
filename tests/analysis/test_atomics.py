"""The figure of atomics: marks, hollow marks, caption."""

from pathlib import Path
from typing import Any

from builders import case, load, load2, measurement
from charts import caption_of, chart_of, labels, panels, values
from strata.figures.atomics import FIGURE


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


def test_nothing_is_shown_without_its_rows(tmp_path: Path) -> None:
    other = case([measurement()], benchmark="coalescing", params={"width": 4, "stride": 1})
    assert not FIGURE.items(load2(tmp_path, [other]))


def test_latency_stands_beside_rate_and_global_beneath_shared(tmp_path: Path) -> None:
    run = load2(tmp_path, [atomic(), atomic("global"), atomic(returns="no")])
    found = panels(chart_of(FIGURE, run))
    assert [panel.title for panel in found] == ["shared memory", "", "global memory", ""]
    latency, rate, *_ = found
    assert values(latency) == [100]
    assert values(rate) == [1, 1]
    assert latency.places.names == ["add int32", "add int32, red"]


def test_invalid_rows_are_hollow_and_named(tmp_path: Path) -> None:
    run = load2(tmp_path, [atomic(noise="failed"), atomic(target="warp")])
    latency, rate = panels(chart_of(FIGURE, run))
    assert values(latency, valid=False) == [100]
    assert values(latency) == [100]
    assert values(rate, valid=False) == [1]
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
        found = panels(chart_of(FIGURE, load2(tmp_path / cycle, [of_a_cpu("same", cycle=cycle)])))
        labels = [panel.values.label for panel in found]
        assert labels == [
            f"latency of a lone core's operation ({word}s)", f"operations per core and {word}",
        ]  # fmt: skip


def test_a_cpu_has_cores_and_no_lanes(tmp_path: Path) -> None:
    lines = [of_a_cpu("same"), of_a_cpu("line"), of_a_cpu("disjoint"), of_a_cpu("same", "no")]
    run = load(tmp_path, lines, backend="host")
    chart = chart_of(FIGURE, run)
    latency, rate = panels(chart)
    assert values(latency) == [13] * 3
    assert values(rate) == [0.01] * 4
    assert latency.title == "memory"
    assert "SM" not in rate.values.label
    assert latency.places.names == ["add int32", "add int32, no return"]
    assert labels(chart) == [
        "a line for each core", "a word for each core, on shared lines", "one word for all",
    ]  # fmt: skip
    words = caption_of(FIGURE, run)
    assert "lanes" not in words
    assert "warp" not in words
