"""Figures by their structure: how many bars and lines, what is hollow, what overlaps."""

from functools import cache
from pathlib import Path

import matplotlib as mpl
import pytest
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
from charts import caption_of
from plots import plotted
from strata import figures
from strata.figures._drawing import image
from strata.figures._plot import FORMATS, listed_invalid
from strata.model.truth import load_run
from strata.run import Run
from test_coalescing import warp_load

FIGURES = {figure.name: figure for figure in figures.discover()}
RUNS = {"gpu": GPU_RUN, "host": HOST_RUN, "counted": COUNTED_RUN}
COUNTED = {"bytes_moved", "coalescing", "misalignment", "level_proof"}


@cache
def run_of(run: str) -> Run:
    """A stored run, read once."""
    return load_run(RUNS[run])


DRAWN = [(name, run) for name in FIGURES for run in RUNS if FIGURES[name].has(run_of(run))]
STORED = sorted({name for name, _ in DRAWN})
"""Figures that the stored runs hold rows of; the others are drawn in a test file of their own."""
each_drawn = pytest.mark.parametrize(("name", "run"), DRAWN)


def test_every_module_is_a_figure_and_names_are_unique() -> None:
    folder = Path(figures.__file__).parent
    names = {path.stem for path in folder.glob("[a-z]*.py")}
    names |= {f"papers.{path.stem}" for path in folder.glob("papers/[a-z]*.py")}
    assert names == figures.by_module().keys()
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
def test_axis_labels_carry_units(name: str, run: str) -> None:
    with plotted(FIGURES[name], run_of(run)) as drawn:
        words = [ax.get_xlabel() + ax.get_ylabel() for ax in drawn.axes]
    units = ("cycles", "B/s", "(%)", "(×)", "bytes", "sectors")
    assert any(unit in word for word in words for unit in units)


@pytest.mark.parametrize("name", FIGURES)
def test_nothing_measured_means_no_figure(name: str) -> None:
    assert not FIGURES[name].has(replace(run_of("gpu"), rows=()))


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
    assert image(FIGURES[name], run, "png")


@each_drawn
def test_captions_name_device_and_commit(name: str, run: str) -> None:
    loaded: Run = load_run(RUNS[run])
    words = caption_of(FIGURES[name], loaded)
    assert loaded.context.device.name in words
    assert "commit unknown with uncommitted changes." in words


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
    assert image(FIGURES[name], load2(tmp_path, lines), "png")


@pytest.mark.parametrize(
    ("labels", "words"),
    [("", ""), ("abcd", " Invalid, drawn hollow (4): a; b; c; d."),
     ("abcdef", " Invalid, drawn hollow (6): a; b; c; d; and 2 more.")],
)  # fmt: skip
def test_a_caption_names_four_that_are_invalid(labels: str, words: str) -> None:
    assert listed_invalid(labels) == words


def test_the_style_of_a_user_does_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    pictures = []
    for size in (8.0, 20.0):
        monkeypatch.setitem(mpl.rcParams, "font.size", size)
        of = FIGURES["layout_latency"], run_of("gpu")
        pictures.append([image(*of, kind) for kind in FORMATS])
    assert pictures[0] == pictures[1]
