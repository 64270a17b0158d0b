"""The figures of the n-body ladder: marks, hollow marks, overlaps, captions."""

import math
import re
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from matplotlib.figure import Figure as MplFigure

import ladder_run
from charts import caption_of
from ladder_run import GALAXIES, SINGLE, SMALL, rung_case, some
from plots import (
    bars_of,
    hollow_of,
    labels_of,
    lines_of,
    plot_named,
    plotted,
    points_of,
)
from strata.figures import nbody_accuracy, nbody_stalls, nbody_waterfall
from strata.ladder import seeds
from strata.run import Run

LADDER, WATERFALL, STALLS, ACCURACY = map(
    plot_named, ("nbody_ladder", "nbody_waterfall", "nbody_stalls", "nbody_accuracy")
)
UNROLL, BLOCKS, GPUS, GRAVIT, THROUGHPUT, TIME = map(
    plot_named,
    (
        "nbody_unroll", "nbody_block_size", "nbody_gpus", "nbody_gravit",
        "nbody_thessaly_throughput", "nbody_thessaly_time",
    ),
)  # fmt: skip


@cache
def run_of(which: str) -> Run:
    """A made-up run."""
    with TemporaryDirectory() as folder:
        made = ladder_run.gpu_run if which == "gpu" else ladder_run.host_run
        return made(Path(folder))


def named_points(figure: MplFigure, panel: int = 0) -> dict[str, list[tuple[float, float]]]:
    """The valid points of each series of a panel, by its label."""
    named = {f"{line.get_label()}": points_of(line) for line in figure.axes[panel].lines}
    return {label: found for label, found in named.items() if not label.startswith("_")}


def names_of(figure: MplFigure) -> list[str]:
    return [label.get_text() for label in figure.axes[0].get_yticklabels()]


def beside_bars(figure: MplFigure) -> list[str]:
    """The words to the right of the bars, from the top down."""
    return [text.get_text() for text in figure.axes[0].texts]


# --- the ladder -----------------------------------------------------------------------------------


def test_a_bar_for_each_rung_and_marks_for_its_other_cases() -> None:
    data = LADDER.data(run_of("gpu"))
    assert "several_gpus" not in [*data.rung]
    # At 65 536 bodies, as all rungs, which have the larger system as a mark.
    assert {*zip(data.systems, data.bodies, strict=True)} == {(1, 65536)}
    with plotted(LADDER, run_of("gpu")) as figure:
        rates = [bar.get_width() for bar in bars_of(figure)]
        assert rates == pytest.approx([*(data.interactions_per_second)])
        found = named_points(figure)
        second, many = found["524\u202f288 bodies"], found["many systems"]
        wanted = data.other_size_interactions_per_second.dropna()
        assert [x for x, _ in second] == pytest.approx([*wanted])
        assert len(many) == len(data)
        assert len(found["issue limit"]) == data.issue_limit.notna().sum()
        (above,), (below,) = ({round(y % 1, 9) for _, y in marks} for marks in (second, many))
        assert above == pytest.approx(1 - below), "in lanes of their bar"
        assert 0.1 < below < bars_of(figure)[0].get_height() / 2
        assert hollow_of(figure.axes[0]) == found["others' code"]
        assert [x for x, _ in found["others' code"]] == [1.778e12, 1.03e12]
        names = names_of(figure)
        assert (names[:2], names[-2:]) == (
            ["naive", "tiled"], ["NVIDIA's sample", "CUDA Handbook"],
        )  # fmt: skip
        assert figure.axes[0].get_xlabel() == "interactions (1/s)"
        words = beside_bars(figure)
        assert any("× register banks   (" in text for text in words)
        assert any(text.endswith("(8 a thread, 4 warps)") for text in words)
        assert any(text.endswith("(soaoas)") for text in words)
        assert words[-1] == "1.03\u00a0T/s"
    caption = caption_of(LADDER, run_of("gpu")).replace("\u202f", " ")
    assert "NVIDIA's sample (CUDA sample nbody, fp32, -ftz=true, blocks of 512; 65 536" in caption
    assert "driver 580.159.04" in caption
    assert "in doubt" not in caption


