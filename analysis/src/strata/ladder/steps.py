"""What each step of the n-body ladder changed: measured, predicted, and taken apart by counters.

The rate of a case is, exactly,

    interactions/s = GPUs x SMs x share of them at work x clock x issue rate x 32 / instructions

with warp instructions of an SM in a cycle (issue rate), thread instructions for each interaction,
and 32 threads of a warp. Instructions and issue rate are counted, the clock is timed, the share of
SMs at work follows from the blocks of a launch. A step is the ratio of two rates, so it is the
product of the ratios of these factors, and of a rest that none of them explains: the remainder,
which is always shown. Counters run under a profiler, but all of these are for each interaction or
each cycle, so its clock does not enter. Invalid rows never enter.
"""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from strata.ladder import launch
from strata.ladder import rungs as ladder
from strata.ladder.rungs import Cases, Place, interactions, rung_name, size_words
from strata.ladder.stalls import STATES, Stalls, stalls_of
from strata.model import Cited, Sentence
from strata.model.units import factor, number
from strata.run import Row, Run

PROBLEMS = ("single", "galaxies")
"""Whose steps are told; `gravit` has copies in its time."""
NEAR = 0.5
"""A code that uses at least half of the issue slots is bound by them, for the rule of instructions:
with fewer it waits, and fewer instructions would but wait longer."""

