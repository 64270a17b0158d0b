"""The figure of the timers' agreement."""

from pathlib import Path
from typing import Any

from builders import GPU_RUN, case, load, measurement
from charts import caption_of, chart_of, data_of, labels, marks, panels, values
from strata import model
from strata.figures._chart import Series
from strata.figures.timer_agreement import FIGURE
from strata.run import load_run


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
    found = panels(chart_of(FIGURE, run))
    assert [panel.title for panel in found] == ["layout_read", "timer_check"]
    assert sum(len(marks(panel)) for panel in found) == len(model.agreements(run.rows)) == 109
    assert sum(len(marks(panel, valid=False)) for panel in found) == 1
    assert len(data_of(FIGURE, run)) == 109
    assert "Invalid, drawn hollow (1): micro/layout_read/" in caption_of(FIGURE, run)


def test_panels_of_many_benchmarks_stand_in_rows(tmp_path: Path) -> None:
    lines = [
        pair(
            10 * place, 10.1 * place, f"benchmark_{place}", **{"level": "l2"} if place == 1 else {}
        )
        for place in range(1, 10)
    ]
    chart = chart_of(FIGURE, load(tmp_path, lines))
    assert [len([panel for panel in row if panel]) for row in chart.rows] == [4, 4, 1]
    assert chart.width < 12
    assert labels(chart) == ["L2", "level not varied", "event_slope", "within 2 %"]
    assert panels(chart)[0].places.label == "warp load (cycles)"


def test_a_timer_far_off_stays_in_the_panel_and_in_the_caption(tmp_path: Path) -> None:
    run = load(tmp_path, [pair(100, 900, "timer_check", residency="l1")])
    (panel,) = panels(chart_of(FIGURE, run))
    assert panel.values.limits
    low, high = panel.values.limits
    assert values(panel) == [high]
    (drawn,) = [layer for layer in panel.layers if isinstance(layer, Series) and layer.marks]
    assert drawn.look.marker == "^"
    assert low < 1
    assert "Triangles on the edge: 1 outside the panel." in caption_of(FIGURE, run)
