"""The figure of the shared memory of another SM."""

from pathlib import Path
from typing import Any

from builders import case, load, measurement
from charts import caption_of
from plots import check_texts_of, hollow_of, labels_of, plot_named, plotted, points_of

FIGURE = plot_named("distributed_shared")

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


def test_latency_comes_first_and_a_panel_for_each_number_of_warps(tmp_path: Path) -> None:
    with plotted(FIGURE, load(tmp_path, SOME)) as figure:
        check_texts_of(figure)
        latency, few, many = figure.axes
        assert [ax.get_title("left") for ax in (latency, few, many)] == [
            "latency", "bandwidth, 8 warps a block", "bandwidth, 32 warps a block",
        ]  # fmt: skip
        curves = [points_of(line) for line in latency.lines if points_of(line)]
        assert curves == [[(0, 26), (1, 185)], [(0, 26), (2, 200)]]  # a line for each cluster
        assert [points_of(line) for line in few.lines if points_of(line)] == [[(0, 126), (2, 14)]]
        assert [points_of(line) for line in many.lines if points_of(line)] == [[(0, 127), (2, 12)]]
        assert labels_of(figure) == ["cluster of 2 blocks", "cluster of 4 blocks"]
        blocks = [label.get_text() for label in latency.get_xticklabels()]
        assert blocks == ["its own", "next", "2 on"]


def test_what_is_invalid_is_hollow_named_and_not_told(tmp_path: Path) -> None:
    lines = [
        *SOME,
        read(CYCLES, 300, 8, 4, noise="failed"),
        read(RATE, 99, 8, 4, 8, noise="failed"),
    ]
    run = load(tmp_path, lines)
    with plotted(FIGURE, run) as figure:
        latency, few, _ = figure.axes
        assert [y for _, y in hollow_of(latency)] == [300]
        assert [y for _, y in hollow_of(few)] == [99]
    words = caption_of(FIGURE, run)
    assert "hollow (2): latency, cluster of 8, distance 4, warps 1; bandwidth" in words
    assert "takes 185.0 to 200.0 cycles, one from the SM's own 26.00." in words
    assert (
        "at most 14.00 bytes per cycle from another's shared memory, and 127.0 from its own."
        in words
    )
