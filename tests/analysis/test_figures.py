"""Figures by their structure: how many bars and lines, what is hollow, what overlaps."""

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from matplotlib.transforms import Bbox
from msgspec.structs import replace

from builders import (
    COUNTED_RUN,
    GPU_RUN,
    HOST_RUN,
    case,
    count,
    counts,
    layout_case,
    load,
    load2,
    measurement,
    predicted,
)
from charts import data_of
from strata import figures
from strata.figures._draw import draw
from strata.figures._images import images, style
from strata.run import Run, load_run
from test_coalescing import warp_load

FIGURES = {figure.name: figure for figure in figures.discover()}
RUNS = {"gpu": GPU_RUN, "host": HOST_RUN, "counted": COUNTED_RUN}
COUNTED = {"bytes_moved", "coalescing", "misalignment", "level_proof"}


@cache
def run_of(run: str) -> Run:
    """A stored run, read once."""
    return load_run(RUNS[run])


def items_of(name: str, run: Run) -> Sequence[Any]:
    """What a figure shows of a run."""
    return FIGURES[name].items(run)


DRAWN = [(name, run) for name in FIGURES for run in RUNS if items_of(name, run_of(run))]
STORED = sorted({name for name, _ in DRAWN})
"""Figures that the stored runs hold rows of; the others are drawn in a test file of their own."""
each_drawn = pytest.mark.parametrize(("name", "run"), DRAWN)


def drawn(name: str, run: Run) -> Canvas:
    """The figure with every tick where it will stand on paper."""
    figure, items = FIGURES[name], items_of(name, run)
    with style():
        canvas = draw(figure.chart(items))
        canvas.draw_without_rendering()
    return canvas


@cache
def stored(name: str, run: str) -> Canvas:
    """The figure of a stored run, drawn once: tests only look at it."""
    return drawn(name, run_of(run))


def box(artist: Any) -> Bbox:
    return artist.get_window_extent()  # type: ignore[no-any-return]


def shown(canvas: Canvas) -> list[Text]:
    """Every text that a reader sees."""
    result = [text for legend in canvas.legends for text in legend.get_texts()]
    for panel in canvas.axes:
        if panel.get_visible():
            title = panel._left_title  # type: ignore[attr-defined]
            result += labels(panel, "x") + labels(panel, "y")
            result += [*panel.texts, title, panel.xaxis.label, panel.yaxis.label]
    return [text for text in result if text.get_text()]


def labels(panel: Axes, axis: str) -> list[Text]:
    """The tick labels that stand within the limits of the axis."""
    which = panel.xaxis if axis == "x" else panel.yaxis
    low, high = sorted(which.get_view_interval())
    return [
        tick.label1
        for tick in which.get_major_ticks()
        if low <= tick.get_loc() <= high and tick.label1.get_text()
    ]


def bars(panel: Axes) -> list[Rectangle]:
    return [p for p in panel.patches if isinstance(p, Rectangle) and p.get_linewidth() > 0]


def hollow(canvas: Canvas) -> int:
    """Points drawn as invalid."""
    lines = [
        line for panel in canvas.axes for line in panel.lines if line.get_label() == "_invalid"
    ]
    assert all(line.get_markerfacecolor() == "white" for line in lines)
    return sum(len(np.atleast_1d(line.get_xdata())) for line in lines)


def test_every_module_is_a_figure_and_names_are_unique() -> None:
    folder = Path(figures.__file__).parent
    assert {path.stem for path in folder.glob("[a-z]*.py")} == figures.by_module().keys()
    assert len(figures.discover()) == len(FIGURES)


def test_a_run_without_counts_has_no_figure_of_them() -> None:
    assert {name for name, run in DRAWN if run == "counted"} == set(STORED)
    assert set(STORED) >= COUNTED
    for other in ("gpu", "host"):
        assert {name for name, run in DRAWN if run == other} == set(STORED) - COUNTED


def test_every_figure_is_drawn_by_some_test() -> None:
    others = [path for path in Path(__file__).parent.glob("test_*.py") if path != Path(__file__)]
    texts = [path.read_text(encoding="utf-8") for path in others]
    for name in set(FIGURES) - set(STORED):
        (module,) = (of for of, found in figures.by_module().items() if FIGURES[name] in found)
        wanted = f"figures.{module}", f"import {module}", f'"{name}"'
        assert any(word in text for text in texts for word in wanted), name


@each_drawn
def test_every_text_lies_on_the_canvas(name: str, run: str) -> None:
    canvas = stored(name, run)
    room = canvas.bbox.padded(1)
    for text in shown(canvas):
        extent = box(text)
        assert room.x0 <= extent.x0, text
        assert extent.x1 <= room.x1, text
        assert room.y0 <= extent.y0, text
        assert extent.y1 <= room.y1, text


