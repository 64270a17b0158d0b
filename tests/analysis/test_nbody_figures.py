"""The figures of the n-body ladder: marks, hollow marks, overlaps, captions."""

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
from charts import (
    beside,
    caption_of,
    chart_of,
    check_drawing,
    labels,
    marks,
    panels,
    series,
    values,
)
from ladder_run import GALAXIES, SINGLE, SMALL, rung_case, rung_counts, some
from plots import (
    bars_of,
    check_texts_of,
    hollow_of,
    lines_of,
    plot_named,
    plotted,
    points_of,
)
from strata import figures
from strata.figures import _style, nbody_accuracy, nbody_along, nbody_gravit, nbody_waterfall
from strata.figures._chart import Panel
from strata.figures._figure import Figure
from strata.ladder import seeds
from strata.run import Run

TERA = 1e12
FIGURES: dict[str, Figure[Any]] = {
    figure.name: figure
    for figure in figures.discover()
    if figure.name.startswith("nbody_") and isinstance(figure, Figure)
}
LADDER = plot_named("nbody_ladder")
OF_A_CPU = ("nbody_accuracy", "nbody_waterfall", "nbody_thessaly_throughput")
DRAWN = [(name, "gpu") for name in FIGURES] + [(name, "host") for name in OF_A_CPU]
each_drawn = pytest.mark.parametrize(("name", "which"), DRAWN)


@cache
def run_of(which: str) -> Run:
    """A made-up run."""
    with TemporaryDirectory() as folder:
        made = ladder_run.gpu_run if which == "gpu" else ladder_run.host_run
        return made(Path(folder))


def stored(name: str, which: str = "gpu") -> list[Panel]:
    """The panels of a figure of a made-up run."""
    return panels(chart_of(FIGURES[name], run_of(which)))


@pytest.mark.parametrize("name", FIGURES)
def test_without_its_rows_there_is_no_figure(name: str, tmp_path: Path) -> None:
    other = case([count("interactions_per_second", 1, unit="1/s")])
    assert not FIGURES[name].items(some(tmp_path / "a", other))
    if name not in OF_A_CPU:
        line = rung_case("naive", 1e12, SINGLE, layout="aos")
        assert not FIGURES[name].items(some(tmp_path / "b", line))


@each_drawn
def test_every_text_lies_on_the_canvas_and_none_on_another(name: str, which: str) -> None:
    check_drawing(chart_of(FIGURES[name], run_of(which)))


# --- the ladder -----------------------------------------------------------------------------------


@contextmanager
def drawn_ladder(run: Run) -> Iterator[MplFigure]:
    """The ladder of a run, its texts in place."""
    with plotted(LADDER, run) as figure:
        check_texts_of(figure)
        yield figure


def marks_of(figure: MplFigure) -> dict[str, list[tuple[float, float]]]:
    """The valid marks of each kind: their rates and places."""
    return {
        f"{line.get_label()}": points_of(line)
        for line in lines_of(figure)
        if not f"{line.get_label()}".startswith("_")
    }


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
        found = marks_of(figure)
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
        found = [x for x, _ in marks_of(figure)["65\u202f536 bodies"]]
        assert found == pytest.approx([0.9, 0.9], rel=0.01)
    assert "Diamonds: 65\u202f536 bodies." in caption_of(LADDER, run)


def test_other_cases_stand_in_lanes_of_their_bar_and_hide_nothing() -> None:
    with drawn_ladder(run_of("gpu")) as figure:
        found = marks_of(figure)
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
        drawn = len(marks_of(LADDER.plot(data))["issue limit"])
        closer = data.copy()
        closer.attrs = {**data.attrs, "reach": 0.99 * top}
        assert len(marks_of(LADDER.plot(closer))["issue limit"]) < drawn
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


def test_unrolling_is_told_over_the_plain_loop() -> None:
    (panel,) = stored("nbody_unroll")
    single, galaxies, *theirs = series(panel)
    for line in (single, galaxies):
        assert [place for place, _ in line] == list(ladder_run.UNROLL)
        assert line[0][1] == 1
    assert max(value for _, value in single) == pytest.approx(1 / 0.74, rel=0.01)
    assert [place for ((place, _),) in theirs] == [4, 128]


def test_without_the_plain_loop_unrolling_says_nothing(tmp_path: Path) -> None:
    line = rung_case("unrolled", 1e12, SINGLE, layout="soaoas", unroll=4)
    assert not FIGURES["nbody_unroll"].items(some(tmp_path / "b", line))


