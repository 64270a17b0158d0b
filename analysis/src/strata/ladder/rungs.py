"""The n-body ladder, computed from rows: rungs in their order, steps, stalls, errors.

Like `strata.model`: no files, no drawing, and what a run lacks is simply not there.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from strata import reference
from strata.model import Cited, Sentence, ordered
from strata.model.units import count, factor, number
from strata.run import Backend, Row

SUITE = "nbody"
GIGA = 1e9
RATE = "interactions_per_second"
PROBLEMS = ("single", "galaxies", "gravit")
PROBLEM_WORDS = {"single": "one system", "galaxies": "many systems", "gravit": "Gravit"}

THESSALY = (32, 4096)
"""Systems, and bodies of each, whose 80 steps are the 4.3e10 interactions of the report."""

FIRST_METHOD = "event"
"""Of several timers of a rate, the one that the peers use stands for it."""


@dataclass(frozen=True, slots=True)
class Rung:
    """What the analysis must know of a rung beyond its rows; a test holds it to the harness."""

    name: str
    backend: Backend
    before: str
    in_blocks: bool = False
    """Whether it sums in blocks, not in one running sum."""
    approximate: bool = False
    """Whether by an approximate reciprocal square root."""


_RUNGS = (
    Rung("serial", "host", ""),
    Rung("openmp", "host", "serial"),
    Rung("cpu_soa", "host", "openmp"),
    Rung("simd", "host", "cpu_soa"),
    Rung("simd_rsqrt", "host", "simd", approximate=True),
    Rung("cpu_blocked", "host", "simd_rsqrt", in_blocks=True, approximate=True),
    Rung("cpu_pair_once", "host", "cpu_blocked", in_blocks=True, approximate=True),
    Rung("naive", "cuda", ""),
    Rung("tiled", "cuda", "naive"),
    Rung("one_launch", "cuda", "tiled"),
    Rung("fast_math", "cuda", "one_launch", approximate=True),
    Rung("unrolled", "cuda", "fast_math", approximate=True),
    Rung("invariants", "cuda", "unrolled", approximate=True),
    Rung("block_size", "cuda", "invariants", approximate=True),
    Rung("read_only", "cuda", "invariants", approximate=True),
    Rung("warp_shuffle", "cuda", "invariants", approximate=True),
    Rung("constant_memory", "cuda", "invariants", in_blocks=True, approximate=True),
    Rung("registers", "cuda", "invariants", in_blocks=True, approximate=True),
    Rung("register_banks", "cuda", "registers", in_blocks=True, approximate=True),
    Rung("pair_once", "cuda", "register_banks", in_blocks=True, approximate=True),
    Rung("several_gpus", "cuda", "register_banks", in_blocks=True, approximate=True),
)
RUNGS: Mapping[str, Rung] = {rung.name: rung for rung in _RUNGS}
ONCE = "pair_once"
"""The rung that computes each pair once, and so has an issue limit of its own."""
SEVERAL = "several_gpus"


def rung_name(rung: str) -> str:
    """`fast_math` as people write it: fast math."""
    return rung.replace("_", " ")


def rms_bound(rung: str, bodies: int) -> float | None:
    """Bound of the relative root mean square error that the harness holds a rung to.

    As in nbody/gravity/ladder.hpp: roundings of 2^-24, eight of a term and √n of a sum of n terms;
    None for a rung that is not known here.
    """
    known = RUNGS.get(rung)
    if known is None:
        return None
    block = 256
    sums = math.sqrt(block) + math.sqrt(bodies / block) if known.in_blocks else math.sqrt(bodies)
    return (2 if known.approximate else 1) * 2.0**-24 * (8 + sums)


# --- which case stands for a rung -----------------------------------------------------------------


def size(row: Row) -> tuple[int, int]:
    """Systems of a case, and bodies of each; 0 where its parameters do not say."""
    words = (row.params.get("systems", ""), row.params.get("bodies", ""))
    systems, bodies = (int(word) if word.isdecimal() else 0 for word in words)
    return systems, bodies


def interactions(row: Row) -> int:
    """N² of each system: what a step of the case computes, as the peers count."""
    systems, bodies = size(row)
    return systems * bodies * bodies


def size_words(row: Row) -> str:
    """`65 536 bodies`, `32 × 4096 bodies`."""
    systems, bodies = size(row)
    return (
        f"{count(systems)} × {count(bodies)} bodies" if systems > 1 else f"{count(bodies)} bodies"
    )


class Cases:
    """The rows of the ladder by case and quantity; `cupti_net` before a metric by itself."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows: dict[tuple[str, str], Row] = {}
        for row in rows:
            if row.suite != SUITE:
                continue
            known = self._rows.get((row.case, row.quantity))
            better = row.method in ("cupti_net", FIRST_METHOD)
            if known is None or (better and known.method != row.method):
                self._rows[row.case, row.quantity] = row

    def get(self, row: Row, name: str) -> Row | None:
        """The quantity `name` of the case of `row`."""
        return self._rows.get((row.case, name))

    def having(self, name: str) -> list[Row]:
        """One row of the quantity for each case that has it."""
        return [row for (_, found), row in self._rows.items() if found == name]


