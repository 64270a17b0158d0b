"""The hierarchical roofline, computed from rows: ceilings, kernels, and points that cannot be.

Williams, Waterman and Patterson (2009) draw the rate of a kernel against its operations for each
byte; Yang, Kurth and Williams (2020) do so for every level of the memory at once; Ding and
Williams (2019) do the same with instructions of warps and sectors. Like `strata.model`: no files,
no drawing, and what a run lacks is simply not there.

Units: a rate is in FLOP/s (in warp instructions a second on the form INSTRUCTION), a bandwidth in
B/s (sectors of 32 bytes a second), an intensity in FLOP/B (warp instructions for each sector).
"""

import csv
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from typing import Literal

from strata.ladder import rungs as ladder
from strata.model import Cited, Table, level_name, ordered
from strata.model.units import SPACE, significant
from strata.run import Row, load
from strata.run.statistics import median

FLOP = "flop"
INSTRUCTION = "instruction"
FORMS = (FLOP, INSTRUCTION)

Basis = Literal["measured", "theoretical", "counted", "nominal"]

TOLERANCE = 0.02
"""How far a point may lie above a roof, beyond the intervals of both: two runs of one benchmark
agree that well (the timers of a case must)."""
SAME = 0.97
"""A lesser ceiling that is this much of the roof, or more, is the roof."""
NOMINAL = 20
"""Operations of an interaction as the peers count (Nyland, Harris and Prins 2007)."""

LEVELS = ("l1", "l2", "l3", "dram")
ONCE = "once"
"""The level of a point that nobody counted: each body read and each result written once a step."""
LOADS = "loads"
"""The level of a point that is the global loads of a kernel alone, against its sectors."""

SECTOR = 32
"""Bytes."""
WAVEFRONT = 128
"""Bytes that shared memory hands over in a cycle: one wavefront."""
WARP = 32
ISSUE = "issue"
ISSUED = 4
"""Warp instructions that an SM issues in a cycle: one of each of its four schedulers."""

COMPULSORY = {"single": 28, "galaxies": 48}
"""Bytes of a body that a step cannot do without: position and mass read, acceleration written;
position and velocity read and written."""

PROFILED = "ncu"
PROFILED_TIME = "gpu_time"
"""The suite of what Nsight Compute profiled (`strata.interop`), and the time of one launch."""
_LONGEST_NAME = 26
"""Letters of a kernel's name."""

_KINDS: Mapping[str, tuple[str, str, int]] = {
    "fp32": ("fp32", "flops_per_second", 2),
    "fp64": ("fp64", "flops_per_second", 2),
    "fp16x2": ("fp16, packed", "flops_per_second", 4),
    "bf16x2": ("bf16, packed", "flops_per_second", 4),
    "int32": ("int32", "operations_per_second", 2),
    "int8_dp4a": ("int8", "operations_per_second", 8),
}
"""Of `ceilings`: name, quantity, and the operations of one instruction of a thread."""
CEILINGS = ("ceilings", "bandwidth", "stride_gather", "instruction_cost")
"""The benchmarks that ceilings come from."""
_DRAWN_KINDS = ("fp16x2", "fp32", "fp64")
WITHOUT_FMA = "fp32 without FMA"
MAIN = "fp32"
"""The arithmetic of the n-body kernels: their roof."""


# --- what is in a roofline ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Ceiling:
    """A roof or a lesser ceiling: `value` (and its interval) is a bandwidth where `sloped`.

    `how` says by what it was reached, and `lender` is the run that it was borrowed from, if any. A
    lesser ceiling (`lesser`) bounds only what lacks something.
    """

    run: str
    name: str
    level: str
    sloped: bool
    lesser: bool
    basis: Basis
    value: float
    low: float
    high: float
    how: str
    row: Row
    lender: str = ""

    @property
    def valid(self) -> bool:
        """Whether its row is: an invalid ceiling bounds nothing and is not drawn."""
        return self.row.valid

    def at(self, intensity: float) -> float:
        """The rate that it allows at an intensity."""
        return self.value * intensity if self.sloped else self.value


@dataclass(frozen=True, slots=True)
class Excess:
    """How a point lies above a roof: by what factor, and the likely cause in words."""

    roof: Ceiling
    factor: float
    cause: str


@dataclass(frozen=True, slots=True)
class Point:
    """A kernel at one level: `work` and `moved` of a step, and the rate that it attained.

    `work` is in FLOP (warp instructions), `moved` in bytes (sectors); `low` and `high` are the
    interval of `rate`. `valid` is whether all rows behind it are. `arithmetic` is the peak that
    bounds it (the level of a ceiling), `allowed` is the rate that the
    measured roofs allow at its level and intensity, None where its level has none.
    """

    run: str
    kernel: str
    level: str
    basis: Basis
    work: float
    moved: float
    rate: float
    low: float
    high: float
    valid: bool
    row: Row
    arithmetic: str = MAIN
    allowed: float | None = None
    above: Excess | None = None

    @property
    def intensity(self) -> float:
        """Work for each byte or sector."""
        return self.work / self.moved

    @property
    def share(self) -> float | None:
        """Of what the roofs allow."""
        return self.rate / self.allowed if self.allowed else None


