"""The figure of atomics: what is drawn, what is hollow, what is told."""

from pathlib import Path
from typing import Any

from builders import case, load, load2, measurement
from strata import figures
from strata.figures import atomics
from strata.run import Row

FIGURE = atomics.FIGURE


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


def rows_of(folder: Path, *lines: dict[str, Any]) -> tuple[Row, ...]:
    return load2(folder, list(lines)).rows


def values(panel: Any, label: str) -> list[float]:
    return [float(line.get_xdata()[0]) for line in panel.lines if line.get_label() == label]


def drawn(rows: tuple[Row, ...]) -> Any:
    with figures.style():
        return figures.render(FIGURE, FIGURE.prepare(rows))


def test_nothing_is_prepared_without_its_rows(tmp_path: Path) -> None:
    other = case([measurement()], benchmark="coalescing", params={"width": 4, "stride": 1})
    assert not FIGURE.prepare(rows_of(tmp_path, other))


def test_latency_stands_beside_rate_and_global_beneath_shared(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, atomic(), atomic("global"), atomic(returns="no"))
    canvas = drawn(rows)
    assert [panel.get_title(loc="left") for panel in canvas.axes] == [
        "shared memory", "", "global memory", "",
    ]  # fmt: skip
    latency, rate, *_ = canvas.axes
    assert values(latency, "_valid") == [100]
    assert values(rate, "_valid") == [1, 1]
    assert [text.get_text() for text in latency.get_yticklabels()] == [
        "add int32",
        "add int32, red",
    ]


def test_invalid_rows_are_hollow_and_named(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, atomic(noise="failed"), atomic(target="warp"))
    latency, rate = drawn(rows).axes
    assert values(latency, "_invalid") == [100]
    assert values(latency, "_valid") == [100]
    assert values(rate, "_invalid") == [1]
    words = FIGURE.caption(FIGURE.prepare(rows))
    assert "Invalid, drawn hollow (2): shared, add int32, same" in words


def test_data_have_a_cell_for_each_column(tmp_path: Path) -> None:
    marks = FIGURE.prepare(rows_of(tmp_path, atomic()))
    assert len(marks) == 2
    for mark in marks:
        assert len(FIGURE.cells(mark)) == len(FIGURE.columns)
        assert FIGURE.cells(mark)[-1] == FIGURE.source(mark).case


def of_a_cpu(target: str, returns: str = "yes") -> dict[str, Any]:
    """One case of the benchmark on a CPU."""
    found = [measurement("atomics_per_cycle", [0.01], unit="1/tsc_cycle", method="tsc_slope")]
    if returns == "yes":
        found += [
            measurement("atomic_latency", [13.0], unit="tsc_cycle", method="tsc_slope"),
            measurement("atomic_latency", [13.1], unit="tsc_cycle", method="monotonic_slope"),
        ]
    return case(
        found,
        benchmark="atomics",
        backend="host",
        params={"space": "global", "operation": "add_int", "target": target, "returns": returns},
    )


def test_a_cpu_has_cores_and_no_lanes(tmp_path: Path) -> None:
    lines = [of_a_cpu("same"), of_a_cpu("line"), of_a_cpu("disjoint"), of_a_cpu("same", "no")]
    rows = load(tmp_path, lines, backend="host").rows
    canvas = drawn(rows)
    latency, rate = canvas.axes
    assert values(latency, "_valid") == [13] * 3
    assert values(rate, "_valid") == [0.01] * 4
    assert latency.get_title(loc="left") == "memory"
    assert "SM" not in rate.get_xlabel()
    assert [text.get_text() for text in latency.get_yticklabels()] == [
        "add int32",
        "add int32, no return",
    ]
    texts = [text.get_text() for legend in canvas.legends for text in legend.get_texts()]
    assert texts == [
        "a line for each core",
        "a word for each core, on shared lines",
        "one word for all",
    ]
    words = FIGURE.caption(FIGURE.prepare(rows))
    assert "lanes" not in words
    assert "warp" not in words
