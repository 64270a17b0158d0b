"""The figures of the n-body ladder: marks, hollow marks, overlaps, captions."""

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from matplotlib.figure import Figure as MplFigure

import ladder_run
from builders import case, count, load2
from charts import caption_of
from ladder_run import GALAXIES, SINGLE, SMALL, rung_case, rung_counts, some
from plots import (
    bars_of,
    check_texts_of,
    hollow_of,
    labels_of,
    lines_of,
    plot_named,
    plotted,
    points_of,
    silent_of,
)
from strata import figures
from strata.figures import _style, nbody_accuracy, nbody_along, nbody_stalls, nbody_waterfall
from strata.ladder import seeds
from strata.ladder.rungs import place_of
from strata.run import Run

TERA = 1e12
FIGURES = [one.name for one in figures.discover() if one.name.startswith("nbody_")]
LADDER, WATERFALL = plot_named("nbody_ladder"), plot_named("nbody_waterfall")
STALLS, ACCURACY = plot_named("nbody_stalls"), plot_named("nbody_accuracy")
UNROLL, BLOCKS = plot_named("nbody_unroll"), plot_named("nbody_block_size")
GPUS, GRAVIT = plot_named("nbody_gpus"), plot_named("nbody_gravit")
THROUGHPUT, TIME = plot_named("nbody_thessaly_throughput"), plot_named("nbody_thessaly_time")
OF_A_CPU = ("nbody_accuracy", "nbody_waterfall", "nbody_thessaly_throughput", "nbody_ladder")
DRAWN = [(name, "gpu") for name in FIGURES] + [(name, "host") for name in OF_A_CPU]


@cache
def run_of(which: str) -> Run:
    """A made-up run."""
    with TemporaryDirectory() as folder:
        made = ladder_run.gpu_run if which == "gpu" else ladder_run.host_run
        return made(Path(folder))


@pytest.mark.parametrize("name", FIGURES)
def test_without_its_rows_there_is_no_figure(name: str, tmp_path: Path) -> None:
    other = case([count("interactions_per_second", 1, unit="1/s")])
    assert not plot_named(name).has(some(tmp_path / "a", other))
    if name not in OF_A_CPU:
        line = rung_case("naive", 1e12, SINGLE, layout="aos")
        assert not plot_named(name).has(some(tmp_path / "b", line))


@pytest.mark.parametrize("width", [7, 3.3])
@pytest.mark.parametrize(("name", "which"), DRAWN)
def test_texts_are_apart_and_marks_have_tooltips(name: str, which: str, width: float) -> None:
    with plotted(plot_named(name), run_of(which), width) as figure:
        check_texts_of(figure)
        assert not silent_of(figure)


def named_points(figure: MplFigure, panel: int = 0) -> dict[str, list[tuple[float, float]]]:
    """The valid points of each series of a panel, by its label."""
    lines = figure.axes[panel].lines
    named = {f"{line.get_label()}": points_of(line) for line in lines}
    return {label: found for label, found in named.items() if not label.startswith("_")}


# --- the ladder -----------------------------------------------------------------------------------


@contextmanager
def drawn_ladder(run: Run) -> Iterator[MplFigure]:
    """The ladder of a run, its texts in place."""
    with plotted(LADDER, run) as figure:
        check_texts_of(figure)
        yield figure


def beside_bars(figure: MplFigure) -> list[str]:
    """The words to the right of the bars, from the top down."""
    return [text.get_text() for text in figure.axes[0].texts]


def test_a_bar_for_each_rung_and_a_mark_for_each_published_rate() -> None:
    data = LADDER.data(run_of("gpu"))
    assert "several_gpus" not in [*data.rung]
    # At 65 536 bodies, as all rungs, which have the larger system as a mark.
    assert {(row.systems, row.bodies) for row in data.itertuples()} == {("1", "65536")}
    with drawn_ladder(run_of("gpu")) as figure:
        (ax,) = figure.axes
        rates = [bar.get_width() for bar in bars_of(figure)]
        assert rates == pytest.approx([*(data.interactions_per_second / TERA)])
        found = named_points(figure)
        wanted = data.other_size_interactions_per_second.dropna() / TERA
        assert [x for x, _ in found["524\u202f288 bodies"]] == pytest.approx([*wanted])
        assert [x for x, _ in found["others' code"]] == [1.778, 1.03]
        assert len(found["many systems"]) == len(data)
        assert len(found["issue limit"]) == data.issue_limit.notna().sum()
        names = [label.get_text() for label in ax.get_yticklabels()]
        assert names[:2] == ["naive", "tiled"]
        assert names[-2:] == ["NVIDIA's sample", "CUDA Handbook"]
        assert ax.get_xlabel() == "interactions (10¹²/s)"


