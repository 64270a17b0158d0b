"""How far do medians wander between two runs of the same code, and what can be told beside that?

Samples within one case of one run say how well its median is known in that run. From run to run the
median moves further: memory lies elsewhere, the clock, the temperature, the neighbours are others.
A test on the samples alone takes each of these for a change of the code (NVIDIA/nvbench#316 has
such alarms on identical code). Between the two recorded runs of the atlas, of two H200s and mostly
the same kernels, it calls 44 % of 15 340 rows changed at a rate of 1 % each, and 28 % by
Bonferroni's procedure; with the floors of this file no row is, and with floors from half of the
cases none of the other half in five draws of six, 2 of 7796 in the sixth.

So every change is held against a floor: the between-run component of its kind of row, from runs of
the same code where they are given, and otherwise from the changes themselves, of which most must
then be no changes (Efron 2004, an empirical null).

Everything is in logarithms of values, so an error of 0.01 is 1 %.

Rows of a group do not wander alike (at the edge of a cache more than in its middle), so a floor has
a shape as well: Subbotin's exponential power law, from normal to tails far heavier than Laplace's.
With a Student's t, whose power-law tails a few dozen rows cannot tell from lighter ones, nothing
below a doubling would ever be found among ten thousand rows.

    Price, Bonett 2002: Distribution-free confidence intervals for difference and ratio of medians
    Efron 2004: Large-scale simultaneous hypothesis testing, the choice of a null hypothesis
    Subbotin 1923: On the law of frequency of error
    Holm 1979: A simple sequentially rejective multiple test procedure
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import comb
from statistics import NormalDist

import numpy as np
import numpy.typing as npt
from scipy.special import gammaincc, gammainccinv, gammaln

Vector = npt.NDArray[np.float64]

MIN_ROWS = 20
"""A floor is estimated from at least so many changes."""
LEAST = 0.0005
"""No between-run component is taken to be below 0.05 %: timers and clocks have steps."""
KEPT = 0.95
"""Without runs of the same code: the share of a group's changes that the shape is fitted to.

Beyond it a change counts as far out and no more, so that one row in twenty may have changed without
hiding itself; the spread stands even where nearly half have.
"""
SHIFTS = 5
"""How many groups it takes to say how far whole groups are shifted."""
SHAPES = (0.3, 0.4, 0.5, 0.65, 0.8, 1.0, 1.25, 1.6, 2.0)
"""Exponents that a law may have: 2 is normal, 1 is Laplace's."""
REFUTED = 0.5
"""A shape is refuted that is this much less likely, as a logarithm: by one standard error."""
SEEN = 20
"""From so many samples on, their order tells how much they depend on each other."""

_NORMAL = NormalDist()
_SIGMA = math.erfc(1 / math.sqrt(2))
"""How often a normal variable is beyond one standard deviation."""
_LEAST_CHANCE = 80.0
"""Chances below exp(-80) are not told apart."""
_GRID = np.concatenate([-np.geomspace(_LEAST_CHANCE, 1e-6, 1600), [0.0]])
"""Logarithms of chances, close to each other where the quantiles bend."""


@cache
def _ranks(count: int) -> tuple[int, float]:
    """Price and Bonett's rank for `count` samples, and the normal quantile that belongs to it."""
    rank = max(1, round((count + 1) / 2 - math.sqrt(count)))
    tail = sum(comb(count, below) for below in range(rank)) / 2**count
    return rank, _NORMAL.inv_cdf(1 - tail)


def median_error(samples: Sequence[float]) -> float:
    """Standard error of the logarithm of the median of positive `samples`, in the order taken.

    By Price and Bonett's order statistics, without a distribution; 0 of a single sample, which has
    no spread to show. From 20 samples on it is widened by the correlation of neighbours in time,
    as for a process of first order.
    """
    count = len(samples)
    if count < 2:
        return 0.0
    rank, quantile = _ranks(count)
    ordered = sorted(samples)
    error = (math.log(ordered[-rank]) - math.log(ordered[rank - 1])) / (2 * quantile)
    if count < SEEN or error == 0:
        return error
    values = np.log(samples)
    values = values - values.mean()
    correlation = float((values[1:] * values[:-1]).sum() / (values * values).sum())
    correlation = min(max(correlation, 0.0), 0.9)
    return error * math.sqrt((1 + correlation) / (1 - correlation))


# --- how far a row moves without a change ---------------------------------------------------------


@cache
def _table(shape: float) -> Vector:
    """How far a law of one sigma reaches, for the chances of `_GRID`."""
    unit = gammainccinv(1 / shape, _SIGMA)
    result: Vector = (gammainccinv(1 / shape, np.exp(_GRID)) / unit) ** (1 / shape)
    return result


def _within(chances: Vector, shapes: Vector) -> Vector:
    """How far laws of one sigma reach: they are beyond with the given chances, to either side.

    One sigma is where 68.3 % lie, whatever the shape. Between the lines of a table, because the
    function itself takes microseconds: right to 0.1 %.
    """
    result = np.empty_like(chances)
    logarithms = np.log(chances)
    for shape in np.unique(shapes):
        here = shapes == shape
        result[here] = np.interp(logarithms[here], _GRID, _table(float(shape)))
    return result


