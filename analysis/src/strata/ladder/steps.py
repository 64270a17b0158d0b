"""What each step of the n-body ladder changed: measured, predicted, and decomposed by counters.

The rate of a case is, exactly,

    interactions/s = GPUs x SMs x busy share of them x clock x issue rate x 32 / instructions

with warp instructions of an SM per cycle (issue rate), thread instructions per interaction, and 32
threads per warp. Instructions and issue rate are counted, and the clock is timed. The share of busy
SMs is counted, including the time between the kernels of a step, or follows from the blocks of a
launch if it was not counted for both. A step is the ratio of two rates, so it is the product of the
ratios of these factors, and of a remainder that none of them explains, which is always shown.
Counters run under a profiler, but all of these are per interaction or per cycle, so its clock does
not matter. Invalid rows are never used.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import product
from typing import NamedTuple

from strata.ladder import launch
from strata.ladder import rungs as ladder
from strata.ladder.launch import LANES
from strata.ladder.rungs import Cases, interactions, rung_name, size_words
from strata.ladder.stalls import STATES, Stalls, stalls_of
from strata.model import Cited, Sentence
from strata.model.units import factor, number
from strata.run import Row, Run, grouped

PROBLEMS = ("single", "galaxies")
"""Problems of which steps are reported; `gravit` has copies in its time."""
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
"""Factors of a step, as speed-ups, in the order in which they are reported."""
MEASURED: Mapping[str, str] = {
    "instructions": "instructions_per_interaction",
    "issue": "executed_per_cycle",
    "clock": "core_clock",
}
"""The quantities behind those factors that are measured."""
AT_WORK = "sms_at_work"
"""The quantity behind the SMs at work, where both cases have it."""
RULES: Mapping[str, str] = {"limits": "issue limits", "launch": "blocks an SM", "gpus": "GPUs"}
"""By which rule a step was predicted, in short, where that is not the rule's name."""
RULE_WORDS: Mapping[str, str] = {
    "limits": "the ratio of the issue limits, if the previous rung uses at least half of its "
    "issue slots",
    "instructions": "the inverse ratio of counted instructions (Siegel et al. 2009, eq. 3), "
    "if the harness states no limit and the previous rung uses at least half "
    "of its issue slots",
    "launch": "the same code on more SMs: the blocks of a launch over the SMs that wait for "
    "the last of them",
    "gpus": "the number of GPUs, less the time that their SMs wait for the last blocks",
    "cores": "the number of cores",
    "operations": "21 vector operations for two interactions instead of 17 for each",
}


class Prediction(NamedTuple):
    """A model's prediction of a step's gain, by a rule of RULE_WORDS, and its row."""

    value: float
    rule: str
    source: Row | None = None


COUNTERS = (
    ("instructions/interaction", "", 0.1, "instructions_per_interaction"),
    ("global loads/interaction", "", 0.05, "l1_load_requests"),
    ("shared loads/interaction", "", 0.05, "shared_load_requests"),
    ("sectors/request", "", 0.5, "l1_sectors_per_request"),
    ("DRAM bytes/interaction", "", 0.05, "dram_bytes_per_interaction"),
    ("issue slots used", " %", 1, "issue_utilisation"),
    ("XU pipe used", " %", 1, "pipe_xu"),
    ("tensor pipe used", " %", 1, "pipe_tensor"),
    ("occupancy", " %", 1, "achieved_occupancy"),
)
"""Words, unit, the least that means something if both cases have less, and the quantity: those that
mean something to a reader. Requests of warps in a step are reported as those of a thread for each
interaction."""
TOLD = 3
MOVED = 1.05
"""A counter that changed by less has not moved."""