@pytest.mark.parametrize("gpus", [1, 2])
def test_a_kernel_for_several_gpus_is_no_rung(gpus: int, tmp_path: Path) -> None:
    lines = [
        rung_case("naive", 1e12, SINGLE, layout="aos"),
        rung_case("several_gpus", 1e12 * gpus, SINGLE, layout="soaoas", gpus=gpus),
    ]
    assert [*LADDER.data(some(tmp_path, *lines)).rung] == ["naive"]


def test_a_limit_far_beyond_all_rates_is_in_the_data_alone(tmp_path: Path) -> None:
    lines = [
        rung_case(rung, 1e12, SINGLE, layout="aos", slots=slots)
        for rung, slots in (("naive", 0.1), ("tiled", 100))
    ]
    data = LADDER.data(some(tmp_path, *lines))
    assert [*data.issue_limit.notna()] == [True, True]
    assert [*data["_limit"].notna()] == [False, True]
    assert "Strokes" in LADDER.caption(data)
    assert "Strokes" not in caption_of(LADDER, run_of("host"))


def test_an_invalid_rung_is_hollow_and_another_size_is_named(tmp_path: Path) -> None:
    run = some(
        tmp_path,
        rung_case("naive", 1e12, SMALL, layout="aos"),
        rung_case("tiled", 2e12, SINGLE, layout="aos"),
        rung_case("one_launch", 3e12, SINGLE, noise="failed", layout="aos"),
    )
    with plotted(LADDER, run) as figure:
        hollow = [bar for bar in bars_of(figure) if bar.get_facecolor() == (1, 1, 1, 1)]
        assert [bar.get_linestyle() for bar in hollow] == ["--"]
        assert "(65\u202f536 bodies)" in beside_bars(figure)[0]
    words = caption_of(LADDER, run).replace("\u202f", " ")
    assert "Invalid, drawn hollow (1): one launch." in words


# --- one axis -------------------------------------------------------------------------------------


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


@pytest.mark.parametrize(
    ("noise", "hollow"), [(("failed", "passed"), [1, 4]), (("passed", "failed"), [4])]
)
def test_an_invalid_factor_or_loop_is_hollow(
    noise: tuple[str, str], hollow: list[int], tmp_path: Path
) -> None:
    lines = [
        rung_case("unrolled", 1e12, SINGLE, layout="soaoas", unroll=factor, noise=verdict)
        for factor, verdict in zip((1, 4), noise, strict=True)
    ]
    run = some(tmp_path, *lines)
    with plotted(UNROLL, run) as figure:
        assert [at for at, _ in hollow_of(figure.axes[0])] == [*hollow, 4, 128]
    assert "unroll 4." in caption_of(UNROLL, run)


def test_occupancy_is_below_the_rate_where_it_was_counted() -> None:
    with plotted(BLOCKS, run_of("gpu")) as figure:
        rates, shares = (next(iter(named_points(figure, at).values())) for at in (0, 1))
        assert [place for place, _ in rates] == list(ladder_run.BLOCKS)
        assert [value for _, value in shares] == [95, 95, 95, 95, 75]


def test_each_rung_of_several_gpus_has_a_rate_and_an_efficiency() -> None:
    data = GPUS.data(run_of("gpu"))
    assert [*data.gpus] == [1, 2, 1, 2]
    with plotted(GPUS, run_of("gpu")) as figure:
        rates = [y for line in named_points(figure).values() for _, y in line]
        assert rates == pytest.approx([*(data.interactions_per_second)])
        assert [line[0] for line in named_points(figure, 1).values()] == [(1, 100), (1, 100)]
    words = caption_of(GPUS, run_of("gpu"))
    assert re.search(r"Efficiency: (99|100)\.\d % with 2 \(several gpus, 524", words)


def test_without_one_gpu_there_is_no_efficiency(tmp_path: Path) -> None:
    lines = [rung_case("several_gpus", 1e12 * n, SINGLE, layout="soaoas", gpus=n) for n in (2, 4)]
    assert not GPUS.has(some(tmp_path, *lines))
    alone = rung_case("several_gpus", 1e12, SINGLE, layout="soaoas", gpus=1, noise="failed")
    data = GPUS.data(some(tmp_path, alone, *lines))
    assert [*data.efficiency.isna()] == [True, True, True]
    assert "Efficiency: the rate" in GPUS.caption(data)
    assert "% with" not in GPUS.caption(data)


# --- Gravit, copies included ----------------------------------------------------------------------


