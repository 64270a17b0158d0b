"""The points of a roofline: the work of kernels, their traffic at each level, their speed."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import mode
from typing import ClassVar, NamedTuple

from strata.ladder import rungs as ladder
from strata.roofline.ceilings import ISSUE, MAIN, Ceiling
from strata.roofline.forms import FLOP, INSTRUCTION, LOADS, ONCE, SECTOR, WARP, Form
from strata.run import Row, Run

NOMINAL = 20
"""Operations of an interaction as the peers count (Nyland, Harris and Prins 2007)."""
_COMPULSORY = {"single": 28, "galaxies": 48}
"""Bytes of a body that a step cannot do without: position and mass read, acceleration written;
position and velocity read and written."""
_PROFILED = "ncu"
"""The suite of what Nsight Compute profiled (`strata.interop`)."""
_WHOLE = "micro"
"""The suite of kernels that are timed whole."""
_TODAY = ("best", "separable")
"""Their forms that are shown."""
_LONGEST_NAME = 26
_MOVED: tuple[tuple[str, dict[str, int]], ...] = (
    ("l1", {"l1_load_sectors": SECTOR, "l1_store_sectors": SECTOR, "shared_wavefronts": 128}),
    ("l2", {"l2_load_sectors": SECTOR, "l2_store_sectors": SECTOR}),
    ("dram", {"dram_bytes": 1}),
    ("dram", {"dram_read_bytes": 1, "dram_write_bytes": 1}),
)
"""What is counted at each level, and the bytes of one; of two ways the second is better."""
_OPERATIONS = [[f"{kind}_{of}" for of in ("add", "mul", "fma")] for kind in ("fp32", "fp64")]
_TIMED = ("kernel_time", ladder.RATE)
_METRICS = {
    "a time": "gpu__time_duration.sum",
    "counted operations": "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum,"
    "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum,"
    "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
    "counted traffic": "dram__bytes.sum",
}
"""What a profiled kernel needs, and the metrics of Nsight Compute for it."""
_COUNTED = {FLOP: "flops_per_interaction", INSTRUCTION: "instructions_per_interaction"}
_Work = tuple[str, float, Sequence[Row], str]
"""Work of a unit (an interaction, or a launch): on which basis, how much, its rows, and
the level of the peak that bounds it."""


@dataclass(frozen=True, slots=True)
class Point:
    """A kernel at one level: `work` and `moved` per step, and the attained rate `value`.

    `work` is in FLOP (warp instructions), `moved` in bytes (sectors). `valid` is whether all
    underlying rows are valid. `share` is relative to the roofs (the arithmetic peak is
    `arithmetic`), None if its level has none; `above` is the roof that it exceeds, by a factor,
    with a cause. `size` is that of its work in words, if it is not the usual one.
    """

    entry: ClassVar = "point"
    run: str
    kernel: str
    level: str
    basis: str
    work: float
    moved: float
    value: float
    low: float
    high: float
    valid: bool
    row: Row
    arithmetic: str
    share: float | None = None
    above: Ceiling | None = None
    above_by: float | None = None
    reason: str = ""
    size: str = ""

    @property
    def name(self) -> str:
        """The kernel, and its size if that is not the usual one."""
        return f"{self.kernel}, {self.size}" if self.size else self.kernel

    @property
    def intensity(self) -> float:
        """Work per byte or sector."""
        return self.work / self.moved


def points(run: Run, form: Form, *, nominal: bool) -> list[Point]:
    """Points of every rung, in ladder order, every profiled kernel and everything timed as a whole.

    From counts; and in FLOP, if `nominal`, the same bytes with the nominal operations. Without
    counts only the latter, with the bytes that a step needs at least.
    """
    cases = ladder.Cases(run, (ladder.SUITE, _PROFILED, _WHOLE))
    peers: list[_Work] = [("nominal", NOMINAL, (), MAIN)] if form is FLOP and nominal else []
    result = []
    # The time of a profiled kernel is that of its slowest launch shape; so is that of a kernel
    # timed as a whole: a large image, which comes from memory whether timed or counted.
    whole = [row for row in cases.having("kernel_time") if row.text("form") in _TODAY]
    times = sorted([*cases.having("gpu_time"), *whole], key=lambda row: row.value)
    launched = {row.benchmark: row for row in times if row.minimum > 0}
    for row in (*_rungs(cases, _COUNTED[form]), *launched.values()):
        works = _counted(cases, row, form) + (peers if row.suite == ladder.SUITE else [])
        for level, moved in _moved(cases, row, form).items():
            result += [_point(row, work, level, moved) for work in works]
        loads = _parts(cases, row, "l1_load_requests", "l1_load_sectors")
        if form is INSTRUCTION and works and loads and all(one.value > 0 for one in loads):
            work = ("counted", loads[0].value / _units(row), loads, ISSUE)
            result.append(_point(row, work, LOADS, (loads[1].value, loads)))
    done = {point.row.benchmark for point in result}
    for row in _rungs(cases, ladder.RATE) if peers else ():
        if row.benchmark not in done:
            once = _COMPULSORY[row.text("problem")] * math.prod(ladder.size(row))
            result.append(_point(row, peers[0], ONCE, (once, [])))
    order = list(dict.fromkeys([*cases.rungs, *(case.benchmark for case in run.cases)]))
    return sorted(_sized(result), key=lambda point: order.index(point.row.benchmark))


class Lack(NamedTuple):
    """What a run lacks for a roofline, and a remedy, both in words."""

    found: str
    fix: str


def lack_of_points(run: Run) -> Lack:
    """Why a run has no point: no kernel, or kernels without a time, operations or traffic."""
    kernels = [row for row in run.rows if _of_kernel(row)]
    if not kernels:
        return Lack(
            "no kernel (a rung of the n-body ladder on one device, or another one that was timed "
            "or profiled whole)",
            "measure a kernel as well (strata run default --filter nbody), or import a profile "
            "(strata import) and take the ceilings of this run (--ceilings)",
        )
    names = {row.quantity for row in kernels if row.provenance == "counted"}
    rung = [_COUNTED[FLOP]]
    has = {
        "a time": any(row.quantity in ("gpu_time", *_TIMED) for row in kernels),
        "counted operations": any(names.issuperset(one) for one in (*_OPERATIONS, rung)),
        "counted traffic": any(names.issuperset(parts) for _, parts in _MOVED),
    }
    lacks = [what for what in has if not has[what]]
    if not lacks:
        found = "no kernel with a time, traffic, and operations in fp32 or fp64 above 0"
        return Lack(found, "count all of them of one launch")
    found = f"kernels without {' and '.join(lacks)}"
    if any(row.suite != _PROFILED for row in kernels):
        return Lack(found, "count them as well (strata run --counters auto)")
    metrics = ",".join(_METRICS[what] for what in lacks)
    return Lack(found, f"profile them with these metrics as well (ncu --metrics {metrics})")


def _of_kernel(row: Row) -> bool:
    if _of_ladder(row):
        return ladder.gpus(row) == 1 and row.benchmark not in ladder.SEVERAL
    timed = row.quantity == "kernel_time" and row.backend == "cuda"
    return row.suite == _PROFILED or (timed and row.text("form") in _TODAY)


def _sized(points: Sequence[Point]) -> list[Point]:
    """The points; rungs of an unusual size have it."""
    of = {one.row.case: ladder.size_words(one.row) for one in points if _of_ladder(one.row)}
    common = mode(of.values()) if of else ""
    return [
        replace(one, size=size) if size != common else one
        for one in points
        for size in [of.get(one.row.case, common)]
    ]


def _of_ladder(row: Row) -> bool:
    return row.suite == ladder.SUITE


def _rungs(cases: ladder.Cases, having: str) -> list[Row]:
    """Each rung's fastest case on one device with the quantity, as in `Cases.fastest`."""
    has = {row.case for row in cases.having(having) if row.value > 0 and ladder.interactions(row)}
    alone = (row for row in cases.having(ladder.RATE) if ladder.gpus(row) == 1)
    return cases.fastest([r for r in alone if r.case in has and r.benchmark not in ladder.SEVERAL])


