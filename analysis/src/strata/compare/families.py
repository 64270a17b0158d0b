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

If the clock of two runs differs (a step is 0.76 % on an H100), a family may follow it fully, in
part or not at all: on an H100, times from L1 do, times from DRAM do not, times from L2 do by half.
So only what lies beyond that range is tested. A repeat at another clock counts by its distance from
the nearer end of the range; one well inside it shows how its family follows the clock, and counts
as none.

Without repeats the factor is estimated from the changes under test, of which four families in five
must then be unchanged, and k is 0. With fewer than 20 families the factor is 1, in addition to the
assumed spread. The 4 degrees of freedom of the prior are declared and not estimated: a few repeats
could not determine them. Families may depend on each other in any way: Holm's procedure keeps the
declared rate. It spends none on a family that hardly ever moves by the smallest change of interest.

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
NEAR = 0.25  # how near to an end of what the clocks explain, in its length, a shift is a drift

Key = tuple[str, str, str, str]
"""Suite, benchmark, quantity and level of a family; no level is empty."""


class Shift(NamedTuple):
    """How a family moved between two runs: median and robust sigma of its logarithms.

    `clock` are the ends of what a difference of the clocks explains.
    """

    middle: float
    spread: float
    clock: tuple[float, float] = (0.0, 0.0)

    @property
    def unit(self) -> float:
        """The unit of a family's shift; clocks have steps."""
        return math.hypot(self.spread, LEAST)

    @property
    def beyond(self) -> float:
        """The part of the shift that the clocks do not explain."""
        low, high = self.clock
        return self.middle - min(max(self.middle, low), high)

    @property
    def drift(self) -> float | None:
        """The shift from the nearer end; None if it says how the family follows the clock."""
        low, high = self.clock
        nearest = min((self.middle - end for end in (low, 0.0, high)), key=abs)
        between = low < self.middle < high and abs(nearest) > NEAR * max(-low, high)
        return None if between else nearest


Shifts = Mapping[Key, Shift]


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


def shifts(moved: Drift, smallest: int = SMALLEST) -> dict[Key, Shift]:
    """The shift of each family with enough rows."""
    found = {}
    for key, places in grouped(range(len(moved.families)), moved.families.__getitem__).items():
        if len(places) >= smallest:
            here = moved.changes[places]
            middle = float(np.median(here))
            spread = 1.4826 * float(np.median(np.abs(here - middle)))
            clock = moved.clock[places[0]] if moved.clock else (0.0, 0.0)
            found[key] = Shift(middle, spread, clock)
    return found


def without_clock(moved: Drift, *, tested: bool) -> Drift:
    """The changes without what the clocks explain of each family's."""
    if not moved.clock:
        return moved
    less = {
        key: one.middle - (one.beyond if tested else one.drift or 0.0)
        for key, one in shifts(moved, 1).items()
    }
    return moved._replace(changes=moved.changes - [less[key] for key in moved.families])


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
    known = [one for runs in repeats for of in runs for one in of.values()] or [*moved.values()]
    pool = [abs(one.drift) / one.unit for one in known if one.drift is not None]
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
            drifts = [0.0, *(shift.drift for shift in shifts if shift.drift is not None)]
            middle = fmean(drifts)
            squares += 2 * sum((at - middle) ** 2 for at in drifts)  # for a difference of two
            freedom += len(drifts) - 1
        found[key] = Law(math.sqrt(squares / freedom), freedom)
    return found