Entry = Ceiling | Point


@dataclass(frozen=True, slots=True)
class Limits:
    """Ends of both axes: intensity from `left` to `right`, rate from `bottom` to `top`."""

    left: float
    right: float
    bottom: float
    top: float


def level_words(level: str, backend: str = "cuda") -> str:
    """`l1` of a GPU as `L1, shared`: both are one memory with one way out."""
    if level == "l1" and backend == "cuda":
        return "L1, shared"
    return {ONCE: "touched once", LOADS: "global loads alone"}.get(level, level_name(level))


def ceilings_of(entries: Iterable[Entry]) -> list[Ceiling]:
    """The ceilings among them."""
    return [one for one in entries if isinstance(one, Ceiling)]


def points_of(entries: Iterable[Entry]) -> list[Point]:
    """The points among them."""
    return [one for one in entries if isinstance(one, Point)]


def runs_of(entries: Iterable[Entry]) -> list[str]:
    """The runs that they are from, in their order."""
    return list(dict.fromkeys(one.run for one in entries))


# --- ceilings -------------------------------------------------------------------------------------


def _interval(row: Row) -> tuple[float, float]:
    """The confidence interval of a row, or the range of its samples."""
    if row.ci_low is None or row.ci_high is None:
        return row.minimum, row.maximum
    return row.ci_low, row.ci_high


def _ceiling(
    row: Row, name: str, level: str, *, scale: float = 1, lesser: bool = False, how: str = ""
) -> Ceiling:
    """A ceiling as it was measured."""
    low, high = _interval(row)
    return Ceiling(
        run=row.run, name=name, level=level, sloped=level in LEVELS, lesser=lesser,
        basis="measured", value=scale * row.value, low=scale * low, high=scale * high, how=how,
        row=row,
    )  # fmt: skip


def _theoretical(of: Ceiling, value: float, how: str, row: Row | None = None) -> Ceiling:
    """What the chip should do at the most where `of` was measured."""
    return replace(
        of, basis="theoretical", value=value, low=value, high=value, how=how, row=row or of.row
    )


def _best(rows: Iterable[Row]) -> Row | None:
    """The highest of the valid rows; of invalid ones, which are no ceiling, where none is valid."""
    return max(rows, key=lambda row: (row.valid, row.value), default=None)


def _compute_ceilings(rows: Sequence[Row], form: str) -> list[Ceiling]:
    """Of the benchmarks `ceilings` and, for multiply-adds left out, `instruction_cost`."""
    mine = [row for row in rows if row.benchmark == "ceilings"]
    timed: dict[str, Row] = {}
    for kind, (_, quantity, _) in _KINDS.items():
        best = _best(
            row
            for row in mine
            if row.quantity == quantity
            and row.provenance == "timed"
            and row.params.get("arithmetic") == kind
        )
        if best:
            timed[kind] = best
    if form == INSTRUCTION:
        return _issue_ceilings(mine, timed)
    result = []
    for kind in _DRAWN_KINDS:
        row = timed.get(kind)
        if row is None:
            continue
        name = _KINDS[kind][0]
        one = _ceiling(row, name, kind, lesser=kind != MAIN, how=_form_words(row))
        result.append(one)
        for modelled in mine if one.valid else ():
            same = modelled.case == row.case and modelled.quantity == row.quantity
            if same and modelled.provenance == "modelled" and modelled.value > 0:
                how = "lanes × SMs × clock under this load"
                result.append(_theoretical(one, modelled.value, how, modelled))
    result += _without_fma(rows)
    return result


def _form_words(row: Row) -> str:
    form = row.params.get("form", "")
    return f"multiply-adds, form {form}" if form else "multiply-adds"


def _without_fma(rows: Sequence[Row]) -> list[Ceiling]:
    """Additions or multiplications alone, on every SM of a GPU; a CPU's were taken on one core."""
    best = _best(
        row
        for row in rows
        if row.benchmark == "instruction_cost"
        and row.backend == "cuda"
        and row.quantity == "operation_rate"
        and row.params.get("operation") in ("fadd", "fmul")
    )
    if best is None or not best.valid:
        return []
    how = "additions or multiplications alone"
    return [_ceiling(best, WITHOUT_FMA, MAIN, lesser=True, how=how)]


