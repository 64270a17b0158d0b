"""The figures of the n-body ladder: what is drawn, what is hollow, what overlaps, what is told."""

import re
from functools import cache
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest

import ladder_run
from builders import case, count
from ladder_run import GALAXIES, SINGLE, SMALL, rung_case, rung_counts, some
from strata import figures
from strata.figures import (
    nbody_accuracy,
    nbody_block_size,
    nbody_gpus,
    nbody_gravit,
    nbody_ladder,
    nbody_stalls,
    nbody_thessaly_throughput,
    nbody_thessaly_time,
    nbody_unroll,
    nbody_waterfall,
)
from strata.ladder.best import best_cases
from strata.run import Run

TERA = 1e12
FIGURES: dict[str, figures.Figure[Any]] = {
    figure.name: figure
    for figure in (
        nbody_ladder.FIGURE,
        nbody_unroll.FIGURE,
        nbody_block_size.FIGURE,
        nbody_stalls.FIGURE,
        nbody_accuracy.FIGURE,
        nbody_gravit.FIGURE,
        nbody_gpus.FIGURE,
        nbody_waterfall.FIGURE,
        nbody_thessaly_throughput.FIGURE,
        nbody_thessaly_time.FIGURE,
    )
}
OF_A_CPU = ("nbody_ladder", "nbody_accuracy", "nbody_waterfall", "nbody_thessaly_throughput")
DRAWN = [(name, "gpu") for name in FIGURES] + [(name, "host") for name in OF_A_CPU]
each_drawn = pytest.mark.parametrize(("name", "which"), DRAWN)


@cache
def run_of(which: str) -> Run:
    """A made-up run."""
    with TemporaryDirectory() as folder:
        made = ladder_run.gpu_run if which == "gpu" else ladder_run.host_run
        return made(Path(folder))


def drawn(name: str, run: Run) -> Any:
    figure = FIGURES[name]
    with figures.style():
        canvas = figures.render(figure, figure.prepare(run))
        canvas.draw_without_rendering()
    return canvas


@cache
def stored(name: str, which: str) -> Any:
    return drawn(name, run_of(which))


def lengths(panel: Any, label: str) -> list[float]:
    """Of the bars of one kind."""
    return [
        bar.get_width()
        for container in panel.containers
        if container.get_label() == label
        for bar in container
    ]


def places(panel: Any, label: str) -> list[float]:
    """Where the marks of one kind stand on the horizontal axis."""
    return [line.get_xdata()[0] for line in panel.lines if line.get_label() == label]


def strokes(panel: Any, label: str) -> list[float]:
    found = [lines for lines in panel.collections if lines.get_label() == label]
    return [float(np.asarray(lines.get_paths()[0].vertices)[0, 0]) for lines in found]


@pytest.mark.parametrize("name", FIGURES)
def test_without_its_rows_there_is_no_figure(name: str, tmp_path: Path) -> None:
    other = case([count("interactions_per_second", 1, unit="1/s")])
    assert not FIGURES[name].prepare(some(tmp_path / "a", other))
    if name not in OF_A_CPU:
        line = rung_case("naive", 1e12, SINGLE, layout="aos")
        assert not FIGURES[name].prepare(some(tmp_path / "b", line))


@each_drawn
def test_every_text_lies_on_the_canvas_and_none_on_another(name: str, which: str) -> None:
    canvas = stored(name, which)
    (legend,) = canvas.legends
    for panel in canvas.axes:
        low, high = sorted(panel.get_ylim())
        ticks = [
            tick.label1 for tick in panel.yaxis.get_major_ticks() if low <= tick.get_loc() <= high
        ]
        ticks += [panel.xaxis.label, panel.yaxis.label]
        texts = [text for text in (*ticks, *panel.texts, *legend.get_texts()) if text.get_text()]
        for extent in (text.get_window_extent() for text in texts):
            assert canvas.bbox.x0 - 1 <= extent.x0 <= extent.x1 <= canvas.bbox.x1 + 1
            assert canvas.bbox.y0 - 1 <= extent.y0 <= extent.y1 <= canvas.bbox.y1 + 1
        beside = [text.get_window_extent() for text in (*panel.texts, *legend.get_texts())]
        for place, one in enumerate(beside):
            assert not any(one.overlaps(two) for two in beside[place + 1 :])
        lines = [text.get_window_extent() for text in panel.get_yticklabels()]
        assert not any(one.overlaps(two) for one, two in pairwise(lines))


