"""What the papers that the n-body ladder follows printed of their steps, and what redoes them.

Only numbers that stand in their texts: a figure whose values were printed as bars alone gives none.
Like `strata.model`: no files, no drawing.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from strata import reference
from strata.ladder import rungs as ladder
from strata.ladder.rungs import RATE, Cases, size
from strata.model import Bar, Cited, Point, Sentence, curves, latency_bars, level_name
from strata.model.units import count, factor
from strata.run import Row

# --- Papadouli, Markovitsis, Sanchez Cabrera (2026): Table 1, Figures 1 and 2 ---------------------

THESSALY = "Papadouli, Markovitsis and Sanchez Cabrera (2026)"
THESSALY_LABEL = "Thessaly"
FOUR = "four GK210"
THESSALY_STEPS: Sequence[tuple[str, str, str, tuple[str, ...]]] = (
    ("serial", "one core", "serial", ("aos",)),
    ("OpenMP", "all cores", "openmp", ("aos",)),
    ("GPU tiling", "one GK210, a launch for each system", "tiled", ("aos",)),
    ("Elimination of system loop", "one GK210, one launch", "one_launch", ("aos",)),
    ("Use of multiple gpus", FOUR, ladder.SEVERAL, ("soaoas",)),
    ("SoA", FOUR, "one_launch", ("soa",)),
    ("faster math computations", FOUR, "fast_math", ("soa", "soaoas")),
)
"""Row of the report's Table 1, the hardware it used, the rung that redoes it, and in which layout:
the first that was measured."""
THESSALY_SECONDS: Mapping[str, float] = {
    "serial": 87.014,
    "OpenMP": 5.19,
    "GPU tiling": 2.1149,
    "Elimination of system loop": 0.493,
    "Use of multiple gpus": 0.1480,
    "SoA": 0.1358,
    "faster math computations": 0.1100,
}
"""Times of 4.3e10 interactions, as Table 1 and "Baseline speed and throughput" print them."""
THESSALY_TIMED_STEPS = 80
"""Of 32 systems of 4096 bodies: what makes the report's time times its throughput."""


@dataclass(frozen=True, slots=True)
class ThessalyStep:
    """A row of the report's Table 1: rates in interactions a second, times in seconds.

    `row` is the rate of the case that redoes it, None where the run has none; `step_time` that of
    one step of it, None where it is not of the report's systems.
    """

    name: str
    hardware: str
    rate: float
    seconds: float
    row: Row | None
    step_time: Row | None


def thessaly(rows: Sequence[Row]) -> tuple[ThessalyStep, ...]:
    """The rows of Table 1 (and its Figures 1 and 2), redone; empty without a case of any."""
    cases = Cases(rows)
    rates = ladder.at_size(cases.having(RATE), "galaxies")
    theirs = {one.name: one.rate for one in reference.nbody() if one.label == THESSALY_LABEL}
    result = []
    for name, hardware, rung, layouts in THESSALY_STEPS:
        row = of_layout(rates.get(rung, ()), layouts)
        same = row is not None and size(row) == ladder.THESSALY
        time = cases.get(row, "step_time") if row is not None and same else None
        result.append(ThessalyStep(name, hardware, theirs[name], THESSALY_SECONDS[name], row, time))
    return tuple(result) if any(one.row for one in result) else ()


def of_layout(rows: Sequence[Row], layouts: Sequence[str]) -> Row | None:
    """The fastest in the first of the layouts that there is one of."""
    by_layout: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_layout[row.params.get("layout", "")].append(row)
    return next((ladder.best(by_layout[one]) for one in layouts if one in by_layout), None)


# --- Siegel, Ributzka, Li (2009): Figures 10 and 11 -----------------------------------------------

SIEGEL = "Siegel et al. 2009"
SIEGEL_LAYOUTS: Mapping[str, str] = {"aos": "II-A", "soa": "II-B", "aoas": "II-C", "soaoas": "II-D"}
"""The paper's four layouts, and the sections that tell of them."""
SIEGEL_GAINS: Mapping[str, Mapping[str, float]] = {
    "CUDA 1.0": {"aos": 1.0, "soa": 1.1, "soaoas": 1.5},
    "CUDA 2.2": {"aos": 1.0, "soaoas": 1.3},
}
"""Speed over aos on an 8800 GTX: "roughly 10 %", "approximately 50 %", "roughly 30 %" (III-A). That
of aoas, and all of CUDA 1.1, are bars without numbers."""


@dataclass(frozen=True, slots=True)
class LayoutTime:
    """The time of a warp-read of one of the paper's layouts, alone, and what aos needs of it.

    `bar.cycles` in cycles (TSC cycles on a CPU); `base` None without aos.
    """

    level: str
    layout: str
    bar: Bar
    base: Bar | None

    @property
    def gain(self) -> float | None:
        """Speed over aos; None where one of both is not valid."""
        if self.base is None or not (self.bar.cycles.valid and self.base.cycles.valid):
            return None
        return self.base.cycles.value / self.bar.cycles.value if self.bar.cycles.value > 0 else None


def layout_times(rows: Sequence[Row]) -> tuple[LayoutTime, ...]:
    """Reads of all seven fields in the paper's layouts, level by level, layouts in its order."""
    bars = [bar for bar in latency_bars(rows) if bar.fields == "all"]
    base = {bar.level: bar for bar in bars if bar.layout == "aos"}
    return tuple(
        LayoutTime(bar.level, bar.layout, bar, base.get(bar.level))
        for bar in bars
        if bar.layout in SIEGEL_LAYOUTS
    )