def gravit(noise: dict[str, str]) -> list[dict[str, Any]]:
    """Steps of 40 000 particles by rung, with the verdict on their noise."""
    lines = [ladder_run.gravit_case(rung, 40000, 1e11, layout="aos") for rung in noise]
    for line, verdict in zip(lines, noise.values(), strict=True):
        line["measurements"][-1]["noise"]["verdict"] = verdict
    return lines


def test_gravit_is_timed_from_copy_to_copy(tmp_path: Path) -> None:
    with plotted(GRAVIT, run_of("gpu")) as figure:
        times, shares = named_points(figure), named_points(figure, 1)
        assert len(times) == 5, "one series per number of particles"
        assert {len(line) for line in times.values()} == {8}, "of all rungs"
        first, *_, last = ([value for value, _ in line] for line in shares.values())
        assert all(one > other for one, other in zip(first, last, strict=True))
        theirs = [points_of(line)[0] for line in figure.axes[2].lines[-2:]]
        names = names_of(figure)
        assert [(gain, names[int(at)]) for gain, at in theirs] == [
            (1.18, "unrolled"), (1.27, "block size"),
        ]  # fmt: skip
    data = GRAVIT.data(run_of("gpu"))
    tiled, unrolled = (ladder_run.GPU[rung][0] for rung in ("tiled", "unrolled"))
    gains = data[data.rung == "unrolled"].speed_over_tiled
    assert gains.max() == pytest.approx(unrolled / tiled, 0.02)
    run = some(tmp_path, *gravit({"naive": "failed", "fast_math": "passed"}))
    with plotted(GRAVIT, run) as figure:
        assert len(figure.axes) == 2
        assert len(hollow_of(figure.axes[0])) == 1
    assert "Invalid, drawn hollow (1): naive, 40" in caption_of(GRAVIT, run)


@pytest.mark.parametrize(
    ("naive", "tiled", "gained"),
    [("failed", "passed", ["fast_math"]), ("passed", "failed", [])],
)
def test_gravit_gains_nothing_over_an_invalid_step_or_by_one(
    naive: str, tiled: str, gained: list[str], tmp_path: Path
) -> None:
    lines = gravit({"naive": naive, "tiled": tiled, "fast_math": "passed"})
    data = GRAVIT.data(some(tmp_path, *lines))
    assert [*data.rung[data.speed_over_tiled.notna()]] == gained
    assert ("Last: " in GRAVIT.caption(data)) == bool(gained)


# --- the steps ------------------------------------------------------------------------------------


def test_a_step_is_the_product_of_its_factors_and_of_a_rest() -> None:
    data = WATERFALL.data(run_of("gpu"))
    assert [*data.factor] == pytest.approx(
        [*(data.interactions_per_second / data.interactions_per_second_before)]
    )
    for change in data["_item"]:
        pieces = [*nbody_waterfall.segments(change)]
        assert math.prod(end / start for _, start, end in pieces) == pytest.approx(change.measured)
        assert all((end >= start) == (min(start, end) >= 1) for _, start, end in pieces)
        assert pieces[-1][0] == "unexplained"
    with plotted(WATERFALL, run_of("gpu")) as figure:
        places = data.groupby(["problem", "bodies"], sort=False)
        assert len(figure.axes) == len(places)
        here = next(here for _, here in places)
        measured, predicted = (points_of(line) for line in figure.axes[0].lines[:2])
        assert [x for x, _ in measured] == pytest.approx([*here.factor])
        assert [x for x, _ in predicted] == pytest.approx([*here.predicted.dropna()])
        assert "unrolled\nover fast math" in names_of(figure)
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
    rates, seconds = THROUGHPUT.data(run_of("gpu")), TIME.data(run_of("gpu"))
    with plotted(THROUGHPUT, run_of("gpu")) as figure:
        found = named_points(figure)
        theirs = [x / 1e9 for x, _ in found["two K80 and their host"]]
        assert theirs == pytest.approx([20.39, 87.129, 298.392, 316.94, 391.427])
        assert len(found["here"]) == 5
        step = "Use of multiple gpus, 4 GPUs\nseveral gpus, soaoas, 2 GPUs"
        assert names_of(figure)[2] == step
    assert [*seconds.their_seconds] == [2.1149, 0.493, 0.148, 0.1358, 0.11]
    assert [*seconds.seconds] == pytest.approx(
        [*(80 * 32 * 4096**2 / rates.interactions_per_second)]
    )
    assert [*seconds["_better"]] == pytest.approx([*rates["_better"]], rel=0.03)
    assert (seconds.low < seconds.seconds).all()
    assert (0.99 * seconds.seconds < seconds.low).all()
    words = caption_of(THROUGHPUT, run_of("gpu"))
    assert "Not repeated in this run: serial, OpenMP." in words
    assert "several gpus distributes a kernel that includes all later steps" in words
    assert not TIME.has(run_of("host")), "of other systems"
    run = some(
        tmp_path, rung_case("several_gpus", 1e12, GALAXIES, layout="soaoas", gpus=1),
        rung_case("tiled", 1e11, GALAXIES, layout="aos", noise="failed"),
    )  # fmt: skip
    assert "Use of multiple gpus" in caption_of(THROUGHPUT, run)
    with plotted(THROUGHPUT, run) as figure:
        assert (100, 0) in [(round(x / 1e9), y) for x, y in hollow_of(figure.axes[0])]
        assert beside_bars(figure) == ["–"]


