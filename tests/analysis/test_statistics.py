"""The interval of the median against brute force."""

import math
import statistics as stdlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata.run.statistics import median_rank, spread

finite = st.floats(allow_nan=False, allow_infinity=False, width=32)


def brute_force_coverage(count: int, rank: int) -> float:
    """Flip `count` coins in every way: how often is the median between the two order statistics?"""
    hits = sum(math.comb(count, below) for below in range(rank, count - rank + 1))
    return hits / float(2**count)


@pytest.mark.parametrize("count", range(1, 60))
def test_rank_is_the_largest_that_covers_the_median_with_95_percent(count: int) -> None:
    good = [k for k in range(1, count // 2 + 1) if brute_force_coverage(count, k) >= 0.95]
    assert median_rank(count) == (max(good) if good else None)


def test_rank_of_very_many_samples_takes_no_time_that_grows_with_them() -> None:
    assert median_rank(5000) == 2431
    assert median_rank(100_000) == 49_690
    assert median_rank(10**9) == 499_969_010  # by whole numbers this would take years


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


def test_six_samples_have_their_range_and_the_largest_numbers_a_median() -> None:
    assert spread([3, 1, 2, 6, 5, 4]) == (3.5, 1, 6, 1, 6)
    assert spread([1.7e308, 1.5e308])[0] == pytest.approx(1.6e308)
    assert spread([1.7e308])[0] == spread([1.7e308] * 3)[0] == 1.7e308