@each_drawn
def test_the_data_file_has_a_cell_for_each_column(name: str, which: str) -> None:
    figure = FIGURES[name]
    for item in figure.prepare(run_of(which)):
        assert len(figure.cells(item)) == len(figure.columns)
        assert figure.cells(item)[-1] == figure.source(item).case


# --- the ladder -----------------------------------------------------------------------------------


def test_a_bar_for_each_rung_and_a_mark_for_each_published_rate() -> None:
    (panel,) = stored("nbody_ladder", "gpu").axes
    steps = nbody_ladder.prepare(run_of("gpu"))
    assert "several_gpus" not in [step.rung for step in steps]
    assert lengths(panel, "_valid") == pytest.approx([step.row.value / TERA for step in steps])
    assert places(panel, "_published") == [1.835, 1.03]
    assert len(places(panel, "_other")) == len(steps)
    assert len(strokes(panel, "_limit")) == len([step for step in steps if step.limit])
    assert places(panel, "_limit of all") == pytest.approx(
        [ladder_run.ISSUED / 13.25 / TERA, ladder_run.ISSUED / 8.875 / TERA]
    )
    names = [text.get_text().strip() for text in panel.get_yticklabels()]
    assert names[:2] == ["naive", "tiled"]
    assert names[-2:] == ["NVIDIA's sample", "CUDA Handbook"]
    assert panel.get_xlabel() == "interactions (10¹²/s)"


def test_each_step_stands_beside_its_bar() -> None:
    (panel,) = stored("nbody_ladder", "gpu").axes
    words = [text.get_text() for text in panel.texts]
    assert any(text.endswith("× register banks") for text in words)
    assert any("(8 a thread, 4 warps)" in text for text in words)
    assert any("(soaoas; 65\u202f536 bodies)" in text for text in words)


def test_a_cpu_is_measured_by_its_serial_rung() -> None:
    (panel,) = stored("nbody_ladder", "host").axes
    words = [text.get_text() for text in panel.texts]
    assert panel.get_xlabel() == "interactions (10⁹/s)"
    assert [text.count("serial") for text in words] == [0, 1, 1, 1, 1, 1]
    assert not places(panel, "_limit of all")
    assert "Strokes" not in nbody_ladder.caption(best_cases(run_of("host")))


def test_an_invalid_rung_is_hollow_and_another_size_is_told(tmp_path: Path) -> None:
    run = some(
        tmp_path,
        rung_case("naive", 1e12, SMALL, layout="aos"),
        rung_case("tiled", 2e12, SINGLE, layout="aos"),
        rung_case("one_launch", 3e12, SINGLE, noise="failed", layout="aos"),
    )
    (panel,) = drawn("nbody_ladder", run).axes
    assert len(lengths(panel, "_invalid")) == 1
    words = nbody_ladder.caption(nbody_ladder.prepare(run)).replace("\u202f", " ")
    assert "Of another size: naive 65 536 bodies." in words
    assert "Invalid, drawn hollow (1): one launch." in words


def test_long_words_find_room(tmp_path: Path) -> None:
    lines = [
        rung_case("registers", 2e12, SMALL, layout="soaoas", per_thread=8, warps=8),
        rung_case("registers", 2e12, SMALL, layout="soaoas", per_thread=4, warps=4),
        *(rung_case("naive", 2e12, place, layout="aos") for place in (SMALL, GALAXIES)),
        *(
            rung_case("pair_once", rate, place, layout="soaoas", per_thread=each, slots=8.8)
            for each, rate in ((8, 3e12), (16, 3.5e12))
            for place in (SMALL, SINGLE)
        ),
    ]
    canvas = drawn("nbody_ladder", some(tmp_path, *lines))
    (panel,) = canvas.axes
    assert any("(16 a thread; 524\u202f288 bodies)" in text.get_text() for text in panel.texts)
    for text in panel.texts:
        assert text.get_window_extent().x1 <= canvas.bbox.x1


