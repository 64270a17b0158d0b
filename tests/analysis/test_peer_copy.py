"""The figure of copies between two GPUs: what it takes from a run, and what it owns up to."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from builders import case, load, measurement
from strata import figures
from strata.figures import peer_copy

SIZES = [4 * 16**power for power in range(8)]


def copy(
    by: str, direction: str, size: int, *, gates: Sequence[tuple[str, str, str]] = ()
) -> dict[str, Any]:
    alpha, rate = (4e-6, 3.6e11) if by == "copy_engine" else (3e-6, 3.2e11)
    seconds = alpha + size / rate
    around = [0.99 * seconds, seconds, 1.01 * seconds]
    moved = size * (2 if direction == "both" else 1)
    return case(
        [
            measurement("transfer_time", around, unit="s", method="event"),
            measurement("transfer_time", [2 * one for one in around], unit="s", method="wall"),
            measurement("bandwidth", [moved / one for one in around], unit="B/s", method="event"),
            measurement("bandwidth", [moved / seconds], unit="B/s", method="wall"),
        ],
        benchmark="peer_copy",
        params={"by": by, "direction": direction, "bytes": size},
        gates=gates,
    )


def one_load() -> dict[str, Any]:
    return case(
        [
            measurement("load_cycles_cached", [1400.0], unit="cycle", method="clock64_slope"),
            measurement("load_cycles_cached", [1400.0], unit="cycle", method="event_slope"),
            measurement("load_time_cached", [0.71e-6], unit="s", method="event_slope"),
            measurement("load_time_uncached", [0.95e-6], unit="s", method="event_slope"),
        ],
        benchmark="peer_copy",
        params={"by": "load", "direction": "read", "bytes": 4},
    )


def test_a_run_without_a_peer_has_no_figure() -> None:
    assert not peer_copy.FIGURE.prepare(())


def test_each_copy_is_a_point_by_events_and_each_load_one_by_its_level(tmp_path: Path) -> None:
    lines = [copy("kernel", "read", 64), copy("copy_engine", "both", 64), one_load()]
    shown = peer_copy.FIGURE.prepare(load(tmp_path, lines).rows)
    assert [(one.way, one.direction) for one in shown] == [
        ("kernel", "read"),
        ("load_cached", "read"),
        ("load_uncached", "read"),
        ("copy_engine", "both"),
    ]
    for one in shown:
        assert one.row.method in ("event", "event_slope")
        assert len(peer_copy.FIGURE.cells(one)) == len(peer_copy.FIGURE.columns)
    assert [one.bandwidth is not None for one in shown] == [True, False, False, True]


def test_a_known_line_comes_back(tmp_path: Path) -> None:
    lines = [copy("copy_engine", "read", size) for size in SIZES]
    fitted = peer_copy.fits(peer_copy.FIGURE.prepare(load(tmp_path, lines).rows))
    line = fitted["copy_engine", "read"]
    assert np.isclose(line.alpha, 4e-6, rtol=1e-6)
    assert np.isclose(1 / line.beta, 3.6e11, rtol=1e-6)


def test_an_invalid_copy_is_hollow_named_and_no_part_of_the_line(tmp_path: Path) -> None:
    lines = [
        copy(by, direction, size)
        for by in ("copy_engine", "kernel")
        for direction in ("read", "write", "both")
        for size in SIZES
        if (by, direction, size) != ("kernel", "write", 1024)
    ]
    lines += [copy("kernel", "write", 1024, gates=[("result", "failed", "wrong")]), one_load()]
    shown = peer_copy.FIGURE.prepare(load(tmp_path, lines).rows)
    with figures.style():
        canvas = figures.render(peer_copy.FIGURE, shown)
    hollow = [
        line for panel in canvas.axes for line in panel.lines if line.get_label() == "_invalid"
    ]
    assert [np.asarray(line.get_xdata()).tolist() for line in hollow] == [[1024]]
    assert hollow[0].get_markerfacecolor() == "white"
    assert 1024 not in peer_copy.fits(shown)["kernel", "write"].sizes
    text = peer_copy.caption(shown)
    assert "Invalid, drawn hollow (1): kernel to the peer, 1 KiB" in text.replace("\u00a0", " ")
    assert "one load, peer's L2" in text