def test_an_invalid_factor_is_hollow(tmp_path: Path) -> None:
    run = some(
        tmp_path,
        rung_case("unrolled", 1e12, SINGLE, layout="soaoas", unroll=1),
        rung_case("unrolled", 2e12, SINGLE, layout="soaoas", unroll=4, noise="failed"),
    )
    (panel,) = panels(chart_of(FIGURES["nbody_unroll"], run))
    assert [mark.place for mark in marks(panel, valid=False)] == [4]
    assert "unroll 4." in caption_of(FIGURES["nbody_unroll"], run)


def test_nothing_is_gained_over_an_invalid_loop(tmp_path: Path) -> None:
    run = some(
        tmp_path,
        rung_case("unrolled", 1e12, SINGLE, layout="soaoas", unroll=1, noise="failed"),
        rung_case("unrolled", 2e12, SINGLE, layout="soaoas", unroll=4),
    )
    (panel,) = panels(chart_of(FIGURES["nbody_unroll"], run))
    assert [mark.place for mark in marks(panel, valid=False)] == [1, 4]


def test_occupancy_stands_beneath_the_rate_where_it_was_counted(tmp_path: Path) -> None:
    rate, occupancy = stored("nbody_block_size")
    assert [place for place, _ in series(rate)[0]] == list(ladder_run.BLOCKS)
    assert [value for _, value in series(occupancy)[0]] == [95, 95, 95, 95, 75]
    lines = [
        rung_case("block_size", 1e12, place, layout="soaoas", block_size=size)
        for place in (SINGLE, GALAXIES)
        for size in (64, 128)
    ]
    run = some(tmp_path, *lines)
    assert len(panels(chart_of(FIGURES["nbody_block_size"], run))) == 1
    assert "Beneath" not in caption_of(FIGURES["nbody_block_size"], run)


# --- copies included ------------------------------------------------------------------------------


def test_gravit_is_timed_from_copy_to_copy(tmp_path: Path) -> None:
    upper, lower, _ = stored("nbody_gravit")
    assert len(series(upper)) == len(nbody_gravit.LOOKS)
    sizes = [40000, 100000, 200000, 500000, 1000000]
    for line in series(upper):  # set apart sideways
        assert [place for place, _ in line] == pytest.approx(sizes, rel=0.2)
    assert len({line[0][0] for line in series(upper)}) == len(nbody_gravit.LOOKS)
    shares = [[value for _, value in line] for line in series(lower)]
    assert all(one == sorted(one, reverse=True) for one in shares)
    invalid = ladder_run.gravit_case("naive", 40000, 1e11, layout="aos")
    invalid["measurements"][-1]["noise"]["verdict"] = "failed"
    fine = ladder_run.gravit_case("naive", 80000, 1e11, layout="aos")
    run = some(tmp_path, invalid, fine)
    upper, lower = panels(chart_of(FIGURES["nbody_gravit"], run))
    assert [mark.place for mark in marks(upper, valid=False)] == pytest.approx([40000], rel=0.2)
    assert [mark.place for mark in marks(lower)] == pytest.approx([80000], rel=0.2)
    assert "Invalid, drawn hollow (1): naive, 40" in caption_of(FIGURES["nbody_gravit"], run)


def test_gravit_gains_nothing_over_an_invalid_step_or_by_one(tmp_path: Path) -> None:
    rungs = ("naive", "tiled", "fast_math")
    naive, tiled, fast = (ladder_run.gravit_case(rung, 40000, 1e11, layout="aos") for rung in rungs)
    naive["measurements"][-1]["noise"]["verdict"] = "failed"
    items = FIGURES["nbody_gravit"].items(some(tmp_path / "a", naive, tiled, fast))
    assert nbody_gravit.gains(items).keys() == {"fast_math"}
    tiled["measurements"][-1]["noise"]["verdict"] = "failed"
    items = FIGURES["nbody_gravit"].items(some(tmp_path / "b", naive, tiled, fast))
    assert not nbody_gravit.gains(items)


def test_gravit_is_told_over_the_papers_first_code(tmp_path: Path) -> None:
    *_, panel = stored("nbody_gravit")
    *gains, full, every = series(panel)
    assert len(gains) == len(nbody_gravit.LOOKS) - 1
    tiled, unrolled = (ladder_run.GPU[rung][0] for rung in ("tiled", "unrolled"))
    assert max(value for _, value in gains[2]) == pytest.approx(unrolled / tiled, 0.02)
    assert [value for _, value in full + every] == [1.18, 1.27]
    places = panel.places
    assert (places.names or ())[0] == "theirs"
    assert full[0][0] < (places.ticks or ())[0] < every[0][0]
    base, other = (
        ladder_run.gravit_case(rung, 40000, 1e11, layout="aos") for rung in ("tiled", "fast_math")
    )
    alone, both = some(tmp_path / "alone", base), some(tmp_path / "both", base, other)
    assert len(panels(chart_of(FIGURES["nbody_gravit"], alone))) == 2
    assert "Bottom: " not in caption_of(FIGURES["nbody_gravit"], alone)
    assert "Bottom: " in caption_of(FIGURES["nbody_gravit"], both)


