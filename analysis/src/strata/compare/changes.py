"""What changed between two runs of one device, row by row, at a declared rate of false alarms.

Only valid rows that both runs have are compared; the others are counted or listed. What was timed
is compared in logarithms against the floor of `strata.compare.wander`, and what was counted,
modelled or published must be equal to the last digit.
"""

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np

from strata.compare.conditions import CLOCK, Difference, differences, kinship
from strata.compare.wander import Drift, Floor, Group, Laws, Vector, floors, holm, median_error
from strata.run import Row, Run, RunError

Verdict = Literal["slower", "faster", "changed", "same", "undecided"]
"""`changed` is of quantities of which neither direction is better."""
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
ALARMS: tuple[Verdict, ...] = ("slower", "faster", "changed")
Better = Literal["lower", "higher", "neither"]

POWER = 0.9  # the probability with which the smallest change that is named is found
UNSURE = 0.05  # how often the interval of a row misses its change, as those of medians do
PLACES = ("residency", "level", "space", "memory")
"""The parameter that says where the data lie; rows that differ in it wander differently."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a comparison promises, all as shares (0.01 is 1 %).

    `false_alarm` is the probability of even one alarm in a whole comparison in which nothing
    changed, `min_change` the smallest change of interest, `wander` the spread between runs that is
    assumed where too few rows tell (0.3 %: by so much are groups of rows shifted between the two
    recorded runs of the atlas on H200s). Raises ValueError where a share is out of its range.
    """

    false_alarm: float = 0.01
    min_change: float = 0.01
    wander: float = 0.003

    def __post_init__(self) -> None:
        ranges = {"false_alarm": (1e-9, 0.5), "min_change": (0.0, 10.0), "wander": (0.0, 10.0)}
        for name, (least, most) in ranges.items():
            if not least <= (value := getattr(self, name)) <= most:
                raise ValueError(f"found {name} {value}; expected a share of {least:g} to {most:g}")


@dataclass(frozen=True, slots=True)
class Change:
    """One timed quantity of one case in two runs.

    `change`, `low` and `high` are relative to `before` (0.02: 2 % more), the interval is the 95 %
    interval of this row by itself. `chance` is how often a row moves so far without a change;
    `found` the smallest change of this row that is found with a power of 0.9.
    """

    before: Row
    after: Row
    verdict: Verdict
    better: Better
    change: float
    low: float
    high: float
    chance: float
    found: float
    floor: Floor

    def as_time(self, share: float) -> float:
        """A relative change as one of a time, above 0 where it is for the worse."""
        return 1 / (1 + share) - 1 if self.better == "higher" else share


