"""Transfers between host and device: t = alpha + beta * bytes, and where packing stops paying.

The line is fitted to some of the sizes, by least squares of relative errors, so that a microsecond
counts as much as a second that is as many per cent off. The other sizes are held out: what the line
says of them is a prediction, and its error is known. Like `strata.model`: no files, no drawing, and
what a run lacks is simply not there.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from strata.run import Row
from strata.run.statistics import Interval

MEMORIES = ("pageable", "pinned", "mapped")
DIRECTIONS = ("to_device", "to_host", "both")
PACKINGS = ("none", "packed")

CONFIDENCE = 0.95
LEAST_POINTS = 4
"""Two numbers are fitted, and what is left must say how well they are known."""

RESAMPLES = 2000

Floats = npt.NDArray[np.float64]
Key = tuple[str, str, int, str]
"""Memory, direction, pieces, packing: what a line is fitted for."""


@dataclass(frozen=True, slots=True)
class Line:
    """t = alpha + beta · bytes: seconds and seconds a byte, each with its 95 % interval.

    `sizes` and `seconds` are what it was fitted to.
    """

    alpha: float
    beta: float
    alpha_interval: Interval
    beta_interval: Interval
    sizes: tuple[float, ...]
    seconds: tuple[float, ...]

    def at(self, size: float) -> float:
        """Seconds that a transfer of `size` bytes takes by this line."""
        return self.alpha + self.beta * size


def _solve(sizes: Floats, seconds: Floats, weights: Floats) -> tuple[float, float]:
    """Alpha and beta that minimise the squares of weight · error.

    Bytes are scaled to the largest, so that the two columns are of a size.
    """
    scale = float(sizes.max())
    matrix = np.column_stack([weights, weights * sizes / scale])
    (alpha, beta), *_ = np.linalg.lstsq(matrix, weights * seconds, rcond=None)
    return float(alpha), float(beta) / scale


def fit(sizes: Sequence[float], seconds: Sequence[float]) -> Line | None:
    """The line through some transfers; None with too few sizes to know how good it is.

    Intervals are Student's, of the relative errors that are left over.
    """
    x = np.asarray(sizes, dtype=np.float64)
    t = np.asarray(seconds, dtype=np.float64)
    if len(np.unique(x)) < LEAST_POINTS or np.any(t <= 0) or np.any(x <= 0):
        return None
    weights = 1 / t
    alpha, beta = _solve(x, t, weights)
    matrix = np.column_stack([weights, weights * x])
    left = 1 - weights * (alpha + beta * x)
    freedom = len(x) - 2
    scale = np.array([1.0, 1 / x.max()])
    scaled = matrix * scale
    covariance = np.linalg.inv(scaled.T @ scaled) * float(left @ left) / freedom
    alpha_error, beta_error = np.sqrt(np.diag(covariance)) * scale
    reach = _student(freedom)
    return Line(
        alpha=alpha,
        beta=beta,
        alpha_interval=_around(alpha, reach * float(alpha_error)),
        beta_interval=_around(beta, reach * float(beta_error)),
        sizes=tuple(float(one) for one in x),
        seconds=tuple(float(one) for one in t),
    )


def _student(freedom: int) -> float:
    """The quantile of Student's t that bounds `CONFIDENCE` on both sides."""
    from scipy.special import stdtrit  # half a second that a page without transfers need not pay

    return float(stdtrit(freedom, (1 + CONFIDENCE) / 2))


def _around(middle: float, reach: float) -> Interval:
    return Interval(middle - reach, middle + reach)


def held_out(sizes: Iterable[int]) -> frozenset[int]:
    """Every third size, neither the smallest nor the largest: those that a line must predict."""
    ordered = sorted(set(sizes))
    if len(ordered) < LEAST_POINTS + 1:
        return frozenset()
    return frozenset(ordered[1:-1:3])


# --- where two lines cross ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class BreakEven:
    """The size in bytes from which on the first of two lines is the cheaper one, and its interval.

    An end of the interval may be 0 or infinite: then so many of the resampled lines do not cross.
    """

    size: float
    interval: Interval


def _crossing(first: tuple[float, float], second: tuple[float, float]) -> float:
    """Where the first line, dearer for nothing and cheaper a byte, gets below the second.

    0 when it is below everywhere, infinite when it never is.
    """
    alpha, beta = first[0] - second[0], second[1] - first[1]
    if alpha <= 0:
        return 0.0 if beta >= 0 else float("nan")
    return alpha / beta if beta > 0 else float("inf")


def _resampled(line: Line, generator: np.random.Generator) -> list[tuple[float, float]]:
    """Lines through the fitted points with their relative errors dealt anew.

    Errors are made as large as they would be had the line not been drawn through them (leverage).
    """
    x, t = np.asarray(line.sizes), np.asarray(line.seconds)
    fitted = line.alpha + line.beta * x
    weights = 1 / t
    matrix = np.column_stack([weights, weights * x / x.max()])
    leverage = np.clip(np.diag(matrix @ np.linalg.pinv(matrix)), 0, 1 - 1e-9)
    errors = (t / fitted - 1) / np.sqrt(1 - leverage)
    errors = errors - errors.mean()
    result = []
    for _ in range(RESAMPLES):
        dealt = fitted * (1 + generator.choice(errors, size=len(x)))
        result.append(_solve(x, dealt, 1 / np.abs(fitted)))
    return result