def test_the_other_size_that_most_rungs_have_is_a_mark(tmp_path: Path) -> None:
    third = {**SINGLE, "bodies": 16384}
    lines = [
        rung_case(rung, rate, place, layout="aos")
        for rung in ("naive", "tiled")
        for rate, place in ((1e12, SINGLE), (0.9e12, SMALL), (0.5e12, third))
        if (rung, place) != ("tiled", third)
    ]
    run = some(tmp_path, *lines)
    with drawn_ladder(run) as figure:
        found = [x for x, _ in named_points(figure)["65\u202f536 bodies"]]
        assert found == pytest.approx([0.9, 0.9], rel=0.01)
    assert "Diamonds: 65\u202f536 bodies." in caption_of(LADDER, run)


def test_other_cases_stand_in_lanes_of_their_bar_and_hide_nothing() -> None:
    with drawn_ladder(run_of("gpu")) as figure:
        found = named_points(figure)
        lanes = [
            {round(y % 1, 9) for _, y in found[label]}
            for label in ("524\u202f288 bodies", "many systems")
        ]
        (second,), (many,) = lanes
        assert second == pytest.approx(1 - many)
        assert 0.1 < many < bars_of(figure)[0].get_height() / 2
        assert hollow_of(figure.axes[0])[2:] == []  # but what others published


def test_a_limit_far_beyond_all_rates_is_words_beside_its_bar() -> None:
    data = LADDER.data(run_of("gpu"))
    top = data.issue_limit.astype(float).max()
    with _style.styled():
        drawn = len(named_points(LADDER.plot(data))["issue limit"])
        closer = data.copy()
        closer.attrs = {**data.attrs, "reach": 0.99 * top}
        assert len(named_points(LADDER.plot(closer))["issue limit"]) < drawn
    assert "in brackets." in LADDER.caption(closer).partition("Limits far beyond")[2]
    assert "Limits far beyond" not in LADDER.caption(data)


def test_each_step_stands_beside_its_bar() -> None:
    with drawn_ladder(run_of("gpu")) as figure:
        words = beside_bars(figure)
        assert any("× register banks   (" in text for text in words)
        assert any(text.endswith("(8 a thread, 4 warps)") for text in words)
        assert any(text.endswith("(soaoas)") for text in words)
        assert words[-1] == "1.03   (65\u202f536 bodies)"


def test_one_of_several_gpus_is_no_rung(tmp_path: Path) -> None:
    lines = [
        rung_case("naive", 1e12, SINGLE, layout="aos"),
        *(rung_case("several_gpus", n * 1e12, SINGLE, layout="soaoas", gpus=n) for n in (1, 2)),
    ]
    assert [*LADDER.data(some(tmp_path, *lines[:2])).rung] == ["naive"]
    assert [*LADDER.data(some(tmp_path / "b", *lines)).rung] == ["naive"]


def test_a_cpu_is_measured_by_its_serial_rung() -> None:
    with drawn_ladder(run_of("host")) as figure:
        assert figure.axes[0].get_xlabel() == "interactions (10⁹/s)"
        assert [text.count("serial") for text in beside_bars(figure)] == [0, 1, 1, 1, 1, 1]
    assert "Strokes" not in caption_of(LADDER, run_of("host"))


@pytest.mark.parametrize(
    ("place", "noise"), [(ladder_run.HOST_GALAXIES, "passed"), (ladder_run.HOST_SINGLE, "failed")]
)
def test_a_serial_rung_of_another_size_or_that_is_invalid_measures_nothing(
    place: Any, noise: str, tmp_path: Path
) -> None:
    lines = [
        rung_case("serial", 1e8, place, backend="host", layout="aos", noise=noise),
        *(
            rung_case(rung, 1e9, ladder_run.HOST_SINGLE, backend="host", layout="soa")
            for rung in ("openmp", "cpu_soa")
        ),
    ]
    with drawn_ladder(load2(tmp_path, lines, backend="host")) as figure:
        assert beside_bars(figure)[-1].endswith("× openmp")


