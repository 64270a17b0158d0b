"""The steps printed in the papers that the n-body ladder follows, and the cases that redo them.

Only numbers that are printed as text are used, not values shown only as bars.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from strata import reference
from strata.ladder import rungs as ladder
from strata.model import Bar, Cited, Sentence, curves, latency_bars, level_name
from strata.model.units import count, factor
from strata.run import Row, Run, grouped

# --- Papadouli, Markovitsis, Sanchez Cabrera (2026): Table 1, Figures 1 and 2 ---------------------

THESSALY = "Papadouli, Markovitsis and Sanchez Cabrera (2026)"
FOUR = "four GK210"
THESSALY_STEPS: Sequence[tuple[str, str, float, str, tuple[str, ...]]] = (
    ("serial", "one core", 87.014, "serial", ("aos",)),
    ("OpenMP", "all cores", 5.19, "openmp", ("aos",)),
    ("GPU tiling", "one GK210, a launch for each system", 2.1149, "tiled", ("aos",)),
    ("Elimination of system loop", "one GK210, one launch", 0.493, "one_launch", ("aos",)),
    ("Use of multiple gpus", FOUR, 0.1480, ladder.SEVERAL[0], ("soaoas",)),
    ("SoA", FOUR, 0.1358, "one_launch", ("soa",)),
    ("faster math computations", FOUR, 0.1100, "fast_math", ("soa", "soaoas")),
)
"""Row of the report's Table 1, the hardware it used, its seconds for 4.3e10 interactions (with
"Baseline speed and throughput"), the rung that redoes it, and in which layout: the first that was
measured."""
THESSALY_TIMED_STEPS = 80
"""Of 32 systems of 4096 bodies: what makes the report's time times its throughput."""


class ThessalyStep(NamedTuple):
    """A row of the report's Table 1: rates in interactions per second, times in seconds.

    `row` is the rate of the case that redoes it, `before` that of the step before it (for several
    GPUs: the same code on one). `step_time` is that of one step, if it is of the report's systems.
    Each is None if the run has none.
    """

    name: str
    hardware: str
    rate: float
    seconds: float
    row: Row | None
    before: Row | None
    step_time: Row | None


def thessaly(run: Run) -> tuple[ThessalyStep, ...]:
    """The rows of Table 1 (and Figures 1 and 2), redone; empty without any case."""
    cases = ladder.Cases(run)
    rates = ladder.at_size(cases.having(ladder.RATE), "galaxies")
    theirs = {one.name: one.rate for one in reference.nbody() if one.label == "Thessaly"}
    result = []
    last: Row | None = None
    for name, hardware, seconds, rung, layouts in THESSALY_STEPS:
        here = rates.get(rung, [])
        by_layout = grouped(here, lambda one: one.text("layout"))
        row = next((ladder.best(by_layout[one]) for one in layouts if one in by_layout), None)
        before = last
        if rung in ladder.SEVERAL:
            alone = [one for one in here if ladder.gpus(one) == 1]
            before = ladder.best(alone) if row and alone and ladder.gpus(row) > 1 else None
        time = cases.get(row, "step_time") if row and ladder.size(row) == ladder.THESSALY else None
        result.append(ThessalyStep(name, hardware, theirs[name], seconds, row, before, time))
        last = row if row and rung not in ladder.SEVERAL else last
    return tuple(result) if any(one.row for one in result) else ()


# --- Siegel, Ributzka, Li (2009): Figures 10 and 11 -----------------------------------------------

SIEGEL = "Siegel et al. 2009"
SIEGEL_LAYOUTS: Mapping[str, str] = {"aos": "II-A", "soa": "II-B", "aoas": "II-C", "soaoas": "II-D"}
"""The paper's four layouts, and the sections that describe them."""
SIEGEL_GAINS: Mapping[str, Mapping[str, float]] = {
    "CUDA 1.0": {"aos": 1.0, "soa": 1.1, "soaoas": 1.5},
    "CUDA 2.2": {"aos": 1.0, "soaoas": 1.3},
}
"""Speed over aos on an 8800 GTX: "roughly 10 %", "approximately 50 %", "roughly 30 %" (III-A). That
of aoas, and all of CUDA 1.1, are bars without numbers."""
GLOBAL_LEVELS = ("l2", "dram")
"""Behind L1, which the 8800 GTX did not have: where reads of its global memory are now."""