def _issue_ceilings(mine: Sequence[Row], timed: Mapping[str, Row]) -> list[Ceiling]:
    """Warp instructions a second: of the arithmetic that issued most of them, and the schedulers'.

    The number of SMs follows from the rows: a rate is SMs × lanes of a warp × clock × operations
    over the cycles that an SM takes for an instruction of a warp.
    """
    on_gpu = {kind: row for kind, row in timed.items() if row.backend == "cuda" and row.valid}
    if not on_gpu:
        return []
    per_warp = {kind: WARP * _KINDS[kind][2] for kind in on_gpu}
    kind = max(on_gpu, key=lambda name: on_gpu[name].value / per_warp[name])
    row = on_gpu[kind]
    words = f"{_KINDS[kind][0]} multiply-adds"
    one = _ceiling(row, ISSUE, ISSUE, scale=1 / per_warp[kind], how=words)
    here = {(r.quantity, r.method): r for r in mine if r.case == row.case}
    cycles = here.get(("instruction_cycles", "event_slope"))
    clock = next((r for (quantity, _), r in here.items() if quantity == "core_clock"), None)
    if cycles is None or clock is None or clock.value <= 0:
        return [one]
    sms = row.value / per_warp[kind] * cycles.value / clock.value
    if round(sms) < 1 or abs(sms / round(sms) - 1) > TOLERANCE:
        return [one]
    most = ISSUED * round(sms) * clock.value
    return [one, _theoretical(one, most, f"{ISSUED} a cycle × {round(sms)} SMs × clock", clock)]


def _bandwidth_ceilings(rows: Sequence[Row], form: str) -> list[Ceiling]:
    """The best of each level, of `bandwidth`; the lesser ones of `stride_gather` as well.

    The best over all operations: what reads and writes at once may pass the best of reads alone.
    """
    timed = [row for row in rows if row.provenance == "timed" and row.unit == "B/s"]
    whole = [row for row in timed if row.benchmark == "bandwidth" and row.quantity == "bandwidth"]
    strided = [
        row
        for row in timed
        if row.benchmark == "stride_gather"
        and row.quantity == "useful_bandwidth"
        and row.params.get("pattern") == "strided"
    ]
    cuda = any(row.backend == "cuda" for row in whole)
    by_level: dict[str, list[Row]] = defaultdict(list)
    for row in whole:
        level = _level(row)
        by_level["l1" if cuda and level == "shared" else level].append(row)
    scale = 1 / SECTOR if form == INSTRUCTION else 1
    limits = _pins_and_lanes(rows)
    result: list[Ceiling] = []
    for level in LEVELS:
        best = _best(by_level[level])
        if best is None:
            continue
        roof = _ceiling(
            best, level_words(level, best.backend), level, scale=scale,
            how=f"{best.params.get('operation', '')}, {best.params.get('width', '?')} B wide",
        )  # fmt: skip
        result.append(roof)
        if not roof.valid:
            continue
        if level in limits:
            how = "bus width × clock" if level == "dram" else "bytes a cycle × SMs × clock"
            result.append(_theoretical(roof, scale * limits[level], how))
        if form == FLOP and cuda:
            result += _lesser(roof, by_level[level], [r for r in strided if _level(r) == level])
    return result


def _level(row: Row) -> str:
    return row.params.get("level", "")


def _number(row: Row, axis: str) -> int:
    text = row.params.get(axis, "")
    return int(text) if text.isdecimal() else 0


def _lesser(roof: Ceiling, rows: Sequence[Row], strided: Sequence[Row]) -> list[Ceiling]:
    """Of one level: by words of 4 bytes that are not in groups, and by lanes far apart.

    After van den Braak, Mesman and Corporaal (2010, Fig. 3), so the bytes are those that were
    wanted. Of the strides only the widest is uncoalesced for certain.
    """
    words = [r for r in rows if r.params.get("operation") == "read" and _number(r, "width") == 4]
    words += [r for r in strided if _number(r, "width") == 4 and _number(r, "stride") == 1]
    wide = [row for row in strided if _number(row, "width") > 4 and row.valid]
    widest = max((_number(row, "stride") for row in wide), default=0)
    apart = [row for row in wide if _number(row, "stride") == widest > 1]
    result = []
    for name, found in (("ungrouped", words), ("uncoalesced", apart)):
        row = _best(found)
        if row is None or not row.valid or row.value >= SAME * roof.value:
            continue
        width = row.params.get("width", "?")
        stride = row.params.get("stride", "1")
        how = f"{width} B wide" if name == "ungrouped" else f"{width} B wide, stride {stride}"
        result.append(_ceiling(row, f"{roof.name}, {name}", roof.level, lesser=True, how=how))
    return result