class Pair(NamedTuple):
    """A row of two runs that is no time: equal to the last digit, or left out for a reason."""

    before: Row
    after: Row
    verdict: Literal["same", "changed", "not compared"]
    better: Literal["neither", ""] = "neither"
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs of a device, or of two of its model, compared.

    `changes`, `exact` (what was counted, modelled, published or reported) and `left_out` are in the
    order of the first run; `alone` counts the rows that only the first has, and only the second.
    `same` are the runs of the same code that the floor is from.
    """

    before: Run
    after: Run
    settings: Settings
    same: tuple[Run, ...]
    differences: tuple[Difference, ...]
    changes: tuple[Change, ...]
    exact: tuple[Pair, ...]
    left_out: tuple[Pair, ...]
    alone: tuple[int, int]

    def verdicts(self) -> Counter[Verdict]:
        """How many timed rows have each verdict."""
        return Counter(change.verdict for change in self.changes)

    def flagged(self) -> tuple[Change, ...]:
        """What is slower, faster or changed: in this order, the largest change first."""
        found = (change for change in self.changes if change.verdict in ALARMS)
        largest = sorted(found, key=lambda change: -abs(math.log1p(change.change)))
        return tuple(sorted(largest, key=lambda change: ALARMS.index(change.verdict)))


def better(row: Row) -> Better:
    """Times and cycles are better lower, rates of any kind higher; sizes, shares, clocks no way."""
    if row.unit in ("s", "cycle", "tsc_cycle"):
        return "lower"
    rate = row.unit.endswith(("/s", "/cycle", "/tsc_cycle")) or row.quantity == "share_of_limit"
    return "higher" if rate else "neither"


def groups(row: Row) -> tuple[Group, ...]:
    """The groups of rows that may wander alike, from the finest to the coarsest."""
    place = next((row.params[name] for name in PLACES if name in row.params), "")
    kind = (row.quantity, row.method)
    fine = (row.suite, row.benchmark, *kind)
    return (*fine, place), fine, (row.suite, *kind), ()


def compare(
    before: Run, after: Run, settings: Settings | None = None, *, same: Sequence[Run] = ()
) -> Comparison:
    """What changed from `before` to `after`, two runs of a device or of two of its model.

    `same` are more runs of the code of `before`, which say how far medians wander. Raises
    `RunError` where the runs have no row in common or are of different devices.
    """
    settings = settings or Settings()
    for run in (after, *same):
        if kinship(before.context, run.context) == "other":
            found = f"a run of {run.context.device.name}"
            expected = f"one of {before.context.device.name}, as the first"
            mend = "compare different devices by their normalised numbers"
            raise RunError(run.folder, found=found, expected=expected, mend=mend)
    common = {row.key for row in before.rows} & {row.key for row in after.rows}
    if not common:
        found = f"no row that {before.context.run} has too"
        expected, mend = "two runs with cases in common", "run the same sweep with both"
        raise RunError(after.folder, found=found, expected=expected, mend=mend)
    timed, others = _pairs(before, after)
    moved = _drift(timed)
    drifts = [_drift(_pairs(*runs)[0]) for runs in itertools.pairwise((before, *same))]
    known = any(drift.groups for drift in drifts)
    assumed = math.log1p(settings.wander)
    held = floors(drifts if known else [moved], moved.groups, known=known, assumed=assumed)
    changes = tuple(_changes(timed, moved, held, settings))
    exact = tuple(pair for pair in others if not pair.reason)
    left_out = tuple(pair for pair in others if pair.reason)
    alone = (len(before.rows) - len(common), len(after.rows) - len(common))
    told = differences(before, after)
    return Comparison(before, after, settings, tuple(same), told, changes, exact, left_out, alone)


def _pairs(before: Run, after: Run) -> tuple[list[tuple[Row, Row]], list[Pair]]:
    """The rows of both runs, timed and others; the clock under load is a condition, no result."""
    theirs = {row.key: row for row in after.rows}
    timed, others = [], []
    for one, two in ((row, theirs[row.key]) for row in before.rows if row.key in theirs):
        if reason := _unfit(one, two):
            others.append(Pair(one, two, "not compared", "", reason))
        elif one.provenance != "timed":
            others.append(Pair(one, two, "same" if one.value == two.value else "changed"))
        elif one.quantity != CLOCK:
            timed.append((one, two))
    return timed, others


def _unfit(before: Row, after: Row) -> str:
    """Why two rows are not compared; empty where they are."""
    if not (before.valid and after.valid):
        which = [name for name, row in (("before", before), ("after", after)) if not row.valid]
        return f"invalid {' and '.join(which)}"
    # What a driver reports was called published by earlier builds.
    renamed = {before.provenance, after.provenance} == {"published", "reported"}
    if before.unit != after.unit or (before.provenance != after.provenance and not renamed):
        one, two = (f"{row.provenance} in {row.unit}" for row in (before, after))
        return f"{one} before, {two} after"
    if before.provenance == "timed" and not (before.minimum > 0 and after.minimum > 0):
        return "a sample that is not above 0"
    return ""


def _drift(pairs: Sequence[tuple[Row, Row]]) -> Drift:
    changes = [math.log(two.value / one.value) for one, two in pairs]
    errors = [math.hypot(*(median_error(row.taken) for row in pair)) for pair in pairs]
    return Drift(np.array(changes), np.array(errors), [groups(one) for one, _ in pairs])


def _changes(
    pairs: Sequence[tuple[Row, Row]], moved: Drift, found: Sequence[Floor], settings: Settings
) -> Iterator[Change]:
    if not pairs:
        return
    scales = np.hypot([floor.spread for floor in found], moved.errors)
    laws = Laws(scales, np.array([floor.shape for floor in found]), found[0].shift)
    chances, reach = laws.chances(moved.changes), laws.reach(UNSURE)
    sizes, least = np.abs(moved.changes), math.log1p(settings.min_change)
    alarms = holm(chances, settings.false_alarm) & (sizes >= least)
    same = sizes + reach <= least
    # The first step of Holm's procedure, at which an alarm is hardest.
    edges = np.maximum(laws.reach(settings.false_alarm / len(pairs)), least)
    change, smallest = _relative(moved.changes), _relative(edges + laws.reach(2 * (1 - POWER)))
    low, high = _relative(moved.changes - reach), _relative(moved.changes + reach)
    for place, (before, after) in enumerate(pairs):
        direction = better(before)
        verdict: Verdict = "same" if same[place] else "undecided"
        if alarms[place]:
            worse = (change[place] > 0) == (direction == "lower")
            verdict = "changed" if direction == "neither" else "slower" if worse else "faster"
        yield Change(
            before, after, verdict, direction, change[place], low[place], high[place],
            float(chances[place]), smallest[place], found[place],
        )  # fmt: skip


def _relative(logarithms: Vector) -> list[float]:
    """Logarithms of ratios as relative changes: 0.0198 gives 0.02; infinite from 10⁹ on."""
    return list(np.expm1(np.where(logarithms < 20, logarithms, math.inf)).tolist())
