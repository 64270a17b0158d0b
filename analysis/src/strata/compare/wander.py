"""How far do medians wander between runs of the same code, and what can be told despite that?

The samples of one run show how well a median is known in that run. It moves further from run to
run, because memory addresses, clock, temperature and neighbours differ. A test on the samples alone
takes each of these for a change of the code (NVIDIA/nvbench#316 has such alarms on identical code).
Between the two recorded runs of the atlas, of two H200s and mostly the same kernels, it calls 44 %
of 15 340 rows changed at a rate of 1 % each, and 28 % by Bonferroni's procedure. With the floors of
this file no row is called changed; with floors from half of the cases, none of the other half is in
five draws of six, and 2 of 7796 are in the sixth.

So every change is compared with a floor: the between-run component of its kind of row. It is
estimated from runs of the same code if they are given, and otherwise from the changes themselves,
of which most must then be unchanged (Efron 2004, an empirical null). All computations use
logarithms of values: 0.01 is 1 %.

Rows of a group do not wander equally (more at the edge of a cache than in its middle), so a floor
has a shape as well: Subbotin's exponential power law, from normal to tails far heavier than
Laplace's. Two published laws were tried in its place, and tests hold the comparison. A normal one,
which is Efron's null and the variance component of Kalibera and Jones, raises alarms on recorded
repeats. Smyth's Student's t finds less than half as many rows of a recorded pair whose DRAM moved.

    Price, Bonett 2002: Distribution-free confidence intervals for difference and ratio of medians
    Efron 2004: Large-scale simultaneous hypothesis testing, the choice of a null hypothesis
    Kalibera, Jones 2013: Rigorous benchmarking in reasonable time
    Smyth 2004: Linear models and empirical Bayes methods for assessing differential expression
    Subbotin 1923: On the law of frequency of error
    Holm 1979: A simple sequentially rejective multiple test procedure
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats
from scipy.optimize import brentq
from scipy.optimize.elementwise import find_root

Vector = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Group = tuple[str, ...]
"""The words that the rows of a group have in common."""

MIN_ROWS = 20  # minimum number of changes for a floor
LEAST = 0.0005  # minimum of a between-run component: timers and clocks have steps
KEPT = 0.95
"""Without runs of the same code: the share of a group's changes that the shape is fitted to.

Beyond it a change counts as far out and no more, so that one row in twenty may have changed without
hiding itself; the spread stands even where nearly half have.
"""
SHIFTS = 5  # minimum number of groups to estimate shifts of whole groups
SHAPES = (0.3, 0.4, 0.5, 0.65, 0.8, 1.0, 1.25, 1.6, 2.0)  # 1 is Laplace's distribution, 2 is normal
REFUTED = 0.5  # accepted loss of log likelihood: one standard error
SEEN = 20  # minimum number of samples to estimate their autocorrelation
RAREST = math.exp(-80)  # the least probability of a change

LAW = stats.gennorm  # Subbotin's law
_SIGMA = 2 * stats.norm.sf(1)  # probability that a normal variable is beyond one sigma


@cache
def _ranks(count: int) -> tuple[int, float]:
    """Price and Bonett's rank for `count` samples, and its normal quantile."""
    rank = max(1, round((count + 1) / 2 - math.sqrt(count)))
    return rank, float(stats.norm.isf(stats.binom.cdf(rank - 1, count, 0.5)))