def _pins_and_lanes(rows: Sequence[Row]) -> dict[str, float]:
    """Of each level in B/s: what bandwidths are so many times as much as their shares of it.

    Where a share is of bytes a cycle, a fast clock makes of it more than a slow one: the median.
    """
    bandwidths = {
        row.case: row
        for row in rows
        if row.benchmark == "bandwidth" and row.quantity == "bandwidth"
    }
    found: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        if row.benchmark != "bandwidth" or row.quantity != "share_of_limit" or row.value <= 0:
            continue
        if row.case in bandwidths:
            level = "l1" if _level(row) == "shared" else _level(row)
            found[level].append(bandwidths[row.case].value / row.value)
    return {level: median(values) for level, values in found.items()}


# --- points ---------------------------------------------------------------------------------------


_RUNGS: list[str] = [rung["name"] for rung in load._before()["rungs"]]


class _Cases:
    """The rows of the ladder by case and quantity; `cupti_net` before a metric by itself."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows: dict[tuple[str, str], Row] = {}
        for row in rows:
            key = row.case, row.quantity
            if row.suite == ladder.SUITE and (
                key not in self._rows or row.method in ladder.PREFERRED
            ):
                self._rows[key] = row

    def get(self, row: Row, name: str) -> Row | None:
        """The quantity `name` of the case of `row`."""
        return self._rows.get((row.case, name))

    def having(self, name: str) -> list[Row]:
        """One row of the quantity for each case that has it."""
        return [row for (_, found), row in self._rows.items() if found == name]


class _Profiled(_Cases):
    """The rows that a profiler outside left, by case and quantity."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows = {}
        for row in rows:
            if row.suite == PROFILED:
                self._rows.setdefault((row.case, row.quantity), row)


@dataclass(frozen=True, slots=True)
class _Kernel:
    """A case, the row of its speed, and how many units of work it did: interactions, or launches.

    `per_second`, `low` and `high` are units a second; `units` are those of what was counted.
    """

    name: str
    row: Row
    units: float
    per_second: float
    low: float
    high: float


def _rungs(cases: _Cases, having: str) -> list[_Kernel]:
    """Every rung by its fastest case that has the quantity, of a single system where it has one.

    On one device: several have several roofs.
    """
    has = {row.case for row in cases.having(having) if row.value > 0}
    rates = [
        row
        for row in cases.having(ladder.RATE)
        if row.case in has
        and row.value > 0
        and row.benchmark != ladder.SEVERAL
        and ladder.gpus(row) == 1
    ]
    by_rung = ladder.at_size(rates, "galaxies") | ladder.at_size(rates, "single")
    chosen = [ladder.best(by_rung[rung]) for rung in ordered(by_rung, _RUNGS)]
    return [
        _Kernel(
            ladder.rung_name(row.benchmark), row, ladder.interactions(row), row.value,
            *_interval(row),
        )
        for row in chosen
        if ladder.interactions(row) > 0
    ]  # fmt: skip


def _launched(cases: _Profiled) -> list[_Kernel]:
    """Every kernel that was profiled, by the launch shape that took longest; a launch is a unit."""
    longest: dict[str, Row] = {}
    for row in cases.having(PROFILED_TIME):
        known = longest.get(row.benchmark)
        if row.value > 0 and (known is None or row.value > known.value):
            longest[row.benchmark] = row
    result = []
    for name, row in longest.items():
        low, high = _interval(row)
        words = name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"
        speeds = (1 / row.value, 1 / high, 1 / low if low > 0 else math.inf)
        result.append(_Kernel(words, row, 1, *speeds))
    return result


def _operations(cases: _Cases, row: Row) -> list[tuple[str, float, list[Row]]]:
    """Operations of a launch by arithmetic, and the rows that say so; a multiply-add is two."""
    result = []
    for kind in ("fp32", "fp64"):
        found = _parts(cases, row, [f"{kind}_{each}" for each in ("add", "mul", "fma")])
        if found:
            adds, multiplies, fused = (one.value for one in found)
            result.append((kind, adds + multiplies + 2 * fused, found))
    return [one for one in result if one[1] > 0]


def _moved(cases: _Cases, row: Row) -> dict[str, tuple[float, list[Row]]]:
    """Bytes of a step at each level, as counted, and the rows that say so.

    A level of which one of the parts was not counted, or that moved nothing, is left out.
    """
    parts: Mapping[str, Sequence[tuple[str, float]]] = {
        "l1": (
            ("l1_load_sectors", SECTOR),
            ("l1_store_sectors", SECTOR),
            ("shared_wavefronts", WAVEFRONT),
        ),
        "l2": (("l2_load_sectors", SECTOR), ("l2_store_sectors", SECTOR)),
        "dram": (("dram_read_bytes", 1), ("dram_write_bytes", 1)),
    }
    result = {}
    for level, quantities in parts.items():
        found = _parts(cases, row, [name for name, _ in quantities])
        if not found and level == "dram":
            found = _parts(cases, row, ["dram_bytes"])
        total = sum(each * one.value for one, (_, each) in zip(found, quantities, strict=False))
        if total > 0:
            result[level] = (total, found)
    return result


