"""The figure of copies into shared memory: what it takes from a run, and what it owns up to."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from builders import case, load, measurement
from strata import figures
from strata.figures import async_copy


def copy(
    measure: str,
    size: int,
    value: float,
    *,
    gates: Sequence[tuple[str, str, str]] = (),
    **params: Any,
) -> dict[str, Any]:
    latency = measure == "latency"
    name, unit = ("tile_latency", "cycle") if latency else ("bandwidth_per_sm", "B/cycle")
    place = {"residency": "l2", "method": "bulk", "cluster": 1} | params
    return case(
        [
            measurement(name, [0.99 * value, value, 1.01 * value], unit=unit),
            measurement("tile_cycles", [1.0], method="event_slope"),
        ],
        benchmark="async_copy",
        params=place | {"measure": measure, "bytes": size},
        gates=gates,
    )


def test_a_run_without_copies_has_no_figure() -> None:
    assert not async_copy.FIGURE.prepare(())


def test_each_case_is_one_point_by_the_clock_inside(tmp_path: Path) -> None:
    lines = [copy("latency", 16, 600), copy("bandwidth", 1024, 20)]
    copies = async_copy.FIGURE.prepare(load(tmp_path, lines).rows)
    assert [(c.measure, c.bytes, c.row.value) for c in copies] == [
        ("latency", 16, 600),
        ("bandwidth", 1024, 20),
    ]
    for one in copies:
        assert len(async_copy.FIGURE.cells(one)) == len(async_copy.FIGURE.columns)


def test_an_invalid_copy_is_hollow_and_named(tmp_path: Path) -> None:
    lines = [
        copy("latency", 16, 600),
        copy("latency", 4096, 700, gates=[("result", "failed", "wrong")]),
        copy("latency", 4096, 200, method="distributed", residency="shared", cluster=2),
    ]
    copies = async_copy.FIGURE.prepare(load(tmp_path, lines).rows)
    with figures.style():
        canvas = figures.render(async_copy.FIGURE, copies)
    hollow = [
        line for panel in canvas.axes for line in panel.lines if line.get_label() == "_invalid"
    ]
    assert [np.asarray(line.get_xdata()).tolist() for line in hollow] == [[4096]]
    assert hollow[0].get_markerfacecolor() == "white"
    assert "Invalid, drawn hollow (1): latency from L2, bulk, 4" in async_copy.caption(copies)
