"""The figures of warp-loads: sectors by stride and misalignment, predicted, counted, timed."""

from pathlib import Path
from typing import Any

from builders import COUNTED_RUN, case, count, counts, load, load2, measurement, predicted
from charts import caption_of
from plots import check_texts_of, hollow_of, plot_named, plotted, solid_of, texts_of
from strata.figures.warp_access import accesses
from strata.run import load_run

BY_STRIDE, BY_MISALIGNMENT = plot_named("coalescing"), plot_named("misalignment")


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
    with plotted(BY_STRIDE, run) as figure:
        check_texts_of(figure)
        traffic, time = figure.axes
        assert solid_of(traffic, marked=False) == [[(1, 4), (2, 8)], [(1, 8)]]
        assert solid_of(traffic) == [[(1, 4)]]
        assert hollow_of(traffic) == [(2, 9)]
        assert solid_of(time) == [[(1, 5)], [(1, 5)]]
        assert hollow_of(time) == [(2, 5)]
    words = caption_of(BY_STRIDE, run)
    assert "Counts equal the prediction in 1 of 2 cases." in words
    assert "Invalid, drawn hollow (1): 4 bytes, stride 2, misalignment 0." in words


def test_predictions_alone_are_said_to_be_alone(tmp_path: Path) -> None:
    run = load2(tmp_path, warp_load(4, 1, model_says=4))
    assert "No counts are available" in caption_of(BY_STRIDE, run)


def test_time_alone_is_drawn_and_said_to_be_alone(tmp_path: Path) -> None:
    run = load2(tmp_path, warp_load(4))
    with plotted(BY_STRIDE, run) as figure:
        assert "neither predicted nor counted" in [text.get_text() for text in texts_of(figure)]
        assert solid_of(figure.axes[1]) == [[(1, 5)]]
    assert "In this run they were neither predicted nor counted." in caption_of(BY_STRIDE, run)


def test_strides_and_misalignments_stand_on_figures_of_their_own(tmp_path: Path) -> None:
    loads = [
        *warp_load(4, 1, model_says=4, counter_says=4),
        *warp_load(4, 1, 7, model_says=5, counter_says=5),
        *warp_load(4, 9, 3, model_says=32, counter_says=32),
    ]
    run = load2(tmp_path, loads)
    with plotted(BY_STRIDE, run) as strides, plotted(BY_MISALIGNMENT, run) as moved:
        assert solid_of(strides.axes[0]) == [[(1, 4)]]
        assert solid_of(moved.axes[0]) == [[(0, 4), (7, 5)]]
    assert not BY_MISALIGNMENT.has(load2(tmp_path / "aligned", loads[:2]))


def test_a_load_whose_axes_are_not_numbers_breaks_nothing(tmp_path: Path) -> None:
    line = case([count("sectors_per_request")], benchmark="coalescing", params={"width": "wide"})
    assert not BY_STRIDE.has(load(tmp_path, [line]))


def test_lanes_in_another_order_stand_on_no_curve() -> None:
    cases = {row.case for row in load_run(COUNTED_RUN).of("coalescing")}
    assert (len(cases), len(accesses(load_run(COUNTED_RUN), "coalescing"))) == (102, 100)