@each_drawn
def test_tick_labels_do_not_overlap(name: str, run: str) -> None:
    canvas = stored(name, run)
    for panel in canvas.axes:
        for axis in ("x", "y"):
            extents = [box(text) for text in labels(panel, axis)]
            assert len(extents) >= 1
            for one, two in pairwise(extents):
                assert not one.overlaps(two)


def test_labels_of_a_full_sweep_of_warps_do_not_overlap(tmp_path: Path) -> None:
    lines = [
        layout_case(layout, 10000.0 * warps, residency=level, warps_per_sm=warps, cores="all")
        for layout in ("aos", "soa")
        for level in ("l1", "l2", "l3", "dram")
        for warps in (1, 2, 4, 8, 16, 32, 48, 64)
    ]
    canvas = drawn("latency_vs_warps", load(tmp_path, lines))
    for panel in canvas.axes:
        ticks = labels(panel, "x")
        assert [text.get_text() for text in ticks] == ["1", "2", "4", "8", "16", "32", "48", "64"]
        for one, two in pairwise(map(box, ticks)):
            assert not one.overlaps(two)


@each_drawn
def test_the_legend_lies_outside_the_panels(name: str, run: str) -> None:
    canvas = stored(name, run)
    (legend,) = canvas.legends
    for panel in canvas.axes:
        if panel.get_visible():
            assert not box(legend).overlaps(panel.get_window_extent())


@each_drawn
def test_axis_labels_carry_units(name: str, run: str) -> None:
    canvas = stored(name, run)
    words = [panel.get_ylabel() + panel.get_xlabel() for panel in canvas.axes]
    units = ("cycles", "B/s", "(%)", "(×)", "bytes", "sectors")
    assert any(unit in word for word in words for unit in units)


@pytest.mark.parametrize("name", FIGURES)
def test_nothing_measured_means_no_figure(name: str) -> None:
    assert not items_of(name, replace(run_of("gpu"), rows=()))


SIEGEL = {"siegel_10", "siegel_11"}
"""Of the layouts of a paper alone."""


@pytest.mark.parametrize("name", sorted(set(STORED) - COUNTED - SIEGEL))
def test_any_single_case_can_be_drawn(name: str, tmp_path: Path) -> None:
    slowest = [
        measurement("warp_read_cycles_slowest", [5]),
        measurement("warp_read_cycles_slowest", [5], method="event_slope"),
    ]
    line = layout_case("zebra", 5, extra=slowest, bandwidth=7, residency="moon", fields="few")
    run = load(tmp_path, [line])
    canvas = drawn(name, run)
    assert len(canvas.axes) == 1


@each_drawn
def test_captions_name_device_and_commit(name: str, run: str) -> None:
    loaded: Run = load_run(RUNS[run])
    figure = FIGURES[name]
    items = items_of(name, loaded)
    words = figure.full_caption(items, loaded.context)
    assert loaded.context.device.name in words
    assert "commit unknown with uncommitted changes." in words


@pytest.mark.parametrize("name", STORED)
def test_data_behind_a_figure_have_a_cell_per_column(name: str) -> None:
    figure = FIGURES[name]
    items = items_of(name, run_of("counted"))
    assert items
    found = data_of(figure, run_of("counted"))
    assert [line["case"] for line in found] == [figure.row(item).case for item in items]


# --- counts


@pytest.mark.parametrize("name", sorted(COUNTED))
def test_any_single_count_can_be_drawn(name: str, tmp_path: Path) -> None:
    odd = layout_case("zebra", residency="l2", fields="few")
    lines = [
        odd,
        counts(odd, [count("sectors_per_read", 3), count("l1_hit_share", 0.5, unit="1")]),
        case(
            [
                predicted("moved_over_used", 2, unit="1"),
                predicted("bytes_used_per_read", 48, unit="B"),
            ],
            benchmark="layout_traffic",
            params={"generation": "11.x", "layout": "zebra", "fields": "few"},
        ),
        *warp_load(32, 1, 5, model_says=33),
        *warp_load(32, 1, model_says=33),
    ]
    canvas = drawn(name, load2(tmp_path, lines))
    assert canvas.axes


def test_drawing_changes_no_global_state() -> None:
    before = dict(mpl.rcParams)
    drawn("layout_latency", load_run(GPU_RUN))
    assert dict(mpl.rcParams) == before


def test_the_style_of_a_user_does_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    pictures = []
    for size in (8.0, 20.0):
        monkeypatch.setitem(mpl.rcParams, "font.size", size)
        chart = FIGURES["layout_latency"].chart(items_of("layout_latency", run_of("gpu")))
        pictures.append(images(chart)["png"])
    assert pictures[0] == pictures[1]
