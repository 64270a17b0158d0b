"""The figure of the matrix addition by short words, and the published speed-ups beside it."""

from collections.abc import Mapping, Sequence
from itertools import product

import pandas as pd
import pytest
from msgspec.structs import replace

from charts import caption_of, run_with, timed
from plots import check_texts_of, hollow_of, labels_of, plot_named, plotted
from strata.figures import short_words
from strata.run import Row

FIGURE = plot_named("short_words")

Key = tuple[int, str, int]
"""Element, order and group."""
BYTES = 3 * 128 * 2**20


def kernel(key: Key, seconds: float, *, access: str = "together", valid: bool = True) -> list[Row]:
    """The rows of one kernel: by events, as the figure wants them, and by graph."""
    params = dict(zip(("element", "order", "group"), key, strict=True)) | {"access": access}

    def row(quantity: str, unit: str, value: float, method: str) -> Row:
        changes = {"unit": unit, "method": method, "valid": valid}
        return timed("short_words", params, quantity, value, **changes)

    return [
        row("kernel_time", "s", seconds, "event_slope"),
        row("kernel_time", "s", 3 * seconds, "graph_slope"),
        row("useful_bandwidth", "B/s", BYTES / seconds, "event_slope"),
    ]


def every(invalid: Sequence[Key] = (), slower: Mapping[Key, float] | None = None) -> list[Row]:
    """Kernels of all elements, orders and groups, for which the published ratios hold."""
    seconds = {
        (4, "uncoalesced", 4): 31e-3,
        (1, "uncoalesced", 1): 43e-3,
        (1, "coalesced", 1): 26e-3,
        **(slower or {}),
    }
    rows = []
    for element, order, group in product((1, 2, 4), ("coalesced", "uncoalesced"), (1, 2, 4, 8, 16)):
        key = element, order, group
        if group >= element:
            rows += kernel(key, seconds.get(key, 1e-3), valid=key not in invalid)
        if group > element:
            rows += kernel(key, 5e-3, access="apart")
    return rows


def kernels_of(rows: Sequence[Row]) -> pd.DataFrame:
    return FIGURE.data(run_with(rows))


def hollow(rows: Sequence[Row]) -> list[tuple[float, float]]:
    """The marks drawn as invalid."""
    with plotted(FIGURE, run_with(rows)) as figure:
        check_texts_of(figure)
        return [point for ax in figure.axes for point in hollow_of(ax)]


def test_without_its_rows_there_is_no_figure() -> None:
    assert kernels_of([]).empty
    assert kernels_of([row for row in every() if row.method == "graph_slope"]).empty
    assert kernels_of([row for row in every() if row.quantity == "kernel_time"]).empty


def test_a_kernel_has_its_time_and_its_bandwidth_by_events() -> None:
    (one,) = kernels_of(kernel((2, "coalesced", 4), 2e-3)).itertuples()
    assert one[1:5] == (2, "coalesced", 4, "together")
    assert one.kernel_seconds == 2e-3
    assert one.useful_bandwidth == BYTES / 2e-3


def test_the_published_ratios_are_taken_between_the_kernels_of_the_paper() -> None:
    kernels = kernels_of(every())
    found = [short_words.ratio(kernels, place) for place in range(3)]
    assert [one.value for one in found if one] == pytest.approx([31, 43, 26])
    assert [value for _, value, *_ in short_words.SPEED_UPS] == [31, 43, 26]


def test_a_ratio_ranges_from_fast_over_slow_to_slow_over_fast() -> None:
    one = short_words.ratio(kernels_of(every()), 0)
    assert one is not None
    assert (one.low, one.high) == pytest.approx((31 * 0.99 / 1.01, 31 * 1.01 / 0.99))


def test_a_wider_group_has_a_ratio_of_its_own() -> None:
    kernels = kernels_of(every(slower={(1, "coalesced", 16): 0.5e-3}))
    wider = short_words.ratio(kernels, 1, 16)
    assert wider is not None
    assert wider.value == pytest.approx(86)
    assert "Groups of 16 bytes increase the second to 86×." in FIGURE.caption(kernels)


def test_a_ratio_without_one_of_its_kernels_is_none() -> None:
    rows = [row for row in every() if row.case != "4/coalesced/4/together"]
    assert short_words.ratio(kernels_of(rows), 0) is None
    assert hollow(rows) == []


def test_what_failed_a_gate_is_hollow_as_a_point_and_as_a_ratio() -> None:
    assert hollow(every()) == []
    rows = every(invalid=[(4, "uncoalesced", 4)])
    (group, _), (ratio, _) = hollow(rows)
    assert (group, ratio) == pytest.approx((4, 31))
    assert "Invalid, drawn hollow (1): 4 B elements, uncoalesced, 4 B together." in (
        caption_of(FIGURE, run_with(rows))
    )


@pytest.mark.parametrize("quantity", ["kernel_time", "useful_bandwidth"])
def test_a_kernel_is_as_valid_as_its_time_and_its_bandwidth(quantity: str) -> None:
    rows = kernel((2, "coalesced", 4), 2e-3)
    data = kernels_of([replace(row, valid=row.quantity != quantity) for row in rows])
    assert not data.valid.any()


def test_an_invalid_kernel_of_the_wider_group_is_not_boasted_of() -> None:
    kernels = kernels_of(every(invalid=[(1, "coalesced", 16)]))
    assert "Groups of 16 bytes" not in FIGURE.caption(kernels)


def test_the_figure_draws_what_little_there_is() -> None:
    assert hollow(kernel((2, "coalesced", 4), 2e-3)) == []


def of_a_cpu(rows: Sequence[Row]) -> list[Row]:
    """The same kernels, slower, as a CPU times them."""
    method = {"event_slope": "monotonic_slope", "graph_slope": "tsc_slope"}
    slower = {"B/s": 0.01, "s": 100.0}
    return [
        replace(
            row, backend="host", method=method[row.method], value=slower[row.unit] * row.value,
            minimum=slower[row.unit] * row.minimum, maximum=slower[row.unit] * row.maximum,
        )
        for row in rows
    ]  # fmt: skip


def test_on_a_cpu_the_orders_are_those_of_a_loop() -> None:
    run = run_with(of_a_cpu(every()))
    kernels = FIGURE.data(run)
    assert len(kernels) == len(kernels_of(every()))
    with plotted(FIGURE, run) as figure:
        told, first = " ".join(labels_of(figure)), figure.axes[0]
        assert all(words in told for words in ("row by row", "column by column", "this CPU"))
        assert first.get_xlabel() == "bytes that a turn of the loop takes"
        assert first.get_ylabel() == "useful bandwidth (GB/s)"
    words = FIGURE.caption(kernels)
    assert "thread" not in words
    assert "128 MiB" not in words
    found = short_words.ratio(kernels, 0)
    assert found is not None
    assert found.value == pytest.approx(31)
