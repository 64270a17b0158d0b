"""The figures of layouts of particles: times, bandwidths, traffic, and the proof of the level."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import plots
from builders import (
    COUNTED_RUN,
    GPU_RUN,
    case,
    count,
    counts,
    layout_case,
    load,
    load2,
    measurement,
    predicted,
)
from charts import caption_of, chart_of, labels, marks, panels, points
from plots import hollow_of, plot_named, plotted, points_of
from strata import model
from strata.figures import bytes_moved, level_proof, vs_warps
from strata.figures._chart import Panel, Words
from strata.run import load_run

ALONE = plot_named("layout_latency")
LATENCY, BANDWIDTH = plot_named("latency_vs_warps"), plot_named("bandwidth_vs_warps")


def titles(found: list[Panel]) -> list[str]:
    return [panel.title for panel in found]


# --- one warp alone -------------------------------------------------------------------------------


def test_one_bar_per_layout_level_and_fields() -> None:
    with plotted(ALONE, load_run(GPU_RUN)) as figure:
        assert [ax.get_title("left") for ax in figure.axes] == ["L1", "L2", "DRAM"]
        names = [label.get_text() for label in figure.axes[0].get_yticklabels()]
        assert [sum(name.startswith("aos,") for name in names), len(names)] == [2, 10]


def test_bars_reach_their_values_and_whiskers_their_percentiles(tmp_path: Path) -> None:
    extra = [
        measurement("warp_read_cycles_p5", [90]),
        measurement("warp_read_cycles_p95", [130]),
        measurement("arithmetic_cycles", [20]),
    ]
    run = load(tmp_path, [layout_case("aos", 100, extra=extra)])
    with plotted(ALONE, run) as figure:
        assert [bar.get_width() for bar in plots.bars_of(figure)] == [100, 20]
        (whisker,) = figure.axes[0].collections
        assert whisker.get_segments()[0][:, 0].tolist() == [90, 130]  # type: ignore[attr-defined]
        assert not plots.silent_of(figure)
    words = caption_of(ALONE, run)
    assert "Whiskers" in words
    assert "Hatched" in words


def test_arithmetic_takes_no_more_than_the_whole(tmp_path: Path) -> None:
    slow = layout_case("aos", 100, extra=[measurement("arithmetic_cycles", [120])], cores="all")
    run = load(tmp_path, [slow])
    with plotted(ALONE, run) as figure:
        assert [bar.get_width() for bar in plots.bars_of(figure)] == [100, 100]
    words = caption_of(ALONE, run)
    assert "one warp at a time on every SM." in words
    assert "Whiskers" not in words


def test_an_invalid_bar_is_hollow_and_named(tmp_path: Path) -> None:
    gate = [("timer", "failed", "9 %")]
    run = load(tmp_path, [layout_case("aos", 100, gates=gate), layout_case("soa", 50)])
    with plotted(ALONE, run) as figure:
        bars = plots.bars_of(figure)
        assert [(bar.get_width(), bar.get_linestyle() == "--") for bar in bars] == [
            (100, True), (50, False),
        ]  # fmt: skip
    words = caption_of(ALONE, run)
    assert "one warp at a time on one SM. Bars: median over warps. Invalid" in words
    assert "Invalid, drawn hollow (1): L1 aos, all 7 fields." in words


# --- more and more warps --------------------------------------------------------------------------


def test_one_line_per_layout_and_hollow_markers_apart() -> None:
    run = load_run(GPU_RUN)
    for figure, invalid in ((LATENCY, 1), (BANDWIDTH, 0)):
        with plotted(figure, run) as drawn:
            assert len(drawn.axes) == 6
            assert plots.labels_of(drawn) == ["aos", "soa", "aoas", "soaoas", "aosoa32"]
            assert sum(len(hollow_of(ax)) for ax in drawn.axes) == invalid


def test_lines_pass_through_the_medians_at_their_warps() -> None:
    run = load_run(GPU_RUN)
    expected = [
        (point.warps, point.row.value / 1e12)
        for point in model.curves(run.rows, "useful_bandwidth")
        if (point.level, point.fields, point.layout) == ("l1", "all", "aos")
    ]
    with plotted(BANDWIDTH, run) as drawn:
        (line,) = (one for one in drawn.axes[0].lines if one.get_label() == "aos")
        for found, wanted in zip(points_of(line), expected, strict=True):
            assert found == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("best", "words"), [(4.1e12, "TB/s"), (412e9, "GB/s"), (3e6, "MB/s"), (12, "B/s")]
)
def test_bandwidth_has_the_unit_that_fits(tmp_path: Path, best: float, words: str) -> None:
    run = load(tmp_path, [layout_case("aos", bandwidth=best, cores="all")])
    with plotted(BANDWIDTH, run) as drawn:
        assert drawn.axes[0].get_ylabel() == f"useful bandwidth ({words})"


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        ((32, 32), "bandwidth: 32 threads at 2 of 2 points."),
        ((32, 64), "bandwidth: 32 threads at 1, 64 threads at 1 of 2 points."),
    ],
)
def test_block_sizes_are_told(tmp_path: Path, sizes: tuple[int, int], words: str) -> None:
    lines = [
        layout_case("aos", 9, cores="all", warps_per_sm=2**place, block_size=size)
        for place, size in enumerate(sizes)
    ]
    run = load(tmp_path, lines)
    assert words in caption_of(LATENCY, run)
    assert "the number of warps on each SM, every SM at work." in caption_of(LATENCY, run)


# --- traffic --------------------------------------------------------------------------------------


def test_every_generation_has_a_bar_per_layout_and_counts_a_diamond() -> None:
    found = panels(chart_of(bytes_moved.FIGURE, load_run(COUNTED_RUN)))
    assert titles(found) == ["all 7 fields", "position and mass"]
    for panel in found:
        assert [len(points(panel, layout)) for layout in ("aos", "soa", "aoas")] == [6] * 3
        diamonds = points(panel, "counted here")
        assert len(diamonds) == 5
        bars = [point for layout in labels_of(panel) for point in points(panel, layout)[-1:]]
        assert np.allclose(diamonds, bars)
        assert all(mark.words for mark in marks(panel, "counted here"))


def labels_of(panel: Panel) -> list[str]:
    found = [getattr(layer, "label", "") for layer in panel.layers]
    return [label for label in found if label not in ("", "counted here")]


def test_counts_that_differ_between_cases_have_whiskers(tmp_path: Path) -> None:
    lines = [
        case(
            [
                predicted("moved_over_used", 7, unit="1"),
                predicted("bytes_used_per_read", 896, unit="B"),
            ],
            benchmark="layout_traffic",
            params={"generation": "7.x", "layout": "aos", "fields": "all"},
        )
    ]
    for warps, sectors in ((1, 196), (2, 203), (4, 224)):
        line = layout_case("aos", residency="l2", warps_per_sm=warps)
        lines += [line, counts(line, [count("sectors_per_read", sectors)])]
    (panel,) = panels(chart_of(bytes_moved.FIGURE, load2(tmp_path, lines)))
    (diamond,) = marks(panel, "counted here")
    assert (diamond.place, diamond.value, diamond.low, diamond.high) == (0, 7.25, 7, 8)
    assert diamond.words == "7"
    nothing = caption_of(bytes_moved.FIGURE, load2(tmp_path / "alone", lines[:1]))
    assert "No counts are available for comparison." in nothing


# --- proof of the level ---------------------------------------------------------------------------


def dashes(panel: Panel) -> set[int]:
    found = [
        layer for layer in panel.layers if getattr(layer, "look", None) is level_proof.PREDICTED
    ]
    return {round(mark.value) for layer in found for mark in getattr(layer, "marks", ())}


def test_one_mark_per_case_and_share_and_a_dash_for_what_was_predicted() -> None:
    chart = chart_of(level_proof.FIGURE, load_run(COUNTED_RUN))
    near, middle, far = panels(chart)
    layouts = labels(chart)[:5]
    found = [[m for name in layouts for m in marks(panel, name)] for panel in (near, middle, far)]
    assert [len(here) for here in found] == [19, 3 * 20, 3 * 18]
    assert [sum(not mark.valid for mark in here) for here in found] == [0, 6, 0]
    assert dashes(near) == {100}
    assert dashes(middle) == {0, 50, 75, 86}
    texts = [layer.text for layer in near.layers if isinstance(layer, Words)]
    assert texts == ["not counted"] * 2


def test_a_share_beyond_the_whole_stays_in_the_panel_and_invalid_ones_are_named(
    tmp_path: Path,
) -> None:
    line = layout_case("aos", residency="dram")
    found: list[dict[str, Any]] = [
        count("dram_share", 1.31, unit="1"),
        count("l1_hit_share", 0, unit="1"),
    ]
    gates = [("level", "failed", "")]
    run = load2(tmp_path, [line, counts(line, found, gates=gates)])
    (panel,) = panels(chart_of(level_proof.FIGURE, run))
    assert panel.values.limits
    assert panel.values.limits[1] > 131
    words = caption_of(level_proof.FIGURE, run)
    assert "(2): DRAM aos, all 7 fields, 1 warps, hit L1; DRAM aos" in words


def test_a_band_ends_a_little_beyond_the_best_of_its_level() -> None:
    data = BANDWIDTH.data(load_run(GPU_RUN))
    best = data.value[data.level == data.level[0]].max()
    shown = data.copy()
    shown.loc[0, "high"] = 10 * best
    cut = vs_warps.bounded(shown)
    assert cut[0] == pytest.approx(vs_warps.BEYOND * best)
    assert [*cut[1:]] == [*data.high[1:]]
    assert "at 1 points, single samples lie beyond" in BANDWIDTH.caption(shown)
    assert "Bands end" not in BANDWIDTH.caption(data)
    # Percentiles over warps, of the other figure, are no outliers.
    assert "Bands end" not in caption_of(LATENCY, load_run(GPU_RUN))