def test_an_invalid_rung_is_hollow_and_another_size_is_told(tmp_path: Path) -> None:
    run = some(
        tmp_path,
        rung_case("naive", 1e12, SMALL, layout="aos"),
        rung_case("tiled", 2e12, SINGLE, layout="aos"),
        rung_case("one_launch", 3e12, SINGLE, noise="failed", layout="aos"),
    )
    with drawn_ladder(run) as figure:
        hollow = [bar for bar in bars_of(figure) if bar.get_facecolor() == (1, 1, 1, 1)]
        assert [bar.get_linestyle() for bar in hollow] == ["--"]
        assert "(65\u202f536 bodies)" in beside_bars(figure)[0]
    words = caption_of(LADDER, run).replace("\u202f", " ")
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
    with drawn_ladder(some(tmp_path, *lines)) as figure:
        assert any(text.endswith("(16 a thread)") for text in beside_bars(figure))


def test_the_caption_names_who_published_what() -> None:
    words = caption_of(LADDER, run_of("gpu")).replace("\u202f", " ")
    assert "NVIDIA's sample (CUDA sample nbody, fp32, -ftz=true, blocks of 512; 65 536" in words
    assert "driver 580.159.04" in words
    assert "in doubt" not in words


# --- unrolling and blocks -------------------------------------------------------------------------


def test_unrolling_is_over_the_plain_loop(tmp_path: Path) -> None:
    with plotted(UNROLL, run_of("gpu")) as figure:
        single, galaxies, *theirs = named_points(figure).values()
        for found in (single, galaxies):
            assert [place for place, _ in found] == list(ladder_run.UNROLL)
            assert found[0][1] == 1
        assert max(value for _, value in single) == pytest.approx(1 / 0.74, rel=0.01)
        assert [place for ((place, _),) in theirs] == [4, 128]
    line = rung_case("unrolled", 1e12, SINGLE, layout="soaoas", unroll=4)
    assert not UNROLL.has(some(tmp_path, line)), "without the plain loop"


@pytest.mark.parametrize(("first", "second", "hollow"), [(1, 0, [1, 4]), (0, 1, [4])])
def test_an_invalid_factor_or_loop_is_hollow(
    first: int, second: int, hollow: list[int], tmp_path: Path
) -> None:
    noise = ("passed", "failed")
    run = some(
        tmp_path,
        rung_case("unrolled", 1e12, SINGLE, layout="soaoas", unroll=1, noise=noise[first]),
        rung_case("unrolled", 2e12, SINGLE, layout="soaoas", unroll=4, noise=noise[second]),
    )
    with plotted(UNROLL, run) as figure:
        assert [at for at, _ in hollow_of(figure.axes[0])] == [*hollow, 4, 128]
    assert "unroll 4." in caption_of(UNROLL, run)


def test_occupancy_is_below_the_rate_where_it_was_counted(tmp_path: Path) -> None:
    with plotted(BLOCKS, run_of("gpu")) as figure:
        rates, shares = (next(iter(named_points(figure, at).values())) for at in (0, 1))
        assert [place for place, _ in rates] == list(ladder_run.BLOCKS)
        assert [value for _, value in shares] == [95, 95, 95, 95, 75]
    lines = [
        rung_case("block_size", 1e12, place, layout="soaoas", block_size=size)
        for place in (SINGLE, GALAXIES)
        for size in (64, 128)
    ]
    run = some(tmp_path, *lines)
    with plotted(BLOCKS, run) as figure:
        assert len(figure.axes) == 1
    assert "Below" not in caption_of(BLOCKS, run)


# --- copies included ------------------------------------------------------------------------------


