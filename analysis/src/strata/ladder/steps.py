"""What each step of the n-body ladder changed: measured, predicted, and taken apart by counters.

The rate of a case is, exactly,

    interactions/s = GPUs x SMs x share of them at work x clock x issue rate x 32 / instructions

with warp instructions of an SM in a cycle (issue rate), thread instructions for each interaction,
and 32 threads of a warp. Instructions and issue rate are counted, the clock is timed, the share of
SMs at work follows from the blocks of a launch. A step is the ratio of two rates, so it is the
product of the ratios of these factors, and of a rest that none of them explains: the remainder,
which is always shown. Counters run under a profiler, but all of these are for each interaction or
each cycle, so its clock does not enter.

Like `strata.model`: no files, no drawing; what a run lacks is simply not there, and invalid rows
never enter.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from strata.ladder import rungs as ladder
from strata.ladder.rungs import (
    RATE,
    RUNGS,
    SEVERAL,
    Cases,
    Place,
    Stalls,
    interactions,
    rung_name,
    size,
)
from strata.model import Cited, Sentence, ordered
from strata.model.units import factor, number
from strata.run import Row

PROBLEMS = ("single", "galaxies")
"""Whose steps are told; `gravit` has copies in its time."""

LANES = 32
ISSUED_A_CYCLE = 128  # lanes of an SM, by its four schedulers
NEAR = 0.5
"""A code that uses at least half of the issue slots is bound by them, for the rule of instructions:
with fewer it waits, and fewer instructions would but wait longer."""


# --- how a rung cuts its work ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Kernel:
    """What a rung's code says of itself; tests hold it to the harness.

    `issue_slots`: instructions of a warp for each of its interactions in the inner loop, 0 where
    the harness states none. `block`: bodies of a block, 0 where an axis says so. `by_system`:
    whether each system has a launch of its own. `shared_by`: threads that share one read of a body
    that pulls, a warp's or a block's; 0 where that is not simple.
    """

    issue_slots: float = 0
    block: int = 256
    by_system: bool = False
    shared_by: int = 256


KERNELS: Mapping[str, Kernel] = {
    "naive": Kernel(by_system=True, shared_by=LANES),
    "tiled": Kernel(by_system=True),
    "one_launch": Kernel(),
    "fast_math": Kernel(issue_slots=18),
    "unrolled": Kernel(issue_slots=14.03),
    "invariants": Kernel(issue_slots=14.09),
    "block_size": Kernel(issue_slots=14.09, block=0, shared_by=0),
    "read_only": Kernel(issue_slots=14.22, shared_by=LANES),
    "warp_shuffle": Kernel(issue_slots=17.38, shared_by=LANES),
    "constant_memory": Kernel(issue_slots=15.16, by_system=True, shared_by=0),
    "registers": Kernel(issue_slots=13.25, block=0, shared_by=0),
    "register_banks": Kernel(issue_slots=13.25, block=0, shared_by=0),
    "pair_once": Kernel(issue_slots=8.875, block=0, shared_by=0),
    "several_gpus": Kernel(block=0, shared_by=0),
}
"""Of the rungs of a GPU."""
UNEVEN = (ladder.ONCE, "constant_memory")
"""Rungs whose reads are not one for each block or warp and body."""


def _axis(row: Row, name: str) -> int:
    text = row.params.get(name, "")
    return int(text) if text.isdecimal() else 0


def block_bodies(row: Row) -> int:
    """Bodies that a block of the case computes the pulls upon; 0 where that is not known."""
    kernel = KERNELS.get(row.benchmark)
    if kernel is None:
        return 0
    if kernel.block:
        return kernel.block
    return _axis(row, "block_size") or LANES * _axis(row, "per_thread")


def blocks_at_once(row: Row, cases: Cases) -> int:
    """Blocks of the launch that does the work, on each GPU; 0 where that is not known.

    Of `pair_once` they hang on the occupancy that its kernel gets: they are what was counted, less
    the harness's own one and those of its first and its last kernel (256 bodies each).
    """
    systems, bodies = size(row)
    each = block_bodies(row)
    if not each or not systems or not bodies:
        return 0
    if row.benchmark == ladder.ONCE:
        launched = cases.get(row, "launched_blocks")
        padded = math.ceil(bodies / each) * each
        others = 1 + systems * 2 * math.ceil(padded / 256)
        return max(0, round(launched.value) - others) if launched else 0
    many = ladder.gpus(row)
    if row.params.get("problem") == "galaxies":
        systems = math.ceil(systems / many)
    else:
        bodies = math.ceil(bodies / many)
    blocks = math.ceil(bodies / each)
    return blocks if KERNELS[row.benchmark].by_system else blocks * systems


def share_at_work(blocks: int, sms: int) -> float | None:
    """Share of the SMs at work over the time of a launch of equal blocks; None without any.

    Blocks are dealt out evenly, and the SMs that have the most of them decide when the launch ends:
    16 blocks on 132 SMs are 0.12, 256 are 256 / (2 x 132) = 0.97.
    """
    if blocks <= 0 or sms <= 0:
        return None
    return blocks / (sms * math.ceil(blocks / sms))


def sms_of(rows: Iterable[Row]) -> int:
    """SMs of the GPU, from the issue limits of its rungs; 0 without one or where they disagree.

    The harness makes a limit of them: SMs x 128 lanes x clock / issue slots. A harness with other
    issue slots than those known here gives no whole number, and so no answer.
    """
    cases = Cases(rows)
    found = []
    for limit in cases.having("issue_limit"):
        clock = cases.get(limit, "core_clock")
        kernel = KERNELS.get(limit.benchmark)
        if clock and clock.value > 0 and kernel:
            found.append(limit.value * kernel.issue_slots / (ISSUED_A_CYCLE * clock.value))
    whole = round(median(found)) if found else 0
    return whole if all(abs(one - whole) < 1e-3 * whole for one in found) else 0


BODY_BYTES = 16
"""Of a body that pulls: its position and its mass."""
POSITION_BYTES = 12
SECTOR_BYTES = 32


def bytes_used_per_sector(row: Row, cases: Cases) -> float | None:
    """Bytes that threads use of each 32-byte sector that they ask L1 for; None where not known.

    Modelled over counted: a rung reads the 16 bytes of every body that pulls once for each warp or
    each block, as its code says, and each thread the 12 of its own position; the sectors of all
    global loads are counted, those of velocities too, of which a step of `galaxies` has a few.
    """
    sectors = cases.get(row, "l1_load_sectors")
    kernel = KERNELS.get(row.benchmark)
    each = kernel.shared_by or block_bodies(row) if kernel else 0
    systems, bodies = size(row)
    if sectors is None or sectors.value <= 0 or not each or row.benchmark in UNEVEN:
        return None
    walked = BODY_BYTES * math.ceil(bodies / each)
    used = systems * bodies * (walked + POSITION_BYTES) / sectors.value
    # More than there is would be another code than the one that is told of here.
    return used if used <= SECTOR_BYTES * (1 + 1e-9) else None


# --- what a rate is made of -----------------------------------------------------------------------

FACTORS: Mapping[str, str] = {
    "instructions": "instructions",
    "issue": "issue rate",
    "sms": "SMs at work",
    "clock": "clock",
    "gpus": "GPUs",
}
"""Factors of a step, as speed-ups, in the order in which they are told."""


@dataclass(frozen=True, slots=True)
class Speed:
    """The rate of a case, in interactions a second, and what it is made of.

    `instructions` of a thread for each interaction, `issued` by an SM in a cycle in which it has
    work, `clock` in Hz, `share` of the SMs at work; None where there is no valid row.
    """

    rate: Row
    instructions: Row | None
    issued: Row | None
    clock: Row | None
    share: float | None
    gpus: int

    @property
    def counted(self) -> bool:
        """Whether instructions and issue rate are known."""
        return self.instructions is not None and self.issued is not None


def speed_of(rate: Row, cases: Cases, sms: int) -> Speed:
    """The parts of one rate; `cases` holds valid rows only, `sms` is 0 where not known."""

    def above_zero(name: str) -> Row | None:
        row = cases.get(rate, name)
        return row if row and row.value > 0 else None

    clock = above_zero("core_clock")
    return Speed(
        rate=rate,
        instructions=above_zero("instructions_per_interaction"),
        issued=above_zero("executed_per_cycle"),
        # The clock of a CPU's time stamps is not that of its cores.
        clock=clock if rate.backend == "cuda" else None,
        share=share_at_work(blocks_at_once(rate, cases), sms) if rate.backend == "cuda" else None,
        gpus=ladder.gpus(rate),
    )


# --- counters that moved --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Told:
    """One of the counters that can be told of: its words, and how it is got of a case."""

    words: str
    unit: str
    least: float
    value: Callable[[Row, Cases], tuple[Row, float] | None]


def _plain(name: str) -> Callable[[Row, Cases], tuple[Row, float] | None]:
    def value(rate: Row, cases: Cases) -> tuple[Row, float] | None:
        row = cases.get(rate, name)
        return (row, row.value) if row else None

    return value


def _of_a_thread(name: str) -> Callable[[Row, Cases], tuple[Row, float] | None]:
    """Requests of warps in one step, as those of a thread for each interaction."""

    def value(rate: Row, cases: Cases) -> tuple[Row, float] | None:
        row, pairs = cases.get(rate, name), interactions(rate)
        return (row, LANES * row.value / pairs) if row and pairs else None

    return value


COUNTERS: Sequence[Told] = (
    Told("instructions/interaction", "", 0.1, _plain("instructions_per_interaction")),
    Told("global loads/interaction", "", 0.05, _of_a_thread("l1_load_requests")),
    Told("shared loads/interaction", "", 0.05, _of_a_thread("shared_load_requests")),
    Told("sectors/request", "", 0.5, _plain("l1_sectors_per_request")),
    Told("DRAM bytes/interaction", "", 0.05, _plain("dram_bytes_per_interaction")),
    Told("issue slots used", " %", 1, _plain("issue_utilisation")),
    Told("occupancy", " %", 1, _plain("achieved_occupancy")),
)
"""Those that mean something to a reader; below `least`, in both cases, they say nothing."""
TOLD = 3
MOVED = 1.05
"""A counter that changed by less has not moved."""


@dataclass(frozen=True, slots=True)
class Moved:
    """A counter of both cases of a step; values in its unit, or for each interaction."""

    words: str
    unit: str
    before: float
    after: float
    row: Row

    @property
    def ratio(self) -> float:
        """After over before; infinite where there was none before."""
        return self.after / self.before if self.before > 0 else math.inf


def _moved(before: Row, after: Row, cases: Cases) -> tuple[Moved, ...]:
    """The counters that moved most, in order of how far; none where one case was not counted."""
    found = []
    for one in COUNTERS:
        old, new = one.value(before, cases), one.value(after, cases)
        if old is None or new is None or max(old[1], new[1]) < one.least:
            continue
        # Below the least of what says something, nothing is a small number rather than a far one.
        far = abs(math.log(max(new[1], one.least / 100) / max(old[1], one.least / 100)))
        if far >= math.log(MOVED):
            found.append((far, Moved(one.words, one.unit, old[1], new[1], new[0])))
    found.sort(key=lambda item: -item[0])
    return tuple(moved for _, moved in found[:TOLD])


WORKING = ("selected", "not_selected")
"""States of a warp in which it does not wait."""


@dataclass(frozen=True, slots=True)
class Waits:
    """What the warps of a case waited for most: the state, its share of their time, its row."""

    state: str
    share: float
    row: Row


def most_waited(stalls: Stalls | None) -> Waits | None:
    """The largest of the named reasons to wait; None where none was counted."""
    if stalls is None:
        return None
    waits = {name: share for name, share in stalls.shares.items() if name in stalls.states}
    waits = {name: share for name, share in waits.items() if name not in WORKING}
    if not waits:
        return None
    state = max(waits, key=lambda name: waits[name])
    return Waits(state, waits[state], stalls.states[state])


# --- the steps ------------------------------------------------------------------------------------

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
OPERATIONS = 2 * 17 / 21


@dataclass(frozen=True, slots=True)
class Change:
    """A rung against the rung that it changes: same problem and size, where it can be same layout.

    `measured` is the ratio of the rates, `low` and `high` what the 95 % intervals of both allow (of
    at least 90 %, therefore); `factors` those of FACTORS that are known, and `unexplained` what is
    left of `measured` without them: all of it that was not counted, and None on a CPU, which has
    no factors. `predicted` comes from models, by
    `rule`; None and "" where none applies.
    """

    rung: str
    before: Speed
    after: Speed
    low: float
    high: float
    factors: Mapping[str, float]
    predicted: float | None
    rule: str
    source: Row | None
    moved: tuple[Moved, ...]
    waited: tuple[Waits | None, Waits | None]

    @property
    def measured(self) -> float:
        """The rate over that of the rung before."""
        return self.after.rate.value / self.before.rate.value

    @property
    def counted(self) -> bool:
        """Whether instructions and issue rates of both were."""
        return self.before.counted and self.after.counted

    @property
    def unexplained(self) -> float | None:
        """Measured over the product of the known factors; None where none is known."""
        return self.measured / math.prod(self.factors.values()) if self.factors else None

    @property
    def problem(self) -> str:
        """`single` or `galaxies`."""
        return self.after.rate.params.get("problem", "?")


def _ratio(after: Row | None, before: Row | None) -> float | None:
    return after.value / before.value if after and before and before.value > 0 else None


def factors_of(before: Speed, after: Speed) -> Mapping[str, float]:
    """The factors of a step that are known of both of its cases, as speed-ups."""
    result = {}
    instructions = _ratio(before.instructions, after.instructions)
    if instructions:
        result["instructions"] = instructions
    issued = _ratio(after.issued, before.issued)
    if issued:
        result["issue"] = issued
    if before.share and after.share:
        result["sms"] = after.share / before.share
    clock = _ratio(after.clock, before.clock)
    if clock:
        result["clock"] = clock
    if before.gpus != after.gpus:
        result["gpus"] = after.gpus / before.gpus
    return result


def predict(
    before: Speed, after: Speed, cases: Cases, cores: int = 0
) -> tuple[float | None, str, Row | None]:
    """What models say a step brings, by which rule, and the row that says so.

    No rule looks at the rate of the rung that it predicts. `cores` of a CPU: 0 where not known.
    """
    rung = after.rate.benchmark
    if rung == "openmp":
        return (float(cores), "cores", None) if cores else (None, "", None)
    if rung == "cpu_pair_once":
        return OPERATIONS, "operations", None
    spread = after.share / before.share if before.share and after.share else None
    if rung == "one_launch":
        return (spread, "launch", None) if spread else (None, "", None)
    if rung == SEVERAL:
        many = after.gpus / before.gpus
        return many * (spread or 1), "gpus", None
    old, new = cases.get(before.rate, "issue_limit"), cases.get(after.rate, "issue_limit")
    if old and new and old.value > 0:
        near = before.rate.value / (old.value * (before.share or 1)) >= NEAR
        return (new.value / old.value * (spread or 1), "limits", new) if near else (None, "", None)
    used = cases.get(before.rate, "issue_utilisation")
    fewer = _ratio(before.instructions, after.instructions)
    if fewer and used and used.value >= 100 * NEAR:
        return fewer * (spread or 1), "instructions", after.instructions
    return None, "", None


def _bounds(row: Row) -> tuple[float, float]:
    """The 95 % interval of the median, or, with too few samples, their range."""
    if row.ci_low is None or row.ci_high is None:
        return row.minimum, row.maximum
    return row.ci_low, row.ci_high


def _change(rung: str, before: Speed, after: Speed, cases: Cases, cores: int) -> Change:
    (low, high), (low0, high0) = _bounds(after.rate), _bounds(before.rate)
    predicted, rule, source = predict(before, after, cases, cores)
    return Change(
        rung=rung,
        before=before,
        after=after,
        low=low / high0,
        high=high / low0,
        factors=factors_of(before, after),
        predicted=predicted,
        rule=rule,
        source=source,
        moved=_moved(before.rate, after.rate, cases),
        waited=(
            most_waited(ladder.stalls_of(before.rate, cases)),
            most_waited(ladder.stalls_of(after.rate, cases)),
        ),
    )


_Cell = tuple[Place, str]
"""A place, and a layout."""


def changes(rows: Sequence[Row], *, sms: int = 0, cores: int = 0) -> tuple[Change, ...]:
    """Every step of the ladder, problem by problem, in the order of the rungs.

    A rung is compared with the nearest rung below that has a valid rate of the problem: at a size
    that both have, one that was counted before the largest, and in the layout that most rungs
    have; each by its fastest case there. Where they share no layout, the layout is what changed.
    `sms` and `cores` of the machine: 0 where the caller does not know them; SMs then come from the
    issue limits.
    """
    valid = [row for row in rows if row.valid]
    cases = Cases(valid)
    sms = sms or sms_of(valid)
    rates = [row for row in cases.having(RATE) if row.value > 0 and row.minimum > 0]
    # What several GPUs do on one of them is no step.
    rates = [row for row in rates if row.benchmark != SEVERAL or ladder.gpus(row) > 1]
    result = []
    for problem in PROBLEMS:
        found: dict[str, dict[_Cell, Row]] = defaultdict(dict)
        for row in rates:
            if row.params.get("problem") == problem:
                here = (problem, *size(row)), row.params.get("layout", "")
                known = found[row.benchmark].get(here)
                if known is None or row.value > known.value:
                    found[row.benchmark][here] = row
        common = Counter(layout for cells in found.values() for layout in {one[1] for one in cells})
        for rung in ordered(found, tuple(RUNGS)):
            below = ladder.rung_below(rung, found)
            pair = _pair(found[below], found[rung], common, cases, sms) if below else None
            if pair:
                result.append(_change(rung, *pair, cases, cores))
    return tuple(result)


def _pair(
    before: Mapping[_Cell, Row],
    after: Mapping[_Cell, Row],
    common: Mapping[str, int],
    cases: Cases,
    sms: int,
) -> tuple[Speed, Speed] | None:
    """The two cases that a step is told by."""
    shared = [(cell, cell) for cell in before if cell in after]
    if not shared:
        shared = [(old, new) for old in before for new in after if old[0] == new[0]]
    pairs = [
        (speed_of(before[old], cases, sms), speed_of(after[new], cases, sms)) for old, new in shared
    ]

    def rank(pair: tuple[Speed, Speed]) -> tuple[object, ...]:
        old, new = pair
        layout = new.rate.params.get("layout", "")
        return (
            old.counted and new.counted,
            ladder.place_rank(ladder.place_of(new.rate)),
            common[layout],
            new.rate.value,
            old.rate.value,
        )

    return max(pairs, key=rank, default=None)


def case_words(change: Change) -> str:
    """`65 536 bodies; soaoas, unroll 8`: where a step was taken, of the rung itself."""
    row = change.after.rate
    return f"{ladder.size_words(row)}; {ladder.axis_words(row, ladder.own_axes(row))}"


def moved_words(change: Change) -> Sentence:
    """The counters that moved, each linked to its row: `issue slots used 60 -> 79 %; …`."""
    parts: list[str | Cited] = []
    for one in change.moved:
        parts.append("; " if parts else "")
        parts.append(f"{one.words} {_count(one.before)} → ")
        parts += [Cited(_count(one.after), one.row), one.unit]
    old, new = change.waited
    if old and new:
        parts.append("; " if parts else "")
        parts.append("most waited for: ")
        if old.state != new.state:
            parts.append(f"{ladder.STATES[old.state]} {100 * old.share:.0f} % → ")
            parts.append(f"{ladder.STATES[new.state]} ")
        else:
            parts.append(f"{ladder.STATES[new.state]} {100 * old.share:.0f} → ")
        parts += [Cited(f"{100 * new.share:.0f}", new.row), " %"]
    return tuple(part for part in parts if part)


def _count(value: float) -> str:
    """Three digits are enough to see that something moved."""
    if value < 0.0005:
        return "0"
    return f"{value:.3f}" if value < 0.0995 else f"{value:.3g}" if value < 999.5 else number(value)


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


def sentences(rows: Sequence[Row]) -> tuple[Sentence, ...]:
    """Of each step of earlier papers that was counted here: does it still pay, and why (not).

    Of one system, or where the step is about many of them, of many. Empty without counters.
    """
    known = {(one.rung, one.problem): one for one in changes(rows) if one.counted}
    result = []
    for rung, words in SEEDS.items():
        one = known.get((rung, "galaxies" if rung == "one_launch" else "single"))
        if one:
            result.append(_sentence(one, words))
    return tuple(result)


def _sentence(change: Change, words: str) -> Sentence:
    gain = change.measured
    if abs(gain - 1) < NOTHING:
        verdict = " pays nothing here ("
    else:
        verdict = " pays here (" if gain > 1 else " costs here ("
    parts: list[str | Cited] = [
        f"n-body, {rung_name(change.rung)}: {words}",
        verdict,
        Cited(factor(gain), change.after.rate),
        f" {rung_name(change.before.rate.benchmark)}, {ladder.size_words(change.after.rate)})",
    ]
    told = [
        f"{FACTORS[name]} {factor(value)}"
        for name, value in change.factors.items()
        if name != "clock"
    ]
    if change.unexplained:
        told.append(f"unexplained {factor(change.unexplained)}")
    parts.append(f": {', '.join(told)}")
    moved = moved_words(change)
    return (*parts, *(("; ", *moved) if moved else ()), ".")
