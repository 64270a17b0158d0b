"""Curves of a dependent load against the bytes of its chain."""

from collections.abc import Callable
from dataclasses import dataclass

from strata.figures._figure import attributes
from strata.model.cases import CLOCKS, CaseRows, by_case
from strata.model.units import size
from strata.run import Row, Run

COLUMNS = attributes(
    "curve", "cores", stride_bytes="stride", footprint_bytes="footprint", load_cycles="row",
    unit="row.unit", low="low", high="high", valid="row.valid", case="row.case",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Point:
    """One load of one curve: `row` in cycles, `low` and `high` over its samples.

    With several SMs, `low` and `high` are the nearest and the farthest SM. `seconds` is by an
    outside timer; `plateau` is the level of the point's plateau in cycles, and `plateau_seconds`
    the same in seconds; `half_dram`: whether half of its loads come from memory, half from L2.
    """

    case: CaseRows
    row: Row
    curve: str
    cores: str
    stride: int
    footprint: int
    low: float
    high: float
    seconds: float | None
    plateau: float | None = None
    plateau_seconds: float | None = None
    half_dram: bool = False


def label(point: Point) -> str:
    """The name of a point in a caption."""
    return f"{point.curve}, {size(point.footprint)}"


def points(run: Run, benchmark: str, curve: Callable[[CaseRows], str]) -> list[Point]:
    """The loads of every case by the clock in the kernel; `curve` names the curve of a case."""
    found = []
    for case in by_case(run.of(benchmark)):
        row = case.row("load_cycles", *CLOCKS, provenance="timed")
        if row:
            near = case.row("load_cycles_nearest", *CLOCKS)
            far = case.row("load_cycles_farthest", *CLOCKS)
            low, high = near.value if near else row.minimum, far.value if far else row.maximum
            time = case.row("load_time")
            seconds = time.value if time and time.valid else None
            of = (curve(case), case.text("cores", "one"), case.count("stride"))
            found.append(Point(case, row, *of, case.count("footprint"), low, high, seconds))
    return sorted(found, key=lambda point: (point.curve, point.cores, point.footprint))
