"""The figures of transfers: times and rates, lines and what they predict, packing, peers."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from test_transfer_model import SIZES, sweep, transfer

from builders import case, load, measurement
from charts import caption_of, data_of
from plots import hollow_of, labels_of, plot_named, plotted, points_of, solid_of
from strata.figures.transfers import ALPHA, BETA, FIT

TRANSFERS, SMALL_COPIES, PEER_COPY = map(plot_named, ("transfers", "small_copies", "peer_copy"))
FAILED = [("result", "failed", "wrong")]


def many(size: int) -> float:
    return 1e-4 + 2e-11 * size


def packed(size: int) -> float:
    return 1e-5 + 1.1e-10 * size


def one_transfer(size: float) -> float:
    return 5e-6 + 2e-11 * size


def access(by: str, direction: str, size: int, **changes: Any) -> dict[str, Any]:
    seconds = (4e-6 + size / 3.6e11) if by == "copy_engine" else (3e-6 + size / 3.2e11)
    around = [0.99 * seconds, seconds, 1.01 * seconds]
    moved = size * (2 if direction == "both" else 1)
    rows = [
        measurement("transfer_time", around, unit="s", method="event"),
        measurement("transfer_time", [2 * time for time in around], unit="s", method="wall"),
        measurement("bandwidth", [moved / time for time in around], unit="B/s", method="event"),
        measurement("bandwidth", [moved / seconds], unit="B/s", method="wall"),
    ]
    axes = {"by": by, "direction": direction, "bytes": size}
    return case(rows, benchmark="peer_copy", params=axes, **changes)


def one_load() -> dict[str, Any]:
    rows = [
        measurement("load_cycles_cached", [1400.0]),
        measurement("load_time_cached", [0.71e-6], unit="s", method="event_slope"),
        measurement("load_time_uncached", [0.95e-6], unit="s", method="event_slope"),
    ]
    axes = {"by": "load", "direction": "read", "bytes": 4}
    return case(rows, benchmark="peer_copy", params=axes)


def test_time_is_above_bandwidth_and_held_out_sizes_are_crosses(tmp_path: Path) -> None:
    run = load(tmp_path, [*sweep(one_transfer), *sweep(one_transfer, direction="both")])
    with plotted(TRANSFERS, run) as figure:
        time, both, rate, _ = figure.axes
        assert [ax.get_title("left") for ax in (time, both)] == [
            "To the device", "Both ways at once",
        ]  # fmt: skip
        (line, *_) = solid_of(time, marked=False)
        assert [y for _, y in line] == pytest.approx([one_transfer(x) for x, _ in line])
        fitted, crosses = solid_of(time)
        assert [x for x, _ in crosses] == [SIZES[1], SIZES[4], SIZES[7], SIZES[10]]
        assert len(fitted) == len(SIZES) - 4
        ((*_, (_, last)),) = solid_of(rate)
        assert last == pytest.approx(SIZES[-1] / one_transfer(SIZES[-1]))
        assert both.get_xlabel() == "bytes, each way"
        assert labels_of(figure) == ["pinned", "held out of the fit", FIT]
    words = caption_of(TRANSFERS, run).replace("\u00a0", " ")
    assert f"pinned to the device {ALPHA} = 5.00 µs (5.00–5.00 µs), 1/{BETA} = 50.0 GB/s" in words
    assert "Sizes held out are predicted within 0 %." in words


def test_an_invalid_transfer_is_hollow_and_named_and_has_no_bandwidth(tmp_path: Path) -> None:
    run = load(tmp_path, [transfer(4, 5e-6), transfer(64, 6e-6, gates=FAILED)])
    with plotted(TRANSFERS, run) as figure:
        time, rate = figure.axes
        assert hollow_of(time) == [(64, 6e-6)]
        assert [[x for x, _ in line] for line in solid_of(rate)] == [[4]]
    words = caption_of(TRANSFERS, run).replace("\u00a0", " ")
    assert "Invalid, drawn hollow (1): pinned to the device, 64 B." in words


@pytest.mark.parametrize(
    ("of_packed", "sentence"),
    [
        (packed, "pinned to the device, 16 pieces: 976.6 KiB."),
        (lambda size: 1e-5 + 1e-11 * size, "No payload was found above which packing costs more"),
    ],
)
def test_packing_pays_up_to_where_the_lines_cross(
    tmp_path: Path, of_packed: Callable[[int], float], sentence: str
) -> None:
    cases = [*sweep(many, pieces=16), *sweep(of_packed, pieces=16, packing="packed")]
    run = load(tmp_path, cases)
    with plotted(SMALL_COPIES, run) as figure:
        (ax,) = figure.axes
        stars = [points_of(line)[0][0] for line in ax.lines if line.get_marker() == "*"]
        assert stars == ([pytest.approx(1e6)] if of_packed is packed else [])
        assert ("break-even" in labels_of(figure)) == (of_packed is packed)
    assert sentence in caption_of(SMALL_COPIES, run).replace("\u00a0", " ")


def test_each_copy_is_a_point_by_events_and_each_load_one_by_its_level(tmp_path: Path) -> None:
    lines = [access("kernel", "read", 64), access("copy_engine", "both", 64), one_load()]
    found = data_of(PEER_COPY, load(tmp_path, lines))
    assert [(line["way"], line["direction"], bool(line["bytes_per_second"])) for line in found] == [
        ("kernel", "read", True),
        ("load_cached", "read", False),
        ("load_uncached", "read", False),
        ("copy_engine", "both", True),
    ]
    assert [float(line["seconds"]) for line in found] == pytest.approx(
        [3e-6 + 64 / 3.2e11, 0.71e-6, 0.95e-6, 4e-6 + 64 / 3.6e11]
    )


def test_an_invalid_copy_is_hollow_named_and_no_part_of_the_line(tmp_path: Path) -> None:
    lines = [
        access(by, direction, size, gates=FAILED if bad else ())
        for by in ("copy_engine", "kernel")
        for direction in ("read", "write", "both")
        for size in SIZES
        for bad in [(by, direction, size) == ("kernel", "write", 1024)]
    ]
    run = load(tmp_path, [*lines, one_load()])
    with plotted(PEER_COPY, run) as figure:
        assert {x for ax in figure.axes for x, _ in hollow_of(ax)} == {1024}
    words = caption_of(PEER_COPY, run).replace("\u00a0", " ")
    assert "Invalid, drawn hollow (1): kernel to the peer, 1 KiB" in words
    assert "one load, peer's L2 710 ns" in words
    assert f"kernel to the peer {ALPHA} = 3.00 µs (3.00–3.00 µs), 1/{BETA} = 320" in words