def at_size(rows: Sequence[Row], problem: str) -> dict[str, list[Row]]:
    """The rows of `problem` by rung, in the order of the ladder, all of one size where they can be.

    That of most interactions; for galaxies the report's, where it was measured. A rung that lacks
    the size has its own largest.
    """
    mine = [row for row in rows if row.params.get("problem") == problem]

    def rank(row: Row) -> tuple[bool, int]:
        return problem == "galaxies" and size(row) == THESSALY, interactions(row)

    by_rung: dict[str, list[Row]] = defaultdict(list)
    for row in mine:
        by_rung[row.benchmark].append(row)
    largest = size(max(mine, key=rank)) if mine else None
    result = {}
    for rung in ordered(by_rung, tuple(RUNGS)):
        here = by_rung[rung]
        wanted = largest if any(size(row) == largest for row in here) else size(max(here, key=rank))
        result[rung] = [row for row in here if size(row) == wanted]
    return result


def best(rows: Sequence[Row]) -> Row:
    """The fastest; a valid one before an invalid one."""
    return max(rows, key=lambda row: (row.valid, row.value))


_AXIS_WORDS = {
    "gpus": "GPUs: {}",
    "layout": "{}",
    "unroll": "unroll {}",
    "block_size": "{} threads",
    "per_thread": "{} a thread",
    "warps": "{} warps",
}
_DATA_AXES = ("problem", "systems", "bodies")


def axis_words(row: Row, axes: Iterable[str]) -> str:
    """`soaoas, unroll 8`: the values of the axes of a case, in words."""
    known = ordered(axes, tuple(_AXIS_WORDS))
    return ", ".join(
        _AXIS_WORDS.get(axis, f"{axis} {{}}").format(row.params[axis])
        for axis in known
        if axis in row.params
    )


def gpus(row: Row) -> int:
    """How many GPUs share the work of a case."""
    text = row.params.get("gpus", "")
    return int(text) if text.isdecimal() else 1


def own_axes(row: Row) -> list[str]:
    """The axes of a case beside its problem and its size."""
    return [axis for axis in row.params if axis not in _DATA_AXES]


# --- the ladder -----------------------------------------------------------------------------------

Place = tuple[str, int, int]
"""Problem, systems, bodies of each: cases at one place can be compared."""


@dataclass(frozen=True, slots=True)
class Step:
    """A rung by its best case: the rate, and what it changed.

    `limit` is what the case could do if a warp issued in every cycle; `other` the best case of the
    other problem (many systems, or a single one). `chosen` are the words of the axes along which
    the best case was sought. `before` is the best case of the nearest rung below that was measured,
    and `after` that of this rung: at the largest place that both have, or both None.
    """

    rung: str
    row: Row
    limit: Row | None
    other: Row | None
    chosen: str
    before: Row | None
    after: Row | None

    @property
    def speedup(self) -> float | None:
        """Over the rung before; None where one of both is not valid."""
        if self.before is None or self.after is None or self.before.value <= 0:
            return None
        if not (self.before.valid and self.after.valid):
            return None
        return self.after.value / self.before.value


def place_of(row: Row) -> Place:
    """Where a case stands: its problem and its size."""
    return row.params.get("problem", "?"), *size(row)


def _main_problem(by_rung: Mapping[str, Mapping[Place, Sequence[Row]]]) -> str:
    """A single system, if most rungs have computed one; else what most rungs have."""
    have = {
        problem: sum(any(place[0] == problem for place in places) for places in by_rung.values())
        for problem in PROBLEMS
    }
    if 2 * have["single"] > len(by_rung):
        return "single"
    return max(PROBLEMS, key=lambda problem: have[problem])


def place_rank(place: Place) -> tuple[bool, int]:
    """The larger of two places of a problem; for galaxies the report's."""
    problem, systems, bodies = place
    return (systems, bodies) == THESSALY and problem == "galaxies", systems * bodies * bodies