# --- the steps ------------------------------------------------------------------------------------


def test_a_step_runs_from_the_rate_before_to_the_rate_after() -> None:
    left, right, *_ = stored("nbody_waterfall")
    steps = FIGURES["nbody_waterfall"].items(run_of("gpu"))
    single = [one for one in steps if one.problem == "single" and one.after.count("bodies") > 1e5]
    bars = [mark for label in ("faster", "slower") for mark in marks(left, label)]
    bars.sort(key=lambda mark: mark.place)
    assert [mark.start for mark in bars] == pytest.approx(
        [one.before.value / TERA for one in single]
    )
    assert [mark.value for mark in bars] == pytest.approx(
        [one.after.value / TERA for one in single]
    )
    assert values(left, "predicted") == pytest.approx(
        [one.before.value / TERA * one.prediction.value for one in single if one.prediction]
    )
    assert values(right, "measured factor") == pytest.approx([one.measured for one in single])
    assert (left.places.names or ())[1].split() == ["unrolled", "over", "fast", "math"]


def test_segments_end_at_the_measured_factor() -> None:
    for change in FIGURES["nbody_waterfall"].items(run_of("gpu")):
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
    chart = chart_of(FIGURES["nbody_waterfall"], some(tmp_path, *lines))
    _, right = panels(chart)
    assert values(right, "not counted")
    assert "not counted" in beside(right)
    assert "not counted" in labels(chart)
    assert "unexplained" not in labels(chart)


def test_a_cpu_has_no_factors_beside_its_steps() -> None:
    assert len(stored("nbody_waterfall", "host")) == 2
    assert "Right:" not in caption_of(FIGURES["nbody_waterfall"], run_of("host"))


def test_without_a_rule_nothing_is_called_predicted(tmp_path: Path) -> None:
    figure = FIGURES["nbody_waterfall"]
    assert "Predicted:" in caption_of(figure, run_of("gpu"))
    lines = [rung_case(rung, 1e12, SINGLE, layout="aos") for rung in ("naive", "tiled")]
    assert "redicted" not in caption_of(figure, some(tmp_path, *lines))


# --- a report on two K80 --------------------------------------------------------------------------


def test_the_k80_stand_beside_what_redoes_them(tmp_path: Path) -> None:
    throughput, time = FIGURES["nbody_thessaly_throughput"], FIGURES["nbody_thessaly_time"]
    theirs = "two K80 and their host"
    (panel,) = stored(throughput.name)
    assert values(panel, theirs) == [20.39, 87.129, 298.392, 316.94, 391.427]
    assert len(values(panel, "here")) == 5
    (panel,) = stored(time.name)
    assert values(panel, theirs) == [2.1149, 0.493, 0.148, 0.1358, 0.11]
    both = (time.items(run_of("gpu")), throughput.items(run_of("gpu")))
    for pair, rate in zip(*both, strict=True):
        assert pair.row.value == pytest.approx(80 * 32 * 4096**2 / rate.row.value)
        assert pair.better == pytest.approx(rate.better, rel=0.03)
        assert 0.99 * pair.row.value < pair.row.minimum < pair.row.value < pair.row.maximum
    words = caption_of(throughput, run_of("gpu"))
    assert "Not repeated in this run: serial, OpenMP." in words
    assert "Several gpus distributes a kernel that includes all later steps" in words
    assert (stored(throughput.name)[0].places.names or ())[2] == (
        "Use of multiple gpus, 4 GPUs\nseveral gpus, soaoas, 2 GPUs"
    )
    alone = [
        rung_case("several_gpus", 1e12, GALAXIES, layout="soaoas", gpus=1),
        rung_case("tiled", 1e11, GALAXIES, layout="aos"),
    ]
    run = some(tmp_path / "alone", *alone)
    assert [pair.step.name for pair in throughput.items(run)] == ["GPU tiling"]
    assert "Use of multiple gpus" in caption_of(throughput, run)
    # Other systems than theirs have no time to compare.
    assert not time.items(run_of("host"))
    run = some(tmp_path, rung_case("tiled", 1e11, GALAXIES, layout="aos", noise="failed"))
    (panel,) = panels(chart_of(throughput, run))
    assert values(panel, valid=False) == [pytest.approx(100, rel=0.01)]
    assert "–" in beside(panel)


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


