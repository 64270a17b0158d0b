"""Little's law: the latency of a level, how many SMs there are, and the line in the figure."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from builders import case, load, measurement
from charts import caption_of, data_of
from plots import lines_of, plot_named, plotted, points_of
from strata.model import atlas, little
from strata.run import Row

FIGURE = plot_named("bandwidth_surface")
KIB = 1024
L2 = 64 * KIB * KIB
SMS = 10
CLOCK = 2e9
SECONDS = {"global_ca": 16e-9, "shared": 12e-9, "global_cg": 140e-9}


def walk(
    space: str, footprint: int, seconds: float, *, failed: bool = False, **params: Any
) -> dict[str, Any]:
    rows = [
        measurement("load_cycles", [CLOCK * seconds], method="clock64_slope"),
        measurement("load_time", [seconds], unit="s", method="event_slope"),
        measurement("footprint_over_l2", [footprint / L2], unit="1", method="driver")
        | {"provenance": "modelled"},
    ]
    place = {"space": space, "footprint": footprint, "stride": 128, "cores": "one"}
    gates = [("result", "failed" if failed else "passed", "")]
    return case(rows, benchmark="latency_vs_footprint", params=place | params, gates=gates)


def stream(
    flying: float, bandwidth: float, *, level: str = "l2", operation: str = "read", sms: float = SMS
) -> dict[str, Any]:
    rows = [
        measurement("bandwidth", [bandwidth], unit="B/s", method="event_slope"),
        measurement(
            "bandwidth_per_sm", [bandwidth / sms / CLOCK], unit="B/cycle", method="event_slope"
        ),
        measurement("core_clock", [CLOCK], unit="Hz", method="clock64_over_globaltimer"),
        measurement("bytes_in_flight_per_sm", [flying], unit="B", method="launch_shape")
        | {"provenance": "modelled"},
    ]
    params = {"level": level, "operation": operation, "width": 16, "in_flight": round(flying)}
    return case(rows, benchmark="bandwidth", params=params)


def walks() -> list[dict[str, Any]]:
    lines = []
    for power in range(10, 33):
        size = 2**power
        lines.append(walk("global_ca", size, 16e-9 if size <= 128 * KIB else 140e-9))
        lines.append(walk("global_cg", size, 140e-9 if size < L2 else 350e-9))
    lines += [walk("shared", 2**power, 12e-9) for power in range(10, 17)]
    return lines


def rows(folder: Path, lines: Sequence[dict[str, Any]]) -> Sequence[Row]:
    return load(folder, lines).rows


def test_each_level_has_the_latency_of_a_walk_inside_it(tmp_path: Path) -> None:
    found = little.latencies(load(tmp_path, walks()))
    assert {level: one.seconds for level, one in found.items()} == pytest.approx(
        {"shared": 12e-9, "l1": 16e-9, "l2": 140e-9, "dram": 350e-9}
    )
    assert found["dram"].row.quantity == "load_time"


def test_device_memory_is_the_median_from_2_to_16_times_the_l2(tmp_path: Path) -> None:
    lines = [walk("global_cg", times * L2, times * 1e-9) for times in (1, 2, 4, 16, 32, 64)]
    assert little.latencies(load(tmp_path, lines))["dram"].seconds == pytest.approx(4e-9)


def test_a_cpu_has_no_latencies_here(tmp_path: Path) -> None:
    place = {"space": "memory", "footprint": 8192, "stride": 64, "cores": "one"}
    line = walk("memory", 8192, 1e-9)["measurements"]
    one = case(line, benchmark="latency_vs_footprint", backend="host", params=place)
    run = load(tmp_path, [one], backend="host", device__l1d_bytes=32 * KIB)
    assert atlas.latencies(run).keys() == {"l1"}
    assert little.latencies(run) == {}


def test_sms_follow_from_the_rates_of_one_and_of_all(tmp_path: Path) -> None:
    lines = [stream(2.0**power, 1e12) for power in range(12, 15)]
    assert little.cores(rows(tmp_path, lines)) == SMS
    assert little.cores(rows(tmp_path, [stream(4096, 1e12, sms=SMS + 0.1)])) == SMS
    assert little.cores(rows(tmp_path, [stream(4096, 1e12, sms=SMS + 0.5)])) is None
    assert little.cores(()) is None


def test_the_line_is_in_the_figure_and_its_data(tmp_path: Path) -> None:
    lines = [
        *walks(),
        stream(4096, 2e11),
        stream(65536, 9e11),
        stream(65536, 7e11, operation="copy"),
    ]
    run = load(tmp_path, lines)
    found = {
        (line["operation"], line["bytes_in_flight_per_sm"]): line["little_bytes_per_second"]
        for line in data_of(FIGURE, run)
    }
    assert float(found["read", "4096.0"]) == pytest.approx(SMS * 4096 / 140e-9)
    assert found["copy", "65536.0"] == ""
    with plotted(FIGURE, run) as figure:
        (law,) = (one for one in lines_of(figure) if one.get_label() == "Little's law")
        assert [y for _, y in points_of(law)] == pytest.approx(
            [SMS * x / 140e-9 for x, _ in points_of(law)]
        )
    caption = caption_of(FIGURE, run)
    assert "Little's law" in caption
    assert "L2 12.3\N{NO-BREAK SPACE}KiB" in caption
