"""The figure of the timers' agreement."""

from pathlib import Path
from typing import Any

import pytest

from builders import GPU_RUN, case, load, measurement
from charts import caption_of, data_of
from plots import hollow_of, labels_of, lines_of, plot_named, plotted, points_of
from strata import model
from strata.run import load_run

FIGURE = plot_named("timer_agreement")


def pair(one: float, other: float, benchmark: str, **params: str) -> dict[str, Any]:
    return case(
        [
            measurement("warp_load_cycles", [one]),
            measurement("warp_load_cycles", [other], method="event_slope"),
        ],
        benchmark=benchmark,
        params=params,
    )


def test_every_pair_of_timers_is_a_point() -> None:
    run = load_run(GPU_RUN)
    with plotted(FIGURE, run) as figure:
        (ax,) = figure.axes
        names = [text.get_text() for text in ax.get_yticklabels()]
        assert [name.partition("\n")[0] for name in names] == ["layout_read", "timer_check"]
        marked = [line for line in lines_of(figure) if line.get_marker() != "None"]
        assert sum(len(points_of(line)) for line in marked) == 109
        assert len(hollow_of(ax)) == 1
    assert len(data_of(FIGURE, run)) == len(model.agreements(run.rows)) == 109
    assert "Invalid, drawn hollow (1): micro/layout_read/" in caption_of(FIGURE, run)


def test_ratios_of_a_quantity_are_sorted_on_its_strip(tmp_path: Path) -> None:
    lines = [pair(100, 100 + n, "b", n=f"{n}") for n in (3, 1, 2)] + [pair(9, 9, "a", n="1")]
    with plotted(FIGURE, load(tmp_path, lines)) as figure:
        line = next(one for one in lines_of(figure) if one.get_label() == "event_slope")
        assert sorted(points_of(line), key=lambda at: -at[1]) == [
            (1.01, pytest.approx(1.2)), (1.02, 1), (1.03, pytest.approx(0.8)),
            (1, pytest.approx(0)),
        ]  # fmt: skip
        assert labels_of(figure) == ["within 2 %", "event_slope"]


def test_a_timer_far_off_is_on_the_edge_and_in_the_caption(tmp_path: Path) -> None:
    run = load(tmp_path, [pair(100, 900, "timer_check", residency="l1")])
    with plotted(FIGURE, run) as figure:
        (edge,) = (one for one in lines_of(figure) if one.get_marker() == ">")
        assert points_of(edge) == [(1.25, 0)]
    assert "Triangles on the edge: 1 outside the axis." in caption_of(FIGURE, run)
