"""The figure of strides, misalignments and gathers."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
import pytest

from charts import caption_of, run_with, timed
from plots import check_texts_of, hollow_of, plot_named, plotted
from strata.run import Row

FIGURE = plot_named("stride_gather")
TERA = 1e12
PLACE = {
    "level": "dram", "pattern": "strided", "width": 4, "stride": 1, "misalignment": 0,
    "locality": 32,
}  # fmt: skip


def case(
    useful: float, moved_over_used: float | None, *, valid: bool = True,
    requested: str = "requested_bandwidth", counted: dict[str, float] | None = None, **place: Any,
) -> list[Row]:  # fmt: skip
    """The rows of one case, in TB/s; without sectors as on a CPU."""
    found = [("useful_bandwidth", useful * TERA, "timed")]
    if moved_over_used is not None:
        found.append((requested, useful * moved_over_used * TERA, "timed"))
    found += [(quantity, value, "counted") for quantity, value in (counted or {}).items()]
    return [
        timed("stride_gather", PLACE | place, quantity, value, provenance=provenance, valid=valid)
        for quantity, value, provenance in found
    ]


def some() -> list[Row]:
    rows: list[Row] = []
    for level, whole in (("l2", 8.0), ("dram", 4.0)):
        rows += case(whole, 1, level=level, counted={"sectors_per_request": 4})
        for stride in (2, 4, 8):
            rows += case(whole / stride, stride, level=level, stride=stride)
        rows += case(whole / 16, 8, level=level, stride=16, valid=level == "l2")
        rows += case(0.8 * whole, 1.25, level=level, pattern="misaligned", misalignment=1)
        rows += case(whole, 1, level=level, pattern="gather")
        rows += case(whole / 6, 6, level=level, pattern="gather", locality=512)
    return [*rows, *case(0.2, 8, pattern="gather", locality=2**28)]


def data_of(rows: Sequence[Row]) -> pd.DataFrame:
    names = {"stride_misalignment_or_window_bytes": "setting"}
    return FIGURE.data(run_with(rows)).rename(columns=names)


def hollow(rows: Sequence[Row]) -> list[float]:
    """The places of the marks drawn as invalid."""
    with plotted(FIGURE, run_with(rows)) as figure:
        check_texts_of(figure)
        return [place for ax in figure.axes for place, _ in hollow_of(ax)]


def test_what_failed_a_gate_is_hollow_and_is_named() -> None:
    assert hollow(some()) == [16]
    words = caption_of(FIGURE, run_with(some()))
    assert "Invalid, drawn hollow (1): DRAM, strided, 16, 4 B." in words
    assert data_of([row for row in some() if row.quantity != "useful_bandwidth"]).empty


def test_a_stride_of_1_is_a_misalignment_of_0_as_well() -> None:
    data = data_of(some())
    zero = data[(data.pattern == "misaligned") & (data.setting == 0)]
    assert [*zero.level] == ["l2", "dram"]
    assert [*zero.useful_bytes_per_second] == [8 * TERA, 4 * TERA]
    assert [*data_of(case(4, 1)).pattern] == ["strided"]


def test_the_model_is_the_sectors_at_the_rate_of_stride_1() -> None:
    data = data_of(some())
    (far,) = data[data.setting == 2**30].itertuples()
    assert far.modelled_useful_bytes_per_second == pytest.approx(4 * TERA / 8)
    assert far.share_of_sectors_at_stride_1 == pytest.approx(0.4)
    assert "window of 1\u00a0GiB, 4 B elements, with 40" in caption_of(FIGURE, run_with(some()))
    (half,) = data[(data.level == "l2") & (data.setting == 2)].itertuples()
    assert half.share_of_sectors_at_stride_1 == pytest.approx(1)
    rows = [*case(4, 1), *case(1, 2, stride=2), *case(0.1, 2, stride=8, valid=False)]
    words = "DRAM, strided, stride 2, 4 B elements, with 50.00 %"
    assert words in caption_of(FIGURE, run_with(rows)), "the furthest that is valid"


@pytest.mark.parametrize(("level", "memory"), [("dram", 2.02), ("l2", float("nan"))])
def test_what_memory_gave_is_as_counted(level: str, memory: float) -> None:
    counted = {"memory_bytes_per_used_byte": 1.01}
    rows = case(2, 4, level=level, pattern="gather", counted=counted, requested="sector_bandwidth")
    (line,) = data_of(rows).itertuples()
    assert line.requested_bytes_per_second == 8 * TERA, "as older runs call it"
    assert line.memory_bytes_per_second / TERA == pytest.approx(memory, nan_ok=True)


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