class Change:
    """The rates of a rung and the one that it changes, of one size and, if possible, layout.

    `measured` is the speed-up; `low` to `high` is what the 95 % intervals of both rates allow: an
    interval of at least 90 %.
    """

    def __init__(self, before: Row, after: Row, cases: Cases) -> None:
        self.before, self.after, self.cases = before, after, cases
        self.rung, self.problem = after.benchmark, after.text("problem")
        self.measured = after.value / before.value
        self.low = after.interval[0] / before.interval[1]
        self.high = after.interval[1] / before.interval[0]

    @cached_property
    def factors(self) -> Mapping[str, float]:
        """The FACTORS known for both cases, as speed-ups."""
        counted = [self.cases.get(rate, AT_WORK) for rate in (self.before, self.after)]
        old, new = (
            self._parts(rate, at_work.value if at_work and all(counted) else self._by_blocks(rate))
            for rate, at_work in zip((self.before, self.after), counted, strict=True)
        )
        ratios = {name: new[name] / old[name] for name in old if name in new}
        if "instructions" in ratios:
            ratios["instructions"] = old["instructions"] / new["instructions"]
        return {name: ratio for name, ratio in ratios.items() if name != "gpus" or ratio != 1}

    def _by_blocks(self, rate: Row) -> float:
        return launch.share_at_work(launch.blocks_at_once(rate, self.cases), self.cases.sms)

    def _parts(self, rate: Row, at_work: float) -> Mapping[str, float]:
        rows = {name: self.cases.get(rate, quantity) for name, quantity in MEASURED.items()}
        parts = {name: row.value if row else 0 for name, row in rows.items()}
        parts |= {"sms": at_work, "gpus": ladder.gpus(rate)}
        on_gpu = rate.backend == "cuda"
        return {name: parts[name] for name in FACTORS if on_gpu and parts[name] > 0}

    @property
    def counted(self) -> bool:
        """Whether instructions and issue rates of both were counted."""
        return {"instructions", "issue"} <= self.factors.keys()

    @property
    def unexplained(self) -> float | None:
        """The measured gain over the product of the known factors; all of it without counts.

        None if no factor is known, as on a CPU.
        """
        return self.measured / math.prod(self.factors.values()) if self.factors else None

    @cached_property
    def prediction(self) -> Prediction | None:
        """The predictions of models, None without a rule; none uses the rate after the step."""
        cases, before, after = self.cases, self.before, self.after
        old, new = cases.rungs[before.benchmark], cases.rungs[after.benchmark]
        if new.name == "openmp":
            return Prediction(float(cases.cores), "cores")
        if old.vector_operations and new.vector_operations:
            return Prediction(old.vector_operations / new.vector_operations, "operations")
        few, many = self._by_blocks(before), self._by_blocks(after)
        wider = many / few if few and many else 1
        if new.name == "one_launch":
            return Prediction(wider, "launch") if few and many else None
        if "gpus" in self.factors:
            return Prediction(self.factors["gpus"] * wider, "gpus")
        limit, higher = cases.get(before, "issue_limit"), cases.get(after, "issue_limit")
        if limit and higher and limit.value > 0:
            used = before.value / (limit.value * (few or 1))
            value = higher.value / limit.value * wider
            return Prediction(value, "limits", higher) if used >= NEAR else None
        counted = cases.get(before, "issue_utilisation")
        if "instructions" in self.factors and counted and counted.value >= 100 * NEAR:
            source = cases.get(after, MEASURED["instructions"])
            return Prediction(self.factors["instructions"] * wider, "instructions", source)
        return None

    @cached_property
    def moved(self) -> Sentence:
        """The counters that changed most, linked to their rows: `issue slots used 60 → 79 %; …`."""
        found: list[tuple[float, Sentence]] = []
        for words, unit, least, quantity in COUNTERS:
            old, new = self.cases.get(self.before, quantity), self.cases.get(self.after, quantity)
            if old is None or new is None:
                continue
            values = [old.value, new.value]
            if quantity.endswith("_requests"):
                values = [LANES * one.value / interactions(one) for one in (old, new)]
            # Below the smallest meaningful value, a small number and none are equal.
            low, high = sorted(max(value, least / 100) for value in values)
            if max(values) >= least and high / low >= MOVED:
                text = f"{words} {_count(values[0])} → ", Cited(_count(values[1]), new), unit
                found.append((high / low, text))
        found.sort(key=lambda item: -item[0])
        parts = [text for _, text in found[:TOLD]]
        share = self.cases.facts[self.after.case].get("near_share")
        if isinstance(share, float):
            parts.append((f"near pairs {_count(100 * share)} %",))
        old_waits, new_waits = (stalls_of(rate, self.cases) for rate in (self.before, self.after))
        if old_waits and new_waits and old_waits.most_waited and new_waits.most_waited:
            parts.append(_waits(old_waits, old_waits.most_waited, new_waits, new_waits.most_waited))
        return tuple(word for part in parts for word in ("; ", *part) if word)[1:]


def _waits(old: Stalls, waited: str, new: Stalls, waits: str) -> Sentence:
    before, after = STATES[waited], STATES[waits]
    arrow = "→" if before == after else f"% → {after}"
    words = f"most waited for: {before} {100 * old.shares[waited]:.0f} {arrow} "
    return (words, Cited(f"{100 * new.shares[waits]:.0f}", new.states[waits]), " %")


