"""The figure of strides and slices of L2."""

from pathlib import Path
from typing import Any

from builders import case, count, counts, load2, measurement
from charts import caption_of, data_of
from plots import check_texts_of, plot_named, plotted, points_of

FIGURE = plot_named("slice_camping")


def spaced(spacing: int, rate: float, busiest: float | None = None) -> list[dict[str, Any]]:
    """A case of that many TB/s; `busiest`: sectors of the busiest slice, of 100 on average."""
    rows = [measurement("sector_bandwidth", [1e12 * rate] * 7, unit="B/s", method="event_slope")]
    line = case(rows, benchmark="slice_camping", params={"spacing": spacing})
    if busiest is None:
        return [line]
    slices = {"busiest": busiest, "mean": 100.0}
    return [line, counts(line, [
        count(f"l2_{name}_slice_sectors", sectors, method=name) for name, sectors in slices.items()
    ])]  # fmt: skip


def test_bandwidth_and_the_busiest_slice_are_drawn_by_spacing(tmp_path: Path) -> None:
    run = load2(tmp_path, [*spaced(4096, 2.0, 250.0), *spaced(128, 4.0, 101.0)])
    with plotted(FIGURE, run) as figure:
        left, right = figure.axes
        assert points_of(left.lines[0]) == [(128, 4), (4096, 2)]
        assert points_of(right.lines[0]) == [(128, 1.01), (4096, 2.5)]
        check_texts_of(figure)
    assert [line["spacing_bytes"] for line in data_of(FIGURE, run)] == ["128", "4096"]
    assert "The slowest spacing, 4\xa0KiB, has 50" in caption_of(FIGURE, run)


def test_without_counts_there_is_one_panel(tmp_path: Path) -> None:
    run = load2(tmp_path, [*spaced(128, 4.0), *spaced(256, 4.0)])
    with plotted(FIGURE, run) as figure:
        assert len(figure.axes) == 1
    assert "busiest" not in caption_of(FIGURE, run)