def test_the_caption_names_who_published_what() -> None:
    words = nbody_ladder.caption(best_cases(run_of("gpu"))).replace("\u202f", " ")
    assert "NVIDIA's sample (CUDA sample nbody, fp32, -ftz=true, blocks of 512; 524 288" in words
    assert "driver 580.159.04" in words


# --- unrolling and blocks -------------------------------------------------------------------------


def test_unrolling_is_told_over_the_plain_loop() -> None:
    (panel,) = stored("nbody_unroll", "gpu").axes
    lines = [line for line in panel.lines if line.get_label() == "_valid"]
    assert [list(line.get_xdata()) for line in lines] == [list(ladder_run.UNROLL)] * 2
    assert [line.get_ydata()[0] for line in lines] == [1, 1]
    assert max(lines[0].get_ydata()) == pytest.approx(1 / 0.74, rel=0.01)
    assert places(panel, "_published") == [4, 128]


def test_without_the_plain_loop_unrolling_says_nothing(tmp_path: Path) -> None:
    line = rung_case("unrolled", 1e12, SINGLE, layout="soaoas", unroll=4)
    assert not nbody_unroll.prepare(some(tmp_path / "b", line))


def test_an_invalid_factor_is_hollow(tmp_path: Path) -> None:
    run = some(
        tmp_path,
        rung_case("unrolled", 1e12, SINGLE, layout="soaoas", unroll=1),
        rung_case("unrolled", 2e12, SINGLE, layout="soaoas", unroll=4, noise="failed"),
    )
    (panel,) = drawn("nbody_unroll", run).axes
    assert places(panel, "_invalid") == [4]
    assert "unroll 4." in nbody_unroll.caption(nbody_unroll.prepare(run))


def test_occupancy_stands_beneath_the_rate_where_it_was_counted(tmp_path: Path) -> None:
    rate, occupancy = stored("nbody_block_size", "gpu").axes
    assert list(rate.lines[0].get_xdata()) == list(ladder_run.BLOCKS)
    assert list(occupancy.lines[0].get_ydata()) == [95, 95, 95, 95, 75]
    lines = [
        rung_case("block_size", 1e12, place, layout="soaoas", block_size=size)
        for place in (SINGLE, GALAXIES)
        for size in (64, 128)
    ]
    run = some(tmp_path, *lines)
    assert len(drawn("nbody_block_size", run).axes) == 1
    assert "Beneath" not in nbody_block_size.caption(nbody_block_size.prepare(run))


# --- copies included ------------------------------------------------------------------------------


def test_gravit_is_timed_from_copy_to_copy(tmp_path: Path) -> None:
    upper, lower, _ = stored("nbody_gravit", "gpu").axes
    lines = [line for line in upper.lines if line.get_label() == "_valid"]
    assert len(lines) == len(nbody_gravit.STYLE)
    assert list(lines[0].get_xdata()) == [40000, 100000, 200000, 500000, 1000000]
    shares = [list(line.get_ydata()) for line in lower.lines]
    assert all(one == sorted(one, reverse=True) for one in shares)
    invalid = ladder_run.gravit_case("naive", 40000, 1e11, layout="aos")
    invalid["measurements"][-1]["noise"]["verdict"] = "failed"
    fine = ladder_run.gravit_case("naive", 80000, 1e11, layout="aos")
    run = some(tmp_path, invalid, fine)
    upper, lower = drawn("nbody_gravit", run).axes
    assert places(upper, "_invalid") == [40000]
    assert [list(line.get_xdata()) for line in lower.lines] == [[80000]]
    assert "Invalid, drawn hollow (1): naive, 40" in nbody_gravit.caption(nbody_gravit.prepare(run))


def test_gravit_is_told_over_the_papers_first_code(tmp_path: Path) -> None:
    *_, panel = stored("nbody_gravit", "gpu").axes
    gains = [line for line in panel.lines if line.get_label() == "_gain"]
    assert len(gains) == len(nbody_gravit.STYLE) - 1
    tiled, unrolled = (ladder_run.GPU[rung][0] for rung in ("tiled", "unrolled"))
    assert max(gains[2].get_ydata()) == pytest.approx(unrolled / tiled, 0.02)
    theirs = [line for line in panel.lines if line.get_label() == "_published"]
    assert [line.get_ydata()[0] for line in theirs] == [1.18, 1.27]
    line = ladder_run.gravit_case("naive", 40000, 1e11, layout="aos")
    run = some(tmp_path, line)
    assert len(drawn("nbody_gravit", run).axes) == 2
    assert "Lowest" not in nbody_gravit.caption(nbody_gravit.prepare(run))