def _count(value: float) -> str:
    """A count with three digits, enough to see a change."""
    if value < 0.0005:
        return "0"
    return f"{value:.3f}" if value < 0.0995 else f"{value:.3g}" if value < 999.5 else number(value)


def changes(run: Run) -> tuple[Change, ...]:
    """Every step of the ladder, by problem and size, in the order of the rungs.

    A rung is compared with the nearest rung below that has a valid rate of the problem: at each of
    the two sizes that most rungs have, the larger first, or, if they share neither, at another
    common size; in the layout that most rungs have; each by its fastest case there. If they share
    no layout, the layout is the change.
    """
    cases, found = Cases(run, valid=True), list[Change]()
    # A rung for several GPUs on one of them is not a step.
    rates = [row for row in cases.having(ladder.RATE) if row.minimum > 0 and row.count("gpus") != 1]
    for problem in PROBLEMS:
        found += _steps([row for row in rates if row.text("problem") == problem], cases)
    return tuple(found)


def _steps(rates: Sequence[Row], cases: Cases) -> Iterator[Change]:
    alike = grouped(rates, lambda row: (row.benchmark, ladder.place_of(row), row.text("layout")))
    best = [max(rows, key=lambda row: row.value) for rows in alike.values()]
    fastest = grouped(best, lambda row: row.benchmark)
    rungs_in = Counter(layout for _, layout in {(rung, layout) for rung, _, layout in alike})

    def rank(step: Change) -> tuple[object, ...]:
        old, new = step.before, step.after
        return step.counted, rungs_in[new.text("layout")], new.value, old.value

    common = ladder.common_places(best)
    found: dict[ladder.Place, list[Change]] = {place: [] for place in common}
    for rung, after in fastest.items():
        before = fastest.get(cases.below(rung, fastest), [])
        every = (Change(*pair, cases) for pair in product(before, after))
        here = [one for one in every if ladder.place_of(one.before) == ladder.place_of(one.after)]
        by_place = grouped(here, lambda one: ladder.place_of(one.after))
        for place in [place for place in common if place in by_place] or by_place:
            at = by_place[place]
            same = [one for one in at if one.before.text("layout") == one.after.text("layout")]
            found.setdefault(place, []).append(max(same or at, key=rank))
    for steps in found.values():
        yield from steps


NOTHING = 0.03
"""A step of less, up or down, pays nothing."""

SEEDS: Mapping[str, str] = {
    "tiled": "tiles in shared memory (Handbook 14.3; GPU Gems 3)",
    "one_launch": "one launch for all systems (Papadouli et al. 2026: 4.27×)",
    "unrolled": "unrolling (Siegel et al. 2009: 1.18×; Handbook, Table 14.2: 1.18×)",
    "invariants": "loop-invariant code motion (Siegel et al. 2009: with occupancy 6 %)",
    "block_size": "another block size (Siegel et al. 2009: with code motion 6 %)",
    "pair_once": "each pair once (no earlier figure on a GPU is known)",
    "tensor_cores": "far groups of bodies on tensor cores (no earlier direct sum is known)",
}
"""Steps that earlier papers describe, and what they gained there, as the papers print it; and those
that are new."""


def sentences(run: Run) -> tuple[Sentence, ...]:
    """For each step of earlier papers that was counted here: does it still pay off, and why (not)?

    Also for the new ones. For the larger system, or, if the step concerns many systems, for many.
    Empty without counters.
    """
    known = {(one.rung, one.problem): one for one in reversed(changes(run)) if one.counted}
    steps = [(rung, "galaxies" if rung == "one_launch" else "single") for rung in SEEDS]
    return tuple(_sentence(known[step]) for step in steps if step in known)


def _sentence(change: Change) -> Sentence:
    gain = change.measured
    verdict = "pays nothing" if abs(gain - 1) < NOTHING else "pays" if gain > 1 else "costs"
    still = {name for name in ("clock",) if abs(change.factors.get(name, 1) - 1) < NOTHING}
    parts = {FACTORS[name]: ratio for name, ratio in change.factors.items() if name not in still}
    parts["unexplained"] = change.unexplained or 1
    factors = ", ".join(f"{words} {factor(ratio)}" for words, ratio in parts.items())
    where = f"{rung_name(change.before.benchmark)}, {size_words(change.after)}"
    words = f"n-body, {rung_name(change.rung)}: {SEEDS[change.rung]} {verdict} here ("
    moved = ("; ", *change.moved) if change.moved else ()
    return (words, Cited(factor(gain), change.after), f" {where}): {factors}", *moved, ".")
