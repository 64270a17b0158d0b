"""The figures of layouts of particles: times, bandwidths, traffic, and the proof of the level."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

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
from charts import caption_of
from plots import bars_of, hollow_of, labels_of, plot_named, plotted
from strata.run import load_run

ALONE, MOVED, PROOF, LATENCY, BANDWIDTH = map(
    plot_named,
    ("layout_latency", "bytes_moved", "level_proof", "latency_vs_warps", "bandwidth_vs_warps"),
)


def whiskers_of(figure: Figure) -> list[float]:
    """The ends of the last whisker of the first panel."""
    collections: Any = figure.axes[0].collections
    return [x for x, _ in collections[-1].get_segments()[0]]


# --- one warp alone -------------------------------------------------------------------------------


def test_one_bar_per_layout_level_and_fields() -> None:
    with plotted(ALONE, load_run(GPU_RUN)) as figure:
        assert [ax.get_ylabel() for ax in figure.axes[::2]] == ["L1", "L2", "DRAM"]
        titles = [ax.get_title("left") for ax in figure.axes[:2]]
        assert titles == ["all 7 fields", "position\nand mass"]
        assert [len(ax.containers[0]) for ax in figure.axes] == [5] * 6
        assert labels_of(figure) == ["arithmetic"]


@pytest.mark.parametrize(
    ("spread", "arithmetic", "cores", "where"),
    [((90, 130), 20, "one", "on one SM."), ((), 120, "all", "on every SM.")],
)
def test_bars_reach_their_values_and_arithmetic_no_further(
    spread: tuple[float, ...], arithmetic: float, cores: str, where: str, tmp_path: Path
) -> None:
    names = ("warp_read_cycles_p5", "warp_read_cycles_p95")
    extra = [measurement("arithmetic_cycles", [arithmetic])]
    extra += [measurement(name, [at]) for name, at in zip(names, spread, strict=False)]
    run = load(tmp_path, [layout_case("aos", 100, extra=extra, cores=cores)])
    with plotted(ALONE, run) as figure:
        assert [bar.get_width() for bar in bars_of(figure)] == [100, min(arithmetic, 100)]
        assert whiskers_of(figure) == [*(spread or (100, 100))]
    words = caption_of(ALONE, run)
    assert f"one warp at a time {where}" in words


def test_an_invalid_bar_is_hollow_and_named(tmp_path: Path) -> None:
    gate = [("timer", "failed", "9 %")]
    run = load(tmp_path, [layout_case("aos", 100, gates=gate), layout_case("soa", 50)])
    with plotted(ALONE, run) as figure:
        found = [(bar.get_width(), bar.get_linestyle()) for bar in bars_of(figure)]
        assert found == [(100, "--"), (50, "solid")]
    assert "Invalid, drawn hollow (1): L1 aos, all 7 fields." in caption_of(ALONE, run)


# --- more and more warps --------------------------------------------------------------------------


@pytest.mark.parametrize(("figure", "invalid"), [(LATENCY, 1), (BANDWIDTH, 0)])
def test_one_line_per_layout_and_hollow_markers_apart(figure: Any, invalid: int) -> None:
    with plotted(figure, load_run(GPU_RUN)) as drawn:
        assert len(drawn.axes) == 6
        assert labels_of(drawn) == ["aos", "soa", "aoas", "soaoas", "aosoa32"]
        assert sum(len(hollow_of(ax)) for ax in drawn.axes) == invalid


# --- traffic, and proof of the level --------------------------------------------------------------


def test_generations_with_the_same_rules_share_bars_and_counts_are_diamonds() -> None:
    with plotted(MOVED, load_run(COUNTED_RUN)) as figure:
        periods = [ax.get_ylabel() for ax in figure.axes[::2]]
        assert periods == ["1.0-1.1", "1.2 and later"]
        assert [len(ax.patches) for ax in figure.axes] == [5] * 4
        for ax in figure.axes[2:]:
            (diamonds, _) = (line for line in ax.lines if line.get_marker() == "D")
            ends = [bar.get_width() for bar in bars_of(figure) if bar.axes is ax]
            assert np.allclose(diamonds.get_xdata(), ends)


def test_counts_that_differ_between_cases_have_whiskers(tmp_path: Path) -> None:
    model_of = {"moved_over_used": (7, "1"), "bytes_used_per_read": (896, "B")}
    rows = [predicted(name, value, unit=unit) for name, (value, unit) in model_of.items()]
    place = {"generation": "7.x", "layout": "aos", "fields": "all"}
    lines = [case(rows, benchmark="layout_traffic", params=place)]
    for warps, sectors in ((1, 196), (2, 203), (4, 224)):
        line = layout_case("aos", residency="l2", warps_per_sm=warps)
        lines += [line, counts(line, [count("sectors_per_read", sectors)])]
    run = load2(tmp_path, lines)
    found = MOVED.data(run).iloc[-1]
    assert (found.moved_over_used, found.low, found.high) == (7.25, 7, 8)
    with plotted(MOVED, run) as figure:
        assert whiskers_of(figure) == [7, 8]
    nothing = caption_of(MOVED, load2(tmp_path / "alone", lines[:1]))
    assert "No counts are available for comparison." in nothing


def cells(figure: Figure) -> list[list[str]]:
    """The words of each panel, line by line."""
    in_lines = [sorted(ax.texts, key=lambda text: text.get_position()[::-1]) for ax in figure.axes]
    return [[text.get_text() for text in texts] for texts in in_lines]


def test_a_table_of_shares_and_predictions_for_each_level() -> None:
    with plotted(PROOF, load_run(COUNTED_RUN)) as figure:
        assert [ax.get_ylabel() for ax in figure.axes[::2]] == ["L1", "L2", "DRAM"]
        found = cells(figure)
        assert {*found[0]} == {"100\n(100)"}
        assert found[2][:3] == ["86\n(86)", "100", "0"]
        styles = {text.get_fontstyle() for ax in figure.axes for text in ax.texts}
        assert "italic" in styles, "invalid ones"


def test_a_share_beyond_the_whole_is_shown_and_invalid_ones_are_named(tmp_path: Path) -> None:
    line = layout_case("aos", residency="dram")
    found = [count("dram_share", 1.31, unit="1"), count("l1_hit_share", 0, unit="1")]
    run = load2(tmp_path, [line, counts(line, found, gates=[("level", "failed", "")])])
    with plotted(PROOF, run) as figure:
        assert cells(figure) == [["0", "131"]]
    words = caption_of(PROOF, run)
    assert "(2): DRAM aos, all 7 fields, 1 warps, hit L1; DRAM aos" in words
