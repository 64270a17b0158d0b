"""What changed between two runs of one device, by rows and by families of rows.

Only valid rows of both runs are compared; the others are counted or listed. Timed rows are compared
in logarithms: a row against the noise floor of `strata.compare.wander`, a family of rows against
the distribution of `strata.compare.families`. Half of the declared false-alarm rate is spent on
rows and half on families, so that together they keep it. Counted, modelled and published values
must be exactly equal. What a different clock of the whole run explains is no alarm.
"""

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from statistics import median_high
from typing import Literal, NamedTuple, Protocol, TypeVar, get_args

import numpy as np

from strata.compare import families, wander
from strata.compare.conditions import (
    Difference,
    clock_differs,
    clocks,
    differences,
    kinship,
    repeats,
)
from strata.compare.wander import (
    Drift,
    Floor,
    Group,
    Laws,
    Vector,
    floors,
    holm,
    median_error,
    strictest,
)
from strata.model import atlas
from strata.model.cases import CYCLE_CLOCKS
from strata.run import Row, Run, RunError, grouped

Verdict = Literal["slower", "faster", "changed", "same", "undecided"]
"""`changed` is of quantities of which neither direction is better."""
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
ALARMS: tuple[Verdict, ...] = ("slower", "faster", "changed")
Better = Literal["lower", "higher", "neither"]

POWER = 0.9  # power: the probability of finding the smallest reported change
UNSURE = 0.05  # how often the interval of a row misses its change, as for medians
KNEE = 0.01
"""By so much of a footprint the knee of a curve moves between runs, as pages lie elsewhere.

Where a curve over the footprint climbs, its rows are that much less certain: of two runs of one
chip, a chain of 33.6 MB, past the near half of L2, took 6 % longer in the second.
"""
PLACES = ("residency", "level", "space", "memory")
"""The parameter that says where the data lie; rows that differ in it wander differently."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The parameters of a comparison, all as shares (0.01 is 1 %).

    `false_alarm` is the probability of even one alarm in a whole comparison in which nothing
    changed. `min_change` is the smallest change of interest. `wander` is the assumed spread between
    runs if there are too few rows to estimate it (0.3 %: groups of rows differ by that much between
    the two recorded runs of the atlas on H200s). `power` is the change that a comparison must be
    able to notice before it shows that nothing changed. Raises ValueError for a share out of its
    range.
    """

    false_alarm: float = 0.01
    min_change: float = 0.01
    wander: float = 0.003
    power: float = 0.02

    def __post_init__(self) -> None:
        ranges = {"false_alarm": (1e-9, 0.5)}
        ranges |= dict.fromkeys(("min_change", "wander", "power"), (0.0, 10.0))
        for name, (least, most) in ranges.items():
            if not least <= (value := getattr(self, name)) <= most:
                raise ValueError(f"found {name} {value}; expected a share of {least:g} to {most:g}")


@dataclass(frozen=True, slots=True)
class Judged:
    """The change of a row or a family of rows, relative to the first run (0.02: 2 % more).

    The 95 % interval is for this change alone. `chance` is the probability of such a change without
    a change of the code; `found` is the smallest change that is detected with a power of 0.9.
    """

    verdict: Verdict
    better: Better
    change: float
    low: float
    high: float
    chance: float
    found: float

    def as_time(self, share: float) -> float:
        """A relative change as a change of time, positive if it is for the worse."""
        return 1 / (1 + share) - 1 if self.better == "higher" else share


@dataclass(frozen=True, slots=True)
class Change(Judged):
    """One timed quantity of one case in two runs."""

    before: Row
    after: Row
    floor: Floor


@dataclass(frozen=True, slots=True)
class Family(Judged):
    """The rows of one benchmark, quantity and level; its change is the median of theirs.

    `alike` counts the rows that moved in the same direction. `repeats` are the degrees of freedom
    that runs of the same code added to the `law`.
    """

    key: families.Key
    rows: tuple[Row, ...]
    alike: int
    law: families.Law

    @property
    def repeats(self) -> int:
        """The number of repeats that show how far this family drifts."""
        return self.law.freedom - families.PRIOR


