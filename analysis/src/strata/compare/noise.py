"""How far do timed rows, and families of them, move between runs of the same code?

Computed in logarithms: 0.01 is 1 %. Every decision, its method and its source:

error of a median   order statistics of its samples (Price and Bonett 2002), with an effective
                    number by the serial correlation of their ranks (Woodruff 1952, Bartels 1982)
noise of a row      error of both medians, spread between runs, shift of its family: components of
                    variance that add up (Kalibera and Jones 2013)
spread and tails    empirical null from repeats, or from the changes themselves if most of them are
                    none (Efron 2004), by maximum likelihood; its law is Subbotin's (1923), because
                    with a normal one recorded repeats raise alarms, and with Student's fewer rows
                    of a recorded pair are found
shift of a family   moderated t (Smyth 2004) with a prior in proportion to the spread of its rows
                    (Sartor et al. 2006): a family is one observation, however many rows it has
other clock         composite null: a change is tested from the nearer end of what the clock
                    explains, its least favourable point (Lehmann and Romano 2005)
alarms              Holm's procedure (1979), with the probability of an alarm of each test as for
                    discrete ones (Westfall and Wolfinger 1997), because plain Holm finds less; and
                    the intervals of both medians at its level must be apart, because samples of two
                    modes have a median that no standard error describes

A family is the rows of one benchmark, quantity and level; its shift is the median of theirs. In
three recorded runs of one chip all 62 loads from shared memory in seconds are 0.55 % higher, then
lower again, which a test over rows would call certain: they share clock, temperature, addresses
and driver. So the run is the unit: a shift is compared with shifts between runs of the same code.

If the clock of two runs differs, a family may follow it fully, in part or not at all: on an H100,
times from L1 do, times from DRAM do not, times from L2 do by half. A repeat at another clock counts
by its distance from the nearer end; one well inside shows how its family follows the clock only.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import erfc, gammaincc, gammainccinv, gammaln, ndtri, stdtr, stdtrit
from scipy.stats import rankdata

from strata.run import Row, grouped

Vector = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

FAMILY = ["suite", "benchmark", "quantity", "level"]
GROUPS: tuple[list[str], ...] = (
    [],
    ["suite", "quantity", "method"],
    ["suite", "benchmark", "quantity", "method"],
    [*FAMILY, "method"],
)
"""Columns of rows that may spread alike, the coarsest first."""
LEAST = 0.0005  # minimum of a between-run component: timers and clocks have steps
MIN_ROWS = 20  # minimum number of rows or families for an estimate
SMALLEST = 5  # minimum rows of a family that is tested
SERIAL = 20  # minimum number of samples to estimate their autocorrelation
KEPT = 0.95
"""Without repeats: the share of changes that tails are fitted to, so that others may be changes."""
SHAPES = (0.3, 0.4, 0.5, 0.65, 0.8, 1.0, 1.25, 1.6, 2.0)  # 1 is Laplace's law, 2 is normal
REFUTED = 0.25  # loss of log likelihood up to which heavier tails are preferred
PRIOR = 4  # prior degrees of freedom of a family's shift
WITHIN = 0.8  # the share of shifts from which the prior is estimated
NEAR = 0.25  # how near to an end of what clocks explain, in its length, a shift is a drift
KNEE = 0.01
"""By so much of a footprint the knee of a curve moves between runs, as pages are placed elsewhere.

