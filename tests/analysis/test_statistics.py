"""The interval of the median against brute force and against an independent library."""

import math
import statistics as stdlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata.run.statistics import Interval, median_interval, median_rank, spread

finite = st.floats(allow_nan=False, allow_infinity=False, width=32)


def brute_force_coverage(count: int, rank: int) -> float:
    """Flip `count` coins in every way: how often is the median between the two order statistics?"""
    hits = 0
    for below in range(count + 1):
        if rank <= below <= count - rank:
            hits += math.comb(count, below)
    return hits / float(2**count)


@pytest.mark.parametrize("count", range(1, 60))
def test_rank_is_the_largest_that_covers_the_median_with_95_percent(count: int) -> None:
    good = [k for k in range(1, count // 2 + 1) if brute_force_coverage(count, k) >= 0.95]
    assert median_rank(count) == (max(good) if good else None)


def test_rank_agrees_with_the_published_table() -> None:
    # Order-statistic intervals of the median, 95 %: the lower rank for n = 6 ... 20 and beyond.
    table = {6: 1, 8: 1, 9: 2, 11: 2, 12: 3, 15: 4, 17: 5, 20: 6, 25: 8, 41: 14, 50: 18, 100: 40}
    assert {count: median_rank(count) for count in table} == table


def test_rank_agrees_with_the_binomial_quantile_of_scipy() -> None:
    binom = pytest.importorskip("scipy.stats").binom
    for count in (6, 7, 30, 101, 1000, 5000):
        assert median_rank(count) == int(binom.ppf(0.025, count, 0.5))


@pytest.mark.parametrize("count", range(6))
def test_no_interval_below_six_samples(count: int) -> None:
    assert median_interval([1.0] * count) is None


def test_six_samples_give_their_range() -> None:
    assert median_interval([3, 1, 2, 6, 5, 4]) == Interval(1, 6)


def test_equal_samples_give_a_point() -> None:
    assert median_interval([61.0] * 9) == Interval(61.0, 61.0)


@given(st.lists(finite, min_size=6, max_size=60))
def test_interval_holds_the_median_and_only_samples(samples: list[float]) -> None:
    interval = median_interval(samples)
    assert interval is not None
    assert interval.low <= stdlib.median(samples) <= interval.high
    assert {interval.low, interval.high} <= set(samples)


@given(st.lists(finite, min_size=6, max_size=40), st.randoms())
def test_interval_does_not_depend_on_the_order_of_samples(
    samples: list[float], random: object
) -> None:
    shuffled = list(samples)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert median_interval(shuffled) == median_interval(samples)


@given(st.lists(finite, min_size=1, max_size=60))
def test_spread_is_median_interval_and_range_at_once(samples: list[float]) -> None:
    value, low, high, least, most = spread(samples)
    assert value == stdlib.median(samples)
    assert (low, high) == (
        (interval.low, interval.high) if (interval := median_interval(samples)) else (None, None)
    )
    assert (least, most) == (min(samples), max(samples))
