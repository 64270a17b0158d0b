"""The figure of strides, misalignments and gathers."""

from collections.abc import Sequence
from typing import Any

import pytest

from charts import caption_of, run_with, timed
from plots import check_texts_of, hollow_of, plot_named, plotted
from strata.run import Row

FIGURE = plot_named("stride_gather")
TERA = 1e12


def case(
    useful: float,
    moved_over_used: float | None,
    *,
    pattern: str = "strided",
    level: str = "dram",
    width: int = 4,
    stride: int = 1,
    misalignment: int = 0,
    locality: int = 32,
    valid: bool = True,
    counted: float | None = None,
    moved: float | None = None,
    requested: str = "requested_bandwidth",
) -> list[Row]:
    """The rows of one case, in TB/s; without sectors as on a CPU."""
    params = {
        "level": level, "pattern": pattern, "width": width, "stride": stride,
        "misalignment": misalignment, "locality": locality,
    }  # fmt: skip
    found = [("useful_bandwidth", useful * TERA, "timed")]
    if moved_over_used is not None:
        found.append((requested, useful * moved_over_used * TERA, "timed"))
    if counted is not None:
        found.append(("sectors_per_request", counted, "counted"))
    if moved is not None:
        found.append(("memory_bytes_per_used_byte", moved, "counted"))
    return [
        timed("stride_gather", params, quantity, value, provenance=provenance, valid=valid)
        for quantity, value, provenance in found
    ]


def some() -> list[Row]:
    rows: list[Row] = []
    for level, whole in (("l2", 8.0), ("dram", 4.0)):
        rows += case(whole, 1, level=level, counted=4)
        for stride in (2, 4, 8):
            rows += case(whole / stride, stride, level=level, stride=stride)
        rows += case(whole / 16, 8, level=level, stride=16, valid=level == "l2")
        rows += case(0.8 * whole, 1.25, level=level, pattern="misaligned", misalignment=1)
        rows += case(whole, 1, level=level, pattern="gather")
        rows += case(whole / 6, 6, level=level, pattern="gather", locality=512)
    rows += case(0.2, 8, pattern="gather", locality=2**28)
    return rows


def points_of(rows: Sequence[Row]) -> list[Any]:
    names = {"stride_misalignment_or_window_bytes": "setting"}
    return [*FIGURE.data(run_with(rows)).rename(columns=names).itertuples()]


def hollow(rows: Sequence[Row]) -> list[float]:
    """The places of the marks drawn as invalid."""
    with plotted(FIGURE, run_with(rows)) as figure:
        check_texts_of(figure)
        return [place for ax in figure.axes for place, _ in hollow_of(ax)]


def test_without_its_rows_there_is_no_figure() -> None:
    assert not points_of([])
    assert not points_of([row for row in some() if row.quantity != "useful_bandwidth"])


def test_what_failed_a_gate_is_hollow_and_is_named() -> None:
    assert hollow(some()) == [16]
    words = caption_of(FIGURE, run_with(some()))
    assert "Invalid, drawn hollow (1): DRAM, strided, 16, 4 B." in words


def test_a_stride_of_1_is_a_misalignment_of_0_as_well() -> None:
    zero = [one for one in points_of(some()) if one.pattern == "misaligned" and one.setting == 0]
    assert [one.level for one in zero] == ["l2", "dram"]
    assert [one.useful_bytes_per_second for one in zero] == [8 * TERA, 4 * TERA]
    assert [one.pattern for one in points_of(case(4, 1))] == ["strided"]


def test_the_model_is_the_sectors_at_the_rate_of_stride_1() -> None:
    points = points_of(some())
    (far,) = [one for one in points if one.setting == 2**30]
    assert far.modelled_useful_bytes_per_second == pytest.approx(4 * TERA / 8)
    assert far.share_of_sectors_at_stride_1 == pytest.approx(0.4)
    caption = FIGURE.caption(FIGURE.data(run_with(some())))
    assert "window of 1\u00a0GiB, 4 B elements, with 40" in caption
    (half,) = [one for one in points if one.level == "l2" and one.setting == 2]
    assert half.share_of_sectors_at_stride_1 == pytest.approx(1)


def test_the_caption_names_the_furthest_that_is_valid() -> None:
    rows = [*case(4, 1), *case(1, 2, stride=2), *case(0.1, 2, stride=8, valid=False)]
    assert "DRAM, strided, stride 2, 4 B elements, with 50.00 %" in caption_of(
        FIGURE, run_with(rows)
    )


def test_what_memory_gave_is_as_counted_and_not_what_was_asked_for() -> None:
    (point,) = points_of(case(2, 4, pattern="gather", locality=128, moved=1.01))
    assert point.requested_bytes_per_second == 8 * TERA
    assert point.memory_bytes_per_second == pytest.approx(2.02 * TERA)
    (point,) = points_of(case(2, 4, level="l2", pattern="gather", locality=128, moved=0.0))
    assert point.memory_bytes_per_second is None


def test_runs_that_called_it_the_bandwidth_of_sectors_are_read() -> None:
    (point,) = points_of(case(2, 4, stride=4, requested="sector_bandwidth"))
    assert point.requested_bytes_per_second == 8 * TERA


def test_an_invalid_stride_of_1_is_no_measure_of_the_others() -> None:
    rows = [*case(4, 1, valid=False), *case(2, 2, stride=2)]
    data = FIGURE.data(run_with(rows))
    assert data.modelled_useful_bytes_per_second.isna().all()
    assert data.share_of_sectors_at_stride_1.isna().all()
    assert "Dashed" not in FIGURE.caption(data)
    assert hollow(rows) == [1]


def test_a_cpu_has_no_sectors_and_is_drawn_in_its_own_unit() -> None:
    rows = [*case(0.012, None, level="l3"), *case(0.001, None, level="l3", stride=16)]
    assert hollow(rows) == []
    with plotted(FIGURE, run_with(rows)) as figure:
        assert figure.axes[0].get_ylabel() == "useful GB/s"