Where a curve over the footprint climbs, its rows are that much less certain: of two runs of one
chip, a chain of 33.6 MB, past the near half of L2, took 6 % longer in the second.
"""
RAREST = math.exp(-80)  # the least probability of a change
STEPS = 10  # of a bisection of the logarithms of probabilities
SIGMA = 1.4826  # a normal standard deviation in median deviations
CERTAIN = 1.96  # normal sigmas of a 95 % interval
_BEYOND = erfc(math.sqrt(0.5))  # the probability that a normal variable is beyond one sigma


def intervals(samples: Sequence[Sequence[float]], sigmas: float) -> tuple[Vector, Vector, Vector]:
    """Order statistics around medians of positive samples, in the order taken, as logarithms.

    The distances below and above the median, and of how many normal sigmas they are: fewer than
    `sigmas` where all samples are within. All are 0, of one sigma, for fewer than two samples.
    """
    below, above, reached = np.zeros((3, len(samples)))
    reached[:] = 1.0
    for count, places in grouped(range(len(samples)), lambda at: len(samples[at])).items():
        if count < 2:
            continue
        logs = np.log([samples[at] for at in places])
        ordered, each = np.sort(logs, axis=1), np.arange(len(places))
        middle, serial = np.median(ordered, axis=1), np.zeros(len(places))
        if count >= SERIAL:
            ranks = rankdata(logs, axis=1) - (count + 1) / 2
            squares = np.maximum((ranks**2).sum(axis=1), 1e-300)
            serial = ((ranks[:, 1:] * ranks[:, :-1]).sum(axis=1) / squares).clip(0, 0.9)
        wide = np.sqrt(count * (1 + serial) / (1 - serial))
        low = np.maximum(1, np.round((count + 1 - sigmas * wide) / 2)).astype(int)
        below[places] = middle - ordered[each, low - 1]
        above[places] = ordered[each, count - low] - middle
        reached[places] = (count + 1 - 2 * low) / wide
    return below, above, reached


def intervals_of(rows: Sequence[Row], sigmas: float) -> tuple[Vector, Vector, Vector]:
    """The same of rows; without samples, as in a table alone, their 95 % interval or range."""
    below, above, reached = intervals([row.taken for row in rows], sigmas)
    for at, row in enumerate(rows):
        if not row.taken:
            low, high = row.interval
            below[at], above[at] = math.log(row.value / low), math.log(high / row.value)
            reached[at] = CERTAIN if row.ci_low is not None else 1.0
    return below, above, reached


def median_errors(samples: Sequence[Sequence[float]]) -> Vector:
    """Standard errors of the logarithms of medians of positive samples, in the order taken."""
    return _error(*intervals(samples, 2.0))


def errors_of(rows: Sequence[Row]) -> Vector:
    """The same of rows."""
    return _error(*intervals_of(rows, 2.0))


def _error(below: Vector, above: Vector, reached: Vector) -> Vector:
    return (below + above) / (2 * reached)


def slopes(rows: Sequence[Row]) -> Vector:
    """The slope of each row's curve over the footprint, in logarithms: the steeper of two sides.

    0 for other rows.
    """
    curves: dict[object, list[int]] = {}
    for at, row in enumerate(rows):
        if row.count("footprint"):
            axes = tuple(axis for axis in row.params.items() if axis[0] != "footprint")
            curves.setdefault((row.benchmark, row.quantity, row.method, axes), []).append(at)
    steep = np.zeros(len(rows))
    for places in curves.values():
        footprints = np.array([rows[at].count("footprint") or 0 for at in places])
        order = np.argsort(footprints, kind="stable")
        curve, sizes = [places[at] for at in order], np.diff(np.log(footprints[order]))
        climbs = np.abs(np.diff(np.log([rows[at].value for at in curve])))
        climbs = np.divide(climbs, sizes, out=np.zeros_like(climbs), where=sizes > 0)
        steep[curve] = np.maximum(np.append(climbs, 0), np.append(0, climbs))
    return steep


def families(rows: pd.DataFrame, clock: float = 0.0) -> pd.DataFrame:
    """How each family moved: median and robust sigma of its rows' `log`.

    `low` and `high` are the ends of what the change of the clock (a logarithm) explains, `beyond`
    what they do not explain; `drift` is the shift from the nearer end, NaN if it shows how the
    family follows the clock.
    """
    of = rows.groupby(FAMILY, sort=False)
    found = of.agg(rows=("log", "size"), unit=("unit", "first"), middle=("log", "median"))
    apart = (rows.log - of.log.transform("median")).abs()
    found["spread"] = SIGMA * apart.groupby([rows[name] for name in FAMILY], sort=False).median()
    ends = np.array([explained(unit, clock) for unit in found.unit]).reshape(-1, 2)
    found["low"], found["high"] = ends.T
    found["beyond"] = found.middle - found.middle.clip(found.low, found.high)
    distances = found.middle.to_numpy()[:, None] - np.insert(ends, 1, 0.0, axis=1)
    nearest = np.take_along_axis(distances, np.abs(distances).argmin(axis=1)[:, None], axis=1)[:, 0]
    inside = (found.low < found.middle) & (found.middle < found.high)
    far = np.abs(nearest) > NEAR * np.abs(ends).max(axis=1, initial=0.0)
    found["drift"] = np.where(inside & far, np.nan, nearest)
    return found


def explained(unit: str, clock: float) -> tuple[float, float]:
    """The ends of what a change of the clock explains, both as logarithms.

    At a higher clock, times are shorter by up to as much, and cycles are more by up to as much:
    the former if the core decides, the latter if something else does, such as memory.
    """
    if unit == "s" or (unit.endswith("cycle") and "/" in unit):
        clock = -clock
    elif unit not in ("cycle", "tsc_cycle") and not unit.endswith("/s"):
        return -abs(clock), abs(clock)
    return min(clock, 0.0), max(clock, 0.0)


class Student(NamedTuple):
    """Student's distribution of shifts without a change, one scale and freedom for each."""

    scales: Vector
    freedoms: Vector

    def chances(self, shifts: Vector | float) -> Vector:
        """The probability to move at least this far, in either direction."""
        return np.asarray(2 * stdtr(self.freedoms, -np.abs(shifts) / self.scales))

    def reach(self, chance: float) -> Vector:
        """The distance that is exceeded with that probability, in either direction."""
        return np.asarray(self.scales * stdtrit(self.freedoms, 1 - chance / 2))