def _parts(cases: _Cases, row: Row, names: Sequence[str]) -> list[Row]:
    """What was counted of the case of `row`, in the order of `names`; nothing if one is missing."""
    rows = [cases.get(row, name) for name in names]
    found = [one for one in rows if one is not None and one.provenance == "counted"]
    return found if len(found) == len(names) else []


def _point(
    kernel: _Kernel,
    level: str,
    basis: Basis,
    *,
    each: float,
    moved: float,
    behind: Sequence[Row] = (),
    arithmetic: str = MAIN,
) -> Point:
    """`each`: work of a unit; `moved`: of all units that were counted; `behind`: what says so."""
    return Point(
        run=kernel.row.run, kernel=kernel.name, level=level, basis=basis, arithmetic=arithmetic,
        work=each * kernel.units, moved=moved, rate=each * kernel.per_second,
        low=each * kernel.low, high=each * kernel.high,
        valid=all(row.valid for row in (kernel.row, *behind)), row=kernel.row,
    )  # fmt: skip


def _flop_points(rows: Sequence[Row], *, nominal: bool) -> list[Point]:
    """What was counted at each level, and the same bytes with the nominal operations."""
    cases = _Cases(rows)
    result = []
    for kernel in _rungs(cases, "flops_per_interaction"):
        flops = cases.get(kernel.row, "flops_per_interaction")
        for level, (moved, behind) in _moved(cases, kernel.row).items():
            if flops is not None:
                said = [*behind, flops]
                each = flops.value
                result.append(_point(kernel, level, "counted", each=each, moved=moved, behind=said))
            if nominal:
                result.append(
                    _point(kernel, level, "nominal", each=NOMINAL, moved=moved, behind=behind)
                )
    if nominal:
        done = {point.kernel for point in result}
        for kernel in _rungs(cases, ladder.RATE):
            once = _once(kernel)
            if once and kernel.name not in done:
                result.append(_point(kernel, ONCE, "nominal", each=NOMINAL, moved=once))
    return [*_in_order(result), *_profiled_points(rows)]


def _profiled_points(rows: Sequence[Row]) -> list[Point]:
    """Kernels that a profiler outside timed and counted, under the roof of most of their work."""
    cases = _Profiled(rows)
    result = []
    for kernel in _launched(cases):
        work = _operations(cases, kernel.row)
        if not work:
            continue
        kind = max(work, key=lambda one: one[1])[0]
        each = sum(count for _, count, _ in work)
        said = [row for _, _, found in work for row in found]
        for level, (moved, behind) in _moved(cases, kernel.row).items():
            result.append(
                _point(
                    kernel, level, "counted", each=each, moved=moved, behind=[*said, *behind],
                    arithmetic=kind,
                )
            )  # fmt: skip
    return result


def _in_order(points: Sequence[Point]) -> list[Point]:
    """The points by kernel, in the order of the ladder."""
    rungs = _RUNGS
    known = {rung: place for place, rung in enumerate(rungs)}
    return sorted(points, key=lambda one: known.get(one.row.benchmark, len(rungs)))


def _once(kernel: _Kernel) -> float:
    """Bytes that a step cannot do without; 0 for a problem that is not known."""
    systems, bodies = ladder.size(kernel.row)
    return COMPULSORY.get(kernel.row.params.get("problem", ""), 0) * systems * bodies


def _instruction_points(rows: Sequence[Row]) -> list[Point]:
    """Warp instructions against sectors; a wavefront of shared memory has four."""
    result = []
    timed, profiled = _Cases(rows), _Profiled(rows)
    sources = [(timed, one) for one in _rungs(timed, "instructions_per_interaction")]
    sources += [(profiled, one) for one in _launched(profiled)]
    for cases, kernel in sources:
        rung = kernel.row.suite == ladder.SUITE
        name = "instructions_per_interaction" if rung else "executed_instructions"
        count = cases.get(kernel.row, name)
        if count is None or count.value <= 0:
            continue
        each = count.value / WARP if rung else count.value
        for level, (moved, found) in _moved(cases, kernel.row).items():
            sectors, behind = moved / SECTOR, [*found, count]
            result.append(_point(kernel, level, "counted", each=each, moved=sectors, behind=behind))
        loads = _parts(cases, kernel.row, ("l1_load_requests", "l1_load_sectors"))
        if loads and all(row.value > 0 for row in loads):
            requests, asked = (row.value for row in loads)
            each = requests / kernel.units
            result.append(_point(kernel, LOADS, "counted", each=each, moved=asked, behind=loads))
    return [replace(one, arithmetic=ISSUE) for one in result]


