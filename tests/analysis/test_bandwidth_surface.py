"""The figure of bandwidth against bytes in flight."""

from pathlib import Path
from typing import Any

import pytest

from builders import case, load, measurement
from charts import caption_of, data_of
from plots import (
    check_texts_of,
    hollow_of,
    labels_of,
    lines_of,
    plot_named,
    plotted,
    points_of,
    rules_of,
)

FIGURE = plot_named("bandwidth_surface")
TERA = 1e12


def shape(
    value: float,
    in_flight: float,
    *,
    share: float | None = None,
    level: str = "dram",
    operation: str = "read",
    flights: int = 4,
    failed: bool = False,
    backend: str = "cuda",
) -> dict[str, Any]:
    """One shape of launch; without bytes in flight where there are none."""
    rows = [measurement("bandwidth", [value], unit="B/s", method="event_slope")]
    if in_flight:
        rows.append(
            measurement("bytes_in_flight_per_sm", [in_flight], unit="B", method="launch_shape")
        )
    if share:
        rows.append(measurement("share_of_limit", [share], unit="1", method="event_slope"))
    params = {"level": level, "operation": operation, "width": 16, "in_flight": flights}
    gates = [("timer", "failed" if failed else "passed", "")]
    return case(rows, benchmark="bandwidth", params=params, gates=gates, backend=backend)


def test_what_failed_a_gate_is_hollow_and_is_named(tmp_path: Path) -> None:
    lines = []
    for flights in (1, 2, 4, 8):
        size, rate = flights * 16384, 0.23 * flights**0.7
        lines += [
            shape(4.8 * rate * TERA, size, share=rate, flights=flights),
            shape(3 * TERA * flights**0.5, size, level="l2", flights=flights),
            shape(25 * TERA, size, share=0.75, level="l1", flights=flights),
        ]
    lines.append(shape(3.9 * TERA, 65536, share=0.81, operation="copy"))
    lines.append(shape(3.3 * TERA, 65536, share=0.69, operation="triad", failed=True))
    run = load(tmp_path, lines)
    with plotted(FIGURE, run) as figure:
        check_texts_of(figure)
        assert [ax.get_title("left") for ax in figure.axes] == ["L1", "L2", "DRAM"]
        assert hollow_of(figure.axes[2]) == [(65536, 3.3)]
        assert sorted(labels_of(figure)) == ["copy", "limit", "read", "triad"]
    assert "Invalid, drawn hollow (1): micro/bandwidth/cuda/in_flight=4" in caption_of(FIGURE, run)


def test_the_line_joins_the_best_valid_shapes_only(tmp_path: Path) -> None:
    lines = [
        shape(2 * TERA, 1024, flights=1),
        shape(3 * TERA, 1024, flights=2),
        shape(9 * TERA, 1024, flights=8, failed=True),
        shape(4 * TERA, 2048, flights=4),
    ]
    with plotted(FIGURE, load(tmp_path, lines)) as figure:
        (line,) = (one for one in lines_of(figure) if one.get_linestyle() == "-")
        assert points_of(line) == [(1024, 3), (2048, 4)]


def test_the_limit_follows_from_the_share(tmp_path: Path) -> None:
    run = load(tmp_path, [shape(4.5 * TERA, 1024, share=0.9), shape(9 * TERA, 1024, level="l2")])
    with plotted(FIGURE, run) as figure:
        l2, dram = ([y for one in rules_of(ax) for _, y in points_of(one)] for ax in figure.axes)
        assert dram == pytest.approx([5, 5])
        assert l2 == []
    assert [bool(line["limit_bytes_per_second"]) for line in data_of(FIGURE, run)] == [False, True]
    words = caption_of(FIGURE, run).replace("\u00a0", " ")
    assert "L2 9.00 TB/s; DRAM 4.50 TB/s, 90.0 % of its limit." in words