# --- the steps ------------------------------------------------------------------------------------


def test_a_step_runs_from_the_rate_before_to_the_rate_after() -> None:
    left, right, *_ = stored("nbody_waterfall", "gpu").axes
    changes = [one for one in nbody_waterfall.prepare(run_of("gpu")) if one.problem == "single"]
    assert lengths(left, "_step") == pytest.approx(
        [(one.after.value - one.before.value) / TERA for one in changes]
    )
    assert places(left, "_predicted") == pytest.approx(
        [one.before.value / TERA * one.prediction.value for one in changes if one.prediction]
    )
    assert strokes(right, "_measured") == pytest.approx([one.measured for one in changes])
    names = [text.get_text().split() for text in left.get_yticklabels()]
    assert names[1] == ["one", "launch", "over", "tiled"]


def test_segments_end_at_the_measured_factor() -> None:
    for change in nbody_waterfall.prepare(run_of("gpu")):
        pieces = nbody_waterfall.segments(change)
        product = 1.0
        for _, start, end in pieces:
            product *= end / start
        assert product == pytest.approx(change.measured)
        assert pieces[-1][0] == "unexplained"


def test_what_was_not_counted_is_not_called_unexplained(tmp_path: Path) -> None:
    lines = [
        rung_case("fast_math", 1.2e12, SINGLE, layout="soaoas", slots=18),
        rung_case("unrolled", 1.8e12, SINGLE, layout="soaoas", slots=14.03, unroll=8),
    ]
    canvas = drawn("nbody_waterfall", some(tmp_path, *lines))
    (_, right) = canvas.axes
    assert lengths(right, "_uncounted")
    assert not lengths(right, "_unexplained")
    assert "not counted" in [text.get_text() for text in right.texts]
    legend = [text.get_text() for text in canvas.legends[0].get_texts()]
    assert "not counted" in legend
    assert "unexplained" not in legend


def test_a_cpu_has_no_factors_beside_its_steps() -> None:
    assert len(stored("nbody_waterfall", "host").axes) == 2
    words = nbody_waterfall.caption(nbody_waterfall.prepare(run_of("host")))
    assert "Right:" not in words


# --- a report on two K80 --------------------------------------------------------------------------


def test_the_k80_stand_beside_what_redoes_them(tmp_path: Path) -> None:
    (panel,) = stored("nbody_thessaly_throughput", "gpu").axes
    assert places(panel, "_published") == [20.39, 87.129, 298.392, 316.94, 391.427]
    assert len(places(panel, "_valid")) == 5
    (panel,) = stored("nbody_thessaly_time", "gpu").axes
    assert places(panel, "_published") == [2.1149, 0.493, 0.148, 0.1358, 0.11]
    pairs = nbody_thessaly_time.prepare(run_of("gpu"))
    rates = nbody_thessaly_throughput.prepare(run_of("gpu"))
    for pair, rate in zip(pairs, rates, strict=True):
        assert pair.own == pytest.approx(80 * 32 * 4096**2 / rate.own)
        assert pair.better == pytest.approx(rate.better, rel=0.03)
    words = nbody_thessaly_throughput.caption(rates)
    assert "Not redone in this run: serial, OpenMP." in words
    # Other systems than theirs have no time to compare.
    assert not nbody_thessaly_time.prepare(run_of("host"))
    line = rung_case("tiled", 1e11, GALAXIES, layout="aos", noise="failed")
    run = some(tmp_path, line)
    (panel,) = drawn("nbody_thessaly_throughput", run).axes
    assert places(panel, "_invalid") == [pytest.approx(100, rel=0.01)]
    assert "–" in [text.get_text() for text in panel.texts]


# --- several GPUs ---------------------------------------------------------------------------------


