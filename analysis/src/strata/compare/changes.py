"""What changed between two runs of one device, by rows and by families of rows.

Only valid rows of both runs are compared; the others are counted or listed. Timed rows and families
of them are compared with the noise of `strata.compare.noise`. Half of the declared false-alarm rate
is spent on rows and half on families, so that together they keep it. Counted, modelled and
published values must be exactly equal. What a different clock of the whole run explains is no
alarm.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median_high
from typing import Any, Literal, Protocol

import numpy as np
import pandas as pd

from strata.compare import noise
from strata.compare.conditions import (
    Difference,
    clock_differs,
    clocks,
    differences,
    kinship,
    repeats,
)
from strata.compare.noise import FAMILY, Noise, Student, Vector
from strata.model import atlas
from strata.model.cases import CYCLE_CLOCKS
from strata.run import Row, Run, RunError

VERDICTS = ("slower", "faster", "changed", "same", "undecided")
"""`changed` is of quantities of which neither direction is better."""
ALARMS = VERDICTS[:3]
Better = Literal["lower", "higher", "neither"]

POWER = 0.9  # power: the probability of finding the smallest reported change
UNSURE = 0.05  # how often the interval of a row misses its change, as for medians
TOGETHER = 0.8  # the share of a family's rows that must move in the same direction
APART = 4.0  # normal sigmas of the intervals of two medians that must be apart
PLACES = ("residency", "level", "space", "memory")
"""The parameter that names where the data are; rows that differ in it drift differently."""
CHOSEN = ("ceilings", "clock_under_load", "l2_placement", "slice_camping", "tensor_rate")
"""Benchmarks of launches whose length trial launches choose in each run."""
_WORDS = ("suite", "benchmark", "case", "quantity", "method", "provenance", "unit")


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
        for name in ("false_alarm", "min_change", "wander", "power"):
            least, most = (1e-9, 0.5) if name == "false_alarm" else (0.0, 10.0)
            if not least <= (value := getattr(self, name)) <= most:
                raise ValueError(f"found {name} {value}; expected a share of {least:g} to {most:g}")


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs of a device, or of two devices of one model, compared.

    Every line of the frames has a `verdict`, and is in the order of the first run:

    `rows`      timed rows: `before` and `after` are the rows themselves; the columns of
                `strata.compare.noise.floors` are their noise
    `families`  benchmark, quantity and level: the change is the median of its `rows`, of which
                `alike` moved in the same direction; `repeats` runs of the same code show its drift
    `untimed`   counted, modelled, published and reported rows, and rows that are not compared, for
                a `reason`

    `better` is the direction; `change` is relative to the first run (0.02: 2 % more), `low` and
    `high` its 95 % interval, `chance` the probability of such a change without a change of the
    code, and `found` the smallest change that is detected with a power of 0.9.

    `alone` counts the rows of only the first and only the second run. `repeats` are the sets of
    runs of the same code. `clock` is the change of the clock as a logarithm; 0 within its
    tolerance, or if it is unknown.
    """

    before: Run
    after: Run
    settings: Settings
    clock: float
    repeats: tuple[tuple[Run, ...], ...]
    differences: tuple[Difference, ...]
    rows: pd.DataFrame
    families: pd.DataFrame
    untimed: pd.DataFrame
    alone: tuple[int, int]

    @property
    def both(self) -> tuple[Run, Run]:
        """The runs that are compared."""
        return self.before, self.after

    def verdicts(self) -> Counter[str]:
        """The number of timed rows with each verdict."""
        return Counter(self.rows.verdict)

    def flagged(self) -> pd.DataFrame:
        """Rows that are slower, faster or changed, in this order, the largest change first."""
        return _alarms(self.rows)

    def moved(self) -> pd.DataFrame:
        """The families that are slower, faster or changed, in the same order."""
        return _alarms(self.families)

    def noticeable(self) -> list[float]:
        """The smallest change noticed in each timed row of both runs, alone or with its family.

        Infinite for rows that were not compared.
        """
        together = self.families.set_index(FAMILY).found.rename("together")
        found = self.rows[[*FAMILY, "found"]].join(together, on=FAMILY)[["found", "together"]]
        lost = self.untimed[self.untimed.reason != ""]
        lost = lost[(lost.provenance == "timed") & ~lost.quantity.isin(CYCLE_CLOCKS)]
        return [*found.min(axis=1), *[math.inf] * len(lost)]

    @property
    def has_power(self) -> bool:
        """Whether a change of `settings.power` would be noticed in at least half of the rows."""
        found = self.noticeable()
        return bool(found) and median_high(found) <= self.settings.power

    @property
    def slower(self) -> bool:
        """Whether any row or family is slower."""
        return "slower" in {*self.rows.verdict, *self.families.verdict}