def half_widths(chances: Vector, scales: Vector, shapes: Vector, shift: float) -> Vector:
    """How far rows move without a change, beyond which they are with the given chances.

    `scales` and `shapes` are of what is the row's own, `shift` is the normal part of its group. The
    root of the summed squares of both quantiles is exact if all is normal, and where one of the two
    is far the larger.
    """
    normal = np.full_like(shapes, 2.0)
    own, common = scales * _within(chances, shapes), shift * _within(chances, normal)
    return np.hypot(own, common)


def chances_of(changes: Vector, scales: Vector, shapes: Vector, shift: float) -> Vector:
    """How often rows without a change move at least as far as `changes`, to either side."""
    low, high = np.full_like(changes, -_LEAST_CHANCE), np.zeros_like(changes)
    for _ in range(28):
        middle = (low + high) / 2
        inside = half_widths(np.exp(middle), scales, shapes, shift) > np.abs(changes)
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    result: Vector = np.exp(high)
    return result


@dataclass(frozen=True, slots=True)
class Law:
    """How one row moves without a change, in logarithms: own scale and shape, shift of its group.

    `scale` is one sigma: 68.3 % of such rows move less.
    """

    scale: float
    shape: float
    shift: float

    def half_width(self, chance: float) -> float:
        """Beyond which the row is with this chance, both sides together."""
        one = np.ones(1)
        return float(half_widths(chance * one, self.scale * one, self.shape * one, self.shift)[0])

    def chance(self, change: float) -> float:
        """How often the row moves at least as far, to either side."""
        one = np.ones(1)
        return float(chances_of(change * one, self.scale * one, self.shape * one, self.shift)[0])


@dataclass(frozen=True, slots=True)
class Floor:
    """The between-run component of a group of rows, as a logarithm.

    `spread` is one sigma of rows within the group and `shape` the exponent of its law; `shift` is
    one sigma of the group as a whole. `rows` is the number of changes behind it, 0 where it is
    assumed; `group` are the words that its rows have in common.
    """

    group: tuple[str, ...]
    rows: int
    spread: float
    shape: float
    shift: float

    def law(self, error: float) -> Law:
        """Of a row of the group, by `error` of both of its medians together."""
        return Law(math.hypot(self.spread, error), self.shape, self.shift)


def fit(changes: Vector, errors: Vector, *, kept: float) -> tuple[float, float]:
    """Spread and shape of `changes` around zero beyond their `errors`, all of one group.

    The spread makes half of the changes lie within the law's own middle half, whatever the others
    do; the shape is the likeliest, where of the changes beyond the share `kept` only the number
    counts.
    """
    sizes = np.abs(changes)
    shapes = np.array(SHAPES)
    spreads = _spreads(sizes, errors, _within(np.full_like(shapes, 0.5), shapes))
    units = np.sqrt(spreads[:, None] ** 2 + errors[None, :] ** 2)
    powers = shapes[:, None]
    scaled = gammainccinv(1 / powers, _SIGMA) * (sizes / units) ** powers
    peak = np.log(powers / 2) - gammaln(1 / powers)
    peak = peak + np.log(gammainccinv(1 / powers, _SIGMA)) / powers
    dense = peak - np.log(units) - scaled
    if kept < 1:
        edge = np.quantile(scaled, kept, axis=1, keepdims=True)
        beyond = np.log(np.maximum(gammaincc(1 / powers, edge), 1e-300))
        dense = np.where(scaled > edge, beyond, dense)
    likelihoods = dense.sum(axis=1)
    best = int(np.argmax(likelihoods >= likelihoods.max() - REFUTED))
    return float(spreads[best]), SHAPES[best]


def _spreads(sizes: Vector, errors: Vector, middles: Vector) -> Vector:
    """For each shape the spread that puts the median of `sizes` on its middle, at least LEAST.

    By bisection, for all shapes at once; 40 halvings are far below any rounding shown.
    """
    low = np.full(len(middles), LEAST)
    high = np.maximum(LEAST, float(sizes.max()) / middles)

    def above(spread: Vector) -> npt.NDArray[np.bool_]:
        units = np.sqrt(spread[:, None] ** 2 + errors[None, :] ** 2)
        result: npt.NDArray[np.bool_] = np.median(sizes / units, axis=1) > middles
        return result

    high = np.where(above(low), high, low)
    for _ in range(40):
        middle = np.sqrt(low * high)
        over = above(middle)
        low, high = np.where(over, middle, low), np.where(over, high, middle)
    return high


@dataclass(frozen=True, slots=True)
class Drift:
    """What moved between two runs: logarithms of ratios, their errors, and the groups of each row.

    `groups` has for each row its groups from the finest to the coarsest.
    """

    changes: Vector
    errors: Vector
    groups: Sequence[tuple[tuple[str, ...], ...]]