class Noise(NamedTuple):
    """How rows move without a change: by themselves, and with their family.

    A row moves by Subbotin's law, 68.3 % within one of `scales`. Its family shifts by Student's law
    of a scale and `freedoms`; if that is 0, by a normal one.
    """

    scales: Vector
    shapes: Vector
    shifts: Vector
    freedoms: Vector

    def reach(self, chance: Vector | float) -> Vector:
        """The distance that is exceeded with that probability, in either direction.

        The root of the summed squares of both quantiles is exact if both laws are normal, or if one
        of the two is much larger.
        """
        free = self.freedoms > 0
        chance, together = np.broadcast_to(chance, free.shape), np.empty(free.shape)
        together[~free] = -ndtri(chance[~free] / 2)
        together[free] = -stdtrit(self.freedoms[free], chance[free] / 2)
        own = self.scales * _widths(chance, self.shapes) / _widths(_BEYOND, self.shapes)
        return np.asarray(np.hypot(own, self.shifts * together))

    def chances(self, changes: Vector | float) -> Vector:
        """The probability to move at least this far, in either direction.

        By bisection of a table of its logarithm, then linear.
        """
        shapes, shape = np.unique(self.shapes, return_inverse=True)
        freedoms, freedom = np.unique(self.freedoms, return_inverse=True)
        logs = np.linspace(math.log(RAREST), 0.0, 1 + (1 << STEPS))
        one = np.ones(len(logs))
        own = [Noise(one, shape * one, 0 * one, 0 * one).reach(np.exp(logs)) for shape in shapes]
        whole = [Noise(0 * one, one, one, free * one).reach(np.exp(logs)) for free in freedoms]

        def reach(at: npt.NDArray[np.int64]) -> Vector:
            row, family = (np.array(table).reshape(-1, len(logs)) for table in (own, whole))
            return np.asarray(
                np.hypot(self.scales * row[shape, at], self.shifts * family[freedom, at])
            )

        sizes = np.minimum(np.abs(changes), reach(np.zeros(len(shape), int)))
        near = np.zeros(len(shape), int)  # the last place that is at least as far
        for step in range(STEPS - 1, -1, -1):
            near += np.where(reach(near + (1 << step)) >= sizes, 1 << step, 0)
        near = np.minimum(near, len(logs) - 2)
        outer, inner = reach(near), reach(near + 1)
        share = np.divide(
            outer - sizes, outer - inner, out=np.zeros_like(outer), where=outer > inner
        )
        return np.asarray(np.exp(logs[near] + share * (logs[1] - logs[0])))