# --- together -------------------------------------------------------------------------------------


def entries(
    rows: Sequence[Row], form: str = FLOP, *, nominal: bool = True, borrowed: Sequence[Row] = ()
) -> tuple[Entry, ...]:
    """Ceilings and points of every run in `rows`, run by run, ceilings first.

    `form` is FLOP or INSTRUCTION. Nothing of a run without a bandwidth, a peak or a kernel: without
    one of them there is no roofline. `nominal` adds the points at 20 operations an interaction.
    `borrowed` are the rows of another run of the same device, whose ceilings a run takes that has
    none. Every point above a roof says so (`Point.above`).
    """
    by_run: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if row.suite in (ladder.SUITE, PROFILED) or row.benchmark in CEILINGS:
            by_run[row.run].append(row)
    others = [row for row in borrowed if row.benchmark in CEILINGS]
    result: list[Entry] = []
    for mine in by_run.values():
        result += _entries(mine, others, form, nominal=nominal)
    return tuple(result)


def _entries(
    rows: Sequence[Row], borrowed: Sequence[Row], form: str, *, nominal: bool
) -> list[Entry]:
    ceilings, timed = _ceilings(rows, form), rows
    if not ceilings and borrowed:
        timed = [*rows, *borrowed]
        ceilings = [
            replace(one, run=rows[0].run, lender=one.run, how=f"{one.how}; of the run {one.run}")
            for one in _ceilings(borrowed, form)
        ]
    if not ceilings:
        return []
    points = _flop_points(rows, nominal=nominal) if form == FLOP else _instruction_points(rows)
    if not points:
        return []
    clocks = {row.case: row.value for row in timed if row.quantity == "core_clock"}
    counted = {point.kernel: point.rate for point in points if point.basis == "counted"}
    judged = [
        replace(
            point,
            allowed=_allowed(point, ceilings),
            above=_above(point, ceilings, clocks, counted.get(point.kernel)),
        )
        for point in points
    ]
    return [*ceilings, *judged]


def _ceilings(rows: Sequence[Row], form: str) -> list[Ceiling]:
    """All ceilings; none where there is no valid peak or no valid bandwidth."""
    flat, sloped = _compute_ceilings(rows, form), _bandwidth_ceilings(rows, form)
    return [*flat, *sloped] if _roofs(flat) and _roofs(sloped) else []


NO_KERNEL = "no rung of the n-body ladder on one device, and no profiled kernel with its operations"


def lacking(rows: Sequence[Row], borrowed: Sequence[Row] = ()) -> str | None:
    """What a run lacks for a roofline, and `borrowed` as well, in words; None if nothing."""
    if not any(_ceilings(source, FLOP) for source in (rows, borrowed)):
        source = borrowed or rows
        if not _roofs(_compute_ceilings(source, FLOP)):
            return "no valid rate of multiply-adds in fp32 (the benchmark ceilings)"
        return "no valid bandwidth of any level (the benchmark bandwidth)"
    if not _flop_points(rows, nominal=True):
        return NO_KERNEL
    return None


def _roofs(ceilings: Iterable[Ceiling]) -> list[Ceiling]:
    """What bounds: measured, valid, and of whatever lacks nothing."""
    return [one for one in ceilings if one.basis == "measured" and one.valid and not one.lesser]


def _allowed(point: Point, ceilings: Sequence[Ceiling]) -> float | None:
    """What the measured roofs allow at a point's level and intensity; None without its level."""
    over = _over(point, ceilings)
    if not any(one.sloped for one in over):
        return None
    return min(one.at(point.intensity) for one in over)


def _over(point: Point, ceilings: Sequence[Ceiling]) -> list[Ceiling]:
    """The roofs of a point: the bandwidth of its level, and the peak of its arithmetic."""
    level = "l1" if point.level == LOADS else point.level
    slopes = [one for one in _roofs(ceilings) if one.sloped and one.level == level]
    return slopes + [one for one in ceilings if _is_peak(one, point.arithmetic)]


def _is_peak(one: Ceiling, arithmetic: str) -> bool:
    measured = one.basis == "measured" and one.valid and not one.sloped
    return measured and one.level == arithmetic and one.name != WITHOUT_FMA


def _above(
    point: Point,
    ceilings: Sequence[Ceiling],
    clocks: Mapping[str, float],
    counted: float | None,
) -> Excess | None:
    """The roof that the point passes by most, beyond both intervals and the tolerance."""
    worst: Excess | None = None
    for roof in _over(point, ceilings):
        allowed = roof.high * point.intensity if roof.sloped else roof.high
        if point.low <= (1 + TOLERANCE) * allowed:
            continue
        factor = point.rate / roof.at(point.intensity)
        if worst is None or factor > worst.factor:
            worst = Excess(roof, factor, _cause(point, roof, ceilings, clocks, counted))
    return worst