def test_several_gpus_stand_beside_so_many_times_one() -> None:
    upper, lower = stored("nbody_gpus", "gpu").axes
    items = nbody_gpus.prepare(run_of("gpu"))
    assert [item.point.value for item in items] == [1, 2, 1, 2]
    ideal = [line for line in upper.lines if line.get_label() == "_ideal"]
    assert [line.get_ydata()[1] for line in ideal] == pytest.approx(
        [2 * items[0].point.row.value, 2 * items[2].point.row.value]
    )
    shares = [line.get_ydata()[0] for line in lower.lines if line.get_label() == "_efficiency"]
    assert shares == [100, 100]
    assert re.search(r"Efficiency: (99|100)\.\d % with 2 \(524", nbody_gpus.caption(items))


def test_without_one_gpu_there_is_no_efficiency(tmp_path: Path) -> None:
    lines = [rung_case("several_gpus", 1e12 * n, SINGLE, layout="soaoas", gpus=n) for n in (2, 4)]
    assert not nbody_gpus.prepare(some(tmp_path, *lines))
    alone = rung_case("several_gpus", 1e12, SINGLE, layout="soaoas", gpus=1, noise="failed")
    items = nbody_gpus.prepare(some(tmp_path, alone, *lines))
    assert [item.efficiency for item in items] == [None, None, None]
    assert "Efficiency:" not in nbody_gpus.caption(items)


# --- stalls and errors ----------------------------------------------------------------------------


def test_shares_of_a_rung_add_up_and_small_ones_are_other() -> None:
    (panel,) = stored("nbody_stalls", "gpu").axes
    widths: dict[float, float] = {}
    for container in panel.containers:
        (bar,) = container
        widths[bar.get_y()] = widths.get(bar.get_y(), 0) + bar.get_width()
    assert list(widths.values()) == pytest.approx([100] * len(ladder_run.GPU))
    (naive, *_) = nbody_stalls.prepare(run_of("gpu"))
    assert naive.shares["long_scoreboard"] == pytest.approx(9.1 / 15.1)
    legend = [text.get_text() for text in stored("nbody_stalls", "gpu").legends[0].get_texts()]
    assert "instruction cache" not in legend
    assert legend[-1] == "other"


def test_issue_slots_stand_beside_the_stalls(tmp_path: Path) -> None:
    line = rung_case("naive", 1e12, SINGLE, layout="aos")
    run = some(tmp_path, line, rung_counts(line, 50, 55.6))
    words = [text.get_text() for text in drawn("nbody_stalls", run).axes[0].texts]
    assert words == ["56 %, 15.1", "issue slots used, warps"]


def test_the_fastest_counted_case_is_shown(tmp_path: Path) -> None:
    slow, fast = (
        rung_case("naive", rate, SINGLE, layout=layout)
        for rate, layout in ((1e12, "aos"), (2e12, "soa"))
    )
    run = some(tmp_path, slow, fast, rung_counts(slow, 50, 50))
    (one,) = nbody_stalls.prepare(run)
    assert one.all_states.params["layout"] == "aos"


def test_every_error_has_its_bound() -> None:
    (panel,) = stored("nbody_accuracy", "gpu").axes
    points = nbody_accuracy.prepare(run_of("gpu"))
    assert len(places(panel, "_valid")) == len(points)
    assert strokes(panel, "_bound") == pytest.approx([point.bound for point in points])
    assert all(point.bound and point.row.value < point.bound for point in points)


def test_an_error_of_nothing_is_drawn_and_a_case_beyond_its_bound_is_hollow(
    tmp_path: Path,
) -> None:
    run = some(
        tmp_path,
        rung_case("naive", 1e12, SINGLE, layout="aos", error=0.0),
        rung_case(
            "tiled", 1e12, SINGLE, layout="aos", error=1e-3, gates=[("result", "failed", "wrong")]
        ),
        rung_case("zzz", 1e12, SINGLE, layout="aos"),
    )
    (panel,) = drawn("nbody_accuracy", run).axes
    assert places(panel, "_valid")[0] == nbody_accuracy.LEAST
    assert places(panel, "_invalid") == [1e-3]
    assert len(strokes(panel, "_bound")) == 2
