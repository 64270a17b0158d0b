"""The figures of warp-loads: sectors by stride and misalignment, predicted, counted, timed."""

from pathlib import Path
from typing import Any

from builders import COUNTED_RUN, case, count, counts, load, load2, measurement, predicted
from charts import caption_of, chart_of, lines, panels, points
from strata.figures.warp_access import FIGURES, accesses
from strata.run import load_run

BY_STRIDE, BY_MISALIGNMENT, _ = FIGURES


def warp_load(
    width: int,
    stride: int = 1,
    misalignment: int = 0,
    *,
    model_says: float | None = None,
    counter_says: float | None = None,
    gate: str = "passed",
) -> list[dict[str, Any]]:
    line = case(
        [measurement("warp_load_cycles", [4.0, 5.0, 7.0])],
        benchmark="coalescing",
        params={
            "width": width,
            "stride": stride,
            "misalignment": misalignment,
            "permutation": "identity",
        },
    )
    found = []
    if model_says is not None:
        found.append(predicted("sectors_per_request", model_says))
    if counter_says is not None:
        found.append(count("sectors_per_request", counter_says))
    return [line, counts(line, found, gates=[("model", gate, "")])]


def test_lines_are_predicted_and_marks_are_counted(tmp_path: Path) -> None:
    loads = [
        *warp_load(4, 1, model_says=4, counter_says=4),
        *warp_load(4, 2, model_says=8, counter_says=9, gate="failed"),
        *warp_load(8, 1, model_says=8),
    ]
    run = load2(tmp_path, loads)
    traffic, time = panels(chart_of(BY_STRIDE, run))
    assert lines(traffic, of_a_model=True) == [[(1, 4), (2, 8)], [(1, 8)]]
    assert lines(traffic, of_a_model=False) == [[(1, 4), (2, 9)]]
    assert points(traffic, valid=False) == [(2, 9)]
    assert points(time) == [(1, 5), (1, 5)]
    assert points(time, valid=False) == [(2, 5)]
    words = caption_of(BY_STRIDE, run)
    assert "Counts equal the prediction in 1 of 2 cases." in words
    assert "Invalid, drawn hollow (1): 4 bytes, stride 2, misalignment 0." in words


def test_predictions_alone_are_said_to_be_alone(tmp_path: Path) -> None:
    run = load2(tmp_path, warp_load(4, 1, model_says=4))
    assert "No counts are available" in caption_of(BY_STRIDE, run)


def test_time_alone_is_drawn_and_said_to_be_alone(tmp_path: Path) -> None:
    run = load2(tmp_path, warp_load(4))
    traffic, time = panels(chart_of(BY_STRIDE, run))
    assert (traffic.layers, traffic.blank) == ([], "neither predicted nor counted")
    assert "In this run they were neither predicted nor counted." in caption_of(BY_STRIDE, run)
    assert points(time) == [(1, 5)]


def test_strides_and_misalignments_stand_on_figures_of_their_own(tmp_path: Path) -> None:
    loads = [
        *warp_load(4, 1, model_says=4, counter_says=4),
        *warp_load(4, 1, 7, model_says=5, counter_says=5),
        *warp_load(4, 9, 3, model_says=32, counter_says=32),
    ]
    run = load2(tmp_path, loads)
    (traffic, _), (moved,) = (panels(chart_of(figure, run)) for figure in FIGURES[:2])
    assert lines(traffic, of_a_model=False) == [[(1, 4)]]
    assert lines(moved, of_a_model=False) == [[(0, 4), (7, 5)]]
    assert not BY_MISALIGNMENT.items(load2(tmp_path / "aligned", loads[:2]))


def test_a_load_whose_axes_are_not_numbers_breaks_nothing(tmp_path: Path) -> None:
    line = case([count("sectors_per_request")], benchmark="coalescing", params={"width": "wide"})
    assert not BY_STRIDE.items(load(tmp_path, [line]))


def test_lanes_in_another_order_stand_on_no_curve() -> None:
    cases = {row.case for row in load_run(COUNTED_RUN).of("coalescing")}
    assert (len(cases), len(accesses(load_run(COUNTED_RUN), "coalescing"))) == (102, 100)
