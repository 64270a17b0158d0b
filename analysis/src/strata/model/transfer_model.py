"""Transfers between host and device: t = alpha + beta * bytes, and where packing stops paying off.

The line is fitted to some of the sizes, by least squares of relative errors, so that small and
large times count equally. The other sizes are held out: their values on the line are predictions,
with known errors.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
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

RESAMPLES = 2000

Floats = npt.NDArray[np.float64]
Key = tuple[str, str, int, str]
"""Memory, direction, pieces, packing: what a line is fitted for."""


class Line(NamedTuple):
    """Seconds, and seconds per byte, with 95 % intervals; and the fitted points."""

    alpha: float
    beta: float
    alpha_interval: Interval
    beta_interval: Interval
    sizes: tuple[float, ...]
    seconds: tuple[float, ...]

    def at(self, size: float) -> float:
        """Seconds of a transfer of `size` bytes by this line."""
        return self.alpha + self.beta * size


def _scaled(sizes: Floats, weights: Floats) -> Floats:
    """The weighted design matrix: a column of ones, and sizes relative to the largest."""
    return np.column_stack([weights, weights * sizes / sizes.max()])


def _solve(sizes: Floats, seconds: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Alpha and beta that minimise the squares of weight · error, for each row of `seconds`."""
    (alpha, beta), *_ = np.linalg.lstsq(_scaled(sizes, weights), (weights * seconds).T, rcond=None)
    return alpha, beta / sizes.max()


@cache
def student(freedom: int) -> float:
    """Standard errors in a two-sided 95 % interval: the quantile of Student's t.

    By bisection of the finite series of Abramowitz and Stegun, 26.7.3 and 26.7.4. Importing scipy
    for it would cost each drawing process a quarter of a second.
    """

    def within(angle: float) -> float:
        """The probability of less than sqrt(freedom) · tan(angle), of either sign."""
        odd, cos = freedom % 2, math.cos(angle)
        term = total = (cos if odd else 1.0) if freedom > 1 else 0.0
        for power in range(2 + odd, freedom - 1, 2):
            term *= cos * cos * (power - 1) / power
            total += term
        inside = math.sin(angle) * total
        return (angle + inside) * 2 / math.pi if odd else inside

    low, high = 0.0, math.pi / 2
    while (middle := (low + high) / 2) not in (low, high):
        low, high = (middle, high) if within(middle) < CONFIDENCE else (low, middle)
    return math.sqrt(freedom) * math.tan(low)


def fit(sizes: Sequence[float], seconds: Sequence[float]) -> Line | None:
    """The line through transfers, with Student's intervals; None for too few sizes."""
    x, t = np.asarray(sizes, dtype=np.float64), np.asarray(seconds, dtype=np.float64)
    if len(np.unique(x)) < LEAST_POINTS or np.any(t <= 0) or np.any(x <= 0):
        return None
    alpha, beta = map(float, _solve(x, t, 1 / t))
    left, freedom = 1 - (alpha + beta * x) / t, len(x) - 2
    matrix = _scaled(x, 1 / t)
    covariance = np.linalg.inv(matrix.T @ matrix) * float(left @ left) / freedom
    reach = student(freedom) * np.sqrt(np.diag(covariance))
    alpha_reach, beta_reach = float(reach[0]), float(reach[1] / x.max())
    alpha_interval = Interval(alpha - alpha_reach, alpha + alpha_reach)
    beta_interval = Interval(beta - beta_reach, beta + beta_reach)
    return Line(alpha, beta, alpha_interval, beta_interval, tuple(x.tolist()), tuple(t.tolist()))


def held_out(sizes: Iterable[int]) -> frozenset[int]:
    """Every third size except the smallest and the largest: those that a line must predict."""
    ordered = sorted(set(sizes))
    return frozenset(ordered[1:-1:3] if len(ordered) > LEAST_POINTS else ())


# --- where two lines cross ------------------------------------------------------------------------


class BreakEven(NamedTuple):
    """The size in bytes above which a line is cheaper; its interval may reach to 0 or ∞."""

    size: float
    interval: Interval


def _crossing(first: tuple[float, float], second: tuple[float, float]) -> float:
    """Where the first line falls below the second: 0 if everywhere, infinite if nowhere."""
    alpha, beta = first[0] - second[0], second[1] - first[1]
    if alpha <= 0:
        return 0.0 if beta >= 0 else float("nan")
    return alpha / beta if beta > 0 else float("inf")


