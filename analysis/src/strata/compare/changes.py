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
from typing import Literal, get_args

import numpy as np

from strata.compare.conditions import CLOCK, Difference, Kinship, differences, kinship
from strata.compare.wander import (
    Drift,
    Floor,
    Floors,
    chances_of,
    half_widths,
    holm,
    median_error,
)
from strata.run import Row, Run, RunError

Verdict = Literal["slower", "faster", "changed", "same", "undecided"]
"""`changed` is of quantities of which neither direction is better."""
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
Better = Literal["lower", "higher", "neither"]

POWER = 0.9
"""With what probability the smallest change that is named is found."""

UNSURE = 0.05
"""How often the interval of a row misses its change: 95 %, as the intervals of medians."""

_LOWER = ("s", "cycle", "tsc_cycle")
_HIGHER_ENDS = ("/s", "/cycle", "/tsc_cycle")
_HIGHER_NAMES = ("share_of_limit",)
PLACES = ("residency", "level", "space", "memory")
"""The parameter that says where the data lie; rows that differ in it wander differently."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a comparison promises, all as shares (0.01 is 1 %).

    `false_alarm` is the probability of even one alarm in a whole comparison in which nothing
    changed, `min_change` the smallest change of interest, `wander` the spread between runs that is
    assumed where too few rows tell (0.3 %: by so much are groups of rows shifted between the two
    recorded runs of the atlas on H200s).
    """

    false_alarm: float = 0.01
    min_change: float = 0.01
    wander: float = 0.003

    def __post_init__(self) -> None:
        """Raises ValueError, in one line, where a share is out of its range."""
        for name, least, most in (
            ("false_alarm", 1e-9, 0.5),
            ("min_change", 0.0, 10.0),
            ("wander", 0.0, 10.0),
        ):
            value = getattr(self, name)
            if not least <= value <= most:
                raise ValueError(f"found {name} {value}; expected a share of {least:g} to {most:g}")


@dataclass(frozen=True, slots=True)
class Change:
    """One timed quantity of one case in two runs.

    `change`, `low` and `high` are relative to `before` (0.02: 2 % more), the interval is the 95 %
    interval of this row by itself. `chance` is how often a row moves so
    far without a change; `found` the smallest change of this row that the comparison finds with a
    power of 0.9.
    """

    before: Row
    after: Row
    better: Better
    change: float
    low: float
    high: float
    chance: float
    found: float
    floor: Floor
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Exact:
    """A quantity that was counted, modelled, published or reported, in two runs."""

    before: Row
    after: Row

    @property
    def verdict(self) -> Verdict:
        """Equal to the last digit, or not."""
        return "same" if self.before.value == self.after.value else "changed"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A row that both runs have and that is not compared, and why."""

    before: Row
    after: Row
    reason: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs of a device, or of two of its model, compared.

    `changes`, `exact` and `left_out` are in the order of the first run; `only_before` and
    `only_after` count the rows that the other run lacks. `same` are the names of the runs of the
    same code that the floor is from, and `unlike` says in what they differ from the first all the
    same; `shift` is how far whole groups wander, as a logarithm.
    """

    before: Run
    after: Run
    kinship: Kinship
    settings: Settings
    differences: tuple[Difference, ...]
    changes: tuple[Change, ...]
    exact: tuple[Exact, ...]
    left_out: tuple[LeftOut, ...]
    only_before: int
    only_after: int
    same: tuple[str, ...]
    unlike: tuple[tuple[str, Difference], ...]
    shift: float

    def verdicts(self) -> Counter[Verdict]:
        """How many timed rows have each verdict."""
        return Counter(change.verdict for change in self.changes)

    def flagged(self) -> tuple[Change, ...]:
        """What is slower, faster or changed: in this order, the largest change first."""
        order: Sequence[Verdict] = ("slower", "faster", "changed")
        found = [change for change in self.changes if change.verdict in order]
        return tuple(
            sorted(found, key=lambda c: (order.index(c.verdict), -abs(math.log1p(c.change))))
        )


def better(row: Row) -> Better:
    """Which direction of a quantity is the better one.

    Times, latencies and cycles are better lower, rates of any kind higher; of sizes, shares and
    clocks neither is.
    """
    if row.unit in _LOWER:
        return "lower"
    if row.unit.endswith(_HIGHER_ENDS) or row.quantity in _HIGHER_NAMES:
        return "higher"
    return "neither"


def groups(row: Row) -> tuple[tuple[str, ...], ...]:
    """The groups of rows that may wander alike, from the finest to the coarsest."""
    place = next((row.params[name] for name in PLACES if name in row.params), "")
    kind = (row.quantity, row.method)
    return (
        (row.suite, row.benchmark, *kind, place),
        (row.suite, row.benchmark, *kind),
        (row.suite, *kind),
        (),
    )