def test_gravit_is_timed_from_copy_to_copy(tmp_path: Path) -> None:
    with plotted(GRAVIT, run_of("gpu")) as figure:
        times, shares = named_points(figure), named_points(figure, 1)
        assert len(times) == 5, "one series per number of particles"
        assert {len(line) for line in times.values()} == {8}, "of all rungs"
        first, *_, last = ([value for value, _ in line] for line in shares.values())
        assert all(one > other for one, other in zip(first, last, strict=True))
    invalid = ladder_run.gravit_case("naive", 40000, 1e11, layout="aos")
    invalid["measurements"][-1]["noise"]["verdict"] = "failed"
    fine = ladder_run.gravit_case("naive", 80000, 1e11, layout="aos")
    run = some(tmp_path, invalid, fine)
    with plotted(GRAVIT, run) as figure:
        assert len(figure.axes) == 2
        assert len(hollow_of(figure.axes[0])) == 1
        assert [len(line) for line in named_points(figure).values()] == [0, 1]
    assert "Invalid, drawn hollow (1): naive, 40" in caption_of(GRAVIT, run)


def test_gravit_gains_nothing_over_an_invalid_step_or_by_one(tmp_path: Path) -> None:
    rungs = ("naive", "tiled", "fast_math")
    naive, tiled, fast = (ladder_run.gravit_case(rung, 40000, 1e11, layout="aos") for rung in rungs)
    naive["measurements"][-1]["noise"]["verdict"] = "failed"
    data = GRAVIT.data(some(tmp_path / "a", naive, tiled, fast))
    assert [*data.rung[data.speed_over_tiled.notna()]] == ["fast_math"]
    tiled["measurements"][-1]["noise"]["verdict"] = "failed"
    data = GRAVIT.data(some(tmp_path / "b", naive, tiled, fast))
    assert not data.speed_over_tiled.notna().any()


def test_gravit_is_over_the_papers_first_code(tmp_path: Path) -> None:
    data = GRAVIT.data(run_of("gpu"))
    tiled, unrolled = (ladder_run.GPU[rung][0] for rung in ("tiled", "unrolled"))
    gains = data[data.rung == "unrolled"].speed_over_tiled
    assert gains.max() == pytest.approx(unrolled / tiled, 0.02)
    with plotted(GRAVIT, run_of("gpu")) as figure:
        theirs = [points_of(line)[0] for line in figure.axes[2].lines[-2:]]
        names = [label.get_text() for label in figure.axes[0].get_yticklabels()]
        assert [(gain, names[int(at)]) for gain, at in theirs] == [
            (1.18, "unrolled"), (1.27, "block size"),
        ]  # fmt: skip
    base, other = (
        ladder_run.gravit_case(rung, 40000, 1e11, layout="aos") for rung in ("tiled", "fast_math")
    )
    assert "Last: " not in caption_of(GRAVIT, some(tmp_path / "alone", base))
    assert "Last: " in caption_of(GRAVIT, some(tmp_path / "both", base, other))


# --- the steps ------------------------------------------------------------------------------------


def test_a_step_is_the_product_of_its_factors_and_of_a_rest() -> None:
    data = WATERFALL.data(run_of("gpu"))
    assert [*data.factor] == pytest.approx(
        [*(data.interactions_per_second / data.interactions_per_second_before)]
    )
    for change in data["_step"]:
        pieces = nbody_waterfall.segments(change)
        assert math.prod(end / start for _, start, end in pieces) == pytest.approx(change.measured)
        assert all((end >= start) == (min(start, end) >= 1) for _, start, end in pieces)
        assert pieces[-1][0] == "unexplained"


@pytest.mark.parametrize("width", [7, 3.3])
def test_a_panel_for_each_problem_with_measured_and_predicted_factors(width: float) -> None:
    data = WATERFALL.data(run_of("gpu"))
    with plotted(WATERFALL, run_of("gpu"), width) as figure:
        check_texts_of(figure)
        assert len(figure.axes) == len(set(data["_row"].map(place_of)))
        first = figure.axes[0]
        here = data[data["_row"].map(place_of) == place_of(data["_row"][0])]
        measured, predicted = (points_of(line) for line in first.lines[:2])
        assert [x for x, _ in measured] == pytest.approx([*here.factor])
        assert [x for x, _ in predicted] == pytest.approx([*here.predicted.dropna()])
        names = [label.get_text() for label in first.get_yticklabels()]
        assert "unrolled\nover fast math" in names
        assert {"instructions", "unexplained"} < {*labels_of(figure)}


def test_what_was_not_counted_is_not_called_unexplained(tmp_path: Path) -> None:
    lines = [
        rung_case("fast_math", 1.2e12, SINGLE, layout="soaoas", slots=18),
        rung_case("unrolled", 1.8e12, SINGLE, layout="soaoas", slots=14.03, unroll=8),
    ]
    with plotted(WATERFALL, some(tmp_path, *lines)) as figure:
        assert "not counted" in labels_of(figure)
        assert "unexplained" not in labels_of(figure)