def _resampled(line: Line, generator: np.random.Generator) -> list[tuple[float, float]]:
    """Bootstrap: lines through the fitted points with resampled errors (over their leverage)."""
    x, t = np.asarray(line.sizes), np.asarray(line.seconds)
    fitted = line.alpha + line.beta * x
    matrix = _scaled(x, 1 / t)
    leverage = np.clip(np.diag(matrix @ np.linalg.pinv(matrix)), 0, 1 - 1e-9)
    errors = (t / fitted - 1) / np.sqrt(1 - leverage)
    errors -= errors.mean()
    dealt = fitted * (1 + generator.choice(errors, size=(RESAMPLES, len(x))))
    return list(zip(*_solve(x, dealt, 1 / np.abs(fitted)), strict=True))


def break_even(many: Line, packed: Line) -> BreakEven | None:
    """The size above which many small copies are cheaper than packing; None if there is none.

    Packing has lower fixed costs and higher costs per byte. The interval is from resampled lines.
    """
    size = _crossing((many.alpha, many.beta), (packed.alpha, packed.beta))
    if not 0 < size < float("inf"):
        return None
    generator = np.random.default_rng(1)
    lines = zip(_resampled(many, generator), _resampled(packed, generator), strict=True)
    sizes = [found for one, two in lines if not np.isnan(found := _crossing(one, two))]
    if not sizes:
        return None
    # Order statistics without interpolation, since some may be infinite.
    ends = ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2)
    low, high = (float(np.quantile(sizes, end, method="nearest")) for end in ends)
    return BreakEven(size, Interval(min(low, size), max(high, size)))


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
    found = [
        Point(
            row.text("memory"), row.text("direction"), case.count("pieces"), row.text("packing"),
            case.count("bytes"), row, case.row("bandwidth", "wall"),
        )
        for case in by_case(row for row in rows if row.benchmark == "transfers")
        if (row := case.row("transfer_time", "wall")) and case.count("bytes")
    ]  # fmt: skip
    result = []
    for group in grouped(found, lambda point: point.key).values():
        out = held_out(point.bytes for point in group if point.row.valid)
        marked = [point._replace(held_out=point.bytes in out) for point in group]
        line = lines(marked).get(group[0].key)
        result += [one._replace(predicted=line.at(one.bytes) if line else None) for one in marked]

    def place(one: Point) -> tuple[object, ...]:
        memory, direction = rank(one.memory, MEMORIES), rank(one.direction, DIRECTIONS)
        return memory, direction, one.pieces, rank(one.packing, PACKINGS), one.bytes

    return tuple(sorted(result, key=place))


def lines(found: Iterable[Point]) -> Mapping[Key, Line]:
    """The line of each key through its valid points that are not held out, if possible."""
    used = (point for point in found if point.row.valid and not point.held_out)
    fitted = {
        key: fit([one.bytes for one in here], [one.row.value for one in here])
        for key, here in grouped(used, lambda point: point.key).items()
    }
    return {key: line for key, line in fitted.items() if line}


def queued_copy(found: Iterable[Point], direction: str) -> float | None:
    """Seconds of one of many small pinned copies that are queued one after the other."""
    many = [
        one for one in found
        if one.key[:2] == ("pinned", direction) and one.packing == "none"
        and one.pieces > 1 and one.row.valid
    ]  # fmt: skip
    one = min(many, key=lambda point: (-point.pieces, point.bytes), default=None)
    return one.row.value / one.pieces if one else None


def worst_prediction(found: Iterable[Point]) -> float | None:
    """The largest absolute relative error of predictions for held-out sizes."""
    told = (one for one in found if one.held_out and one.row.valid)
    errors = (abs(one.predicted / one.row.value - 1) for one in told if one.predicted is not None)
    return max(errors, default=None)


def break_evens(found: Iterable[Point]) -> Mapping[tuple[str, str, int], BreakEven]:
    """By memory, direction and pieces: the payload above which packing does not pay off."""
    fitted = lines(found)
    return {
        key[:3]: crossing
        for key, many in fitted.items()
        if key[3] == "none"
        and (packed := fitted.get((*key[:3], "packed")))
        and (crossing := break_even(many, packed))
    }