FACTORS: Mapping[str, str] = {
    "instructions": "instructions",
    "issue": "issue rate",
    "sms": "SMs at work",
    "clock": "clock",
    "gpus": "GPUs",
}
"""Factors of a step, as speed-ups, in the order in which they are told."""
MEASURED: Mapping[str, str] = {
    "instructions": "instructions_per_interaction",
    "issue": "executed_per_cycle",
    "clock": "core_clock",
}
"""The quantities behind those factors that are measured."""
RULES: Mapping[str, str] = {
    "limits": "issue limits",
    "instructions": "instructions",
    "launch": "blocks an SM",
    "gpus": "GPUs",
    "cores": "cores",
    "operations": "operations",
}
"""By which rule a step was predicted, in short."""
RULE_WORDS: Mapping[str, str] = {
    "limits": "the ratio of the issue limits, where the rung before uses half of its issue slots "
    "or more",
    "instructions": "the inverse ratio of counted instructions (Siegel et al. 2009, eq. 3), where "
    "the harness states no limit and the rung before uses half of its issue slots or more",
    "launch": "the same code on so many more SMs: the blocks of a launch over the SMs that have "
    "to wait for the last of them",
    "gpus": "so many times as there are GPUs, less what their SMs wait for the last blocks",
    "cores": "so many times as there are cores",
    "operations": "21 operations on vectors for two interactions instead of 17 for each",
}


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a model says a step brings, by a rule of RULES, and the row that says so."""

    value: float
    rule: str
    source: Row | None = None


@dataclass(frozen=True, slots=True)
class Moved:
    """A counter of both cases of a step; values in its unit, or for each interaction."""

    words: str
    unit: str
    before: float
    after: float
    row: Row


@dataclass(frozen=True, slots=True)
class Change:
    """The rates of a rung and of the one that it changes, of one size and, if it can be, layout.

    `low` and `high` are what the 95 % intervals of both allow (of at least 90 %, therefore);
    `factors` those of FACTORS that are known, `sources` the rows of the rung behind them.
    `prediction` is None where no rule applies; `stalls` are those of both cases, where counted.
    """

    before: Row
    after: Row
    low: float
    high: float
    factors: Mapping[str, float]
    sources: Mapping[str, Row]
    prediction: Prediction | None
    moved: tuple[Moved, ...]
    stalls: tuple[Stalls | None, Stalls | None]

    @property
    def rung(self) -> str:
        """Which one changed something."""
        return self.after.benchmark

    @property
    def problem(self) -> str:
        """`single` or `galaxies`."""
        return self.after.text("problem")

    @property
    def measured(self) -> float:
        """The rate over that of the rung before."""
        return self.after.value / self.before.value

    @property
    def counted(self) -> bool:
        """Whether instructions and issue rates of both were."""
        return {"instructions", "issue"} <= self.factors.keys()

    @property
    def unexplained(self) -> float | None:
        """Measured over the product of the known factors: all of it that was not counted.

        None where no factor is known, as on a CPU.
        """
        return self.measured / math.prod(self.factors.values()) if self.factors else None


# --- what a rate is made of -----------------------------------------------------------------------


def _sources(rate: Row, cases: Cases) -> Mapping[str, Row]:
    """The rows of MEASURED; none on a CPU, whose time stamps have another clock than its cores."""
    if rate.backend == "host":
        return {}
    found = {name: cases.get(rate, quantity) for name, quantity in MEASURED.items()}
    return {name: row for name, row in found.items() if row and row.value > 0}


def _parts(rate: Row, cases: Cases) -> Mapping[str, float]:
    """What a rate is made of, by FACTORS, as far as it is known."""
    share = launch.share_at_work(launch.blocks_at_once(rate, cases), cases.sms)
    return {
        **{name: row.value for name, row in _sources(rate, cases).items()},
        **({"sms": share} if share else {}),
        "gpus": ladder.gpus(rate),
    }


def _factors(before: Mapping[str, float], after: Mapping[str, float]) -> dict[str, float]:
    """The factors of a step that are known of both of its cases, as speed-ups."""
    known = [name for name in FACTORS if name in before and name in after]
    ratios = {name: after[name] / before[name] for name in known}
    if "instructions" in ratios:
        ratios["instructions"] = before["instructions"] / after["instructions"]
    if ratios["gpus"] == 1:
        del ratios["gpus"]
    return ratios


def _predicted(
    before: Row, after: Row, cases: Cases, factors: Mapping[str, float], share: float
) -> Prediction | None:
    """What models say a step brings; no rule looks at the rate of the rung that it predicts.

    `share` is that of the SMs at work before.
    """
    old, new = cases.rungs[before.benchmark], cases.rungs[after.benchmark]
    if new.name == "openmp":
        return Prediction(float(cases.cores), "cores")
    if old.vector_operations and new.vector_operations:
        return Prediction(old.vector_operations / new.vector_operations, "operations")
    spread = factors.get("sms")
    if new.name == "one_launch":
        return Prediction(spread, "launch") if spread else None
    wider = spread or 1
    if "gpus" in factors:
        return Prediction(factors["gpus"] * wider, "gpus")
    limit, new_limit = cases.get(before, "issue_limit"), cases.get(after, "issue_limit")
    if limit and new_limit and limit.value > 0:
        near = before.value / (limit.value * share) >= NEAR
        return (
            Prediction(new_limit.value / limit.value * wider, "limits", new_limit) if near else None
        )
    used = cases.get(before, "issue_utilisation")
    if "instructions" in factors and used and used.value >= 100 * NEAR:
        source = cases.get(after, MEASURED["instructions"])
        return Prediction(factors["instructions"] * wider, "instructions", source)
    return None


# --- counters that moved --------------------------------------------------------------------------

COUNTERS = (
    ("instructions/interaction", "", 0.1, "instructions_per_interaction"),
    ("global loads/interaction", "", 0.05, "l1_load_requests"),
    ("shared loads/interaction", "", 0.05, "shared_load_requests"),
    ("sectors/request", "", 0.5, "l1_sectors_per_request"),
    ("DRAM bytes/interaction", "", 0.05, "dram_bytes_per_interaction"),
    ("issue slots used", " %", 1, "issue_utilisation"),
    ("occupancy", " %", 1, "achieved_occupancy"),
)
"""Words, unit, the least that says something if both cases have less, and the quantity: those that
mean something to a reader. Requests of warps in a step are told as those of a thread for each
interaction."""
TOLD = 3
MOVED = 1.05
"""A counter that changed by less has not moved."""


def _moved(before: Row, after: Row, cases: Cases) -> tuple[Moved, ...]:
    """The counters that moved most, in order of how far; none where one case was not counted."""
    found = []
    for words, unit, least, quantity in COUNTERS:
        rows = cases.get(before, quantity), cases.get(after, quantity)
        if rows[0] is None or rows[1] is None:
            continue
        values = [rows[0].value, rows[1].value]
        if quantity.endswith("_requests"):
            values = [
                launch.LANES * value / interactions(rate)
                for value, rate in zip(values, (before, after), strict=True)
            ]
        # Below the least of what says something, nothing is a small number rather than a far one.
        old, new = (max(value, least / 100) for value in values)
        far = abs(math.log(new / old))
        if max(values) >= least and far >= math.log(MOVED):
            found.append((far, Moved(words, unit, values[0], values[1], rows[1])))
    found.sort(key=lambda item: -item[0])
    return tuple(moved for _, moved in found[:TOLD])


# --- the steps ------------------------------------------------------------------------------------


def changes(run: Run) -> tuple[Change, ...]:
    """Every step of the ladder, problem by problem, in the order of the rungs.

    A rung is compared with the nearest rung below that has a valid rate of the problem: at a size
    that both have, one that was counted before the largest, and in the layout that most rungs
    have; each by its fastest case there. Where they share no layout, the layout is what changed.
    """
    cases = Cases(run, valid=True)
    fastest: dict[str, dict[str, dict[tuple[Place, str], Row]]] = {one: {} for one in PROBLEMS}
    for row in cases.having(ladder.RATE):
        problem, cell = row.text("problem"), (ladder.place_of(row), row.text("layout"))
        # What several GPUs do on one of them is no step.
        if problem in PROBLEMS and row.minimum > 0 and interactions(row) and row.count("gpus") != 1:
            cells = fastest[problem].setdefault(row.benchmark, {})
            cells[cell] = max(cells.get(cell, row), row, key=lambda one: one.value)
    result = []
    for by_rung in fastest.values():
        common = Counter(
            layout for cells in by_rung.values() for layout in {one[1] for one in cells}
        )

        def rank(change: Change, common: Mapping[str, int] = common) -> tuple[object, ...]:
            old, new = change.before, change.after
            place = ladder.place_rank(ladder.place_of(new))
            return change.counted, place, common[new.text("layout")], new.value, old.value

        for rung, after in by_rung.items():
            before = by_rung.get(cases.below(rung, by_rung), {})
            same = [(before[cell], row) for cell, row in after.items() if cell in before]
            pairs = same or [
                (old, new)
                for old in before.values()
                for new in after.values()
                if ladder.place_of(old) == ladder.place_of(new)
            ]
            steps = [_change(*pair, cases) for pair in pairs]
            result += [max(steps, key=rank)] if steps else []
    return tuple(result)


def _change(before: Row, after: Row, cases: Cases) -> Change:
    old, new = _parts(before, cases), _parts(after, cases)
    factors = _factors(old, new)
    (low, high), (low0, high0) = _interval(after), _interval(before)
    return Change(
        before=before,
        after=after,
        low=low / high0,
        high=high / low0,
        factors=factors,
        sources=_sources(after, cases),
        prediction=_predicted(before, after, cases, factors, old.get("sms", 1)),
        moved=_moved(before, after, cases),
        stalls=(stalls_of(before, cases), stalls_of(after, cases)),
    )


def _interval(row: Row) -> tuple[float, float]:
    """The 95 % interval of the median, or, with too few samples, their range."""
    if row.ci_low is None or row.ci_high is None:
        return row.minimum, row.maximum
    return row.ci_low, row.ci_high


# --- in words -------------------------------------------------------------------------------------

NOTHING = 0.03
"""A step of less, up or down, pays nothing."""

SEEDS: Mapping[str, str] = {
    "tiled": "tiles in shared memory (Handbook 14.3; GPU Gems 3)",
    "one_launch": "one launch for all systems (Papadouli et al. 2026: 4.27×)",
    "unrolled": "unrolling (Siegel et al. 2009: 1.18×; Handbook, Table 14.2: 1.18×)",
    "invariants": "loop-invariant code motion (Siegel et al. 2009: with occupancy 6 %)",
    "block_size": "another block size (Siegel et al. 2009: with code motion 6 %)",
}
"""Steps that earlier papers describe, and what they gained there, as the papers print it."""


def moved_words(change: Change) -> Sentence:
    """The counters that moved, each linked to its row: `issue slots used 60 -> 79 %; …`."""
    told: list[list[str | Cited]] = [
        [f"{one.words} {_count(one.before)} → ", Cited(_count(one.after), one.row), one.unit]
        for one in change.moved
    ]
    old, new = change.stalls
    if old and new and old.most_waited and new.most_waited:
        before, after = STATES[old.most_waited], STATES[new.most_waited]
        part = f"{before} {100 * old.shares[old.most_waited]:.0f}"
        part += " → " if before == after else f" % → {after} "
        share = f"{100 * new.shares[new.most_waited]:.0f}"
        told.append([f"most waited for: {part}", Cited(share, new.states[new.most_waited]), " %"])
    return tuple(
        part for place, parts in enumerate(told) for part in ("; " if place else "", *parts) if part
    )


def _count(value: float) -> str:
    """Three digits are enough to see that something moved."""
    if value < 0.0005:
        return "0"
    return f"{value:.3f}" if value < 0.0995 else f"{value:.3g}" if value < 999.5 else number(value)


def sentences(run: Run) -> tuple[Sentence, ...]:
    """Of each step of earlier papers that was counted here: does it still pay, and why (not).

    Of one system, or where the step is about many of them, of many. Empty without counters.
    """
    known = {(one.rung, one.problem): one for one in changes(run) if one.counted}
    told = [(rung, "galaxies" if rung == "one_launch" else "single") for rung in SEEDS]
    return tuple(_sentence(known[step]) for step in told if step in known)


def _sentence(change: Change) -> Sentence:
    gain = change.measured
    paid = "pays" if gain > 1 else "costs"
    verdict = "pays nothing" if abs(gain - 1) < NOTHING else paid
    parts = [
        f"{FACTORS[name]} {factor(ratio)}"
        for name, ratio in change.factors.items()
        if name != "clock"
    ]
    if change.unexplained:
        parts.append(f"unexplained {factor(change.unexplained)}")
    moved = moved_words(change)
    return (
        f"n-body, {rung_name(change.rung)}: {SEEDS[change.rung]} {verdict} here (",
        Cited(factor(gain), change.after),
        f" {rung_name(change.before.benchmark)}, {size_words(change.after)}): {', '.join(parts)}",
        *(("; ", *moved) if moved else ()),
        ".",
    )