class Pair(NamedTuple):
    """An untimed row of two runs: equal to the last digit, or left out for a reason."""

    before: Row
    after: Row
    verdict: Literal["same", "changed", "not compared"]
    better: Literal["neither", ""] = "neither"
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs of a device, or of two devices of one model, compared.

    `changes`, `exact` (counted, modelled, published or reported rows) and `left_out` are in the
    order of the first run; `alone` counts the rows of only the first and only the second run.
    `repeats` are the sets of runs of the same code from which the floors were estimated. `clock` is
    the change of the clock as a logarithm; 0 within its tolerance, or if it is unknown.
    """

    before: Run
    after: Run
    settings: Settings
    clock: float
    repeats: tuple[tuple[Run, ...], ...]
    differences: tuple[Difference, ...]
    changes: tuple[Change, ...]
    families: tuple[Family, ...]
    exact: tuple[Pair, ...]
    left_out: tuple[Pair, ...]
    alone: tuple[int, int]

    @property
    def both(self) -> tuple[Run, Run]:
        """The runs that are compared."""
        return self.before, self.after

    def verdicts(self) -> Counter[Verdict]:
        """The number of timed rows with each verdict."""
        return Counter(change.verdict for change in self.changes)

    def flagged(self) -> tuple[Change, ...]:
        """Rows that are slower, faster or changed, in this order, the largest change first."""
        return _flagged(self.changes)

    def moved(self) -> tuple[Family, ...]:
        """The families that are slower, faster or changed, in the same order."""
        return _flagged(self.families)

    def noticeable(self) -> list[float]:
        """The smallest change noticed in each timed row of both runs, alone or with its family.

        Infinite for rows that were not compared.
        """
        together = {row.key: one.found for one in self.families for row in one.rows}
        compared = [min(one.found, together.get(one.before.key, math.inf)) for one in self.changes]
        timed = (pair.before for pair in self.left_out if pair.before.provenance == "timed")
        return compared + [math.inf for row in timed if row.quantity not in CYCLE_CLOCKS]

    @property
    def has_power(self) -> bool:
        """Whether a change of `settings.power` would be noticed in at least half of the rows."""
        found = self.noticeable()
        return bool(found) and median_high(found) <= self.settings.power

    @property
    def slower(self) -> bool:
        """Whether any row or family is slower."""
        return any(one.verdict == "slower" for one in (*self.changes, *self.families))


J = TypeVar("J", bound=Judged)


def _flagged(judged: Sequence[J]) -> tuple[J, ...]:
    found = (one for one in judged if one.verdict in ALARMS)
    largest = sorted(found, key=lambda one: -abs(math.log1p(one.change)))
    return tuple(sorted(largest, key=lambda one: ALARMS.index(one.verdict)))


class Measured(Protocol):
    """What has a quantity and a unit, as a row has."""

    @property
    def quantity(self) -> str:
        """The name of the quantity."""

    @property
    def unit(self) -> str:
        """Its unit."""


def better(row: Measured) -> Better:
    """Times and cycles are better lower, rates of any kind higher; sizes, shares, clocks no way."""
    if row.unit in ("s", "cycle", "tsc_cycle"):
        return "lower"
    rate = row.unit.endswith(("/s", "/cycle", "/tsc_cycle")) or row.quantity == "share_of_limit"
    return "higher" if rate else "neither"


def groups(row: Row, family: families.Key) -> tuple[Group, ...]:
    """The groups of rows that may share a drift, from the finest to the coarsest."""
    kind = (row.quantity, row.method)
    fine = (row.suite, row.benchmark, *kind)
    return (*fine, family[3]), fine, (row.suite, *kind), ()


def compare(
    before: Run, after: Run, settings: Settings | None = None, *, same: Sequence[Run] = ()
) -> Comparison:
    """What changed from `before` to `after`, two runs of a device or of two of its model.

    `same` are runs that repeat `before`, `after` or each other, on one chip and with the same code:
    they show how far medians wander. Raises `RunError` if one of them repeats nothing, if the runs
    have no row in common, or if they are of different devices.
    """
    settings = settings or Settings()
    for run in (after, *same):
        if kinship(before.context, run.context) == "other":
            found = f"a run of {run.context.device.name}"
            expected = f"one of {before.context.device.name}, like the first"
            mend = "compare different devices by their normalised numbers"
            raise RunError(run.folder, found=found, expected=expected, mend=mend)
    common = {row.key for row in before.rows} & {row.key for row in after.rows}
    if not common:
        found = f"no row in common with {before.context.run}"
        expected, mend = "two runs with cases in common", "run the same sweep with both"
        raise RunError(after.folder, found=found, expected=expected, mend=mend)
    sets = repeats((before, after), same)
    family = family_of(before)
    timed, others = _pairs(before, after)
    clock = _clock(before, after)
    moved = _drift(timed, family, clock)
    again = [
        [_drift(_pairs(first, run)[0], family, _clock(first, run)) for run in later]
        for first, *later in sets
    ]
    drifts = [drift for runs in again for drift in runs if drift.groups]
    assumed = math.log1p(settings.wander)
    own = families.shifts(moved)
    laws = families.laws(own, [[*map(families.shifts, runs)] for runs in again], assumed)
    calm = [families.without_clock(drift, tested=False) for drift in drifts or [moved]]
    held = floors(calm, moved.groups, known=bool(drifts), assumed=assumed)
    if drifts and len(laws) >= wander.MIN_ROWS:  # which show how far each family drifts
        of = zip(held, map(laws.get, moved.families), strict=True)
        held = [
            one._replace(shift=law.scale, freedom=law.freedom) if law else one for one, law in of
        ]
    half = replace(settings, false_alarm=settings.false_alarm / (2 if laws else 1))
    changes = tuple(_changes(timed, moved, held, half))
    together = tuple(_families(timed, moved, laws, half))
    exact = tuple(pair for pair in others if not pair.reason)
    left_out = tuple(pair for pair in others if pair.reason)
    alone = (len(before.rows) - len(common), len(after.rows) - len(common))
    told = differences(before, after)
    return Comparison(
        before, after, settings, clock, sets, told, changes, together, exact, left_out, alone
    )


def _pairs(before: Run, after: Run) -> tuple[list[tuple[Row, Row]], list[Pair]]:
    """Rows of both runs, timed and others; the clock under load is a condition, not a result."""
    theirs = {row.key: row for row in after.rows}
    timed, others = [], []
    for one, two in ((row, theirs[row.key]) for row in before.rows if row.key in theirs):
        if reason := _unfit(one, two):
            others.append(Pair(one, two, "not compared", "", reason))
        elif one.provenance != "timed":
            others.append(Pair(one, two, "same" if one.value == two.value else "changed"))
        elif one.quantity not in CYCLE_CLOCKS:
            timed.append((one, two))
    return timed, others


def _unfit(before: Row, after: Row) -> str:
    """Why two rows are not compared; empty if they are."""
    if not (before.valid and after.valid):
        which = [name for name, row in (("before", before), ("after", after)) if not row.valid]
        return f"invalid {' and '.join(which)}"
    # Earlier builds recorded driver-reported values as published.
    renamed = {before.provenance, after.provenance} == {"published", "reported"}
    if before.unit != after.unit or (before.provenance != after.provenance and not renamed):
        one, two = (f"{row.provenance} in {row.unit}" for row in (before, after))
        return f"{one} before, {two} after"
    if before.provenance == "timed" and not (before.minimum > 0 and after.minimum > 0):
        return "a sample that is not above 0"
    return ""


def family_of(run: Run) -> Callable[[Row], families.Key]:
    """What names the family of a row; a level is the case's own, or by what served the chase."""
    chased = atlas.served(run)

    def key(row: Row) -> families.Key:
        place = next((row.params[name] for name in PLACES if name in row.params), "")
        return row.suite, row.benchmark, row.quantity, chased(row) or place

    return key


