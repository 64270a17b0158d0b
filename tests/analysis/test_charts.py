"""Ticks and axes of charts."""

import pytest

from builders import row
from strata.figures._chart import Axis, groups_axis, mark, ticks


@pytest.mark.parametrize(
    ("low", "high", "most", "expected"),
    [
        (9, 110, 4, [10, 20, 50, 100]),
        (9, 110, 7, [10, 15, 20, 30, 50, 70, 100]),
        (9, 1100, 4, [10, 100, 1000]),
        (1, 1e7, 4, [1, 100, 1e4, 1e6]),
        (280, 340, 9, [280, 290, 300, 310, 320, 330, 340]),
    ],
)
def test_ticks_of_a_logarithm_are_round_and_not_too_many(
    low: float, high: float, most: int, expected: list[float]
) -> None:
    found = ticks(Axis(scale="log", most=most), low, high)
    assert [at for at, _ in found] == pytest.approx(expected)


def test_groups_of_bars_have_their_names_in_the_middle() -> None:
    axis = groups_axis(["one", "two"], 3)
    assert (axis.ticks, axis.limits) == ([1, 5], (-1, 7))


def test_a_mark_and_its_range_are_in_the_unit_of_the_axis() -> None:
    one = mark(3, row("bandwidth", "bandwidth", 2e12, unit="B/s"), 1e12)
    assert (one.place, one.low, one.value, one.high) == pytest.approx((3, 1.98, 2, 2.02))