def _alarms(frame: pd.DataFrame) -> pd.DataFrame:
    order = pd.DataFrame({"kind": frame.verdict.map({v: at for at, v in enumerate(ALARMS)}),
                          "size": -np.log1p(frame.change).abs()}).dropna()  # fmt: skip
    return frame.loc[order.sort_values(["kind", "size"], kind="stable").index]


def records(frame: pd.DataFrame) -> Iterator[Any]:
    """The lines of a frame, with their columns as attributes."""
    return frame.itertuples(index=False)


def as_time(frame: pd.DataFrame, column: str) -> "pd.Series[float]":
    """A column of relative changes as changes of time, positive if they are for the worse."""
    share = frame[column].astype(float)
    return share.mask(frame.better == "higher", 1 / (1 + share) - 1)


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


def compare(
    before: Run, after: Run, settings: Settings | None = None, *, same: Sequence[Run] = ()
) -> Comparison:
    """What changed from `before` to `after`, two runs of a device or of two of its model.

    `same` are runs that repeat `before`, `after` or each other, on one chip and with the same code:
    they show how far medians move. Raises `RunError` if one of them repeats nothing, if the runs
    have no row in common, or if they are of different devices.
    """
    settings = settings or Settings()
    for run in (after, *same):
        if kinship(before.context, run.context) == "other":
            found = f"a run of {run.context.device.name}"
            expected = f"one of {before.context.device.name}, like the first"
            fix = "compare different devices by their normalised numbers"
            raise RunError(run.folder, found=found, expected=expected, fix=fix)
    sets, level = repeats((before, after), same), level_of(before)
    pairs, clock = _pairs(before, after), _clock(before, after)
    if pairs.empty:
        found = f"no row in common with {before.context.run}"
        expected, fix = "two runs with cases in common", "run the same sweep with both"
        raise RunError(after.folder, found=found, expected=expected, fix=fix)

    def moved(first: Run, second: Run) -> tuple[pd.DataFrame, pd.DataFrame]:
        rows = _timed(_pairs(first, second), level)
        return rows, noise.families(rows, _clock(first, second))

    timed = _timed(pairs, level)
    families = noise.families(timed, clock)
    again = [[moved(first, run) for run in later] for first, *later in sets]
    drifts = [pair for runs in again for pair in runs if len(pair[0])]
    assumed = math.log1p(settings.wander)
    laws = noise.with_laws(families, [[of for _, of in runs] for runs in again], assumed)
    floors = noise.floors(
        timed, drifts or [(timed, families)], laws, known=bool(drifts), assumed=assumed
    )
    half = replace(settings, false_alarm=settings.false_alarm / (1 if laws.empty else 2))
    untimed = pairs[(pairs.reason != "") | (pairs.provenance != "timed")]
    first, second = (np.array([row.value for row in untimed[run]]) for run in ("before", "after"))
    exact = np.where(first == second, "same", "changed")
    verdict = np.where(untimed.reason != "", "not compared", exact)
    return Comparison(
        before, after, settings, clock, sets, differences(before, after),
        rows=_rows(timed, families, floors, half),
        families=_families(timed, laws, half),
        untimed=untimed.assign(
            verdict=verdict, better=np.where(untimed.reason != "", "", "neither")
        ),
        alone=(len(before.rows) - len(pairs), len(after.rows) - len(pairs)),
    )  # fmt: skip


def _pairs(before: Run, after: Run) -> pd.DataFrame:
    """Rows of both runs, and why they are not compared; empty if they are."""
    seconds = {row.key: row for row in after.rows}
    pairs = [(row, seconds[row.key]) for row in before.rows if row.key in seconds]
    columns: dict[str, Any] = {name: [getattr(row, name) for row, _ in pairs] for name in _WORDS}
    columns |= {"before": [row for row, _ in pairs], "after": [row for _, row in pairs]}
    return pd.DataFrame({**columns, "reason": [_unfit(*pair) for pair in pairs]})


def _unfit(before: Row, after: Row) -> str:
    """Why two rows are not compared; empty if they are."""
    if not (before.valid and after.valid):
        which = [name for name, row in (("before", before), ("after", after)) if not row.valid]
        return f"invalid {' and '.join(which)}"
    # Earlier builds recorded driver-reported values as published.
    renamed = {before.provenance, after.provenance} == {"published", "reported"}
    if before.unit != after.unit or (before.provenance != after.provenance and not renamed):
        first, second = (f"{row.provenance} in {row.unit}" for row in (before, after))
        return f"{first} before, {second} after"
    if before.quantity == "grid_time" and before.benchmark in CHOSEN:
        return "time of a launch whose length each run chooses"
    if before.provenance == "timed" and not (before.minimum > 0 and after.minimum > 0):
        return "a sample that is not above 0"
    return ""


