"""The clock under load: its figure, and the sentences about kernels below the driver's clock."""

from pathlib import Path
from typing import Any

import pytest
from matplotlib.axes import Axes

from builders import case, load, measurement
from charts import caption_of, data_of
from plots import hollow_of, labels_of, plot_named, plotted, points_of
from strata.model import plain
from strata.model.clocks import below_the_drivers, sentences
from strata.run import BOUNDS, Run

FIGURE = plot_named("clock_under_load")
DRIVER = 2e9


def labelled(ax: Axes, label: str) -> list[tuple[float, float]]:
    """The points of a panel with this label that are drawn and valid."""
    return [point for line in ax.lines if line.get_label() == label for point in points_of(line)]


def clock(hertz: float, quantity: str = "core_clock", **more: Any) -> dict[str, Any]:
    samples = [0.99 * hertz, hertz, 1.001 * hertz]
    return measurement(quantity, samples, unit="Hz", method="clock64_over_globaltimer", **more)


def loaded(
    mix: str, hertz: float, watts: float = 0.0, *, seconds: str = "1", driver: float = DRIVER,
    method: str = "nvml_instant", **changes: Any,
) -> dict[str, Any]:  # fmt: skip
    """A case of clock_under_load; 0: not reported."""
    rows = [clock(hertz), clock(0.98 * hertz, "slowest_clock"), clock(hertz, "fastest_clock")]
    reported = (("driver_clock", driver, "Hz", "nvml"), ("power", watts, "W", method))
    rows += [
        measurement(name, [value, value], unit=unit, method=how, provenance="reported")
        for name, value, unit, how in reported
        if value
    ]
    facts = {"driver_clock_hz": driver} if driver else {}
    axes = {"mix": mix, "seconds": seconds}
    return case(rows, benchmark="clock_under_load", params=axes, facts=facts, **changes)


SOME = [
    loaded("tensor", 1.8e9, 640),
    loaded("tensor", 1.9e9, 600, seconds="0.1"),
    loaded("fma", 1.99e9, 450),
    loaded("fma", 2e9, 430, seconds="0.1"),
    loaded("idle_lanes", 2e9, 200, gates=[("timer", "failed", "two timers")]),
    loaded("nothing_known", 1e9, 100),
]


def run_of(tmp_path: Path, *lines: dict[str, Any], **changes: Any) -> Run:
    return load(tmp_path, list(lines), device__power_limit_watts=700.0, **changes)


def test_loads_stand_in_the_order_of_the_list_and_of_their_duration(tmp_path: Path) -> None:
    run = run_of(tmp_path, *SOME)
    data = data_of(FIGURE, run)
    assert [(line["mix"], line["seconds"]) for line in data] == [
        ("idle_lanes", "1"), ("fma", "0.1"), ("fma", "1"), ("tensor", "0.1"), ("tensor", "1"),
    ]  # fmt: skip
    tensor = {key: float(data[-1][key]) for key in ("core_clock_hz", "driver_clock_hz")}
    assert tensor == {"core_clock_hz": 1.8e9, "driver_clock_hz": DRIVER}
    assert float(data[-1]["power_watts"]) == 640
    assert float(data[-1]["slowest_clock_hz"]) == pytest.approx(0.98 * 1.8e9)
    assert [line["valid"] for line in data] == ["false", "true", "true", "true", "true"]


def test_clocks_and_powers_stand_side_by_side_on_the_line_of_their_mix(tmp_path: Path) -> None:
    run = run_of(tmp_path, *SOME)
    with plotted(FIGURE, run) as figure:
        clocks, powers = figure.axes
        mixes = [label.get_text() for label in clocks.get_yticklabels()]
        assert mixes == ["multiply-adds in one lane of 32", "multiply-adds", "tensor cores"]
        early, late = (labelled(clocks, f"after {time} s of load") for time in ("0.1", "1"))
        assert [(round(at), value) for value, at in early] == [(1, 2e9), (2, 1.9e9)]
        assert [(round(at), value) for value, at in late] == [(1, 1.99e9), (2, 1.8e9)]
        assert all(one[1] < other[1] for one, other in zip(early, late, strict=True))
        assert [x for x, _ in labelled(clocks, "clock as the driver reports it")] == [DRIVER] * 4
        assert [x for x, _ in labelled(powers, "after 1 s of load")] == [450, 640]
        assert [round(at) for _, at in hollow_of(clocks)] == [0, 0]
        assert [ax.get_xlim()[0] for ax in figure.axes] == [0, 0]
        assert labels_of(figure) == [
            "after 0.1 s of load", "after 1 s of load", "clock as the driver reports it",
            "power limit",
        ]  # fmt: skip


