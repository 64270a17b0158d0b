"""The median and its distribution-free confidence interval, as the harness computes them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import comb
from statistics import median

__all__ = ["Interval", "coverage", "median", "median_interval", "median_rank", "spread"]


@dataclass(frozen=True, slots=True)
class Interval:
    """A closed interval, in the unit of the samples that it was computed from."""

    low: float
    high: float


def coverage(count: int, rank: int) -> float:
    """Probability that the rank-th smallest and rank-th largest of `count` samples hold the median.

    Ranks start at 1. The number of samples below the median is Binomial(count, 1/2), whatever
    distribution they come from, as long as it is continuous; with ties the coverage is no smaller.
    """
    return 1 - 2 * sum(comb(count, below) for below in range(rank)) / float(2**count)


@cache
def median_rank(count: int) -> int | None:
    """The largest rank whose interval covers the median with at least 95 %; None below six samples.

    Integers throughout: 2 * P(fewer than `rank` samples below) <= 1/20 becomes
    40 * sum(C(count, i), i < rank) <= 2 ** count, which no rounding can tip.
    """
    rank, tail = 0, 0
    while True:
        tail += comb(count, rank)
        if 40 * tail > 2**count:
            return rank or None
        rank += 1


def median_interval(samples: Sequence[float]) -> Interval | None:
    """The 95 % confidence interval of the median by order statistics; None below six samples."""
    rank = median_rank(len(samples))
    if rank is None:
        return None
    ordered = sorted(samples)
    return Interval(low=ordered[rank - 1], high=ordered[-rank])


def spread(
    samples: Sequence[float],
) -> tuple[float, float | None, float | None, float, float]:
    """Median, both ends of its 95 % interval, minimum and maximum, in the unit of the samples.

    The interval is that of `median_interval`, None below six samples. At least one sample.
    """
    count = len(samples)
    if count == 1:
        (only,) = samples
        return only, None, None, only, only
    ordered = sorted(samples)
    middle = count // 2
    value = ordered[middle] if count % 2 else (ordered[middle - 1] + ordered[middle]) / 2
    rank = median_rank(count)
    if rank is None:
        return value, None, None, ordered[0], ordered[-1]
    return value, ordered[rank - 1], ordered[-rank], ordered[0], ordered[-1]