class Floors:
    """The floors of all groups: each row has that of its finest group with enough rows."""

    def __init__(self, drifts: Sequence[Drift], *, known: bool, assumed: float) -> None:
        """Of pairs of runs: `known` says that both had the same code, so that all is wander.

        `assumed` is the spread where too few rows say otherwise, as a logarithm.
        """
        self._known = known
        self._assumed = assumed
        self._members: dict[tuple[str, ...], list[int]] = defaultdict(list)
        self._floors: dict[tuple[str, ...], Floor] = {}
        medians: list[float] = []
        centred = [drift.changes.copy() for drift in drifts]
        for drift, changes in zip(drifts, centred, strict=True):
            finest: dict[tuple[str, ...], list[int]] = defaultdict(list)
            for place, groups in enumerate(drift.groups):
                finest[groups[0]].append(place)
            for places in finest.values():
                if len(places) >= MIN_ROWS:
                    medians.append(float(np.median(changes[places])))
                    changes[places] -= medians[-1]
        for place, groups in enumerate(groups for drift in drifts for groups in drift.groups):
            for group in dict.fromkeys(groups):
                self._members[group].append(place)
        self._changes = np.concatenate([*centred, np.empty(0)])
        self._errors = np.concatenate([*(drift.errors for drift in drifts), np.empty(0)])
        self.shift = self._shift(np.array(medians))

    def _shift(self, medians: Vector) -> float:
        """How far whole groups are shifted, by their medians.

        Where the code may have changed, most groups are supposed to have no change or a common one.
        """
        if self._known and len(medians):
            spread = math.sqrt(float((medians**2).mean()))
        elif len(medians) >= SHIFTS:
            spread = 1.4826 * float(np.median(np.abs(medians - np.median(medians))))
        else:
            return self._assumed
        spread *= caution(len(medians))
        return spread if len(medians) >= SHIFTS else max(spread, self._assumed)

    def of(self, groups: Sequence[tuple[str, ...]]) -> Floor:
        """The floor of a row with these groups, from the finest to the coarsest."""
        for group in groups:
            members = self._members.get(group, [])
            if len(members) >= MIN_ROWS:
                if group not in self._floors:
                    self._floors[group] = self._estimate(group, members)
                return self._floors[group]
        return Floor(group=(), rows=0, spread=self._assumed, shape=1.0, shift=self.shift)

    def _estimate(self, group: tuple[str, ...], members: Sequence[int]) -> Floor:
        changes = self._changes[members]
        centre = 0.0 if self._known else float(np.median(changes))
        kept = 1.0 if self._known else KEPT
        spread, shape = fit(changes - centre, self._errors[members], kept=kept)
        spread *= caution(len(members))
        return Floor(group=group, rows=len(members), spread=spread, shape=shape, shift=self.shift)


def caution(count: int) -> float:
    """By what a spread of `count` numbers is raised: one standard error of a median deviation."""
    return 1 + 1.17 / math.sqrt(count)


# --- deciding -------------------------------------------------------------------------------------


def holm(chances: Sequence[float], rate: float) -> tuple[bool, ...]:
    """Which of the `chances` are alarms, when in all of them together false ones come at `rate`.

    Holm's step-down: however the rows depend on each other, the probability of even one false alarm
    is at most `rate`.
    """
    result = [False] * len(chances)
    order = sorted(range(len(chances)), key=lambda place: (chances[place], place))
    for step, place in enumerate(order):
        if chances[place] > rate / (len(chances) - step):
            break
        result[place] = True
    return tuple(result)


@dataclass(frozen=True, slots=True)
class Decision:
    """How a comparison decides: `rate` of false alarms in `rows` together, from `least` on.

    `least` is the smallest change of interest, as a logarithm. All is said of Holm's first step, at
    which an alarm is hardest.
    """

    rows: int
    rate: float
    least: float

    def edge(self, law: Law) -> float:
        """The smallest change seen that is an alarm, as a logarithm."""
        return max(law.half_width(self.rate / max(self.rows, 1)), self.least)

    def power(self, change: float, law: Law) -> float:
        """How often a true `change` (a logarithm) is found."""
        short = self.edge(law) - abs(change)
        tail = law.chance(short) / 2
        return tail if short > 0 else 1 - tail

    def smallest(self, law: Law, power: float) -> float:
        """The smallest true change that is found with `power` (at least 0.5), as a logarithm."""
        return self.edge(law) + law.half_width(2 * (1 - power))

    def samples(self, change: float, spread: float, floor: Floor, power: float) -> int | None:
        """How many samples each run needs so that a true `change` is found with `power`.

        `change` and `spread`, the standard deviation of independent normal samples, are logarithms.
        None where the floor alone hides it: then no samples help, but runs of the same code.
        """
        if self.power(change, floor.law(0.0)) < power:
            return None

        def enough(count: int) -> bool:
            # The median of n normal samples has π/2 times the variance of their mean; two medians.
            error = spread * math.sqrt(math.pi / count)
            return self.power(change, floor.law(error)) >= power

        high = 1
        while not enough(high):
            high *= 2
            if high > 2**30:
                return None
        low = high // 2
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if enough(middle) else (middle, high)
        return high
