"""Did a whole family of rows move, such as every load from DRAM?

A family is the rows of one benchmark and quantity at one level of the hierarchy; its change is the
median of theirs. However many rows move in the same direction, they are a single observation: a
family drifts as a whole from run to run, because its rows share the run's clock, temperature,
addresses and driver. In three recorded runs of one chip all 62 loads from shared memory in seconds
are 0.55 % higher, then lower again, which a sign test over rows would call certain. So the unit of
observation is the run: a family's change is compared with how far families move between runs of the
same code, and never with the number of rows.

The model is hierarchical. Without a change of the code, family f moves from each run to each other
by a normal shift of variance v(f), where v(f) is s(f)² times 4 over a chi-square of 4 degrees of
freedom, so that families may wander very differently. s(f) is proportional to the spread of the
family's rows about their median (between the repeats, if it has any), because rows that wander far
individually also do so together. The common factor is chosen so that 80 % of all shifts are where
the model puts them. With k repeats of a run the variance is the mean of s(f)² and the variance of
the family's own repeats, weighted by degrees of freedom, and a change divided by its root follows
Student's t with 4 + k degrees of freedom. A compared run shares its noise with its repeats, which
can only widen their spread if that noise was large. Finally, a family is called changed only if 80
% of its rows moved in the same direction, which can only remove alarms.

Without repeats the factor is estimated from the changes under test, of which four families in five
must then be unchanged, and k is 0. With fewer than 20 families the factor is 1, in addition to the
assumed spread. The 4 degrees of freedom of the prior are declared and not estimated: a few repeats
could not determine them. Families may depend on each other in any way: Holm's procedure keeps the
declared rate.

    Smyth 2004: Linear models and empirical Bayes methods for assessing differential expression
    Sartor et al. 2006: Intensity-based hierarchical Bayes, the prior in proportion to a spread
"""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

import numpy as np
from scipy.special import stdtr, stdtrit

from strata.compare.wander import LEAST, MIN_ROWS, Drift, caution
from strata.run import grouped

SMALLEST = 5  # minimum rows of a family; the rows of smaller ones are tested individually only
PRIOR = 4  # prior degrees of freedom of a family without repeats
WITHIN = 0.8  # the share of shifts from which the common factor is estimated
TOGETHER = 0.8  # the share of a family's rows that must move in the same direction

Key = tuple[str, str, str, str]
"""Suite, benchmark, quantity and level of a family; no level is empty."""


class Shift(NamedTuple):
    """How a family moved between two runs: median and robust sigma of its logarithms."""

    middle: float
    spread: float

    @property
    def unit(self) -> float:
        """The unit of a family's shift; clocks have steps."""
        return math.hypot(self.spread, LEAST)


Shifts = Mapping[Key, Shift]


def shifts(moved: Drift) -> dict[Key, Shift]:
    """The shift of each family with enough rows."""
    found = {}
    for key, places in grouped(range(len(moved.families)), moved.families.__getitem__).items():
        if len(places) >= SMALLEST:
            here = moved.changes[places]
            middle = float(np.median(here))
            found[key] = Shift(middle, 1.4826 * float(np.median(np.abs(here - middle))))
    return found


class Law(NamedTuple):
    """Student's distribution of a shift without a change: log of its scale, and its freedom."""

    scale: float
    freedom: int

    def chance(self, shift: float) -> float:
        """The probability that a family moves at least this far, in either direction."""
        return float(2 * stdtr(self.freedom, -abs(shift) / self.scale))

    def reach(self, chance: float) -> float:
        """The distance that it exceeds with that probability, in either direction."""
        return self.scale * float(stdtrit(self.freedom, 1 - chance / 2))


def laws(moved: Shifts, repeats: Sequence[Sequence[Shifts]], assumed: float) -> dict[Key, Law]:
    """The distribution of each family that `moved`, from sets of runs of the same code.

    From each set, the shifts of its later runs relative to its first one. `assumed` is one sigma of
    a shift if there are too few families.
    """
    known = [of for runs in repeats for of in runs] or [moved]
    pool = [abs(one.middle) / one.unit for of in known for one in of.values()]
    factor = 0.0
    if len(pool) >= MIN_ROWS:
        usual = float(stdtrit(PRIOR, (1 + WITHIN) / 2))
        factor = float(np.quantile(pool, WITHIN)) / usual * caution(len(pool))
    found = {}
    for key, one in moved.items():
        own = [[of[key] for of in runs if key in of] for runs in repeats]
        calm = [shift.spread for shifts in own for shift in shifts] or [one.spread]
        spread = math.sqrt(fmean(each**2 for each in calm))
        supposed = math.hypot(factor * spread, LEAST) if factor else math.hypot(spread, assumed)
        squares, freedom = PRIOR * supposed**2, PRIOR
        for shifts in own:
            middles = [0.0, *(shift.middle for shift in shifts)]
            middle = fmean(middles)
            squares += 2 * sum((at - middle) ** 2 for at in middles)  # for a difference of two
            freedom += len(shifts)
        found[key] = Law(math.sqrt(squares / freedom), freedom)
    return found
