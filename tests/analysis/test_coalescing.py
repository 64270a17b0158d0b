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
    width: int, stride: int = 1, misalignment: int = 0, *, modelled: float | None = None,
    counted: float | None = None, gate: str = "passed",
) -> list[dict[str, Any]]:  # fmt: skip
    params = {"width": width, "stride": stride, "misalignment": misalignment}
    line = case(
        [measurement("warp_load_cycles", [4.0, 5.0, 7.0])], benchmark="coalescing",
        params=params | {"permutation": "identity"},
    )  # fmt: skip
    found = [] if modelled is None else [predicted("sectors_per_request", modelled)]
    found += [] if counted is None else [count("sectors_per_request", counted)]
    return [line, counts(line, found, gates=[("model", gate, "")])]


def test_lines_are_predicted_and_marks_are_counted(tmp_path: Path) -> None:
    loads = [
        *warp_load(4, 1, modelled=4, counted=4),
        *warp_load(4, 2, modelled=8, counted=9, gate="failed"),
        *warp_load(8, 1, modelled=8),
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


def test_predictions_or_times_alone_are_named(tmp_path: Path) -> None:
    run = load2(tmp_path / "predicted", warp_load(4, 1, modelled=4))
    assert "No counts are available" in caption_of(BY_STRIDE, run)
    run = load2(tmp_path / "timed", warp_load(4))
    with plotted(BY_STRIDE, run) as figure:
        assert "neither predicted nor counted" in [text.get_text() for text in texts_of(figure)]
        assert solid_of(figure.axes[1]) == [[(1, 5)]]
    assert "In this run they were neither predicted nor counted." in caption_of(BY_STRIDE, run)
    assert not BY_MISALIGNMENT.has(run), "all are aligned"


def test_strides_and_misalignments_have_figures_of_their_own(tmp_path: Path) -> None:
    loads = [
        *warp_load(4, 1, modelled=4, counted=4),
        *warp_load(4, 1, 7, modelled=5, counted=5),
        *warp_load(4, 9, 3, modelled=32, counted=32),
    ]
    run = load2(tmp_path, loads)
    with plotted(BY_STRIDE, run) as strides, plotted(BY_MISALIGNMENT, run) as moved:
        assert solid_of(strides.axes[0]) == [[(1, 4)]]
        assert solid_of(moved.axes[0]) == [[(0, 4), (7, 5)]]


def test_lanes_in_another_order_and_axes_that_are_no_numbers_are_left_out(tmp_path: Path) -> None:
    run = load_run(COUNTED_RUN)
    assert len({row.case for row in run.of("coalescing")}) == 102
    assert len(accesses(run, "coalescing")) == 100
    line = case([count("sectors_per_request")], benchmark="coalescing", params={"width": "wide"})
    assert not BY_STRIDE.has(load(tmp_path, [line]))