def test_several_gpus_are_over_the_best_rate_of_one(tmp_path: Path) -> None:
    rates = ((1.0e12, 1, 64), (1.5e12, 1, 128), (1.2e12, 1, 256), (2.7e12, 2, 128))
    lines = [
        rung_case("several_gpus", rate, GALAXIES, layout="soaoas", gpus=gpus, block_size=block)
        for rate, gpus, block in rates
    ]
    lines.append(rung_case("tiled", 1e11, GALAXIES, layout="aos"))
    steps = [
        (step.row.text("gpus"), step.before.text("block_size"))
        for step in seeds.thessaly(some(tmp_path, *lines))
        if step.row and step.before
    ]
    assert steps == [("2", "128")]


# --- stalls and errors ----------------------------------------------------------------------------


def test_shares_of_a_rung_add_up_in_groups_of_states(tmp_path: Path) -> None:
    data = STALLS.data(run_of("gpu"))
    assert len(data) > len({*data.rung}), "the data have cases of another size"
    assert data["long_scoreboard"][0] == pytest.approx(9.1 / 15.1)
    with plotted(STALLS, run_of("gpu")) as figure:
        widths: dict[float, float] = {}
        for bar in bars_of(figure):
            widths[bar.get_y()] = widths.get(bar.get_y(), 0) + bar.get_width()
        names = [name.replace(" ", "_") for name in names_of(figure)]
        assert [*widths.values()] == pytest.approx([100] * len(names))
        assert names == list(ladder_run.GPU)
        assert labels_of(figure) == [*nbody_stalls.GROUPS]
    slow, fast = (
        rung_case("naive", rate, SINGLE, layout=layout)
        for rate, layout in ((1e12, "aos"), (2e12, "soa"))
    )
    run = some(tmp_path, slow, fast, ladder_run.rung_counts(slow, 50, 55.6))
    assert [row.text("layout") for row in STALLS.data(run)["_row"]] == ["aos"], "as counted"
    with plotted(STALLS, run) as figure:
        assert beside_bars(figure) == ["56 %, 15.1"]


def test_every_error_has_its_bound(tmp_path: Path) -> None:
    data = ACCURACY.data(run_of("gpu"))
    assert (data.relative_rms_error < data.bound).all()
    with plotted(ACCURACY, run_of("gpu")) as figure:
        drawn = [x for line in lines_of(figure) for x, _ in points_of(line)]
        assert sorted(drawn) == pytest.approx(sorted([*data.relative_rms_error, *data.bound]))
    wrong = [("result", "failed", "wrong")]
    run = some(
        tmp_path, rung_case("naive", 1e12, SINGLE, layout="aos", error=0.0),
        rung_case("tiled", 1e12, SINGLE, layout="aos", error=1e-3, gates=wrong),
    )  # fmt: skip
    with plotted(ACCURACY, run) as figure:
        valid, _, bounds = lines_of(figure)
        assert [x for x, _ in points_of(valid)] == [nbody_accuracy.LEAST]
        assert [x for x, _ in hollow_of(figure.axes[0])] == [1e-3]
        assert len(points_of(bounds)) == 2
