"""Figures 10 and 11 of Siegel et al. 2009, redone: what is drawn, what is theirs, what is told."""

from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from builders import COUNTED_RUN, GPU_RUN, HOST_RUN, case, count, load2, measurement
from strata import figures
from strata.figures import siegel_10, siegel_11
from strata.ladder import seeds as ladder_seeds
from strata.model import plain
from strata.run import Row, load_run

FIGURES = {figure.name: figure for figure in (siegel_10.FIGURE, siegel_11.FIGURE)}
RUNS = {"gpu": GPU_RUN, "host": HOST_RUN, "counted": COUNTED_RUN}
each_drawn = pytest.mark.parametrize(
    ("name", "which"), [(name, which) for name in FIGURES for which in ("gpu", "host")]
)


@cache
def rows_of(which: str) -> tuple[Row, ...]:
    return load_run(RUNS[which]).rows


def drawn(name: str, rows: tuple[Row, ...]) -> Any:
    figure: figures.Figure[Any] = FIGURES[name]
    with figures.style():
        canvas = figures.render(figure, figure.prepare(rows))
        canvas.draw_without_rendering()
    return canvas


def read(layout: str, cycles: float, noise: str = "passed") -> dict[str, Any]:
    """A read of one warp alone at DRAM."""
    return case(
        [measurement("warp_read_cycles", [cycles] * 7, noise=noise)],
        params={
            "block_size": 32, "cores": "all", "fields": "all", "layout": layout,
            "residency": "dram", "warps_per_sm": 1,
        },
    )  # fmt: skip


def heights(panel: Any, label: str) -> list[float]:
    return [
        bar.get_height()
        for container in panel.containers
        if container.get_label() == label
        for bar in container
    ]


@each_drawn
def test_every_text_lies_on_the_canvas_and_no_number_on_another(name: str, which: str) -> None:
    canvas = drawn(name, rows_of(which))
    for panel in canvas.axes:
        if not panel.get_visible():
            continue
        texts = [*panel.texts, panel.title, panel.yaxis.label, *panel.get_xticklabels()]
        boxes = [text.get_window_extent() for text in texts if text.get_text()]
        for box in boxes:
            assert canvas.bbox.x0 - 1 <= box.x0 <= box.x1 <= canvas.bbox.x1 + 1
            assert canvas.bbox.y0 - 1 <= box.y0 <= box.y1 <= canvas.bbox.y1 + 1
        ticks = [text.get_window_extent() for text in panel.get_xticklabels()]
        assert not any(one.overlaps(two) for one, two in pairwise(ticks))


@each_drawn
def test_the_data_file_has_a_cell_for_each_column(name: str, which: str) -> None:
    figure: figures.Figure[Any] = FIGURES[name]
    items = figure.prepare(rows_of(which))
    assert items
    for item in items:
        assert len(figure.cells(item)) == len(figure.columns)
        assert figure.cells(item)[-1] == figure.source(item).case
    assert "Siegel et al. 2009" in figure.title
    assert "Siegel et al. 2009" in figure.caption(items)


@pytest.mark.parametrize("name", FIGURES)
def test_without_reads_there_is_no_figure(name: str) -> None:
    assert not FIGURES[name].prepare([])


def test_layouts_stand_in_the_papers_order_and_a_fifth_is_left_out(tmp_path: Path) -> None:
    lines = [read(layout, 100) for layout in ("aosoa32", "soaoas", "aos", "soa")]
    times = ladder_seeds.layout_times(load2(tmp_path, lines).rows)
    assert [time.layout for time in times] == ["aos", "soa", "soaoas"]


def test_speed_is_over_aos_and_theirs_beside_it(tmp_path: Path) -> None:
    rows = load2(tmp_path, [read("aos", 300), read("soa", 200), read("soaoas", 100)]).rows
    (panel,) = drawn("siegel_11", rows).axes
    assert heights(panel, "_valid") == [1.5, 3]
    theirs = [line for line in panel.lines if line.get_label() == "_published"]
    assert [list(line.get_ydata()) for line in theirs] == [[1.1, 1.5], [1.3]]
    (panel,) = drawn("siegel_10", rows).axes
    assert heights(panel, "_valid") == [300, 200, 100]


def test_invalid_reads_are_hollow(tmp_path: Path) -> None:
    rows = load2(tmp_path, [read("aos", 300), read("soa", 200, noise="failed")]).rows
    (panel,) = drawn("siegel_11", rows).axes
    assert heights(panel, "_invalid") == [1.5]
    assert "Invalid, drawn hollow (1): DRAM soa, one warp alone." in siegel_11.caption(
        siegel_11.prepare(rows)
    )
    (panel,) = drawn("siegel_10", rows).axes
    assert heights(panel, "_invalid") == [200]


def test_without_aos_there_is_no_speed(tmp_path: Path) -> None:
    assert not siegel_11.prepare(load2(tmp_path, [read("soa", 200)]).rows)


def test_why_a_layout_pays_nothing_is_told_by_sectors(tmp_path: Path) -> None:
    lines = [read("aos", 861), read("soaoas", 897)]
    assert not ladder_seeds.sentences(load2(tmp_path / "a", lines).rows)
    for line, sectors, hits in zip(lines, (196, 32), (6 / 7, 0), strict=True):
        line["schema_version"] = 2
        line["measurements"] += [
            count("sectors_per_read", sectors, unit="sector", method="cupti_net"),
            count("l1_hit_share", hits, unit="1", method="cupti_net"),
        ]
    (sentence,) = ladder_seeds.sentences(load2(tmp_path / "b", lines).rows)
    assert plain(sentence) == (
        "Siegel et al. 2009, Figure 11: soaoas was 1.5 (CUDA 1.0) and 1.3 (CUDA 2.2) times as fast "
        "as aos on an 8800 GTX; here, at DRAM, 0.96× for one warp alone: of the 196 sectors that a "
        "warp asks for in aos, L1 lets 28 through, of the 32 in soaoas 32."
    )