@dataclass(frozen=True, slots=True)
class LayoutGain:
    """The speed of one layout over aos, at one level.

    `how` is `alone` (one warp on each SM, by time) or `loaded` (by best useful bandwidth); `row`
    is that of the layout, `valid` whether it and that of aos are.
    """

    level: str
    layout: str
    how: str
    gain: float
    row: Row
    valid: bool


def layout_gains(rows: Sequence[Row]) -> tuple[LayoutGain, ...]:
    """Figure 11 redone: speed of each layout over aos, alone and under load."""
    result = []
    for time in layout_times(rows):
        base = time.base
        if base is not None and min(base.cycles.value, time.bar.cycles.value) > 0:
            result.append(
                LayoutGain(
                    time.level, time.layout, "alone", base.cycles.value / time.bar.cycles.value,
                    time.bar.cycles, base.cycles.valid and time.bar.cycles.valid,
                )
            )  # fmt: skip
    best: dict[tuple[str, str], Point] = {}
    for point in curves(rows, "useful_bandwidth"):
        here = point.level, point.layout
        known = best.get(here)
        if point.fields == "all" and (known is None or _faster(point, known)):
            best[here] = point
    for (level, layout), point in best.items():
        loaded = best.get((level, "aos"))
        if loaded is not None and layout in SIEGEL_LAYOUTS and loaded.row.value > 0:
            result.append(
                LayoutGain(
                    level, layout, "loaded", point.row.value / loaded.row.value, point.row,
                    point.row.valid and loaded.row.valid,
                )
            )  # fmt: skip
    return tuple(result)


def _faster(one: Point, other: Point) -> bool:
    return (one.row.valid, one.row.value) > (other.row.valid, other.row.value)


GLOBAL_LEVELS = ("l2", "dram")
"""Behind L1, which the 8800 GTX did not have: where reads of its global memory are now."""


def sentences(rows: Sequence[Row]) -> tuple[Sentence, ...]:
    """Does the layout that the paper proposes still pay, and why (not): one sentence a level.

    By the sectors that leave L1 for each read, counted. Empty where they were not.
    """
    gains = {(one.level, one.layout, one.how): one for one in layout_gains(rows) if one.valid}
    times = {(one.level, one.layout): one for one in layout_times(rows)}
    counts = _Counts(rows)
    result = []
    for level in GLOBAL_LEVELS:
        old, new = times.get((level, "aos")), times.get((level, "soaoas"))
        alone = gains.get((level, "soaoas", "alone"))
        if old is None or new is None or alone is None:
            continue
        asked, left = counts.asked_and_left(old.bar.cycles), counts.asked_and_left(new.bar.cycles)
        if asked is None or left is None:
            continue
        theirs = " and ".join(
            f"{marks['soaoas']:g} ({version})" for version, marks in SIEGEL_GAINS.items()
        )
        parts: list[str | Cited] = [
            f"{SIEGEL}, Figure 11: soaoas was {theirs} times as fast as aos on an 8800 GTX; here, ",
            f"at {level_name(level)}, ",
            Cited(factor(alone.gain), alone.row),
            " for one warp alone",
        ]
        loaded = gains.get((level, "soaoas", "loaded"))
        if loaded:
            parts += [" and ", Cited(factor(loaded.gain), loaded.row), " under load"]
        parts.append(": of the ")
        parts.append(Cited(count(asked[0].value), asked[0]))
        parts.append(" sectors that a warp asks for in aos, L1 lets ")
        parts += [Cited(count(asked[1]), asked[0]), " through, of the "]
        parts += [Cited(count(left[0].value), left[0]), " in soaoas "]
        parts += [Cited(count(left[1]), left[0]), "."]
        result.append(tuple(parts))
    return tuple(result)


class _Counts:
    """What was counted of `layout_read`, by case and quantity."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = {
            (row.case, row.quantity): row
            for row in rows
            if row.benchmark == "layout_read" and row.provenance == "counted" and row.valid
        }

    def asked_and_left(self, row: Row) -> tuple[Row, float] | None:
        """Sectors that a read asks L1 for, and those that L1 has to fetch, to one hundredth."""
        asked = self._rows.get((row.case, "sectors_per_read"))
        hits = self._rows.get((row.case, "l1_hit_share"))
        return (asked, round(asked.value * (1 - hits.value), 2)) if asked and hits else None


# --- Siegel, Ributzka, Li (2009): Figure 12 -------------------------------------------------------

GRAVIT_BASE = "tiled"
"""The rung that is the paper's first GPU code: tiles in shared memory, aos in global memory."""
GRAVIT_GAINS: Sequence[tuple[str, float]] = (
    ("full unroll", 1.18),
    ("all steps", 1.27),
)
"""Over its first GPU code, on an 8800 GTX, copies included (IV-A; abstract)."""
GRAVIT_SERIAL = 87
"""Times a serial CPU (abstract)."""

# --- the unroll factor ----------------------------------------------------------------------------

UNROLL_GAINS: Mapping[int, tuple[float, str]] = {
    4: (1.18, "CUDA Handbook, 14.3: the best of Table 14.2"),
    128: (1.18, "Siegel et al. 2009, IV-A: the whole tile"),
}
"""Factor of unrolling, speed over the loop as it was, and who says so. The other rows of Table 14.2
are not in the copy that could be read."""