def _widths(chance: Vector | float, shapes: Vector | float) -> Vector:
    """Two-sided quantiles of Subbotin's laws of scale 1."""
    return np.asarray(gammainccinv(1 / np.asarray(shapes), chance) ** (1 / np.asarray(shapes)))


def with_laws(
    found: pd.DataFrame, repeats: Sequence[Sequence[pd.DataFrame]], assumed: float
) -> pd.DataFrame:
    """The families with enough rows, with `scale` and `freedom` of Student's law of their shift.

    `repeats` are sets of runs of the same code: of each the families of its later runs relative to
    its first one. `assumed` is one sigma of a shift if there are too few families.
    """
    found = found[found.rows >= SMALLEST]
    sets = [pd.concat([run[run.rows >= SMALLEST] for run in runs]) for runs in repeats]
    pool = pd.concat(sets) if sum(map(len, sets)) else found
    ratios = np.abs(pool.drift / np.hypot(pool.spread, LEAST)).dropna().to_numpy()
    own = (pool.spread**2).groupby(level=FAMILY).mean() ** 0.5
    spread = own.reindex(found.index).fillna(found.spread).to_numpy()
    prior = np.hypot(spread, assumed)
    if len(ratios) >= MIN_ROWS:
        usual = float(stdtrit(PRIOR, (1 + WITHIN) / 2))
        factor = float(np.quantile(ratios, WITHIN)) / usual * caution(len(ratios))
        prior = np.hypot(factor * spread, LEAST)
    squares, freedom = pd.Series(PRIOR * prior**2, found.index), pd.Series(PRIOR, found.index)
    for runs in sets:
        drift = runs.drift.groupby(level=FAMILY)
        count = drift.count()
        apart = (runs.drift**2).groupby(level=FAMILY).sum() - drift.sum() ** 2 / (count + 1)
        squares += (2 * apart).reindex(found.index, fill_value=0.0)  # of a difference of two
        freedom += count.reindex(found.index, fill_value=0)
    return found.assign(scale=(squares / freedom) ** 0.5, freedom=freedom)


def floors(
    rows: pd.DataFrame, moved: Sequence[tuple[pd.DataFrame, pd.DataFrame]], laws: pd.DataFrame,
    *, known: bool, assumed: float,
) -> pd.DataFrame:  # fmt: skip
    """The noise between runs of each of `rows`, from the finest group that has enough of them.

    `floor_spread` is one sigma within the family, `floor_shape` the exponent of its law, from
    `floor_rows` changes of a `floor_group` (0 if assumed); `floor_shift` is the scale of the family
    as a whole, `floor_freedom` that of its distribution (0: normal). `moved` are rows and families
    of pairs of runs; `known` means that both had the same code, and that `laws` are from them.
    `assumed` is the spread if there are too few rows.
    """
    parts, drifts = [], []
    for changes, of in moved:
        whole = of.rows >= MIN_ROWS  # their drift is seen apart from the spread within
        drift = of.drift.fillna(0.0)
        drifts += drift[whole].tolist()
        centre = (of.middle - drift.mask(whole, 0.0)).rename("centre")
        parts.append(changes.join(centre, on=FAMILY))
    pool = pd.concat(parts)
    apart, errors = (pool.log - pool.centre).to_numpy(), pool.error.to_numpy()
    floor: list[tuple[str, int, float, float]] = [("all", 0, assumed, 1.0)] * len(rows)
    for columns in GROUPS:
        wanted, kinds = _kinds(rows, columns), _kinds(pool, columns)
        groups = grouped(range(len(kinds)), kinds.__getitem__)
        estimates = {}
        for group in set(wanted):
            if (count := len(places := groups.get(group, []))) >= MIN_ROWS:
                middle, kept = (0.0, 1.0) if known else (float(np.median(apart[places])), KEPT)
                spread, shape = fit(apart[places] - middle, errors[places], kept=kept)
                name = "/".join(filter(None, group)) or "all"
                estimates[group] = name, count, spread * caution(count), shape
        floor = [
            estimates.get(group, coarser) for group, coarser in zip(wanted, floor, strict=True)
        ]
    names = ["floor_group", "floor_rows", "floor_spread", "floor_shape"]
    shift = _shift(np.array(drifts), known=known, assumed=assumed)
    own = laws if known and len(laws) >= MIN_ROWS else laws[:0]
    of = rows[FAMILY].join(own[["scale", "freedom"]], on=FAMILY)
    found = pd.DataFrame(floor, rows.index, names).astype(
        {"floor_spread": float, "floor_shape": float}
    )
    return found.assign(floor_shift=of.scale.fillna(shift), floor_freedom=of.freedom.fillna(0.0))


