"""The figure of the shared memory of another SM."""

from pathlib import Path
from typing import Any

from builders import case, load, measurement
from charts import caption_of, chart_of, check_drawing, data_of, labels, panels, points, values
from strata.figures.distributed_shared import FIGURE

CYCLES, RATE = "load_cycles", "bandwidth_per_sm"


def read(
    quantity: str, value: float, cluster: int, distance: int, warps: int = 1, *,
    noise: str = "passed",
) -> dict[str, Any]:  # fmt: skip
    """One case, by the clock inside the kernel and by events."""
    latency = quantity == CYCLES
    unit = "cycle" if latency else "B/cycle"
    samples = [0.99 * value, value, 1.01 * value]
    return case(
        [
            measurement(quantity, samples, unit=unit, noise=noise),
            measurement(quantity, [1.1 * value], unit=unit, method="event_slope"),
        ],
        benchmark="distributed_shared",
        params={
            "measure": "latency" if latency else "bandwidth",
            "cluster": cluster, "distance": distance, "warps": warps,
        },
    )  # fmt: skip


SOME = [
    read(RATE, 12, 4, 2, 32),
    read(RATE, 127, 4, 0, 32),
    read(RATE, 14, 4, 2, 8),
    read(RATE, 126, 4, 0, 8),
    read(CYCLES, 200, 4, 2),
    read(CYCLES, 185, 2, 1),
    read(CYCLES, 26, 4, 0),
    read(CYCLES, 26, 2, 0),
]


def test_without_its_rows_there_is_no_figure(tmp_path: Path) -> None:
    other = case([measurement("load_cycles")], benchmark="tlb")
    assert not FIGURE.items(load(tmp_path, [other]))


def test_latency_comes_first_and_a_panel_for_each_number_of_warps(tmp_path: Path) -> None:
    chart = chart_of(FIGURE, load(tmp_path, SOME))
    latency, few, many = panels(chart)
    assert [one.title for one in (latency, few, many)] == [
        "latency", "bandwidth, 8 warps a block", "bandwidth, 32 warps a block",
    ]  # fmt: skip
    assert values(latency) == [26, 26, 185, 200]
    assert values(few) == [126, 14]
    assert values(many) == [127, 12]
    assert labels(chart) == ["its own", "of the next block", "2 blocks on"]
    assert latency.places.ticks == [2, 4]
    check_drawing(chart)


def test_marks_of_one_size_stand_side_by_side(tmp_path: Path) -> None:
    latency, *_ = panels(chart_of(FIGURE, load(tmp_path, SOME)))
    own, next_one = (points(latency, label) for label in ("its own", "of the next block"))
    assert own[0][0] < next_one[0][0] == 2
    ((farther, _),) = points(latency, "2 blocks on")
    assert own[1][0] < 4 < farther


def test_what_is_invalid_is_hollow_named_and_not_told(tmp_path: Path) -> None:
    lines = [
        *SOME,
        read(CYCLES, 300, 8, 4, noise="failed"),
        read(RATE, 99, 8, 4, 8, noise="failed"),
    ]
    run = load(tmp_path, lines)
    latency, few, _ = panels(chart_of(FIGURE, run))
    assert values(latency, valid=False) == [300]
    assert values(few, valid=False) == [99]
    words = caption_of(FIGURE, run)
    assert "hollow (2): latency, cluster of 8, distance 4, warps 1; bandwidth" in words
    assert "takes 185.0 to 200.0 cycles, one from the SM's own 26.00." in words
    assert (
        "at most 14.00 bytes per cycle from another's shared memory, and 127.0 from its own."
        in words
    )


def test_nothing_is_compared_with_what_was_not_measured(tmp_path: Path) -> None:
    words = caption_of(FIGURE, load(tmp_path, [line for line in SOME if "=0/" not in line["case"]]))
    assert words.startswith("The blocks of a cluster")


def test_data_have_a_line_for_each_mark(tmp_path: Path) -> None:
    data = data_of(FIGURE, load(tmp_path, SOME))
    assert [(line["measure"], line["warps"], line["distance"]) for line in data[2:6]] == [
        ("latency", "1", "1"), ("latency", "1", "2"), ("bandwidth", "8", "0"),
        ("bandwidth", "8", "2"),
    ]  # fmt: skip
    assert (data[0]["value"], data[0]["unit"], data[0]["valid"]) == ("26.0", "cycle", "true")