def _timed(pairs: pd.DataFrame, level: Callable[[Row], str]) -> pd.DataFrame:
    """The timed rows with the logarithm of their change and its error.

    The clock under load is a condition, not a result.
    """
    timed = pairs[
        (pairs.provenance == "timed") & (pairs.reason == "") & ~pairs.quantity.isin(CYCLE_CLOCKS)
    ]
    first, second = (np.array([row.value for row in timed[run]]) for run in ("before", "after"))
    errors = [noise.errors_of([*timed[run]]) for run in ("before", "after")]
    knee = noise.KNEE * noise.slopes([*timed.before])
    return timed.assign(
        level=[level(row) for row in timed.before],
        log=np.log(second / first),
        error=np.linalg.norm([*errors, knee], axis=0),
        better=[better(row) for row in timed.before],
    ).reset_index(drop=True)


def level_of(run: Run) -> Callable[[Row], str]:
    """The level of a row's family: the case's own, or by what served the chase."""
    chased = atlas.served(run)

    def level(row: Row) -> str:
        return chased(row) or next((row.params[name] for name in PLACES if name in row.params), "")

    return level


def _clock(before: Run, after: Run) -> float:
    """The change of the clock as a logarithm; 0 within its tolerance, or if it is unknown."""
    first, second = clocks(before, after)
    return math.log(second / first) if clock_differs(first, second) else 0.0


def _rows(
    timed: pd.DataFrame, families: pd.DataFrame, floors: pd.DataFrame, settings: Settings
) -> pd.DataFrame:
    of = timed[FAMILY].join(families, on=FAMILY)
    scales = (floors.floor_spread**2 + timed.error**2) ** 0.5
    law = Noise(*(column.to_numpy(float) for column in (
        scales, floors.floor_shape, floors.floor_shift, floors.floor_freedom,
    )))  # fmt: skip
    (below, above, _), (below_after, above_after, _) = (
        noise.intervals_of([*timed[run]], APART) for run in ("before", "after")
    )
    # The interval of a difference from those of its parts (Zou and Donner 2008).
    apart = np.where(timed.log > 0, np.hypot(above, below_after), np.hypot(below, above_after))
    moved = timed.assign(beyond=timed.log - of.middle + of.beyond)
    judged = _judged(moved.rename(columns={"log": "middle"}), of, law, settings, apart)
    return pd.concat([timed, judged, floors], axis=1)


def _families(timed: pd.DataFrame, laws: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    of = timed.groupby(FAMILY, sort=False)
    laws = laws.assign(better=of.better.first().reindex(laws.index))
    alike = (timed.log * of.log.transform("median") > 0).groupby(
        [timed[name] for name in FAMILY], sort=False
    )
    laws["alike"] = alike.sum().reindex(laws.index).astype(int)
    laws["repeats"] = laws.freedom - noise.PRIOR
    law = Student(laws.scale.to_numpy(), laws.freedom.to_numpy())
    judged = _judged(laws, laws, law, settings)
    parted = judged.verdict.isin(ALARMS) & (laws.alike < TOGETHER * laws.rows)
    judged["verdict"] = judged.verdict.mask(parted, "undecided")
    return pd.concat([laws.drop(columns=["low", "high"]), judged], axis=1).reset_index()


def _judged(
    moved: pd.DataFrame, of: pd.DataFrame, law: Student | Noise, settings: Settings,
    apart: Vector | float = 0.0,
) -> pd.DataFrame:  # fmt: skip
    """Verdicts of what moved by `middle`, at the set rate of even one false alarm.

    What is `beyond` the clocks of the families `of` is tested; it must also exceed `apart`.
    """
    least, unsure = math.log1p(settings.min_change), law.reach(UNSURE)
    chances, smallest = law.chances(moved.beyond.to_numpy()), law.chances(least)
    alarms = noise.holm(chances, settings.false_alarm, smallest) & (moved.beyond.abs() > apart)
    # The first step of Holm's procedure, which is the strictest.
    edges = law.reach(noise.strictest(smallest, settings.false_alarm))
    edges = np.maximum(np.maximum(edges, least), apart)
    clock = np.maximum(-of.low.to_numpy(), of.high.to_numpy())
    with np.errstate(over="ignore"):
        logs = {
            "change": moved.middle, "low": moved.middle - unsure, "high": moved.middle + unsure,
            "found": edges + law.reach(2 * (1 - POWER)) + clock,
        }  # fmt: skip
        judged = pd.DataFrame(logs, moved.index).apply(np.expm1)
    worse = (judged.change > 0) == (moved.better == "lower")
    alarm = np.where(moved.better == "neither", "changed", np.where(worse, "slower", "faster"))
    calm = np.where(moved.middle.abs() + unsure <= least, "same", "undecided")
    return judged.assign(chance=chances, verdict=np.where(alarms, alarm, calm))
