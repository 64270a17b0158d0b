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
    hits = sum(math.comb(count, below) for below in range(rank, count - rank + 1))
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


def plain_rank(count: int) -> int | None:
    """The definition, in whole numbers: 2 * P(fewer than `rank` samples below) <= 1/20."""
    rank, tail, ways = 0, 1, 1
    while 40 * tail <= 2**count:
        rank += 1
        ways = ways * (count - rank + 1) // rank
        tail += ways
    return rank or None


def test_rank_is_that_of_the_plain_definition() -> None:
    counts = (*range(1200), 4001, 10_000)
    assert [median_rank(count) for count in counts] == [plain_rank(count) for count in counts]


def test_rank_of_very_many_samples_takes_no_time_that_grows_with_them() -> None:
    assert median_rank(100_000) == 49_690
    assert median_rank(10**9) == 499_969_010  # by whole numbers this would take years


@pytest.mark.parametrize("count", range(6))
def test_no_interval_below_six_samples(count: int) -> None:
    assert median_interval([1.0] * count) is None
    assert spread([1.0] * max(count, 1)) == (1, None, None, 1, 1)


def test_six_samples_give_their_range() -> None:
    assert spread([3, 1, 2, 6, 5, 4]) == (3.5, 1, 6, 1, 6)
    assert median_interval([3, 1, 2, 6, 5, 4]) == Interval(1, 6)


def test_equal_samples_give_a_point() -> None:
    assert spread([61.0] * 9) == (61,) * 5


@given(st.lists(finite, min_size=1, max_size=60), st.randoms())
def test_spread_is_median_interval_and_range_of_samples_in_any_order(
    samples: list[float], random: object
) -> None:
    value, low, high, least, most = found = spread(samples)
    assert (value, least, most) == (stdlib.median(samples), min(samples), max(samples))
    assert (low is None) == (high is None) == (len(samples) < 6)
    if low is not None and high is not None:
        assert low <= value <= high
        assert {low, high} <= set(samples)
    shuffled = list(samples)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert spread(shuffled) == found


def test_the_median_of_the_largest_numbers_is_a_number() -> None:
    assert spread([1.7e308, 1.5e308])[0] == pytest.approx(1.6e308)
    assert spread([1.7e308])[0] == spread([1.7e308] * 3)[0] == 1.7e308
