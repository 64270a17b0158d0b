"""Transfers between host and device: t = alpha + beta * bytes, and where packing stops paying off.

The line is fitted to some of the sizes, by least squares of relative errors, so that small and
large times count equally. The other sizes are held out: their values on the line are predictions,
with known errors.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import inf, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from strata.model.cases import by_case
from strata.model.names import rank
from strata.run import Row, grouped
from strata.run.statistics import Interval

MEMORIES = ("pageable", "pinned", "mapped")
DIRECTIONS = ("to_device", "to_host", "both")
PACKINGS = ("none", "packed")

CONFIDENCE = 0.95
LEAST_POINTS = 4
"""Two numbers are fitted, and the rest must show how well they are known."""

Floats = npt.NDArray[np.float64]
Key = tuple[str, str, int, str]
"""Memory, direction, pieces, packing: what a line is fitted for."""


class Line(NamedTuple):
    """Seconds, and seconds per byte, with 95 % intervals; the covariance of beta and alpha."""

    alpha: float
    beta: float
    alpha_interval: Interval
    beta_interval: Interval
    covariance: Floats
    sizes: tuple[float, ...]

    def at(self, size: float) -> float:
        """Seconds of a transfer of `size` bytes by this line."""
        return self.alpha + self.beta * size


def _student(freedom: int) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1 + CONFIDENCE) / 2))


def fit(sizes: Sequence[float], seconds: Sequence[float]) -> Line | None:
    """The line through transfers, with Student's intervals; None for too few sizes."""
    x, t = np.asarray(sizes, dtype=np.float64), np.asarray(seconds, dtype=np.float64)
    if len(np.unique(x)) < LEAST_POINTS or np.any(t <= 0) or np.any(x <= 0):
        return None
    best, covariance = np.polyfit(x, t, 1, w=1 / t, cov=True)
    reach = _student(len(x) - 2) * np.sqrt(np.diag(covariance))
    beta, alpha = best.tolist()
    low, high = (best - reach).tolist(), (best + reach).tolist()
    intervals = Interval(low[1], high[1]), Interval(low[0], high[0])
    return Line(alpha, beta, *intervals, covariance, tuple(x.tolist()))


def held_out(sizes: Iterable[int]) -> frozenset[int]:
    """Every third size except the smallest and the largest: those that a line must predict."""
    ordered = sorted(set(sizes))
    return frozenset(ordered[1:-1:3] if len(ordered) > LEAST_POINTS else ())


# --- where two lines cross ------------------------------------------------------------------------


class BreakEven(NamedTuple):
    """The size in bytes above which a line is cheaper; its interval may reach to 0 or ∞."""

    size: float
    interval: Interval


def break_even(many: Line, packed: Line) -> BreakEven | None:
    """The size above which many small copies are cheaper than packing; None if there is none.

    Packing has lower fixed costs and higher costs per byte. The interval has the sizes at which
    the difference of the lines is not significant (Fieller 1954).
    """
    start, per_byte = many.alpha - packed.alpha, packed.beta - many.beta
    if start <= 0 or per_byte <= 0:
        return None
    (slope, both), (_, offset) = (many.covariance + packed.covariance).tolist()
    student = _student(len(many.sizes) + len(packed.sizes) - 4) ** 2
    # The roots of (start - per_byte * size)² = student * its variance.
    square = per_byte**2 - student * slope
    half = start * per_byte + student * both
    rest = start**2 - student * offset
    root = sqrt(max(0.0, half**2 - square * rest))
    low = rest / (half + root) if half + root > 0 else 0.0
    high = (half + root) / square if square > 0 else inf
    return BreakEven(start / per_byte, Interval(max(0.0, low), high))


# --- from rows ------------------------------------------------------------------------------------


class Point(NamedTuple):
    """One case of `transfers` by its caller's clock; `predicted` is in seconds, by the fit."""

    memory: str
    direction: str
    pieces: int
    packing: str
    bytes: int
    row: Row
    bandwidth: Row | None
    held_out: bool = False
    predicted: float | None = None

    @property
    def key(self) -> Key:
        """The key of its fitted line."""
        return self[:4]


def points(rows: Iterable[Row]) -> tuple[Point, ...]:
    """The transfers of a run, with their values on the fitted lines."""
    found = []
    for case in by_case(row for row in rows if row.benchmark == "transfers"):
        row, size = case.row("transfer_time", "wall"), case.count("bytes")
        if row and size:
            key = (
                row.text("memory"),
                row.text("direction"),
                case.count("pieces"),
                row.text("packing"),
            )
            found.append(Point(*key, size, row, case.row("bandwidth", "wall")))
    result = []
    for key, group in grouped(found, lambda point: point.key).items():
        out = held_out(point.bytes for point in group if point.row.valid)
        marked = [point._replace(held_out=point.bytes in out) for point in group]
        line = lines(marked).get(key)
        result += [p._replace(predicted=line.at(p.bytes) if line else None) for p in marked]

    def place(point: Point) -> tuple[object, ...]:
        memory, direction = rank(point.memory, MEMORIES), rank(point.direction, DIRECTIONS)
        return memory, direction, point.pieces, rank(point.packing, PACKINGS), point.bytes

    return tuple(sorted(result, key=place))


def lines(found: Iterable[Point]) -> Mapping[Key, Line]:
    """The line of each key through its valid points that are not held out, if possible."""
    used = (point for point in found if point.row.valid and not point.held_out)
    fitted = {
        key: fit([point.bytes for point in group], [point.row.value for point in group])
        for key, group in grouped(used, lambda point: point.key).items()
    }
    return {key: line for key, line in fitted.items() if line}


def queued_copy(found: Iterable[Point], direction: str) -> float | None:
    """Seconds of one of many small pinned copies that are queued one after the other."""
    queued = [p for p in found if p.key[:2] == ("pinned", direction) and p.packing == "none"]
    many = [point for point in queued if point.pieces > 1 and point.row.valid]
    most = min(many, key=lambda point: (-point.pieces, point.bytes), default=None)
    return most.row.value / most.pieces if most else None


def worst_prediction(found: Iterable[Point]) -> float | None:
    """The largest absolute relative error of predictions for held-out sizes."""
    judged = [point for point in found if point.held_out and point.row.valid]
    errors = (abs(p.predicted / p.row.value - 1) for p in judged if p.predicted is not None)
    return max(errors, default=None)


def break_evens(found: Iterable[Point]) -> Mapping[tuple[str, str, int], BreakEven]:
    """By memory, direction and pieces: the payload above which packing does not pay off."""
    fitted = lines(found)
    crossings = {
        key[:3]: break_even(many, fitted[*key[:3], "packed"])
        for key, many in fitted.items()
        if key[3] == "none" and (*key[:3], "packed") in fitted
    }
    return {key: crossing for key, crossing in crossings.items() if crossing}