def test_a_cpu_has_no_factors_and_without_a_rule_nothing_is_predicted(tmp_path: Path) -> None:
    with plotted(WATERFALL, run_of("host")) as figure:
        assert labels_of(figure) == ["measured", "predicted"]
    assert "Bars:" not in caption_of(WATERFALL, run_of("host"))
    assert "predicted:" in caption_of(WATERFALL, run_of("gpu"))
    lines = [rung_case(rung, 1e12, SINGLE, layout="aos") for rung in ("naive", "tiled")]
    assert "redicted" not in caption_of(WATERFALL, some(tmp_path, *lines))


# --- a report on two K80 --------------------------------------------------------------------------


def test_the_k80_are_beside_what_repeats_them(tmp_path: Path) -> None:
    theirs = "two K80 and their host"
    rates, seconds = THROUGHPUT.data(run_of("gpu")), TIME.data(run_of("gpu"))
    with plotted(THROUGHPUT, run_of("gpu")) as figure:
        found = named_points(figure)
        assert [x for x, _ in found[theirs]] == [20.39, 87.129, 298.392, 316.94, 391.427]
        assert len(found["here"]) == 5
        names = [label.get_text() for label in figure.axes[0].get_yticklabels()]
        assert names[2] == "Use of multiple gpus, 4 GPUs\nseveral gpus, soaoas, 2 GPUs"
    assert [*seconds.their_seconds] == [2.1149, 0.493, 0.148, 0.1358, 0.11]
    assert [*seconds.seconds] == pytest.approx(
        [*(80 * 32 * 4096**2 / rates.interactions_per_second)]
    )
    assert [*seconds["_better"]] == pytest.approx([*rates["_better"]], rel=0.03)
    assert (seconds.low < seconds.seconds).all()
    assert (0.99 * seconds.seconds < seconds.low).all()
    words = caption_of(THROUGHPUT, run_of("gpu"))
    assert "Not repeated in this run: serial, OpenMP." in words
    assert "Several gpus distributes a kernel that includes all later steps" in words
    alone = [
        rung_case("several_gpus", 1e12, GALAXIES, layout="soaoas", gpus=1),
        rung_case("tiled", 1e11, GALAXIES, layout="aos"),
    ]
    run = some(tmp_path / "alone", *alone)
    assert [*THROUGHPUT.data(run).step] == ["GPU tiling"]
    assert "Use of multiple gpus" in caption_of(THROUGHPUT, run)
    # Other systems than theirs have no time to compare.
    assert not TIME.has(run_of("host"))
    run = some(tmp_path, rung_case("tiled", 1e11, GALAXIES, layout="aos", noise="failed"))
    with plotted(THROUGHPUT, run) as figure:
        assert [100, 0] in [[round(x), y] for x, y in hollow_of(figure.axes[0])]
        assert "–" in beside_bars(figure)


def test_several_gpus_are_over_the_best_rate_of_one(tmp_path: Path) -> None:
    rates = ((1.0e12, 1, 64), (1.5e12, 1, 128), (1.2e12, 1, 256), (2.7e12, 2, 128))
    lines = [
        rung_case("several_gpus", rate, GALAXIES, layout="soaoas", gpus=gpus, block_size=block)
        for rate, gpus, block in rates
    ]
    lines.append(rung_case("tiled", 1e11, GALAXIES, layout="aos"))
    steps = [
        (one.row.text("gpus"), one.before.text("block_size"))
        for one in seeds.thessaly(some(tmp_path, *lines))
        if one.row and one.before
    ]
    assert steps == [("2", "128")]


# --- several GPUs ---------------------------------------------------------------------------------


def test_several_gpus_have_a_rate_and_an_efficiency() -> None:
    data = GPUS.data(run_of("gpu"))
    assert [*data.gpus] == ["1", "2", "1", "2"]
    with plotted(GPUS, run_of("gpu")) as figure:
        rates = [y for line in named_points(figure).values() for _, y in line]
        assert rates == pytest.approx([*(data.interactions_per_second / TERA)])
        assert [line[0] for line in named_points(figure, 1).values()] == [(1, 100), (1, 100)]
    words = caption_of(GPUS, run_of("gpu"))
    assert re.search(r"Efficiency: (99|100)\.\d % with 2 \(several gpus, 524", words)


