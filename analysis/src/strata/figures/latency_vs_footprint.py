"""How long does a dependent load take as its data grow from the first cache to all of memory?

Every level of the hierarchy is a step; the plateaus of the curve with most of them are labelled.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from math import sqrt
from operator import attrgetter
from statistics import median
from typing import NamedTuple

import pandas as pd
from matplotlib.axes import Axes

from strata.figures import _chase as chase
from strata.figures._chase import Point
from strata.figures._figure import attributes, prose
from strata.figures._plot import figure, table
from strata.figures._style import QUIET, bytes_axis, plain_log, points
from strata.model import atlas, ordered, plateaus
from strata.model.l2 import L2, l2
from strata.model.units import SPACE, count, quantity, short, size, unit_name
from strata.run import Run, grouped

NAME = "latency_vs_footprint"
LOOKS = {
    "global_ca": ("global, cached in L1", "#0072B2", 3.6),
    "global_cg": ("global, past L1", "#D55E00", 2.3),
    "global_nc": ("global, read-only", "#56B4E9", 1.0),
    "shared": ("shared", "#009E73", 1.2),
    "constant": ("constant", "#E69F00", 1.2),
    "texture": ("texture", "#CC79A7", 1.2),
    "mapped": ("host memory, mapped", "#666666", 1.2),
    "memory": ("memory", "#0072B2", 1.2),
}
"""Name, colour and width: curves on top of each other all stay visible."""
SIZES = {"footprint_over_shared_memory": "shared memory of an SM", "footprint_over_l2": "L2"}
EVICTED = "evicted before"
NEAR, ROOM, BROAD = 1.1, 1.5, 2**3.5
"""A curve within `NEAR` is on the plateau too; its label is above it if no curve is within `ROOM`,
and centred if its end is beyond `BROAD` times its beginning."""
COLUMNS = chase.COLUMNS | attributes(
    load_seconds="seconds", plateau="plateau", _seconds="plateau_seconds", _half="half_dram"
)


def data(run: Run) -> pd.DataFrame:
    """The points of every space, at the most common stride; `attrs` has the marks of the axis."""
    found = chase.points(run, NAME, lambda case: case.text("space"))
    strides = Counter(sorted(point.stride for point in found))
    drawn = [point for point in found if point.stride == strides.most_common(1)[0][0]]
    levels: dict[object, tuple[float, float | None]] = {}
    cache = l2(run)
    reach = cache and cache.one
    for space, curve in curves(drawn).items():
        sizes, loads = [float(p.footprint) for p in curve], [p.row.value for p in curve]
        known = {one.row.key: (at, one) for at, one in atlas.latencies(run, space).items()}
        for span in plateaus.find(sizes, loads):
            on = curve[span.start : span.stop + 1]
            times = [point.seconds for point in on if point.seconds is not None]
            level = span.level, median(times) if times else None
            # A level of the hierarchy has the same latency here and everywhere else in the report.
            for place, one in (known[p.row.key] for p in on if p.row.key in known):
                level = one.shown.value, one.time.value if one.time else level[1]
                if reach and place == "l2":
                    on = [p for p in on if p.footprint <= (reach.last.count("footprint") or 0)]
            levels |= {point.row.key: level for point in on}
    half = _half_dram(cache, drawn, levels)
    nowhere = None, None
    placed = [
        replace(point, plateau=level, plateau_seconds=seconds, half_dram=point.row.key in half)
        for point in drawn
        for level, seconds in [levels.get(point.row.key, nowhere)]
    ]
    lines = table(placed, COLUMNS, label=chase.label)
    lines.attrs["marks"] = marks(placed)
    return lines


def _half_dram(
    found: L2 | None, drawn: Sequence[Point], levels: dict[object, tuple[float, float | None]]
) -> set[object]:
    """The points of which half is DRAM: a plateau that counters prove, however short it is."""
    if not found or not found.beyond:
        return set()
    first, last = (row.count("footprint") or 0 for row in (found.beyond.first, found.beyond.last))
    of = curves(drawn)
    walked = [one for space in of if space.startswith("global_") for one in of[space]]
    here = [one for one in walked if first <= one.footprint <= last]
    times = [one.seconds for one in here if one.seconds is not None]
    level = found.beyond.row.value, median(times) if times else None
    on = {levels[one.row.key] for one in here if one.row.key in levels}
    keys = {one.row.key for one in here} | {key for key, at in levels.items() if at in on}
    levels |= dict.fromkeys(keys, level)
    return keys


def curves(drawn: Sequence[Point]) -> dict[str, list[Point]]:
    """The valid points of each space walked by one core, by footprint, one of each."""
    walked = [p for p in drawn if p.row.valid and p.cores == "one" and p.row.value > 0]
    of = grouped(walked, attrgetter("curve"))
    return {
        name: list({point.footprint: point for point in of[name]}.values())
        for name in ordered(of, tuple(LOOKS))
    }


def marks(drawn: Sequence[Point]) -> dict[str, float]:
    """The footprints to mark, of those drawn: driver-reported sizes, and the start of eviction."""
    rows = {
        name: [(point.footprint, row) for point in drawn if (row := point.case.row(name))]
        for name in (*SIZES, "walked_before")
    }
    found = {
        words: float(round(median([size / row.value for size, row in rows[name]])))
        for name, words in SIZES.items()
        if rows[name]
    }
    walked = [footprint for footprint, row in rows["walked_before"] if row.value > 0]
    evicted = [footprint for footprint, row in rows["walked_before"] if row.value <= 0]
    if walked and evicted and max(walked) < min(evicted):
        found[EVICTED] = (max(walked) * min(evicted)) ** 0.5
    sizes = [point.footprint for point in drawn]
    return {name: at for name, at in found.items() if min(sizes) < at < max(sizes)}


class Step(NamedTuple):
    """A plateau of a curve: its ends in bytes, its level, cycles and time, and where it is."""

    first: int
    last: int
    level: float
    words: str
    where: str


def steps(data: pd.DataFrame) -> dict[str, list[Step]]:
    """The plateaus of each curve that has any."""
    valid = data[data.valid & (data.cores == "one") & (data.load_cycles > 0)]
    walked = valid.drop_duplicates(["curve", "footprint_bytes"], keep="last")
    found = {}
    for name in ordered(walked.curve, tuple(LOOKS)):
        curve = walked[walked.curve == name]
        runs = (curve.plateau != curve.plateau.shift()).cumsum()
        parts = [part for _, part in curve.groupby(runs) if part.plateau.notna().all()]
        if parts:
            found[name] = [step(part, curve) for part in parts]
    return found


def step(on: pd.DataFrame, curve: pd.DataFrame) -> Step:
    """One plateau of a curve."""
    first, last = on.footprint_bytes.iloc[0], on.footprint_bytes.iloc[-1]
    level, seconds = on.plateau.iloc[0], on["_seconds"].iloc[0]
    cycles = short(level) if level >= 99.95 else count(level)
    time = f" ({quantity(seconds, 's')})" if pd.notna(seconds) else ""
    words = f"{cycles}{SPACE}{unit_name(on.unit.iloc[0])}{time}"
    where = "throughout" if first == curve.footprint_bytes.iloc[0] else f"from {size(first)} on"
    where = where if last == curve.footprint_bytes.iloc[-1] else f"to {size(last)}"
    return Step(first, last, level, words + ", half DRAM" * bool(on["_half"].iloc[0]), where)


def labelled(found: dict[str, list[Step]]) -> str:
    """The space with most plateaus; the levels of textures, in the same caches, are not counted."""
    return max(found, key=lambda space: (space != "texture", len(found[space])), default="")


def caption(data: pd.DataFrame) -> str:
    """The walk, every plateau, and the marks."""
    several = ", or nearest to farthest SM where every SM loads, each with one load in flight"
    found = steps(data)
    names = {space: LOOKS.get(space, (space,))[0] for space in found}
    each = "; ".join(
        f"{names[space]} {', '.join(f'{one.words} {one.where}' for one in these)}"
        for space, these in found.items()
    )
    known = data.attrs["marks"].keys()
    return prose(
        "Time of one dependent load, in random order over slots of "
        f"{size(data.stride_bytes.iloc[0])}, "
        "against the footprint of the chain. Lines: medians; bands: range of the samples"
        f"{several if (data.cores == 'several').any() else ''}.",
        found and f"Plateaus (labelled: {names[labelled(found)]}): {each}.",
        "L2" in known and "Dotted: the size of L2 that the driver reports.",
        EVICTED in known
        and "A chase starts with what two laps left in the caches; right of the mark (several "
        "times the L2) everything was evicted instead, and every page visited.",
    )


@figure(
    NAME, "Latency of every level of the hierarchy", order=5, data=data, caption=caption,
    size=(7, 4.2),
)  # fmt: skip
def draw(data: pd.DataFrame, ax: Axes) -> None:
    """A line for each space, dashed where every SM walks; the steps of one of them have labels."""
    several = data[data.cores != "one"]
    for space in ordered(data.curve, tuple(LOOKS)):
        name, colour, width = LOOKS.get(space, (space, "k", 1.2))
        for part, line in ((data[data.cores == "one"], "-"), (several, "--")):
            here = part[(part.curve == space) & (part.load_cycles > 0)]
            look = {"color": colour, "lw": width, "marker": "o", "ms": 1.6, "ls": line}
            alone = space not in [*data.curve[data.cores == "one"]]
            label = name if line == "-" or alone else None
            points(ax, here, "footprint_bytes", "load_cycles", label=label, **look)
            good = here[here.valid]
            ax.fill_between(
                good.footprint_bytes, good.low, good.high, color=colour, alpha=0.2, lw=0
            )
    if len(several):
        ax.plot([], [], "k--", label="every SM at once")
    bytes_axis(ax, "footprint of the chain")
    plain_log(ax)
    ax.set_ylabel(f"{unit_name(data.unit.iloc[0])} per load")
    ax.margins(y=0.1)
    for name, at in data.attrs["marks"].items():
        if name == SIZES["footprint_over_shared_memory"]:  # no cause of the step of L1 beside it
            continue
        ax.axvline(at, color="#7a7a7a", ls=":", lw=0.8)
        ax.text(
            at, 0.02, f"{name if name == EVICTED else f'{name} ({size(at)})'} ", rotation=90,
            color=QUIET, ha="right", transform=ax.get_xaxis_transform(),
        )  # fmt: skip
    found = steps(data)
    for one in found.get(labelled(found), []):
        here = data[data.footprint_bytes.between(one.first, one.last) & (data.load_cycles > 0)]
        above = (here.load_cycles[here.load_cycles > NEAR * one.level] / one.level).min()
        narrow = one.last < BROAD * one.first
        over = not (narrow or above < ROOM)
        ax.annotate(
            one.words.replace(" (", "\n("),
            (one.first if narrow else sqrt(one.first * one.last), one.level),
            (0, 5 if over else -5), textcoords="offset points", weight="bold",
            ha="left" if narrow else "center", va="bottom" if over else "top",
            color=LOOKS.get(labelled(found), ("", "k"))[1],
        )  # fmt: skip
