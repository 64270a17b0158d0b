"""The median and its distribution-free confidence interval, as the harness computes them."""

from collections.abc import Sequence
from functools import cache
from math import exp, isinf, lgamma, log
from typing import NamedTuple


class Interval(NamedTuple):
    """A closed interval, in the unit of its samples."""

    low: float
    high: float


@cache
def median_rank(count: int) -> int | None:
    """The largest rank whose interval covers the median with at least 95 %; None below six samples.

    Ranks start at 1: the interval reaches from the rank-th smallest to the rank-th largest sample,
    and the number of samples below the median is Binomial(count, 1/2). Starting from the middle,
    whose probability is known, the search takes in the order of sqrt(count) steps.
    """
    rank = count // 2
    ways = lgamma(count + 1) - lgamma(rank + 1) - lgamma(count - rank + 1)
    chance = exp(ways - count * log(2))  # probability of exactly `rank` samples below the median
    tail = 0.5 - chance if count % 2 else (1 - chance) / 2  # probability of fewer
    while tail > 1 / 40:
        chance *= rank / (count - rank + 1)
        rank -= 1
        tail -= chance
    return rank or None


Spread = tuple[float, float | None, float | None, float, float]


def spread(samples: Sequence[float]) -> Spread:
    """Median, both ends of its 95 % interval, minimum and maximum, in the unit of the samples.

    The interval is by order statistics, None below six samples. Needs at least one sample.
    """
    count = len(samples)
    if count == 1:
        return samples[0], None, None, samples[0], samples[0]
    ordered, rank = sorted(samples), median_rank(count)
    below, above = ordered[(count - 1) // 2], ordered[count // 2]
    value = (below + above) / 2
    if isinf(value):
        value = below / 2 + above / 2
    low, high = (ordered[rank - 1], ordered[-rank]) if rank else (None, None)
    return value, low, high, ordered[0], ordered[-1]


def spread_of_visits(visits: Sequence[Sequence[float]]) -> Spread:
    """The same for several visits: the median of their medians, from the least to the greatest end.

    Variation between processes is not part of one visit's interval. None if a visit has no
    interval. The harness does the same (`centre_of` in harness/record/statistics.hpp).
    """
    if len(visits) == 1:
        return spread(visits[0])
    values, lows, highs, least, most = zip(*map(spread, visits), strict=True)
    ends = (None, None) if None in lows else (min(lows), max(highs))
    return spread(values)[0], *ends, min(least), max(most)


def median_interval(samples: Sequence[float]) -> Interval | None:
    """The 95 % confidence interval of the median by order statistics; None below six samples."""
    _, low, high, *_ = spread(samples or [0.0])
    return None if low is None or high is None else Interval(low, high)