def _clock(before: Run, after: Run) -> float:
    """The change of the clock as a logarithm; 0 within its tolerance, or if it is unknown."""
    one, two = clocks(before, after)
    return math.log(two / one) if clock_differs(one, two) else 0.0


def _drift(
    pairs: Sequence[tuple[Row, Row]], family: Callable[[Row], families.Key], clock: float
) -> Drift:
    changes = [math.log(two.value / one.value) for one, two in pairs]
    steep = _climbs([one for one, _ in pairs])
    errors = [
        math.hypot(*(median_error(row.taken) for row in pair), KNEE * steep.get(pair[0].key, 0.0))
        for pair in pairs
    ]
    keys = [family(one) for one, _ in pairs]
    kinds = [groups(one, key) for (one, _), key in zip(pairs, keys, strict=True)]
    spans = [families.explained(one.unit, clock) for one, _ in pairs] if clock else []
    return Drift(np.array(changes), np.array(errors), kinds, keys, spans)


def _climbs(rows: Sequence[Row]) -> dict[tuple[str, str, str], float]:
    """The slope of each row's curve over the footprint there, in logarithms of both."""
    curves: dict[object, list[tuple[float, float, Row]]] = {}
    for row in rows:
        if size := row.count("footprint"):
            axes = tuple(one for one in row.params.items() if one[0] != "footprint")
            curve = curves.setdefault((row.benchmark, row.quantity, row.method, axes), [])
            curve.append((math.log(size), math.log(row.value), row))
    found: dict[tuple[str, str, str], float] = {}
    for curve in curves.values():
        curve.sort(key=itemgetter(0))
        for one, two in itertools.pairwise(curve):
            slope = abs(two[1] - one[1]) / (two[0] - one[0]) if two[0] > one[0] else 0.0
            for *_, row in (one, two):
                found[row.key] = max(found.get(row.key, 0.0), slope)
    return found


