"""Which GPU of many is an outlier? The GPU is the unit: all its rows are one observation.

A question is a set of lines with one number a GPU each: how far a family of rows lies from the
fleet's centre, say. Each number is taken in units of its line's own robust spread, and a GPU is
then known by its largest. That is Westfall and Young's maxT: it holds the declared rate over all
lines and GPUs together, however the lines depend on each other. The distribution of the largest of
a GPU without a fault is estimated from the GPUs. By Fisher and Tippett a maximum follows Gumbel's
law where lines have a normal tail, and its logarithm does where they have that of a power. The root
is used, which is between them: a tail heavier than Laplace's. The upper half of the GPUs gives its
slope, without the last of twenty: so many may be at fault without hiding themselves.

With few GPUs the spread of a line is uncertain: it is Smyth's mean, weighted by degrees of freedom,
of the line's own and of what is usual for its kind (as in `strata.compare.families`).

GPUs may come in undocumented kinds: of the recorded H200s some load 3.6 % faster out of
DRAM than others. A gap far wider than the spread on either side of it splits a line, and each side
has its own centre then. A part has at least a GPU in twenty, and five.

    Westfall, Young 1993: Resampling-based multiple testing, maxT
    Fisher, Tippett 1928: Limiting forms of the frequency distribution of the largest member
    Smyth 2004: Linear models and empirical Bayes methods for assessing differential expression
    Rousseeuw, Croux 1993: Alternatives to the median absolute deviation
"""

import math
from functools import partial

import numpy as np
import numpy.typing as npt
from scipy import stats

from strata.compare.noise import LEAST, PRIOR, caution

Matrix = npt.NDArray[np.float64]
Vector = npt.NDArray[np.float64]

_quantile = partial(stats.quantile, nan_policy="omit")

SIGMA = 1.4826
"""A normal standard deviation in median deviations."""
FEWEST = 4
"""The least number of GPUs among which one can be an outlier."""
EFFICIENCY = 0.37
"""Degrees of freedom of a median deviation beside those of a standard deviation (Rousseeuw)."""
FAULTY = 0.05
"""The share of GPUs that may be at fault, all in one line, without hiding themselves."""
CLUSTER = 5
GAP = 4.0
"""A gap of so many spreads of either side splits a line."""


def _unsure(gpus: int) -> float:
    """The factor on a scale that is estimated from the upper half of so many GPUs.

    Found by simulation: fleets of 8 to 1,000 GPUs, lines of Student's law of 6 degrees of freedom.
    """
    return 1 + 3 / math.sqrt(gpus) + 8 / gpus


def quantile(lines: npt.NDArray[np.floating], share: float) -> Vector:
    """The largest number of each line without its largest: a share of 1 - `share`, rounded up.

    At least one is left out, if the line has two. NaN are left out; 0 of an empty line. The median
    (`share` 0.5) of an even line is the lower of two.
    """
    counts = (~np.isnan(lines)).sum(axis=1)
    beyond = np.maximum(np.ceil((1 - share) * counts - 1e-9), 1)
    ranks = (np.maximum(counts - beyond, 1) - 0.5) / np.maximum(counts, 1)
    found = _quantile(lines, ranks[:, None], axis=1, method="inverted_cdf")
    return np.nan_to_num(np.asarray(found, np.float64))


def spread(deviations: npt.NDArray[np.floating]) -> Vector:
    """The robust spread of each line about 0, NaN left out; 0 of an empty line."""
    return np.nan_to_num(SIGMA * median(np.abs(deviations), axis=1))


def reach(deviations: npt.NDArray[np.floating], faulty: float) -> Vector:
    """One sigma of each line about 0, and of all but the `faulty` share of it: the larger."""
    tail = quantile(np.abs(deviations), 1 - faulty) / _NORMAL[faulty]
    return np.maximum(spread(deviations), tail)


_NORMAL = {FAULTY: 1.96, 0.01: 2.576}
"""How many sigmas of a normal law all but a share lie within."""