def test_each_rung_of_several_gpus_has_its_panels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = {"several_gpus": 1e12, "pair_once": 6e12}  # rungs that the stored run has
    monkeypatch.setattr(nbody_along, "SEVERAL", tuple(both))
    lines = [
        rung_case(rung, rate * n, SINGLE, layout="soaoas", gpus=n)
        for rung, rate in both.items()
        for n in (1, 2)
    ]
    with plotted(GPUS, some(tmp_path, *lines)) as figure:
        upper, _, lower, _ = figure.axes
        assert [ax.get_title("left") for ax in (upper, lower)] == ["several gpus", "pair once"]
        assert [y for _, y in points_of(lower.lines[0])] == pytest.approx([6, 12], rel=0.01)


def test_without_one_gpu_there_is_no_efficiency(tmp_path: Path) -> None:
    lines = [rung_case("several_gpus", 1e12 * n, SINGLE, layout="soaoas", gpus=n) for n in (2, 4)]
    assert not GPUS.has(some(tmp_path, *lines))
    alone = rung_case("several_gpus", 1e12, SINGLE, layout="soaoas", gpus=1, noise="failed")
    data = GPUS.data(some(tmp_path, alone, *lines))
    assert [*data.efficiency.isna()] == [True, True, True]
    assert "Efficiency:" not in GPUS.caption(data)


# --- stalls and errors ----------------------------------------------------------------------------


def test_shares_of_a_rung_add_up_in_groups_of_states(tmp_path: Path) -> None:
    data = STALLS.data(run_of("gpu"))
    assert len(data) > len({*data.rung}), "the data have cases of another size"
    assert data["long_scoreboard"][0] == pytest.approx(9.1 / 15.1)
    with plotted(STALLS, run_of("gpu")) as figure:
        widths: dict[float, float] = {}
        for bar in bars_of(figure):
            widths[bar.get_y()] = widths.get(bar.get_y(), 0) + bar.get_width()
        names = [label.get_text() for label in figure.axes[0].get_yticklabels()]
        assert [*widths.values()] == pytest.approx([100] * len(names))
        assert [name.replace(" ", "_") for name in names] == list(ladder_run.GPU)
        assert labels_of(figure) == [*nbody_stalls.GROUPS]
    line = rung_case("naive", 1e12, SINGLE, layout="aos")
    with plotted(STALLS, some(tmp_path, line, rung_counts(line, 50, 55.6))) as figure:
        assert beside_bars(figure) == ["56 %, 15.1"]


def test_the_fastest_counted_case_is_shown(tmp_path: Path) -> None:
    slow, fast = (
        rung_case("naive", rate, SINGLE, layout=layout)
        for rate, layout in ((1e12, "aos"), (2e12, "soa"))
    )
    (row,) = STALLS.data(some(tmp_path, slow, fast, rung_counts(slow, 50, 50)))["_row"]
    assert row.params["layout"] == "aos"


def test_every_error_has_its_bound() -> None:
    data = ACCURACY.data(run_of("gpu"))
    assert (data.relative_rms_error < data.bound).all()
    with plotted(ACCURACY, run_of("gpu")) as figure:
        drawn = [x for line in lines_of(figure) for x, _ in points_of(line)]
        assert sorted(drawn) == pytest.approx(sorted([*data.relative_rms_error, *data.bound]))


def test_an_error_of_nothing_is_drawn_and_a_case_beyond_its_bound_is_hollow(
    tmp_path: Path,
) -> None:
    run = some(
        tmp_path,
        rung_case("naive", 1e12, SINGLE, layout="aos", error=0.0),
        rung_case(
            "tiled", 1e12, SINGLE, layout="aos", error=1e-3, gates=[("result", "failed", "wrong")]
        ),
    )
    with plotted(ACCURACY, run) as figure:
        valid, _, bounds = lines_of(figure)
        assert [x for x, _ in points_of(valid)] == [nbody_accuracy.LEAST]
        assert [x for x, _ in hollow_of(figure.axes[0])] == [1e-3]
        assert len(points_of(bounds)) == 2
