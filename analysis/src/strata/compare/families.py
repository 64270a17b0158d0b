"""Did a whole family of rows move, such as every load out of DRAM?

A family are the rows of one benchmark and quantity at one level of the hierarchy; its change is the
median of theirs. However many rows move alike, they are one observation: a family drifts as a whole
from run to run, because its rows share the run's clock, temperature, addresses and driver. In three
recorded runs of one chip all 62 loads from shared memory in seconds are 0.55 % up, then down again,
which a sign test over rows would call certain. So the run is the unit: a family's change is held
against how far families move between runs of the same code, and never against the number of rows.

The model is hierarchical. Without a change of the code family f moves by a normal shift, from each
run to each other one of variance v(f); and v(f) is s(f)² times 4 over a chi-square of 4 degrees of
freedom, which lets families wander very differently. s(f) is in proportion to the spread of the
family's rows about their median, between the repeats where it has any, as rows that wander far do
so together as well: their factor is the one that puts 80 % of all shifts where the model does. With
k repeats of a run the variance becomes the mean, weighted by degrees of freedom, of s(f)² and of
what the family's own repeats spread, and a change divided by its root is Student's t of 4 + k
degrees. A run compared shares its noise with its repeats, which can only widen what they spread
where that noise was large. Last, a family is called changed only if 80 % of its rows moved alike,
which can only take alarms away.

Without repeats the factor is from the changes under test, of which four families in five must then
be none, and k is 0. With fewer than 20 families the factor is 1, beside the spread that is assumed.
That the prior has 4 degrees is declared and not estimated: with few repeats nothing could tell.
Families may depend on each other in any way: Holm's procedure holds the declared rate.

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

SMALLEST = 5  # rows of a family; fewer are tested one by one alone
PRIOR = 4  # degrees of freedom of what is supposed of a family without repeats
WITHIN = 0.8  # the share of shifts that the factor of all families is from
TOGETHER = 0.8  # the share of a family's rows that move alike where it moves as a whole

Key = tuple[str, str, str, str]
"""Suite, benchmark, quantity and level of a family; no level is empty."""


class Shift(NamedTuple):
    """How a family moved from one run to another: median and robust sigma of its logarithms."""

    middle: float
    spread: float

    @property
    def unit(self) -> float:
        """What the shift of a family is in proportion to; clocks have steps."""
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
    """Student's law of a shift without a change: its scale as a logarithm, and its freedom."""

    scale: float
    freedom: int

    def chance(self, shift: float) -> float:
        """How often a family moves at least so far, to either side."""
        return float(2 * stdtr(self.freedom, -abs(shift) / self.scale))

    def reach(self, chance: float) -> float:
        """How far it moves with that chance, to either side."""
        return self.scale * float(stdtrit(self.freedom, 1 - chance / 2))


def laws(moved: Shifts, repeats: Sequence[Sequence[Shifts]], assumed: float) -> dict[Key, Law]:
    """The law of each family that `moved`, from sets of runs of the same code.

    Of each set the shifts of its later runs against its first one. `assumed` is one sigma of a
    shift where there are too few families.
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
            squares += 2 * sum((at - middle) ** 2 for at in middles)  # of a difference of two
            freedom += len(shifts)
        found[key] = Law(math.sqrt(squares / freedom), freedom)
    return found
