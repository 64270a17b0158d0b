"""The figure of copies into shared memory: what it takes from a run, and what it owns up to."""

from pathlib import Path
from typing import Any

from builders import case, load, measurement
from charts import caption_of, data_of
from plots import check_texts_of, hollow_of, labels_of, plot_named, plotted

FIGURE = plot_named("async_copy")


def copy(measure: str, size: int, value: float, *, failed: bool = False, **params: Any) -> Any:
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
        gates=[("result", "failed" if failed else "passed", "")],
    )


def test_each_case_is_one_point_by_the_clock_inside(tmp_path: Path) -> None:
    run = load(tmp_path, [copy("bandwidth", 1024, 20), copy("latency", 16, 600)])
    found = [(line["measure"], line["bytes"], line["value"]) for line in data_of(FIGURE, run)]
    assert found == [("latency", "16", "600.0"), ("bandwidth", "1024", "20.0")]


def test_clusters_have_lines_and_labels_of_their_own(tmp_path: Path) -> None:
    lines = [
        copy("latency", 4096, 200, method="distributed", residency="shared", cluster=size)
        for size in (2, 8)
    ]
    with plotted(FIGURE, load(tmp_path, lines)) as figure:
        check_texts_of(figure)
        assert labels_of(figure) == [
            "ld.shared::cluster, 2 blocks", "ld.shared::cluster, 8 blocks",
        ]  # fmt: skip


def test_an_invalid_copy_is_hollow_and_named(tmp_path: Path) -> None:
    lines = [
        copy("latency", 16, 600),
        copy("latency", 4096, 700, failed=True),
        copy("latency", 4096, 200, method="distributed", residency="shared", cluster=2),
    ]
    run = load(tmp_path, lines)
    with plotted(FIGURE, run) as figure:
        titles = [ax.get_title("left") for ax in figure.axes]
        assert titles == ["latency from L2", "from another block"]
        assert hollow_of(figure.axes[0]) == [(4096, 700)]
        assert labels_of(figure) == ["cp.async.bulk", "ld.shared::cluster"]
    assert "Invalid, drawn hollow (1): latency from L2, bulk, 4" in caption_of(FIGURE, run)