def _changes(
    pairs: Sequence[tuple[Row, Row]],
    moved: Drift,
    found: Sequence[Floor],
    settings: Settings,
) -> Iterator[Change]:
    if not pairs:
        return
    scales = np.hypot([floor.spread for floor in found], moved.errors)
    shapes, shifts, freedoms = (
        np.array([getattr(floor, name) for floor in found])
        for name in ("shape", "shift", "freedom")
    )
    laws = Laws(scales, shapes, shifts, freedoms)
    beyond = families.without_clock(moved, tested=True).changes
    tests = Tests(moved.changes, beyond, laws.chances, laws.reach, _widths(moved.clock, pairs))
    judged = _judged(tests, [better(before) for before, _ in pairs], settings)
    for (before, after), floor, one in zip(pairs, found, judged, strict=True):
        yield Change(*one, before, after, floor)


def _families(
    pairs: Sequence[tuple[Row, Row]],
    moved: Drift,
    laws: Mapping[families.Key, families.Law],
    settings: Settings,
) -> Iterator[Family]:
    members = grouped(range(len(pairs)), moved.families.__getitem__)
    known = families.shifts(moved)
    shifts = [known[key] for key in laws]
    rows = [tuple(pairs[place][0] for place in members[key]) for key in laws]

    def chances(moved: Vector) -> Vector:
        return np.array([law.chance(at) for law, at in zip(laws.values(), moved, strict=True)])

    def reach(chance: float) -> Vector:
        return np.array([law.reach(chance) for law in laws.values()])

    middles = np.array([one.middle for one in shifts])
    beyond = np.array([one.beyond for one in shifts])
    tests = Tests(middles, beyond, chances, reach, _widths([one.clock for one in shifts], rows))
    judged = _judged(tests, [better(of[0]) for of in rows], settings)
    for (key, law), of, at, one in zip(laws.items(), rows, middles, judged, strict=True):
        alike = int((moved.changes[members[key]] * at > 0).sum())
        found = Family(*one, key, of, alike, law)
        apart = found.verdict in ALARMS and alike < families.TOGETHER * len(of)
        yield replace(found, verdict="undecided") if apart else found


class Tests(NamedTuple):
    """What moved, what of it the clocks do not explain, and how it moves without a change."""

    moved: Vector
    beyond: Vector
    chances: Callable[[Vector], Vector]
    reach: Callable[[float], Vector]
    clock: Vector


def _widths(spans: Sequence[tuple[float, float]], of: Sequence[object]) -> Vector:
    """How much the clocks explain at most; nothing if there are no spans."""
    return np.array([max(-low, high) for low, high in spans or [(0.0, 0.0)] * len(of)])


def _judged(
    tests: Tests, directions: Sequence[Better], settings: Settings
) -> Iterator[tuple[Verdict, Better, float, float, float, float, float]]:
    """The fields of `Judged` for each that moved, at the set rate of even one false alarm."""
    moved, beyond, reach = tests.moved, tests.beyond, tests.reach
    least, unsure, chances = math.log1p(settings.min_change), reach(UNSURE), tests.chances(beyond)
    smallest = tests.chances(np.full(len(moved), least))
    alarms = holm(chances, settings.false_alarm, smallest)
    same = np.abs(moved) + unsure <= least
    # The first step of Holm's procedure, which is the strictest.
    edges = np.maximum(reach(strictest(smallest, settings.false_alarm)), least)
    change, found = _relative(moved), _relative(edges + reach(2 * (1 - POWER)) + tests.clock)
    low, high = _relative(moved - unsure), _relative(moved + unsure)
    for place, direction in enumerate(directions):
        verdict: Verdict = "same" if same[place] else "undecided"
        if alarms[place]:
            worse = (change[place] > 0) == (direction == "lower")
            verdict = "changed" if direction == "neither" else "slower" if worse else "faster"
        chance = float(chances[place])
        yield verdict, direction, change[place], low[place], high[place], chance, found[place]


def _relative(logarithms: Vector) -> list[float]:
    """Logarithms of ratios as relative changes: 0.0198 gives 0.02; infinite from 10⁹ on."""
    return list(np.expm1(np.where(logarithms < 20, logarithms, math.inf)).tolist())