def _kinds(rows: pd.DataFrame, columns: Sequence[str]) -> list[tuple[str, ...]]:
    return [*zip(*(rows[name] for name in columns), strict=True)] if columns else [()] * len(rows)


def fit(changes: Vector, errors: Vector, *, kept: float) -> tuple[float, float]:
    """Spread and shape of `changes` around zero beyond their `errors`.

    The spread puts half of the changes within the law's central half. The shape is the most likely
    one, given only the number of changes beyond the share `kept`; of shapes that are nearly as
    likely, the one with the heaviest tails.
    """
    sizes, found = np.abs(changes), []
    for shape in SHAPES:
        sigma = float(_widths(_BEYOND, shape))  # of the law of scale 1
        squares = (sizes * sigma / float(_widths(0.5, shape))) ** 2 - errors**2
        spread = math.sqrt(max(float(np.median(squares)), LEAST**2))
        scales = np.hypot(spread, errors) / sigma
        ratios = sizes / scales
        dense = math.log(shape / 2) - gammaln(1 / shape) - ratios**shape - np.log(scales)
        if kept < 1:
            edge = float(np.quantile(ratios, kept))
            beyond = math.log(max(float(gammaincc(1 / shape, edge**shape)), 1e-300))
            dense = np.where(ratios > edge, beyond, dense)
        found.append((float(dense.sum()), spread, shape))
    likely = max(found)[0] - REFUTED
    return next((spread, shape) for dense, spread, shape in found if dense >= likely)


def _shift(drifts: Vector, *, known: bool, assumed: float) -> float:
    """One sigma of shifts. If the code may have changed, most must not shift, or shift alike."""
    enough = len(drifts) >= SMALLEST
    if known and len(drifts):
        spread = math.sqrt(float((drifts**2).mean()))
    elif enough:
        spread = SIGMA * float(np.median(np.abs(drifts - np.median(drifts))))
    else:
        return assumed
    spread *= caution(len(drifts))
    return spread if enough else max(spread, assumed)


def caution(count: int) -> float:
    """The factor that raises a spread of `count` numbers: one standard error of its estimate."""
    return 1 + 1.17 / math.sqrt(count)


def holm(chances: Vector, rate: float, least: Vector | float = 1.0) -> Mask:
    """Holm's alarms: the probability of even one false one is at most `rate`, in any dependence.

    `least` are the chances of the smallest change that is reported, and smaller changes are no
    alarms. So without a change, a test's alarm at the level u has the probability min(u, least):
    a test that hardly ever moves that far spends none of the rate, and the others may spend it.
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
    levels = left / np.arange(len(least), 0, -1)  # if only the tests from here on spend the level
    spent = np.append(levels <= least, True)
    return float(np.append(levels, 1.0)[np.argmax(spent)])