def compare(
    before: Run, after: Run, settings: Settings | None = None, *, same: Sequence[Run] = ()
) -> Comparison:
    """What changed from `before` to `after`, two runs of a device or of two of its model.

    `same` are more runs of the code of `before`: what moves between them is no change, and the
    floor is what they say. Raises `RunError` where the runs have no row in common or are of
    different devices.
    """
    chosen = settings or Settings()
    kin = kinship(before.context, after.context)
    for run in (after, *same):
        if kinship(before.context, run.context) == "other":
            raise RunError(
                run.folder,
                found=f"a run of {run.context.device.name}",
                expected=f"one of {before.context.device.name}, as the first",
                mend="compare different devices by their normalised numbers",
            )
    pairs, only = _pairs(before, after)
    if not pairs:
        raise RunError(
            after.folder,
            found=f"no row that {before.context.run} has too",
            expected="two runs with cases in common",
            mend="run the same sweep with both",
        )
    left_out = [LeftOut(*pair, why) for pair in pairs if (why := _unfit(*pair))]
    fit = [pair for pair in pairs if not _unfit(*pair)]
    timed = _timed(fit)
    moved = _drift(timed)
    drifts = [_drift(timed_pairs) for timed_pairs in _same_code(before, same)]
    known = any(len(drift.changes) for drift in drifts)
    floors = Floors(drifts if known else [moved], known=known, assumed=math.log1p(chosen.wander))
    return Comparison(
        before=before,
        after=after,
        kinship=kin,
        settings=chosen,
        differences=differences(before, after),
        changes=_changes(timed, moved, floors, chosen),
        exact=tuple(Exact(*pair) for pair in fit if pair[0].provenance != "timed"),
        left_out=tuple(left_out),
        only_before=only[0],
        only_after=only[1],
        same=tuple(run.context.run for run in same),
        unlike=tuple((run.context.run, one) for run in same for one in differences(before, run)),
        shift=floors.shift,
    )


Pair = tuple[Row, Row]


def _pairs(before: Run, after: Run) -> tuple[list[Pair], tuple[int, int]]:
    """The rows that both runs have, and how many each has alone."""
    theirs = {row.key: row for row in after.rows}
    pairs = [(row, theirs[row.key]) for row in before.rows if row.key in theirs]
    return pairs, (len(before.rows) - len(pairs), len(after.rows) - len(pairs))


def _unfit(before: Row, after: Row) -> str:
    """Why two rows are not compared; empty where they are."""
    if not (before.valid and after.valid):
        which = [name for name, row in (("before", before), ("after", after)) if not row.valid]
        return f"invalid {' and '.join(which)}"
    # What a driver reports was called published by earlier builds.
    renamed = {before.provenance, after.provenance} == {"published", "reported"}
    if before.unit != after.unit or (before.provenance != after.provenance and not renamed):
        return (
            f"{before.provenance} in {before.unit} before, {after.provenance} in {after.unit} after"
        )
    if before.provenance == "timed" and not (before.minimum > 0 and after.minimum > 0):
        return "a sample that is not above 0"
    return ""


def _timed(pairs: Sequence[Pair]) -> list[Pair]:
    """The pairs that are compared as times; the clock under load is a condition, no result."""
    return [pair for pair in pairs if pair[0].provenance == "timed" and pair[0].quantity != CLOCK]


def _drift(pairs: Sequence[Pair]) -> Drift:
    return Drift(
        changes=np.array([math.log(two.value / one.value) for one, two in pairs]),
        errors=np.array([math.hypot(_error(one), _error(two)) for one, two in pairs]),
        groups=[groups(one) for one, _ in pairs],
    )


def _error(row: Row) -> float:
    return median_error(row.taken) if row.taken else 0.0


def _same_code(before: Run, same: Sequence[Run]) -> Iterator[list[Pair]]:
    """The timed rows of runs of the same code, of each and the one before it."""
    for one, two in itertools.pairwise((before, *same)):
        yield _timed([pair for pair in _pairs(one, two)[0] if not _unfit(*pair)])


def _changes(
    pairs: Sequence[Pair], moved: Drift, floors: Floors, settings: Settings
) -> tuple[Change, ...]:
    found = [floors.of(names) for names in moved.groups]
    scales = np.hypot([floor.spread for floor in found], moved.errors)
    shapes = np.array([floor.shape for floor in found])
    chances = chances_of(moved.changes, scales, shapes, floors.shift)
    rate, least = settings.false_alarm, math.log1p(settings.min_change)
    alarms = holm(chances.tolist(), rate)

    def reach(chance: float) -> list[float]:
        width = half_widths(np.full_like(scales, chance), scales, shapes, floors.shift)
        result: list[float] = width.tolist()
        return result

    own, edges = reach(UNSURE), reach(rate / max(len(pairs), 1))
    short = reach(2 * (1 - POWER))

    def made() -> Iterator[Change]:
        for place, (before, after) in enumerate(pairs):
            change, half, direction = float(moved.changes[place]), own[place], better(before)
            yield Change(
                before=before,
                after=after,
                better=direction,
                change=relative(change),
                low=relative(change - half),
                high=relative(change + half),
                chance=float(chances[place]),
                found=relative(max(edges[place], least) + short[place]),
                floor=found[place],
                verdict=_verdict(change, half, direction, alarm=alarms[place], least=least),
            )

    return tuple(made())


def relative(logarithm: float) -> float:
    """A logarithm of a ratio as a relative change: 0.0198 gives 0.02; infinite from 10⁹ on."""
    return math.expm1(logarithm) if logarithm < 20 else math.inf


def _verdict(change: float, half: float, better: Better, *, alarm: bool, least: float) -> Verdict:
    """By the logarithm of the change, its interval, and whether it is an alarm."""
    if alarm and abs(change) >= least:
        if better == "neither":
            return "changed"
        return "slower" if (change > 0) == (better == "lower") else "faster"
    return "same" if abs(change) + half <= least else "undecided"
