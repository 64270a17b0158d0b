"""The points of a roofline: the work of kernels, their traffic at each level, their speed."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from statistics import mode
from typing import ClassVar

from strata.ladder import rungs as ladder
from strata.roofline.ceilings import ISSUE, MAIN, Ceiling
from strata.roofline.forms import FLOP, INSTRUCTION, LOADS, ONCE, WARP, Form
from strata.roofline.kernels import Kernel, Total, Work, short_names
from strata.run import Row, Run, grouped

NOMINAL = 20
"""Operations of an interaction as the peers count (Nyland, Harris and Prins 2007)."""
_COMPULSORY = {"single": 28, "galaxies": 48}
"""Bytes of a body that a step cannot do without: position and mass read, acceleration written;
position and velocity read and written."""
PROFILED = ("ncu", "profile")
"""The suites of what Nsight Compute (`strata.interop`) and `strata profile` profiled."""
_COPIES = ("memory_copies", "device_timeline")
_WHOLE = "micro"
"""The suite of kernels that are timed whole."""
_TODAY = ("best", "separable")
"""Their forms that are shown."""
_COUNTED = {FLOP: "flops_per_interaction", INSTRUCTION: "instructions_per_interaction"}
_PEAKS = {"fp16": "fp16x2", "tensor fp8": "tensor e4m3"}
"""Levels of peaks by type of operation, where the names differ."""


@dataclass(frozen=True, slots=True)
class Point:
    """A kernel at one level: `work` and `moved` of a step or launch that takes `seconds`.

    `work` is in FLOP (warp instructions), `moved` in bytes (sectors). `interval` is that of
    `seconds`. `valid` is whether all underlying rows are valid. `share` is relative to `limit`, the
    roof that limits it (the arithmetic peak is `arithmetic`), None if its level has none; `above`
    is the roof that it exceeds, with a cause. `size` is that of its work in words, if it is not the
    usual one. Of a profiled kernel, `full` is the name and `shape` the launch, `time_share` is
    relative to all kernels of the run, and `lacks` are metrics of operations that were executed and
    not collected: then the point is a lower bound. `doubt` is what its operations may be instead.
    """

    entry: ClassVar = "point"
    run: str
    kernel: str
    level: str
    basis: str
    work: float
    moved: float
    seconds: float
    interval: tuple[float, float]
    valid: bool
    row: Row
    arithmetic: str
    share: float | None = None
    limit: Ceiling | None = None
    above: Ceiling | None = None
    reason: str = ""
    size: str = ""
    full: str = ""
    shape: str = ""
    time_share: float | None = None
    lacks: Sequence[str] = ()
    doubt: str = ""

    @property
    def name(self) -> str:
        """The kernel, and its size if that is not the usual one."""
        return f"{self.kernel}, {self.size}" if self.size else self.kernel

    @property
    def intensity(self) -> float:
        """Work per byte or sector."""
        return self.work / self.moved

    @property
    def value(self) -> float:
        """Work per second."""
        return self.work / self.seconds

    @property
    def low(self) -> float:
        """The least rate, of the longest time."""
        return self.work / self.interval[1]

    @property
    def high(self) -> float:
        """The highest rate, of the shortest time."""
        return self.work / self.interval[0]

    @property
    def above_by(self) -> float | None:
        """The factor by which it exceeds a roof."""
        return self.share_of(self.above) if self.above else None

    def share_of(self, ceiling: Ceiling, seconds: float = 0) -> float:
        """Its rate, or its traffic, relative to a ceiling."""
        amount = self.moved if ceiling.sloped else self.work
        return amount / (seconds or self.seconds) / ceiling.value


def points(run: Run, form: Form, *, nominal: bool) -> list[Point]:
    """Points of every rung, in ladder order, every profiled kernel and everything timed as a whole.

    From counts; and in FLOP, if `nominal`, the same bytes with the nominal operations. Without
    counts only the latter, with the bytes that a step needs at least.
    """
    cases = ladder.Cases(run, (ladder.SUITE,))
    peers = [("nominal", Work({MAIN: NOMINAL}, ()))] if form is FLOP and nominal else []
    of_case = grouped((row for row in run.rows if _of_ladder(row)), attrgetter("case"))
    result: list[Point] = []
    for row in _rungs(cases, _COUNTED[form]):
        kernel = Kernel.of(of_case[row.case], ladder.rung_name(row.benchmark), row)
        works = [*_rung_work(kernel, form), *peers]
        result += _points(kernel, form, [(basis, _times(row, work)) for basis, work in works])
    counted = {point.row.benchmark for point in result}
    for row in _rungs(cases, ladder.RATE) if peers else ():
        if row.benchmark not in counted:
            kernel = Kernel.of(of_case[row.case], ladder.rung_name(row.benchmark), row)
            basis, work = peers[0]
            once = Total(_COMPULSORY[row.text("problem")] * math.prod(ladder.size(row)), [])
            result.append(_point(kernel, basis, _times(row, work), ONCE, once))
    launched = profiled(run)
    time = sum(kernel.all_seconds for kernel in launched)
    short = short_names((kernel.case, kernel.name) for kernel in launched)
    for kernel in (*launched, *timed_whole(run)):
        done = kernel.work(form) if kernel.seconds > 0 else None
        name = short.get(kernel.case)
        if not done or not (done.total or (name and form is FLOP)):
            continue
        found = _points(kernel, form, [("counted", done)])
        if name:
            share, full, shape = kernel.all_seconds / time, kernel.name, kernel.shape
            found = [replace(one, kernel=name, full=full, shape=shape, time_share=share)
                     for one in found]  # fmt: skip
        result += found
    order = list(dict.fromkeys([*cases.rungs, *(case.benchmark for case in run.cases)]))
    return sorted(_sized(result), key=lambda point: order.index(point.row.benchmark))


def profiled(run: Run) -> list[Kernel]:
    """The profiled kernels of a run, a case each."""
    facts = ((case, case.facts.get("name") or case.facts.get("kernel")) for case in run.cases)
    names = {case.id: f"{name or case.benchmark}" for case, name in facts}
    rows = (row for row in run.rows if row.suite in PROFILED and row.benchmark not in _COPIES)
    of_case = grouped(rows, attrgetter("case"))
    return [Kernel.of(mine, names[case]) for case, mine in of_case.items()]


def timed_whole(run: Run) -> list[Kernel]:
    """The kernels that were timed as a whole.

    The time is that of their slowest form: a large image, which comes from memory whether timed or
    counted.
    """
    whole = sorted(filter(_is_whole, run.rows), key=attrgetter("value"))
    slowest = {row.benchmark: row for row in whole if row.minimum > 0}
    rows = (row for row in run.rows if row.suite == _WHOLE and row.benchmark in slowest)
    of_case = grouped(rows, attrgetter("case"))
    return [Kernel.of(of_case[row.case], row.benchmark, row) for row in slowest.values()]


def _is_whole(row: Row) -> bool:
    timed = (row.suite, row.quantity, row.backend) == (_WHOLE, "kernel_time", "cuda")
    return timed and row.text("form") in _TODAY


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
    alone = (row for row in cases.having(ladder.RATE) if ladder.gpus(row) == 1 and row.minimum > 0)
    return cases.fastest([r for r in alone if r.case in has and r.benchmark not in ladder.SEVERAL])


def _rung_work(kernel: Kernel, form: Form) -> Iterator[tuple[str, Work]]:
    """The counted work of an interaction."""
    if counted := kernel.total(_COUNTED[form]):
        kind, lanes = (MAIN, 1) if form is FLOP else (ISSUE, WARP)
        yield "counted", Work({kind: counted.value / lanes}, counted.rows)


def _times(row: Row, work: Work) -> Work:
    """The work of a step of a rung, given that of an interaction."""
    pairs = ladder.interactions(row)
    return work._replace(by_type={kind: pairs * value for kind, value in work.by_type.items()})


def _points(kernel: Kernel, form: Form, works: Sequence[tuple[str, Work]]) -> list[Point]:
    """At each level with traffic; the instructions also of the global loads alone."""
    result = [
        _point(kernel, basis, work, level, moved)
        for level, moved in kernel.moved(form).items()
        for basis, work in works
    ]
    loads = [kernel.total(f"l1_load_{what}") for what in ("requests", "sectors")]
    requests, sectors = (one if one and one.value > 0 else None for one in loads)
    if form is INSTRUCTION and works and requests and sectors:
        work = Work({ISSUE: requests.value}, requests.rows)
        result.append(_point(kernel, "counted", work, LOADS, sectors))
    return result


def _point(kernel: Kernel, basis: str, work: Work, level: str, moved: Total) -> Point:
    row = kernel.timed
    assert row  # noqa: S101  (kernels without a time have no work)
    low, high = (kernel.scale * end for end in row.interval)
    seconds = kernel.seconds
    if _of_ladder(row):
        pairs = ladder.interactions(row)
        seconds, high, low = (pairs / rate for rate in (row.value, *row.interval))
    valid = all(one.valid for one in (row, *work.rows, *moved.rows))
    main = _PEAKS.get(work.main, work.main)
    return Point(
        row.run, kernel.name, level, basis, work.total, moved.value, seconds, (low, high), valid,
        row, main, lacks=work.lacks, doubt=work.doubt,
    )  # fmt: skip