def layout_times(rows: Sequence[Row]) -> tuple[Bar, ...]:
    """Reads of all seven fields in the paper's layouts, level by level, in the paper's order."""
    bars = latency_bars(rows)
    return tuple(bar for bar in bars if bar.fields == "all" and bar.layout in SIEGEL_LAYOUTS)


class LayoutGain(NamedTuple):
    """The speed-up of one layout over aos, at one level.

    `how` is `alone` (one warp on each SM, by time) or `loaded` (by best useful bandwidth); `row` is
    that of the layout, `valid` whether it and that of aos are valid.
    """

    level: str
    layout: str
    how: str
    gain: float
    row: Row
    valid: bool


def layout_gains(rows: Sequence[Row]) -> tuple[LayoutGain, ...]:
    """Figure 11 redone: the speed-up of each layout over aos, alone and under load."""
    alone = {(bar.level, bar.layout): bar.cycles for bar in layout_times(rows)}
    points = (one for one in curves(rows, "useful_bandwidth") if one.fields == "all")
    known = (one for one in points if one.layout in SIEGEL_LAYOUTS)
    at = grouped(known, lambda one: (one.level, one.layout))
    loaded = {place: ladder.best(one.row for one in here) for place, here in at.items()}
    result = []
    for how, found in (("alone", alone), ("loaded", loaded)):
        for (level, layout), row in found.items():
            base = found.get((level, "aos"))
            if base and min(base.value, row.value) > 0:
                gain = base.value / row.value if how == "alone" else row.value / base.value
                valid = base.valid and row.valid
                result.append(LayoutGain(level, layout, how, gain, row, valid))
    return tuple(result)


def sentences(rows: Sequence[Row]) -> tuple[Sentence, ...]:
    """Does the proposed layout of the paper still pay off, and why (not): one sentence per level.

    By the counted sectors that leave L1 for each read. Empty if they were not counted.
    """
    gains = {(one.level, one.layout, one.how): one for one in layout_gains(rows) if one.valid}
    times = {(bar.level, bar.layout): bar.cycles.case for bar in layout_times(rows)}
    counted = {
        (row.case, row.quantity): row
        for row in rows
        if row.benchmark == "layout_read" and row.provenance == "counted" and row.valid
    }
    theirs = " and ".join(f"{one['soaoas']:g} ({cuda})" for cuda, one in SIEGEL_GAINS.items())
    result = []
    for level in GLOBAL_LEVELS:
        shown = [gains.get((level, "soaoas", how)) for how in ("alone", "loaded")]
        numbers = [Cited(factor(one.gain), one.row) for one in shown if one]
        for layout in ("aos", "soaoas"):
            case = times.get((level, layout), "")
            requested = counted.get((case, "sectors_per_read"))
            hits = counted.get((case, "l1_hit_share"))
            if requested and hits:
                left = round(requested.value * (1 - hits.value), 2)
                numbers += [Cited(count(requested.value), requested), Cited(count(left), requested)]
        loaded = " and {} under load" if shown[1] else ""
        words = (
            f"{SIEGEL}, Figure 11: soaoas was {theirs} times as fast as aos on an 8800 GTX; here, "
            f"at {level_name(level)}, {{}} for one warp alone{loaded}: of the {{}} sectors that a "
            "warp requests in aos, L1 lets {} through, of the {} in soaoas {}."
        )
        if shown[0] and len(numbers) == words.count("{}"):
            result.append(ladder.sentence(words, *numbers))
    return tuple(result)


# --- Siegel, Ributzka, Li (2009): Figure 12 -------------------------------------------------------

GRAVIT_BASE = "tiled"
"""The rung that is the paper's first GPU code: tiles in shared memory, aos in global memory."""
GRAVIT_GAINS: Sequence[tuple[str, float]] = (("full unroll", 1.18), ("all steps", 1.27))
"""Over its first GPU code, on an 8800 GTX, copies included (IV-A; abstract)."""

# --- the unroll factor ----------------------------------------------------------------------------

UNROLL_GAINS: Mapping[int, tuple[float, str]] = {
    4: (1.18, "CUDA Handbook, 14.3: the best of Table 14.2"),
    128: (1.18, "Siegel et al. 2009, IV-A: the whole tile"),
}
"""Factor of unrolling, speed over the loop as it was, and its author. The other rows of Table 14.2
are not in the copy that could be read."""
