"""The figure of the matrix addition by short words, and the published speed-ups beside it."""

from collections.abc import Mapping, Sequence
from itertools import product

import pandas as pd
import pytest
from msgspec.structs import replace

from charts import caption_of, run_with, timed
from plots import labels_of, plot_named, plotted, points_of
from strata.figures.short_words import SPEED_UPS, ratios
from strata.run import Row

FIGURE = plot_named("short_words")
Key = tuple[int, str, int]
"""Element, order and group."""
BYTES = 3 * 128 * 2**20
SLOW: Mapping[Key, float] = {
    (4, "uncoalesced", 4): 31e-3,
    (1, "uncoalesced", 1): 43e-3,
    (1, "coalesced", 1): 26e-3,
}


def kernel(key: Key, seconds: float, *, access: str = "together", valid: bool = True) -> list[Row]:
    """The rows of one kernel: by events, as the figure wants them, and by graph."""
    params = dict(zip(("element", "order", "group"), key, strict=True)) | {"access": access}
    return [
        timed("short_words", params, quantity, value, unit=unit, method=method, valid=valid)
        for quantity, unit, value, method in (
            ("kernel_time", "s", seconds, "event_slope"),
            ("kernel_time", "s", 3 * seconds, "graph_slope"),
            ("useful_bandwidth", "B/s", BYTES / seconds, "event_slope"),
        )
    ]


def every(invalid: Sequence[Key] = (), slower: Mapping[Key, float] = SLOW) -> list[Row]:
    """Kernels of all elements, orders and groups, for which the published ratios hold."""
    rows = []
    for element, order, group in product((1, 2, 4), ("coalesced", "uncoalesced"), (1, 2, 4, 8, 16)):
        key = element, order, group
        if group >= element:
            rows += kernel(key, slower.get(key, 1e-3), valid=key not in invalid)
        if group > element:
            rows += kernel(key, 5e-3, access="apart")
    return rows


def kernels_of(rows: Sequence[Row]) -> pd.DataFrame:
    return FIGURE.data(run_with(rows))


def hollow(rows: Sequence[Row]) -> list[tuple[float, float]]:
    """The marks drawn as invalid."""
    with plotted(FIGURE, run_with(rows)) as figure:
        return [
            point
            for ax in figure.axes
            for line in ax.lines
            if line.get_markerfacecolor() == "white" and "published" not in f"{line.get_label()}"
            for point in points_of(line)
        ]


@pytest.mark.parametrize("lost", [{"event_slope"}, {"useful_bandwidth"}])
def test_a_kernel_has_its_time_and_its_bandwidth_by_events(lost: set[str]) -> None:
    rows = kernel((2, "coalesced", 4), 2e-3)
    (line,) = kernels_of(rows).itertuples()
    assert (line.element_bytes, line.order, line.group_bytes) == (2, "coalesced", 4)
    assert (line.kernel_seconds, line.useful_bandwidth) == (2e-3, BYTES / 2e-3)
    assert kernels_of([row for row in rows if not {row.method, row.quantity} & lost]).empty
    assert hollow(rows) == []


@pytest.mark.parametrize("quantity", ["kernel_time", "useful_bandwidth"])
def test_a_kernel_is_as_valid_as_its_time_and_its_bandwidth(quantity: str) -> None:
    rows = kernel((2, "coalesced", 4), 2e-3)
    data = kernels_of([replace(row, valid=row.quantity != quantity) for row in rows])
    assert not data.valid.any()


def test_the_published_ratios_are_taken_between_the_kernels_of_the_paper() -> None:
    found = ratios(kernels_of(every()))
    assert [*found.value] == pytest.approx([value for _, value, *_ in SPEED_UPS])
    first = found.iloc[0]
    assert (first.low, first.high) == pytest.approx((31 * 0.99 / 1.01, 31 * 1.01 / 0.99))
    rows = [row for row in every() if row.case != "4/coalesced/4/together"]
    assert [*ratios(kernels_of(rows)).index] == [name for name, *_ in SPEED_UPS[1:]]
    assert hollow(rows) == []


def test_what_failed_a_gate_is_hollow_as_a_point_and_as_a_ratio() -> None:
    rows = every(invalid=[(4, "uncoalesced", 4)])
    (group, _), (ratio, _) = hollow(rows)
    assert (group, ratio) == pytest.approx((4, 31))
    words = "Invalid, drawn hollow (1): 4 B elements, uncoalesced, 4 B together."
    assert words in caption_of(FIGURE, run_with(rows))


def test_on_a_cpu_the_orders_are_those_of_a_loop() -> None:
    method = {"event_slope": "monotonic_slope", "graph_slope": "tsc_slope"}
    rows = [
        replace(row, backend="host", method=method[row.method], minimum=1e9, maximum=2e10)
        for row in every()
    ]
    with plotted(FIGURE, run_with(rows)) as figure:
        labels, first = " ".join(labels_of(figure)), figure.axes[0]
        assert all(words in labels for words in ("row by row", "column by column", "this CPU"))
        assert first.get_xlabel() == "bytes that a turn of the loop takes"
        assert first.get_ylabel() == "useful bandwidth (B/s)"
    words = FIGURE.caption(kernels_of(rows))
    assert "thread" not in words
    assert "128 MiB" not in words
