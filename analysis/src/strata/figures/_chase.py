"""Curves of a dependent load against the bytes of its chain."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from strata.figures import _chart as c
from strata.figures._figure import attributes
from strata.model.cases import CLOCKS, CaseRows, by_case
from strata.model.units import size, unit_name
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


def chart(
    found: Sequence[Point],
    looks: Mapping[str, tuple[str, str]],
    height: float,
    layers: Sequence[c.Layer] = (),
) -> c.Chart:
    """A line for each curve of `looks` (name and colour), dashed if all SMs walk.

    The first of three are wider, so that curves on top of each other all stay visible.
    """
    first = min(len(looks), 3)
    widths = [1.0 + 1.3 * max(first - 1 - at, 0) for at in range(len(looks))]
    drawn = c.by_look(
        found,
        lambda point: (point.curve, point.cores),
        {
            (curve, cores): (name, c.Look(colour, "o", line, size=1.6, width=width))
            for (curve, (name, colour)), width in zip(looks.items(), widths, strict=True)
            for cores, line in (("one", "-"), ("several", "--"))
        },
        lambda at: c.Mark(at.footprint, at.row.value, at.low, at.high, at.row.valid),
        spread="band",
    )
    several = [c.Key("every SM at once", c.Look(line="--"))]
    places = c.bytes_axis("footprint", [point.footprint for point in found], most=9)
    values = c.Axis(f"{unit_name(found[0].row.unit)} per load", "log")
    keys = several if any(point.cores == "several" for point in found) else []
    panel = c.Panel([*drawn, *layers], places, values)
    return c.Chart([[panel]], 8.4, height, "beside", keys=keys)