def median_error(samples: Sequence[float]) -> float:
    """Standard error of the logarithm of the median of positive `samples`, in the order taken.

    By Price and Bonett's order statistics, without assuming a distribution; 0 for fewer than two
    samples. From 20 samples on it is widened by their autocorrelation, as a first-order process.
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
    values -= values.mean()
    alike = float((values[1:] * values[:-1]).sum() / (values * values).sum())
    correlation = min(max(alike, 0.0), 0.9)
    return error * math.sqrt((1 + correlation) / (1 - correlation))


def _quantiles(chances: Vector | float, shapes: Vector | float) -> Vector:
    """Two-sided quantiles of exponential power laws with sigma 1 (68.3 % are within)."""
    unit = LAW.isf(_SIGMA / 2, shapes)
    return np.asarray(LAW.isf(np.asarray(chances) / 2, shapes) / unit)


class Laws(NamedTuple):
    """How rows move without a change, in logarithms: scale and shape of each, shift of its group.

    A scale is one sigma: 68.3 % of such rows move less. The shift follows Student's t with that
    scale and `freedom`; if that is 0, a normal distribution with that sigma.
    """

    scales: Vector
    shapes: Vector
    shift: Vector | float
    freedom: Vector | int = 0

    def reach(self, chances: Vector | float) -> Vector:
        """The bound that each row exceeds with the given probability, in either direction.

        The root of the summed squares of the row's own quantile and the shift's is exact if both
        are normal, or if one of the two is much larger.
        """
        freedom = np.where(np.equal(self.freedom, 0), np.inf, self.freedom)
        together = stats.t.isf(np.asarray(chances) / 2, freedom)
        own = _quantiles(chances, self.shapes)
        return np.asarray(np.hypot(self.scales * own, self.shift * together))

    def chances(self, changes: Vector) -> Vector:
        """The probability that each row moves at least as far as its change, either way."""

        def beyond(logarithm: Vector, /, *of: Any, **_: Any) -> Vector:
            size, *law = of
            return np.asarray(Laws(*law).reach(np.exp(logarithm)) - size)

        sizes = np.minimum(np.abs(changes), self.reach(RAREST))
        ends = math.log(RAREST), 0.0
        found = find_root(beyond, ends, args=(sizes, *self), tolerances={"xatol": 1e-7})
        return np.asarray(np.exp(found.x))


class Floor(NamedTuple):
    """The between-run component of a group of rows, as a logarithm.

    `spread` is one sigma of rows within the group, `shape` the exponent of its distribution,
    `shift` the scale of the group as a whole, `freedom` that of its distribution (0: normal);
    `rows` is the number of changes that it was estimated from, 0 if it is assumed.
    """

    group: Group
    rows: int
    spread: float
    shape: float
    shift: float
    freedom: int = 0

    @property
    def name(self) -> str:
        """The name of the group; `all` for the group of all rows."""
        return "/".join(filter(None, self.group)) or "all"


def fit(changes: Vector, errors: Vector, *, kept: float) -> tuple[float, float]:
    """Spread and shape of `changes` around zero beyond their `errors`, for one group.

    The spread puts half of the changes within the distribution's central half. The shape is the
    most likely one, given only the number of changes beyond the share `kept`; of shapes that are
    nearly as likely, the one with the heaviest tails.
    """
    sizes = np.abs(changes)
    found = []
    for shape in SHAPES:
        middle = float(_quantiles(0.5, shape))

        def excess(spread: float, middle: float = middle) -> float:
            return float(np.median(sizes / np.hypot(spread, errors))) - middle

        spread = LEAST
        if excess(LEAST) > 0:
            spread = float(brentq(excess, LEAST, sizes.max() / middle))
        scales = np.hypot(spread, errors) / LAW.isf(_SIGMA / 2, shape)
        dense = np.asarray(LAW.logpdf(changes, shape, scale=scales))
        if kept < 1:
            edge = np.quantile(sizes / scales, kept)
            beyond = math.log(max(2 * LAW.sf(edge, shape), 1e-300))
            dense = np.where(sizes / scales > edge, beyond, dense)
        found.append((float(dense.sum()), spread, shape))
    likely = max(found)[0] - REFUTED
    return next((spread, shape) for likelihood, spread, shape in found if likelihood >= likely)


class Drift(NamedTuple):
    """Logarithms of ratios of two runs, their errors, and each row's groups, finest first.

    `families` are those of `strata.compare.families`. `clock` is what a difference of the two runs'
    clocks explains of each row's change, from its lower end to its upper; empty without one.
    """

    changes: Vector
    errors: Vector
    groups: Sequence[Sequence[Group]]
    families: Sequence[tuple[str, str, str, str]] = ()
    clock: Sequence[tuple[float, float]] = ()


def floors(
    drifts: Sequence[Drift], rows: Iterable[Sequence[Group]], *, known: bool, assumed: float
) -> list[Floor]:
    """The floor of each of `rows`, whose groups are given: that of the finest with enough rows.

    `drifts` are of pairs of runs; `known` means that both had the same code, so that all is noise.
    `assumed` is the spread if there are too few rows, as a logarithm.
    """
    errors = np.concatenate([drift.errors for drift in drifts])
    changes = np.concatenate([drift.changes for drift in drifts])
    finest: dict[tuple[int, Group], list[int]] = defaultdict(list)
    members: dict[Group, list[int]] = defaultdict(list)
    moved = ((pair, groups) for pair, drift in enumerate(drifts) for groups in drift.groups)
    for place, (pair, groups) in enumerate(moved):
        finest[pair, groups[0]].append(place)
        for group in groups:
            members[group].append(place)
    large = [places for places in finest.values() if len(places) >= MIN_ROWS]
    medians = np.array([np.median(changes[places]) for places in large])
    for places, median in zip(large, medians, strict=True):
        changes[places] -= median
    shift = _shift(medians, known=known, assumed=assumed)

    @cache
    def estimated(group: Group) -> Floor:
        here, count = changes[members[group]], len(members[group])
        centre, kept = (0.0, 1.0) if known else (float(np.median(here)), KEPT)
        spread, shape = fit(here - centre, errors[members[group]], kept=kept)
        return Floor(group, count, spread * caution(count), shape, shift)

    enough = {group for group, places in members.items() if len(places) >= MIN_ROWS}
    found = (next(filter(enough.__contains__, groups), None) for groups in rows)
    unknown = Floor((), 0, assumed, 1.0, shift)
    return [unknown if group is None else estimated(group) for group in found]


def _shift(medians: Vector, *, known: bool, assumed: float) -> float:
    """The shift of groups. If the code may have changed, most must not shift, or shift alike."""
    enough = len(medians) >= SHIFTS
    if known and len(medians):
        spread = math.sqrt(float((medians**2).mean()))
    elif enough:
        spread = 1.4826 * float(np.median(np.abs(medians - np.median(medians))))
    else:
        return assumed
    spread *= caution(len(medians))
    return spread if enough else max(spread, assumed)


def caution(count: int) -> float:
    """The factor that raises a spread of `count` numbers: one standard error of its estimate."""
    return 1 + 1.17 / math.sqrt(count)


def holm(chances: Vector, rate: float, least: Vector | float = 1.0) -> Mask:
    """Holm's alarms: the probability of even one false one is at most `rate`, in any dependence.

    `least` are the chances of the smallest change that is reported, and smaller changes are no
    alarms. So without a change, one row's alarm at the level u has the probability min(u, least):
    a row that hardly ever moves that far spends none of the rate, and the others may spend it.
    """
    least = np.broadcast_to(np.asarray(least, float), chances.shape)
    alarms = np.zeros(len(chances), bool)
    for place in np.argsort(chances, kind="stable"):
        chance = chances[place]
        if chance <= least[place]:
            left = ~alarms
            if chance > rate / left.sum() and np.minimum(chance, least[left]).sum() > rate:
                break
            alarms[place] = True
    return alarms


def strictest(least: Vector, rate: float) -> float:
    """The chance below which the first of Holm's alarms is raised."""
    least = np.sort(least)
    left = rate - np.concatenate(([0.0], np.cumsum(least)[:-1]))
    levels = left / np.arange(len(least), 0, -1)  # if only the rows from here on spend the level
    spent = np.append(levels <= least, True)
    return float(np.append(levels, 1.0)[np.argmax(spent)])