def median(values: npt.NDArray[np.floating], *, axis: int) -> Vector:
    """The median along an axis of a matrix without NaN; NaN where there is nothing else."""
    return np.asarray(_quantile(values, 0.5, axis=axis), np.float64)


def units(lines: Matrix, kinds: Vector, *, faulty: float = FAULTY) -> Matrix:
    """Each number of a line in units of how far its line spreads, 0 at its centre; NaN stay.

    `kinds` are what the spreads of lines are usually in proportion to. Lines of fewer than `FEWEST`
    GPUs are NaN.
    """
    moved = np.array([centred(line) for line in lines]).reshape(lines.shape)
    counts = (~np.isnan(moved)).sum(axis=1)
    own = reach(moved, faulty) * (1 + (caution(1) - 1) / np.sqrt(np.maximum(counts, 1)))
    ratios = (own / kinds)[own > 0]
    usual = float(np.median(ratios)) * kinds if len(ratios) else np.zeros_like(kinds)
    freedom = EFFICIENCY * np.maximum(counts - 1, 0)
    scales = np.sqrt((PRIOR * usual**2 + freedom * own**2) / (PRIOR + freedom))
    moved /= np.hypot(scales, LEAST)[:, None]
    moved[counts < FEWEST] = np.nan
    return moved


def centred(line: Vector) -> Vector:
    """A line less its centre, or less that of each part where gaps part it; NaN stay."""
    order = np.argsort(line)  # NaN last
    count = int((~np.isnan(line)).sum())
    moved = np.array(line, np.float64)
    for start, stop in _parts(line[order[:count]]):
        here = order[start:stop]
        moved[here] -= np.median(line[here])
    return moved


def _parts(ordered: Vector) -> list[tuple[int, int]]:
    """The places at which sorted values fall apart."""
    least = max(CLUSTER, len(ordered) // 20)
    found, todo = [], [(0, len(ordered))]
    while todo:
        start, stop = todo.pop()
        gaps = np.diff(ordered[start + least - 1 : stop - least + 1])
        cut = start + least + int(np.argmax(gaps)) if len(gaps) else 0
        sides = (ordered[start:cut], ordered[cut:stop]) if cut else ()
        if cut and gaps.max() > GAP * max(LEAST, *map(_deviation, sides)):
            todo += [(start, cut), (cut, stop)]
        elif stop > start:
            found.append((start, stop))
    return found


def _deviation(values: Vector) -> float:
    return SIGMA * float(np.median(np.abs(values - np.median(values))))


class Law:
    """How large the largest number of a GPU without a fault is: its root follows Gumbel's law.

    `largest` has a number a GPU, NaN or 0 where it was not judged. With fewer than `FEWEST`
    every chance is 1.
    """

    def __init__(self, largest: Vector) -> None:
        distances = np.sqrt(np.sort(largest[largest > 0]))
        self.gpus = count = len(distances)
        last = count - max(1, math.ceil(FAULTY * count))
        upper = distances[last // 2 : last]
        if count < FEWEST or upper[-1] == upper[0]:
            self.gpus = 0
            return
        # Expected places of the ordered numbers of Gumbel's law, by their ranks.
        places = stats.gumbel_r.ppf((np.arange(last // 2, last) + 0.6) / (count + 0.2))
        self._scale = float(np.polyfit(places, upper, 1)[0]) * _unsure(count)
        self._location = float(upper[0] - self._scale * places[0])

    def chance(self, number: float) -> float:
        """How often any GPU of a fleet without a fault has so large a number."""
        if not self.gpus or not number > 0:
            return 1.0
        beyond = (math.sqrt(number) - self._location) / self._scale
        return -math.expm1(-self.gpus * math.exp(min(-beyond, 700.0)))

    def needed(self, rate: float) -> float:
        """The number that any GPU of such a fleet has with the chance `rate`; inf if none does."""
        if not self.gpus:
            return math.inf
        root = self._location + self._scale * math.log(self.gpus / -math.log1p(-rate))
        return max(root, 0.0) ** 2