def _cause(
    point: Point,
    roof: Ceiling,
    ceilings: Sequence[Ceiling],
    clocks: Mapping[str, float],
    counted: float | None,
) -> str:
    """Why a point may lie above a roof: what the rows can tell, in words."""
    if point.basis == "nominal" and counted is not None and counted < point.rate:
        executed = NOMINAL * counted / point.rate
        return (
            f"{NOMINAL} operations of an interaction are nominal, and {significant(executed)} "
            "were executed"
        )
    if point.basis == "nominal":
        return f"{NOMINAL} operations of an interaction are nominal, and fewer may be executed"
    theirs, ours = clocks.get(point.row.case), clocks.get(roof.row.case)
    if theirs and ours and theirs > (1 + TOLERANCE) * ours:
        return f"its clock was {100 * (theirs / ours - 1):.1f}{SPACE}% higher than the roof's"
    limit = next(
        (
            one
            for one in ceilings
            if one.basis == "theoretical" and (one.name, one.level) == (roof.name, roof.level)
        ),
        None,
    )
    if limit is not None and point.low > (1 + TOLERANCE) * limit.at(point.intensity):
        return (
            "it is above the theoretical limit too, so its time or its counts are wrong, or are "
            "not of the same work"
        )
    if limit is not None:
        return "no measured launch reached what the chip allows, so the roof is too low"
    if roof.sloped:
        return "no measured launch reached the level's limit, or not all that was moved was counted"
    return "no measured launch reached the limit, or more operations were counted than timed"


def problems(entries: Iterable[Entry]) -> tuple[str, ...]:
    """A sentence for each point above a roof: which point, which roof, by how much, why.

    A peak is the same at all levels, so a kernel above it is told once; a nominal point beside a
    counted one that is above as well says nothing new.
    """
    told = []
    above = [point for point in points_of(entries) if point.above is not None]
    counted = {(one.run, one.kernel, one.level) for one in above if one.basis == "counted"}
    for point in above:
        place = (point.run, point.kernel, point.level)
        if point.above is None or (point.basis == "nominal" and place in counted):
            continue
        roof = point.above.roof
        where = f" at {level_words(point.level, point.row.backend)}" if roof.sloped else ""
        told.append(
            f"{point.kernel} ({point.basis}){where} is "
            f"{100 * (point.above.factor - 1):.1f}{SPACE}% above {roof.name} "
            f"({point.row.case}): {point.above.cause}"
        )
    return tuple(dict.fromkeys(told))


# --- axes, tables and files -----------------------------------------------------------------------

_LEFT, _RIGHT, _BOTTOM, _TOP = 100, 5000, 60, 1.6
"""How far the axes reach beyond the outermost ridges and peaks."""
_THIN = 1 / 12
"""The lowest intensity for which there is room under the lowest roof: an operation for three
words."""


def limits(entries: Iterable[Entry]) -> Limits:
    """The ends of the axes: by the measured ceilings alone, rounded outwards to half a decade.

    So two figures with the same ceilings, whatever is drawn in them, can be laid over each other.
    Of several runs as far as the widest of them.
    """
    ceilings = ceilings_of(entries)
    each = [_limits([one for one in ceilings if one.run == run]) for run in runs_of(ceilings)]
    return Limits(
        left=min(one.left for one in each),
        right=max(one.right for one in each),
        bottom=min(one.bottom for one in each),
        top=max(one.top for one in each),
    )


def _limits(ceilings: Sequence[Ceiling]) -> Limits:
    """Of one run."""
    flat = [one.value for one in _roofs(ceilings) if not one.sloped]
    slopes = [one.value for one in _roofs(ceilings) if one.sloped]
    measured = [one for one in ceilings if one.basis == "measured" and one.valid]
    peaks = [one.value for one in measured if not one.sloped]
    return Limits(
        left=_half_decade(min(flat) / max(slopes) / _LEFT, math.floor),
        right=_half_decade(max(flat) / min(slopes) * _RIGHT, math.ceil),
        bottom=_half_decade(min(min(flat) / _BOTTOM, min(slopes) * _THIN), math.floor),
        top=_half_decade(max(peaks) * _TOP, math.ceil),
    )


def _half_decade(value: float, towards: Callable[[float], int]) -> float:
    """The power of the root of ten next to a value, above or below."""
    return float(10.0 ** (towards(2 * math.log10(value)) / 2))