def test_the_caption_tells_how_far_the_driver_is_off(tmp_path: Path) -> None:
    words = caption_of(FIGURE, run_of(tmp_path, *SOME))
    assert (
        "up to 10.0 % below the clock that the driver reported: tensor cores, after 1 s." in words
    )
    assert "mean of the last second" not in words
    agreed = caption_of(FIGURE, run_of(tmp_path, loaded("fma", 1.99e9, 450, method="nvml_mean")))
    assert "below" not in agreed
    assert "the mean of the last second" in agreed


def sentences_of(run: Run) -> list[str]:
    return [plain(one).replace("\u00a0", " ") for one in sentences(run)]


def test_a_run_reports_the_clock_under_each_load(tmp_path: Path) -> None:
    loads, below = sentences_of(run_of(tmp_path, *SOME[:5]))
    assert loads == (
        "Clock of the SMs under load: multiply-adds 1.99 GHz at 450.0 W and tensor cores 1.80 GHz "
        "at 640.0 W."
    )
    assert below == (
        "SMs ran more than two per cent below the clock that the driver reported in "
        "clock_under_load (1.80 GHz at mix=tensor, seconds=1; 1.90 GHz at mix=tensor, "
        "seconds=0.1): their cycles and seconds hold, but limits at the driver's clock were out of "
        "reach."
    )


def test_cases_of_older_runs_are_held_against_what_was_reported_around_the_run(
    tmp_path: Path,
) -> None:
    lines = [
        *(case([clock((1.90 + 0.01 * n) * 1e9)], benchmark="layout_read", params={"n": n})
          for n in range(9)),
        case([clock(1.85e9)], benchmark="coalescing"),
        case([clock(1.85e9)], benchmark="stride_gather", gates=[("timer", "failed", "apart")]),
    ]  # fmt: skip
    run = load(tmp_path, lines)  # 1.98 GHz before and after
    assert [*(100 * below_the_drivers(run).below).round(1)] == [4, 3.5, 3, 2.5, 2, 6.6]
    (sentence,) = sentences_of(run)
    assert "5 cases of layout_read (1.90 GHz to 1.94 GHz) and coalescing (1.85 GHz):" in sentence
    idle = {"sm_clock_hz": 345e6}
    unknown = load(tmp_path, lines, clocks={"before": idle, "after": {"sm_clock_hz": DRIVER}})
    assert below_the_drivers(unknown).empty
    cut_off = load(tmp_path, lines, clocks={"before": {"sm_clock_hz": DRIVER}, "after": None})
    assert below_the_drivers(cut_off).empty
    bounds = {name: {"value": value, "evidence": ""} for name, value in BOUNDS.items()}
    bounds["driver_clock"]["value"] = 0.05
    wider = load(tmp_path, lines, bounds=bounds)
    assert [*(100 * below_the_drivers(wider).below).round(1)] == [6.6]


def test_driver_reports_during_the_run_come_before_those_around_it(
    tmp_path: Path,
) -> None:
    lines = [
        case([clock(1.80e9)], params={"n": 1}, facts={"driver_clock_hz": 1.81e9}),
        case([clock(1.96e9)], params={"n": 2}, facts={"driver_clock_hz": 2.1e9}),
        case([clock(1.80e9)], params={"n": 3}, facts={"driver_clock_hz": "fast"}),
    ]
    found = below_the_drivers(load(tmp_path, lines))
    assert [*zip(found.n, found.driver, strict=True)] == [(2, 2.1e9), (3, 1.98e9)]