def _units(row: Row) -> int:
    return ladder.interactions(row) if _of_ladder(row) else 1


def _point(row: Row, work: _Work, level: str, moved: tuple[float, list[Row]]) -> Point:
    basis, each, rows, arithmetic = work
    low, high = row.interval
    name, speed = ladder.rung_name(row.benchmark), (row.value, low, high)
    if row.suite != ladder.SUITE:
        name, speed = row.benchmark, (1 / row.value, 1 / high, 1 / low)
        name = name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"
    value, low, high = (each * one for one in speed)
    valid = all(one.valid for one in (row, *rows, *moved[1]))
    head = (row.run, name, level, basis, each * _units(row), moved[0])
    return Point(*head, value, low, high, valid, row, arithmetic)


def _counted(cases: ladder.Cases, row: Row, form: Form) -> list[_Work]:
    rung = row.suite == ladder.SUITE
    if form is INSTRUCTION:
        count = cases.get(row, _COUNTED[form] if rung else "executed_instructions")
        lanes = WARP if rung else 1
        return [("counted", count.value / lanes, [count], ISSUE)] if count and count.value else []
    if rung:
        flops = cases.get(row, _COUNTED[form])
        return [("counted", flops.value, [flops], MAIN)] if flops else []
    operations: dict[str, float] = {}
    rows: list[Row] = []
    for parts in _OPERATIONS:
        if found := _parts(cases, row, *parts):
            adds, multiplies, fused = (one.value for one in found)
            operations[parts[0][:4]] = adds + multiplies + 2 * fused
            rows += found
    total = sum(operations.values())
    return [("counted", total, rows, max(operations, key=operations.__getitem__))] if total else []


def _moved(cases: ladder.Cases, row: Row, form: Form) -> dict[str, tuple[float, list[Row]]]:
    result = {}
    for level, parts in _MOVED:
        found = _parts(cases, row, *parts)
        total = sum(each * one.value for each, one in zip(parts.values(), found, strict=False))
        if total > 0:
            result[level] = (total / form.moved, found)
    return result


def _parts(cases: ladder.Cases, row: Row, *names: str) -> list[Row]:
    """Counts of the case of `row`, in the order of `names`; nothing if one is missing."""
    rows = [cases.get(row, name) for name in names]
    found = [one for one in rows if one is not None and one.provenance == "counted"]
    return found if len(found) == len(names) else []
