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
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure as Canvas
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from builders import GPU_RUN, HOST_RUN, case, layout_case, load, measurement
from strata import figures, model
from strata.records import Row, Run, load_run

FIGURES = {figure.name: figure for figure in figures.discover()}
RUNS = {"gpu": GPU_RUN, "host": HOST_RUN}


def drawn(name: str, rows: Sequence[Row]) -> Canvas:
    """The figure with every tick where it will stand on paper."""
    figure = FIGURES[name]
    with figures.style():
        canvas = figures.render(figure, figure.prepare(rows))
        canvas.draw_without_rendering()
    return canvas


@cache
def stored(name: str, run: str) -> Canvas:
    """The figure of a stored run, drawn once: tests only look at it."""
    return drawn(name, load_run(RUNS[run]).rows)


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
    assert set(FIGURES) == {
        "layout_latency",
        "latency_vs_warps",
        "bandwidth_vs_warps",
        "timer_agreement",
    }
    folder = Path(figures.__file__).parent
    assert {path.stem for path in folder.glob("[a-z]*.py")} == set(FIGURES)


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("name", FIGURES)
def test_every_text_lies_on_the_canvas(name: str, run: str) -> None:
    canvas = stored(name, run)
    room = canvas.bbox.padded(1)
    for text in shown(canvas):
        extent = box(text)
        assert room.x0 <= extent.x0, text
        assert extent.x1 <= room.x1, text
        assert room.y0 <= extent.y0, text
        assert extent.y1 <= room.y1, text


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("name", FIGURES)
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
    canvas = drawn("latency_vs_warps", load(tmp_path, lines).rows)
    for panel in canvas.axes:
        ticks = labels(panel, "x")
        assert [text.get_text() for text in ticks] == ["1", "2", "4", "8", "16", "32", "48", "64"]
        for one, two in pairwise(map(box, ticks)):
            assert not one.overlaps(two)


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("name", FIGURES)
def test_the_legend_lies_outside_the_panels(name: str, run: str) -> None:
    canvas = stored(name, run)
    (legend,) = canvas.legends
    for panel in canvas.axes:
        if panel.get_visible():
            assert not box(legend).overlaps(panel.get_window_extent())


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("name", FIGURES)
def test_axis_labels_carry_units(name: str, run: str) -> None:
    canvas = stored(name, run)
    words = [panel.get_ylabel() + panel.get_xlabel() for panel in canvas.axes]
    assert any("cycles" in word or "B/s" in word for word in words)


def test_one_bar_per_layout_level_and_fields() -> None:
    canvas = stored("layout_latency", "gpu")
    assert [panel.get_title(loc="left") for panel in canvas.axes] == ["L1", "L2", "DRAM"]
    assert [len(bars(panel)) for panel in canvas.axes] == [10, 10, 10]


def test_bars_reach_their_values_and_whiskers_their_percentiles(tmp_path: Path) -> None:
    extra = [
        measurement("warp_read_cycles_p5", [90]),
        measurement("warp_read_cycles_p95", [130]),
        measurement("arithmetic_cycles", [20]),
    ]
    canvas = drawn("layout_latency", load(tmp_path, [layout_case("aos", 100, extra=extra)]).rows)
    (panel,) = canvas.axes
    (bar,) = bars(panel)
    (hatched,) = [p for p in panel.patches if p.get_hatch()]
    assert isinstance(hatched, Rectangle)
    assert (bar.get_height(), hatched.get_height()) == (100, 20)
    (whisker,) = panel.collections
    assert np.asarray(whisker.get_paths()[0].vertices)[:, 1].tolist() == [90, 130]


def test_an_invalid_bar_is_hollow_and_named(tmp_path: Path) -> None:
    gate = [("timer", "failed", "9 %")]
    run = load(tmp_path, [layout_case("aos", 100, gates=gate), layout_case("soa", 50)])
    (panel,) = drawn("layout_latency", run.rows).axes
    invalid, valid = bars(panel)
    assert to_rgba(invalid.get_facecolor())[3] == 0
    assert invalid.get_linestyle() == "--"
    assert to_rgba(valid.get_facecolor())[3] == 1
    figure = FIGURES["layout_latency"]
    words = figures.full_caption(figure, figure.prepare(run.rows), run.context)
    assert "Invalid, drawn hollow (1): L1 aos, all 7 fields." in words


def test_one_line_per_layout_and_hollow_markers_apart() -> None:
    canvas = stored("latency_vs_warps", "gpu")
    assert len(canvas.axes) == 6
    lines = [line for line in canvas.axes[0].lines if line.get_label() == "_valid"]
    assert len(lines) == 5
    assert hollow(canvas) == 1
    assert hollow(stored("bandwidth_vs_warps", "gpu")) == 0


