"""Plateaus of a curve that climbs in steps, such as latency against footprint.

A stretch is flat if its points are within `tolerance` of each other. The longest flat stretch is a
plateau, then the longest on its left and right, and so on. Neighbours whose levels differ by less
than `STEP` are one plateau, which takes the points at its ends that are on its level. The tolerance
grows with the noise of the curve: the median absolute deviation of the differences of neighbours.
Everything uses logarithms: plateaus of 30 and 700 cycles that vary by equal percentages are equally
flat.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import log, log2, sqrt
from statistics import median
from typing import NamedTuple

TOLERANCE = 0.05  # relative to the level: the tolerance of a plateau without noise
STEP = 0.15  # relative to the lower level: a smaller step is not one
OCTAVES = 0.7  # a shorter stretch is not a plateau
POINTS = 4  # fewer points are not a plateau
NOISE = 5.0  # standard deviations of the noise that the tolerance is at least
NORMAL = 1.4826  # standard deviation over median absolute deviation, for a normal distribution


class Plateau(NamedTuple):
    """A flat stretch between two points of the curve (x, and index), at median `level` (y)."""

    first: float
    last: float
    level: float
    start: int
    stop: int


class Knee(NamedTuple):
    """The end of a plateau: `last` is on it, `first` is the first point of the next one."""

    last: float
    first: float
    before: float
    after: float


def noise(ys: Sequence[float]) -> float:
    """Relative standard deviation of the noise of positive `ys`; 0 for fewer than four points."""
    if len(ys) < 4:
        return 0.0
    steps = [log(after / before) for before, after in pairwise(ys)]
    middle = median(steps)
    # A difference has the noise of both points.
    return NORMAL * median([abs(step - middle) for step in steps]) / sqrt(2)


def find(xs: Sequence[float], ys: Sequence[float]) -> tuple[Plateau, ...]:
    """The plateaus of the curve `ys` over `xs`, from left to right.

    Raises ValueError unless `xs` and `ys` are positive and of equal length, and `xs` ascend.
    """
    if len(xs) != len(ys):
        raise ValueError(f"{len(xs)} positions of {len(ys)} points; expected as many")
    if not all(value > 0 for value in (*xs, *ys)):
        raise ValueError(
            "a position or a point that is not positive; logarithms need positive ones"
        )
    if not all(after > before for before, after in pairwise(xs)):
        raise ValueError("positions that do not ascend; sort the points and keep one per position")
    places, logs = [log2(x) for x in xs], [log(y) for y in ys]
    width = log(1 + max(TOLERANCE, NOISE * noise(ys)))
    found: list[Plateau] = []
    free = 0
    for flat in _merged(sorted(_stretches(places, logs, 0, len(xs), width)), logs):
        start, stop = _extended(*flat, logs, width)
        start = max(start, free)  # if two claim a point, the left one keeps it
        if start <= stop:
            found.append(Plateau(xs[start], xs[stop], median(ys[start : stop + 1]), start, stop))
            free = stop + 1
    return tuple(found)


def knees(found: Sequence[Plateau]) -> tuple[Knee, ...]:
    """The ends of plateaus, from left to right; one fewer than plateaus."""
    return tuple(
        Knee(one.last, other.first, one.level, other.level) for one, other in pairwise(found)
    )


_Stretch = tuple[int, int]


def _stretches(
    places: Sequence[float], logs: Sequence[float], begin: int, end: int, width: float
) -> Iterator[_Stretch]:
    """The longest flat stretch of [begin, end), and those on its left and right; ends included."""
    longest, start, stop = 0.0, 0, 0
    for first in range(begin, end):
        low = high = logs[first]
        last = first
        while last + 1 < end:
            low, high = min(low, logs[last + 1]), max(high, logs[last + 1])
            if high - low > width:
                break
            last += 1
        length = places[last] - places[first]
        if length > longest and length >= OCTAVES and last - first + 1 >= POINTS:
            longest, start, stop = length, first, last
    if longest:
        yield start, stop
        yield from _stretches(places, logs, begin, start, width)
        yield from _stretches(places, logs, stop + 1, end, width)


def _merged(found: Sequence[_Stretch], logs: Sequence[float]) -> list[_Stretch]:
    """Merges neighbours on one level, the closest two first, independent of their order."""
    result = list(found)
    while len(result) > 1:
        levels = [median(logs[start : stop + 1]) for start, stop in result]
        gaps = [abs(after - one) for one, after in pairwise(levels)]
        place = gaps.index(min(gaps))
        if gaps[place] >= log(1 + STEP):
            break
        result[place : place + 2] = [(result[place][0], result[place + 1][1])]
    return result


def _extended(start: int, stop: int, logs: Sequence[float], width: float) -> _Stretch:
    """Extended by adjacent points on its level, within half the tolerance."""
    level = median(logs[start : stop + 1])
    while start > 0 and abs(logs[start - 1] - level) <= width / 2:
        start -= 1
    while stop + 1 < len(logs) and abs(logs[stop + 1] - level) <= width / 2:
        stop += 1
    return start, stop