def break_even(many: Line, packed: Line, *, seed: int = 1) -> BreakEven | None:
    """From how many bytes on many small copies are cheaper than packing; None if they never are.

    Packing has the lower cost for nothing and the higher cost a byte. The interval comes from
    resampling the relative errors of both fits.
    """
    size = _crossing((many.alpha, many.beta), (packed.alpha, packed.beta))
    if not np.isfinite(size) or size <= 0:
        return None
    generator = np.random.default_rng(seed)
    sizes = [
        _crossing(one, two)
        for one, two in zip(_resampled(many, generator), _resampled(packed, generator), strict=True)
    ]
    known = np.array([one for one in sizes if not np.isnan(one)])
    if not len(known):
        return None
    # Of the order statistics, not between them: some may be infinite.
    low, high = (
        float(np.quantile(known, p, method="nearest"))
        for p in ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2)
    )
    return BreakEven(size=size, interval=Interval(min(low, size), max(high, size)))


# --- from rows ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Point:
    """One case of `transfers` by its caller's clock; `predicted` is in seconds, by the fit.

    A point that is held out was not fitted, nor one that is not valid.
    """

    memory: str
    direction: str
    pieces: int
    packing: str
    bytes: int
    held_out: bool
    predicted: float | None
    row: Row
    bandwidth: Row | None

    @property
    def key(self) -> Key:
        """What its line is fitted for."""
        return (self.memory, self.direction, self.pieces, self.packing)

    @property
    def moved(self) -> int:
        """Bytes moved in all."""
        return self.bytes * (2 if self.direction == "both" else 1)

    @property
    def error(self) -> float | None:
        """Predicted ÷ measured − 1."""
        return None if self.predicted is None else self.predicted / self.row.value - 1


def _place(known: Sequence[str], word: str) -> tuple[int, str]:
    return (known.index(word) if word in known else len(known), word)


def points(rows: Iterable[Row], *, method: str = "wall") -> tuple[Point, ...]:
    """The transfers of a run, with what the fits say of them."""
    times: list[Row] = []
    bandwidths: dict[str, Row] = {}
    for row in rows:
        if row.benchmark == "transfers" and row.method == method:
            if row.quantity == "transfer_time":
                times.append(row)
            elif row.quantity == "bandwidth":
                bandwidths[row.case] = row
    found = [
        Point(
            memory=row.params["memory"],
            direction=row.params["direction"],
            pieces=int(row.params["pieces"]),
            packing=row.params["packing"],
            bytes=int(row.params["bytes"]),
            held_out=False,
            predicted=None,
            row=row,
            bandwidth=bandwidths.get(row.case),
        )
        for row in times
    ]
    groups: dict[Key, list[Point]] = defaultdict(list)
    for point in found:
        groups[point.key].append(point)
    result: list[Point] = []
    for group in groups.values():
        out = held_out(point.bytes for point in group if point.row.valid)
        marked = [replace(point, held_out=point.bytes in out) for point in group]
        line = line_of(marked)
        result += [
            replace(point, predicted=line.at(point.bytes)) if line else point for point in marked
        ]
    return tuple(
        sorted(
            result,
            key=lambda one: (
                _place(MEMORIES, one.memory),
                _place(DIRECTIONS, one.direction),
                one.pieces,
                _place(PACKINGS, one.packing),
                one.bytes,
            ),
        )
    )


def line_of(group: Iterable[Point]) -> Line | None:
    """The line through the valid points of one key that are not held out."""
    used = [point for point in group if point.row.valid and not point.held_out]
    return fit([point.bytes for point in used], [point.row.value for point in used])


def lines(found: Iterable[Point]) -> Mapping[Key, Line]:
    """The fitted line of each key that has one."""
    groups: dict[Key, list[Point]] = defaultdict(list)
    for point in found:
        groups[point.key].append(point)
    fitted = {key: line_of(group) for key, group in groups.items()}
    return {key: line for key, line in fitted.items() if line is not None}


def worst_prediction(found: Iterable[Point]) -> float | None:
    """The largest relative error, in absolute value, of what was predicted of held-out sizes."""
    errors = [
        abs(point.error)
        for point in found
        if point.held_out and point.row.valid and point.error is not None
    ]
    return max(errors, default=None)


def break_evens(found: Iterable[Point]) -> Mapping[tuple[str, str, int], BreakEven]:
    """By memory, direction and pieces: the payload from which on packing does not pay."""
    fitted = lines(found)
    result = {}
    for memory, direction, pieces, packing in fitted:
        packed = fitted.get((memory, direction, pieces, "packed"))
        if packing != "none" or packed is None:
            continue
        many = fitted[memory, direction, pieces, "none"]
        crossing = break_even(many, packed)
        if crossing is not None:
            result[memory, direction, pieces] = crossing
    return result