def test_lines_pass_through_the_medians_at_their_warps() -> None:
    rows = load_run(GPU_RUN).rows
    canvas = stored("bandwidth_vs_warps", "gpu")
    expected = [
        p.row.value / 1e12
        for p in model.curves(rows, "useful_bandwidth")
        if (p.level, p.fields, p.layout) == ("l1", "all", "aos")
    ]
    line = canvas.axes[0].lines[0]
    assert list(np.atleast_1d(line.get_ydata())) == pytest.approx(expected)
    assert list(np.round(np.log2(np.asarray(line.get_xdata(), dtype=float)))) == [0, 3, 6]


@pytest.mark.parametrize(
    ("best", "words"), [(4.1e12, "TB/s"), (412e9, "GB/s"), (3e6, "MB/s"), (12, "B/s")]
)
def test_bandwidth_has_the_unit_that_fits(tmp_path: Path, best: float, words: str) -> None:
    rows = load(tmp_path, [layout_case("aos", bandwidth=best, cores="all")]).rows
    canvas = drawn("bandwidth_vs_warps", rows)
    assert canvas.axes[0].get_ylabel() == f"useful bandwidth ({words})"


def test_every_pair_of_timers_is_a_point() -> None:
    rows = load_run(GPU_RUN).rows
    canvas = stored("timer_agreement", "gpu")
    points = sum(
        len(np.atleast_1d(line.get_xdata()))
        for panel in canvas.axes
        for line in panel.lines
        if line.get_label() in ("_valid", "_invalid")
    )
    assert points == len(model.agreements(rows)) == 109
    assert hollow(canvas) == 1
    assert [panel.get_title(loc="left") for panel in canvas.axes] == ["layout_read", "timer_check"]


def test_a_timer_far_off_stays_in_the_panel_and_in_the_caption(tmp_path: Path) -> None:
    line = case(
        [
            measurement("load_cycles", [100]),
            measurement("load_cycles", [900], method="event_slope"),
        ],
        benchmark="timer_check",
        params={"residency": "l1"},
    )
    run = load(tmp_path, [line])
    (panel,) = drawn("timer_agreement", run.rows).axes
    low, high = panel.get_ylim()
    for drawn_line in panel.lines:
        if drawn_line.get_label() == "_valid":
            assert drawn_line.get_marker() == "^"
            assert low <= np.atleast_1d(drawn_line.get_ydata())[0] <= high
    figure = FIGURES["timer_agreement"]
    assert "1 beyond the panel" in figure.caption(figure.prepare(run.rows))


@pytest.mark.parametrize("name", FIGURES)
def test_nothing_measured_means_no_figure(name: str) -> None:
    assert not FIGURES[name].prepare([])


@pytest.mark.parametrize("name", FIGURES)
def test_any_single_case_can_be_drawn(name: str, tmp_path: Path) -> None:
    slowest = [
        measurement("warp_read_cycles_slowest", [5]),
        measurement("warp_read_cycles_slowest", [5], method="event_slope"),
    ]
    line = layout_case("zebra", 5, extra=slowest, bandwidth=7, residency="moon", fields="few")
    run = load(tmp_path, [line])
    canvas = drawn(name, run.rows)
    assert len(canvas.axes) == 1


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("name", FIGURES)
def test_captions_name_device_and_commit(name: str, run: str) -> None:
    loaded: Run = load_run(RUNS[run])
    figure = FIGURES[name]
    words = figures.full_caption(figure, figure.prepare(loaded.rows), loaded.context)
    assert loaded.context.device.name in words
    assert "commit unknown with uncommitted changes." in words


@pytest.mark.parametrize("name", FIGURES)
def test_data_behind_a_figure_have_a_cell_per_column(name: str) -> None:
    figure = FIGURES[name]
    for item in figure.prepare(load_run(GPU_RUN).rows):
        assert len(figure.cells(item)) == len(figure.columns)
        assert figure.source(item).case == figure.cells(item)[-1]


def test_drawing_changes_no_global_state() -> None:
    before = dict(mpl.rcParams)
    drawn("layout_latency", load_run(GPU_RUN).rows)
    assert dict(mpl.rcParams) == before


def test_the_style_of_a_user_does_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = load_run(GPU_RUN).rows
    figure = FIGURES["layout_latency"]
    pictures = []
    for size in (8.0, 20.0):
        monkeypatch.setitem(mpl.rcParams, "font.size", size)
        with figures.style():
            pictures.append(figures.images(figures.render(figure, figure.prepare(rows)))["png"])
    assert pictures[0] == pictures[1]