def rung_below(rung: str, by_rung: Mapping[str, object]) -> str | None:
    """The nearest rung below that was measured."""
    before = RUNGS[rung].before if rung in RUNGS else ""
    while before and before not in by_rung:
        before = RUNGS[before].before
    return before or None


def steps(rows: Sequence[Row]) -> tuple[Step, ...]:
    """Every rung that was timed, in order, by the largest single system that it computed.

    By many systems where few rungs computed a single one; a rung that lacks the problem of most
    stands there by another.
    """
    cases = Cases(rows)
    found: dict[str, dict[Place, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for row in cases.having(RATE):
        found[row.benchmark][place_of(row)].append(row)
    by_rung = {rung: found[rung] for rung in ordered(found, tuple(RUNGS))}
    main = _main_problem(by_rung)

    def largest(places: Iterable[Place]) -> Place | None:
        return max(places, key=lambda place: (place[0] == main, *place_rank(place)), default=None)

    result = []
    for rung, places in by_rung.items():
        shown = largest(places)
        if shown is None:
            continue
        row = best(places[shown])
        others = [place for place in places if place[0] not in (shown[0], "gravit")]
        beside = largest(others)
        below = rung_below(rung, by_rung)
        shared = largest(places.keys() & by_rung[below].keys()) if below else None
        varied = [
            axis
            for axis in own_axes(row)
            if axis == "gpus" or len({case.params.get(axis) for case in places[shown]}) > 1
        ]
        limit = cases.get(row, "issue_limit")
        result.append(
            Step(
                rung=rung,
                row=row,
                limit=limit if limit and limit.value > 0 else None,
                other=best(places[beside]) if beside else None,
                chosen=axis_words(row, varied),
                before=best(by_rung[below][shared]) if below and shared else None,
                after=best(places[shared]) if shared else None,
            )
        )
    return tuple(result)


def common_size(steps: Sequence[Step]) -> str:
    """The size of most rungs, in words."""
    sizes = [size_words(step.row) for step in steps]
    return max(dict.fromkeys(sizes), key=sizes.count)


def published(rows: Sequence[Row]) -> tuple[reference.PublishedRate, ...]:
    """Others' rates of one system on the chip of `rows`, each implementation at its largest N."""
    if not rows:
        return ()
    largest: dict[str, reference.PublishedRate] = {}
    for one in reference.nbody():
        known = largest.get(one.implementation)
        if (one.problem, one.precision) != ("single", "fp32"):
            continue
        if not reference.is_of(one, rows[0].device):
            continue
        if known is None or (one.bodies or 0) > (known.bodies or 0):
            largest[one.implementation] = one
    return tuple(largest.values())


# --- one axis of a rung ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AxisPoint:
    """A rung at one value of one of its axes; `occupancy` is in per cent, where counted."""

    problem: str
    value: int
    row: Row
    occupancy: Row | None


def along(rows: Sequence[Row], rung: str, axis: str) -> tuple[AxisPoint, ...]:
    """The rates of a rung along an axis, by problem; the best case where others vary as well.

    Of each problem the size that was measured at most values, the largest of several; nothing of a
    problem that was measured at one value alone.
    """
    cases = Cases(rows)
    rates = [row for row in cases.having(RATE) if row.benchmark == rung]
    result = []
    for problem in PROBLEMS:
        sizes: dict[Place, dict[int, list[Row]]] = defaultdict(lambda: defaultdict(list))
        for row in rates:
            if row.params.get("problem") == problem and row.params.get(axis, "").isdecimal():
                sizes[place_of(row)][int(row.params[axis])].append(row)
        if not sizes:
            continue
        by_value = sizes[max(sizes, key=lambda place: (len(sizes[place]), *place_rank(place)))]
        for value in sorted(by_value) if len(by_value) > 1 else ():
            row = best(by_value[value])
            result.append(AxisPoint(problem, value, row, cases.get(row, "achieved_occupancy")))
    return tuple(result)


# --- copies included ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Copied:
    """A step of `gravit` from copy to copy, in seconds, and that of its kernel."""

    rung: str
    bodies: int
    row: Row
    kernel: Row | None

    @property
    def valid(self) -> bool:
        """Whether both are."""
        return self.row.valid and self.kernel is not None and self.kernel.valid

    @property
    def outside(self) -> float:
        """Share of the time that is not the kernel's; 0 where the kernel was not timed."""
        if self.kernel is None or self.row.value <= 0:
            return 0.0
        return 1 - self.kernel.value / self.row.value


def copied(rows: Sequence[Row]) -> tuple[Copied, ...]:
    """Every rung at every number of particles, by the case of least time."""
    cases = Cases(rows)
    found: dict[tuple[str, int], list[Row]] = defaultdict(list)
    for row in cases.having("copied_step_time"):
        found[row.benchmark, size(row)[1]].append(row)
    rungs = ordered((rung for rung, _ in found), tuple(RUNGS))
    result = []
    for rung, bodies in sorted(found, key=lambda place: (rungs.index(place[0]), place[1])):
        row = min(found[rung, bodies], key=lambda row: (not row.valid, row.value))
        result.append(Copied(rung, bodies, row, cases.get(row, "step_time")))
    return tuple(result)


# --- what warps waited for ------------------------------------------------------------------------

STATES: Mapping[str, str] = {
    "selected": "issues",
    "not_selected": "ready, another issues",
    "wait": "fixed latency",
    "math_pipe_throttle": "arithmetic pipe full",
    "short_scoreboard": "shared memory, special functions",
    "mio_throttle": "queue of these full",
    "long_scoreboard": "L1, L2, device memory",
    "lg_throttle": "queue of L1 full",
    "dispatch_stall": "dispatch, register ports",
    "barrier": "barrier",
    "branch_resolving": "branch",
    "imc_miss": "constant cache",
    "no_instruction": "instruction cache",
}
"""Of the counted states those that tell something here, in the order in which they are stacked."""


@dataclass(frozen=True, slots=True)
class Stalls:
    """How the warps of a rung spent their time: warps for each instruction issued, by state."""

    rung: str
    states: Mapping[str, Row]
    all_states: Row
    utilisation: Row | None

    @property
    def shares(self) -> Mapping[str, float]:
        """Of the warps' time, by state; `other` is what no named state has."""
        whole = self.all_states.value
        shares = {name: self.states[name].value / whole for name in STATES if name in self.states}
        return shares | {"other": max(0.0, 1 - sum(shares.values()))}


def stalls(rows: Sequence[Row]) -> tuple[Stalls, ...]:
    """Of each rung the fastest case that was counted, of a single system where it has one."""
    cases = Cases(rows)
    counted = {row.case: row for row in cases.having("stall_all") if row.value > 0}
    rates = [row for row in cases.having(RATE) if row.case in counted]
    by_rung = at_size(rates, "galaxies") | at_size(rates, "single")
    found = (stalls_of(best(by_rung[rung]), cases) for rung in ordered(by_rung, tuple(RUNGS)))
    return tuple(one for one in found if one)


def stalls_of(row: Row, cases: Cases) -> Stalls | None:
    """Of the case of a row; None where its stalls were not counted."""
    whole = cases.get(row, "stall_all")
    if whole is None or whole.value <= 0:
        return None
    states = {name: cases.get(row, f"stall_{name}") for name in STATES}
    return Stalls(
        rung=row.benchmark,
        states={name: found for name, found in states.items() if found},
        all_states=whole,
        utilisation=cases.get(row, "issue_utilisation"),
    )


# --- errors ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Accuracy:
    """The relative root mean square error of one case, and what the harness allows it."""

    rung: str
    problem: str
    row: Row
    bound: float | None


def accuracies(rows: Sequence[Row]) -> tuple[Accuracy, ...]:
    """Every case of the sizes that `steps` shows."""
    errors = [row for row in Cases(rows).having("relative_rms_error") if row.value >= 0]
    return tuple(
        Accuracy(rung, problem, row, rms_bound(rung, size(row)[1]))
        for problem in PROBLEMS
        for rung, here in at_size(errors, problem).items()
        for row in here
    )


# --- in words -------------------------------------------------------------------------------------


def sentences(rows: Sequence[Row]) -> tuple[Sentence, ...]:
    """What the ladder came to on one device: one sentence; empty without a valid rung."""
    measured = [step for step in steps(rows) if step.row.valid and gpus(step.row) == 1]
    if not measured:
        return ()
    top = max(measured, key=lambda step: step.row.value)
    first = measured[0]
    parts: list[str | Cited] = [
        f"n-body, {size_words(top.row)}: the fastest rung is {rung_name(top.rung)} with ",
        Cited(f"{number(top.row.value / GIGA)} × 10⁹ interactions/s", top.row),
    ]
    if first is not top and first.row.params.get("problem") == top.row.params.get("problem"):
        gain = factor(top.row.value / first.row.value)
        other = "" if size(first.row) == size(top.row) else f" of {size_words(first.row)}"
        parts += [", ", Cited(gain, first.row), f" {rung_name(first.rung)}{other}"]
    if top.limit:
        parts += [
            " and ",
            Cited(f"{100 * top.row.value / top.limit.value:.0f} %", top.limit),
            " of what it could if a warp issued in every cycle",
        ]
    return ((*parts, "."),)