def table(entries: Sequence[Entry], form: str = FLOP) -> Table:
    """The kernels as a table for a terminal: rates, intensity at each level, share of the roof.

    The share is the largest of all levels, of what was counted where anything was.
    """
    points = points_of(entries)
    levels = ordered((point.level for point in points), (*LEVELS, ONCE, LOADS))
    runs = runs_of(entries)
    nominal = any(point.basis == "nominal" for point in points)
    lines = []
    for run, kernel in dict.fromkeys((point.run, point.kernel) for point in points):
        mine = [point for point in points if (point.run, point.kernel) == (run, kernel)]
        lines.append(
            (
                *(((run,),) if len(runs) > 1 else ()),
                (kernel,),
                *((_rates(mine, basis, form),) for basis in ("counted", "nominal")[: 1 + nominal]),
                *(_intensity(mine, level) for level in levels),
                (_best_share(mine),),
                ("above a roof" if any(point.above for point in mine) else "–",),
            )
        )
    unit = "FLOP/B" if form == FLOP else "per sector"
    named = [level_words(level, points[0].row.backend) for level in levels] if points else []
    return Table(
        name="roofline" if form == FLOP else "roofline_instructions",
        title="Roofline" if form == FLOP else "Instruction roofline",
        header=(
            *(("run",) if len(runs) > 1 else ()), "kernel", "counted",
            *(("nominal",) if nominal else ()), *(f"{name} ({unit})" for name in named),
            "of its roof", "doubt",
        ),
        rows=tuple(lines),
        numeric=frozenset(range(1, 3 + nominal + len(levels) + (len(runs) > 1))),
    )  # fmt: skip


def _rates(points: Sequence[Point], basis: str, form: str) -> str | Cited:
    """The rate of a kernel on one basis, whichever the level."""
    for point in points:
        if point.basis == basis and point.level != LOADS:
            return Cited(rate_words(point.rate, form), point.row)
    return "–"


def _intensity(points: Sequence[Point], level: str) -> tuple[str | Cited]:
    """Of the counted point where there is one."""
    here = sorted((p for p in points if p.level == level), key=lambda p: p.basis != "counted")
    return (Cited(brief(here[0].intensity), here[0].row) if here else "–",)


def _best_share(points: Sequence[Point]) -> str:
    for basis in ("counted", "nominal"):
        shares = [p.share for p in points if p.basis == basis and p.share is not None]
        if shares:
            return f"{100 * max(shares):.1f}{SPACE}%"
    return "–"


def brief(value: float) -> str:
    """Three or four digits, of large numbers with a power of ten: 0.412, 57.3, 1034, 3.1e6."""
    if 999.5 <= value < 9999.5:
        return f"{value:.0f}"
    return f"{value:.3g}".replace("e+0", "e").replace("e+", "e")


def rate_words(value: float, form: str) -> str:
    """A rate with its unit: 37.3 TFLOP/s; instructions of warps in 10⁹ a second, GIPS."""
    if form == INSTRUCTION:
        return f"{brief(value / 1e9)}{SPACE}GIPS"
    scale, prefix = (1e12, "T") if value >= 0.9995e12 else (1e9, "G")
    return f"{significant(value / scale)}{SPACE}{prefix}FLOP/s"


COLUMNS = (
    "run", "entry", "name", "level", "basis", "lesser", "how", "intensity", "value", "low", "high",
    "unit", "work", "moved", "share_of_roof", "valid", "above", "above_by", "reason", "case",
)  # fmt: skip
"""Of the data file. `value`: of a ceiling its height or slope, of a point its rate; `work` and
`moved` of a step; `above`: the roof that a point should not be above, `above_by` the factor."""


def cells(entry: Entry, form: str = FLOP) -> tuple[object, ...]:
    """One line of the data file."""
    rate = "FLOP/s" if form == FLOP else "warp instruction/s"
    moved = "B/s" if form == FLOP else "sector/s"
    if isinstance(entry, Ceiling):
        return (
            entry.run, "ceiling", entry.name, entry.level, entry.basis, entry.lesser, entry.how, "",
            entry.value, entry.low, entry.high, moved if entry.sloped else rate, "", "", "",
            entry.valid,
            "", "", "", entry.row.case,
        )  # fmt: skip
    above = entry.above
    return (
        entry.run, "point", entry.kernel, entry.level, entry.basis, "", "", entry.intensity,
        entry.rate, entry.low, entry.high, rate, entry.work, entry.moved,
        "" if entry.share is None else entry.share, entry.valid, above.roof.name if above else "",
        above.factor if above else "", above.cause if above else "", entry.row.case,
    )  # fmt: skip


def data(entries: Sequence[Entry], form: str = FLOP) -> bytes:
    """The data file: every ceiling and every point with its case, as CSV."""
    buffer = StringIO(newline="")
    writer = csv.writer(buffer)
    writer.writerow(COLUMNS)
    for entry in entries:
        writer.writerow(
            [f"{cell}".lower() if isinstance(cell, bool) else cell for cell in cells(entry, form)]
        )
    return buffer.getvalue().encode()