def test_several_gpus_stand_beside_so_many_times_one() -> None:
    upper, lower = stored("nbody_gpus")
    items = FIGURES["nbody_gpus"].items(run_of("gpu"))
    assert [item.value for item in items] == [1, 2, 1, 2]
    ideals = series(upper)[:2]
    assert [ideal[1][1] for ideal in ideals] == pytest.approx(
        [2 * items[0].row.value / TERA, 2 * items[2].row.value / TERA]
    )
    assert [shares[0] for shares in series(lower)] == [(1, 100), (1, 100)]
    words = caption_of(FIGURES["nbody_gpus"], run_of("gpu"))
    assert re.search(r"Efficiency: (99|100)\.\d % with 2 \(several gpus, 524", words)


def test_each_rung_of_several_gpus_has_its_column(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = {"several_gpus": 1e12, "pair_once": 6e12}  # rungs that the stored run tells of
    monkeypatch.setattr(nbody_along, "SEVERAL", tuple(both))
    lines = [
        rung_case(rung, rate * n, SINGLE, layout="soaoas", gpus=n)
        for rung, rate in both.items()
        for n in (1, 2)
    ]
    *upper, _, _ = panels(chart_of(FIGURES["nbody_gpus"], some(tmp_path, *lines)))
    assert [panel.title for panel in upper] == ["several gpus", "pair once"]
    assert [values(panel) for panel in upper] == [
        pytest.approx([1, 2, 1, 2], rel=0.01),
        pytest.approx([6, 12, 6, 12], rel=0.01),
    ]


def test_without_one_gpu_there_is_no_efficiency(tmp_path: Path) -> None:
    figure = FIGURES["nbody_gpus"]
    lines = [rung_case("several_gpus", 1e12 * n, SINGLE, layout="soaoas", gpus=n) for n in (2, 4)]
    assert not figure.items(some(tmp_path, *lines))
    alone = rung_case("several_gpus", 1e12, SINGLE, layout="soaoas", gpus=1, noise="failed")
    items = figure.items(some(tmp_path, alone, *lines))
    assert [item.efficiency for item in items] == [None, None, None]
    assert "Efficiency:" not in figure.caption(items)


# --- stalls and errors ----------------------------------------------------------------------------


def test_shares_of_a_rung_add_up_and_small_ones_are_other() -> None:
    chart = chart_of(FIGURES["nbody_stalls"], run_of("gpu"))
    (panel,) = panels(chart)
    widths: dict[float, float] = {}
    for mark in marks(panel):
        widths[mark.place] = widths.get(mark.place, 0) + mark.value - mark.start
    names = list(panel.places.names or ())
    assert list(widths.values()) == pytest.approx([100] * len(names))
    alike, larger = names[: len(ladder_run.GPU)], names[len(ladder_run.GPU) :]
    assert [name.replace(" ", "_") for name in alike] == list(ladder_run.GPU)
    assert {name.partition("\n")[2] for name in larger} == {"524\u202f288 bodies"}
    (naive, *_) = FIGURES["nbody_stalls"].items(run_of("gpu"))
    assert naive.shares["long_scoreboard"] == pytest.approx(9.1 / 15.1)
    assert "instruction cache" not in labels(chart)
    assert labels(chart)[-1] == "other"


def test_issue_slots_stand_beside_the_stalls(tmp_path: Path) -> None:
    line = rung_case("naive", 1e12, SINGLE, layout="aos")
    run = some(tmp_path, line, rung_counts(line, 50, 55.6))
    (panel,) = panels(chart_of(FIGURES["nbody_stalls"], run))
    assert beside(panel) == ["56 %, 15.1", "issue slots used, warps"]


def test_the_fastest_counted_case_is_shown(tmp_path: Path) -> None:
    slow, fast = (
        rung_case("naive", rate, SINGLE, layout=layout)
        for rate, layout in ((1e12, "aos"), (2e12, "soa"))
    )
    run = some(tmp_path, slow, fast, rung_counts(slow, 50, 50))
    (one,) = FIGURES["nbody_stalls"].items(run)
    assert one.all_states.params["layout"] == "aos"


def test_every_error_has_its_bound() -> None:
    (panel,) = stored("nbody_accuracy")
    found = FIGURES["nbody_accuracy"].items(run_of("gpu"))
    drawn = [value for line in series(panel) for _, value in line]
    assert sorted(drawn) == pytest.approx(
        sorted([one.row.value for one in found] + [one.bound for one in found])
    )
    assert all(one.bound and one.row.value < one.bound for one in found)


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
    (panel,) = panels(chart_of(FIGURES["nbody_accuracy"], run))
    errors, bounds = series(panel)
    assert errors[0][1] == nbody_accuracy.LEAST
    assert values(panel, valid=False) == [1e-3]
    assert len(bounds) == 2
