"""How long does a dependent load take as its data grow from the first cache to all of memory?

Every level of the hierarchy is a step; the plateaus of the curve with most of them are labelled.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from math import log
from operator import attrgetter
from statistics import median

from strata.figures import _chart as c
from strata.figures import _chase as chase
from strata.figures._chase import Point
from strata.figures._figure import Figure, attributes, prose
from strata.model import atlas, ordered, plateaus
from strata.model.l2 import L2, l2
from strata.model.units import SPACE, count, quantity, short, size, unit_name
from strata.run import Run

NAME = "latency_vs_footprint"
LOOKS = {
    "global_ca": ("global, cached in L1", "#0072B2"),
    "global_cg": ("global, past L1", "#D55E00"),
    "global_nc": ("global, read-only", "#56B4E9"),
    "shared": ("shared", "#009E73"),
    "constant": ("constant", "#E69F00"),
    "texture": ("texture", "#CC79A7"),
    "mapped": ("host memory, mapped", "#666666"),
    "memory": ("memory", "#0072B2"),
}
SIZES = {"footprint_over_shared_memory": "shared memory of an SM", "footprint_over_l2": "L2"}
EVICTED = "evicted before"
EXPLAINED = (
    "Evicted before: right of this mark nothing of the data is in a cache when a walk begins; left "
    "of it a walk finds what two laps left there."
)
LEVEL = attrgetter("plateau")
FOOT = 0.17
"""Of the height of the panel: the room that a label takes."""
ALIKE = 0.02
"""Of the height: a curve that is closer lies on the plateau too."""
BROAD = 2**3.5
"""What a label needs to stand in the middle of its plateau: its end over its beginning."""


def items(run: Run) -> Sequence[Point]:
    """The points of every space, at the most common stride."""
    found = chase.points(run, NAME, lambda case: case.text("space"))
    strides = Counter(sorted(point.stride for point in found))
    drawn = [point for point in found if point.stride == strides.most_common(1)[0][0]]
    levels: dict[object, tuple[float, float | None]] = {}
    cache = l2(run)
    reach = cache and cache.one
    for space, curve in curves(drawn).items():
        sizes, loads = [float(p.footprint) for p in curve], [p.row.value for p in curve]
        known = {one.row.key: (at, one) for at, one in atlas.latencies(run, space).items()}
        for found_at in plateaus.find(sizes, loads):
            on = curve[found_at.start : found_at.stop + 1]
            times = [point.seconds for point in on if point.seconds is not None]
            level = found_at.level, median(times) if times else None
            # A level of the hierarchy has the same latency here and everywhere else in the report.
            for place, one in (known[p.row.key] for p in on if p.row.key in known):
                level = one.shown.value, one.time.value if one.time else level[1]
                if reach and place == "l2":
                    on = [p for p in on if p.footprint <= (reach.last.count("footprint") or 0)]
            levels |= {point.row.key: level for point in on}
    half = _half_dram(cache, drawn, levels)
    nowhere = None, None
    return [
        replace(point, plateau=level, plateau_seconds=seconds, half_dram=point.row.key in half)
        for point in drawn
        for level, seconds in [levels.get(point.row.key, nowhere)]
    ]


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


def curves(points: Sequence[Point]) -> dict[str, list[Point]]:
    """The valid points of each space walked by one core, by footprint, one of each."""
    walked = [p for p in points if p.row.valid and p.cores == "one" and p.row.value > 0]
    of = c.grouped(walked, lambda point: point.curve)
    return {
        name: list({point.footprint: point for point in of[name]}.values())
        for name in ordered(of, tuple(LOOKS))
    }


def steps(points: Sequence[Point]) -> dict[str, list[tuple[int, int, float, str]]]:
    """The plateaus of each curve that has any: ends in bytes, level, and words."""
    found = {
        name: [step(list(on), curve) for level, on in groupby(curve, LEVEL) if level]
        for name, curve in curves(points).items()
    }
    return {name: these for name, these in found.items() if these}


def step(on: Sequence[Point], curve: Sequence[Point]) -> tuple[int, int, float, str]:
    """One plateau of a curve: the words are its cycles and time, and where it ends or begins."""
    first, last, level = on[0].footprint, on[-1].footprint, on[0].plateau or 0.0
    cycles = short(level) if level >= 99.95 else count(level)
    time = f" ({quantity(on[0].plateau_seconds, 's')})" if on[0].plateau_seconds else ""
    time += ", half DRAM" if on[0].half_dram else ""
    where = "throughout" if on[0] is curve[0] else f"from {size(first)} on"
    where = where if on[-1] is curve[-1] else f"to {size(last)}"
    return first, last, level, f"{cycles}{SPACE}{unit_name(on[0].row.unit)}{time}\n{where}"


def labelled(found: Mapping[str, Sequence[object]]) -> str:
    """The space with most plateaus; the levels of textures, in the same caches, are not counted."""
    return max(found, key=lambda space: (space != "texture", len(found[space])), default="")


def chart(points: Sequence[Point]) -> c.Chart:
    """Both axes are logarithmic: levels are a decade apart in time, and three in size."""
    spaces = ordered({point.curve for point in points}, tuple(LOOKS))
    looks = {space: LOOKS.get(space, (space, c.INK)) for space in spaces}
    names = marked(points).items()
    layers: list[c.Layer] = [c.Rule(at, of="place", words=name) for name, at in names]
    valid = [point for point in points if point.row.valid and point.row.value > 0]
    logs = [(point.footprint, log(point.row.value)) for point in valid]
    low, high = min([at for _, at in logs] or [0]), max([at for _, at in logs] or [1])
    taken = 0.0  # below plateaus up to here is the text of the last one
    found = steps(points)
    for first, last, level, words in found.get(labelled(found), []):
        here = [at for footprint, at in logs if first <= footprint <= last]
        gaps = [(at - log(level)) / (high - low or 1) for at in [low, high, *here]]
        over = min((gap for gap in gaps if gap > ALIKE), default=0)
        under = min((-gap for gap in gaps if gap < -ALIKE), default=0)
        below = under >= min(over, FOOT) and not (level < taken and over >= FOOT)
        broad = last >= BROAD * first
        taken = 1.5 * level if below and not broad else 0.0
        ends = [c.Mark(first, level), c.Mark(last, level)]
        layers += [
            c.Series(ends, c.Look(line=":", width=0.8), order=3.5),
            c.Words(
                (first * last) ** 0.5 if broad else first, level, words, 0, -3 if below else 3,
                "center" if broad else "left", "top" if below else "bottom", boxed=True,
            ),
        ]  # fmt: skip
    known = [EXPLAINED] if EVICTED in marked(points) else []
    return replace(chase.chart(points, looks, 3.6, layers), below=known)


def marked(points: Sequence[Point]) -> dict[str, float]:
    """The footprints to mark, of those drawn: driver-reported sizes, and the start of eviction."""
    rows = {
        name: [(point.footprint, row) for point in points if (row := point.case.row(name))]
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
    low, high = min(p.footprint for p in points), max(p.footprint for p in points)
    return {name: at for name, at in found.items() if low < at < high}


def _caption(points: Sequence[Point]) -> str:
    marks = marked(points).keys()
    several = ", or nearest to farthest SM where every SM loads, each with one load in flight"
    found = steps(points)
    names = {space: LOOKS.get(space, (space,))[0] for space in found}
    each = "; ".join(
        f"{names[space]} {', '.join(text for *_, text in these)}" for space, these in found.items()
    )
    most = names.get(labelled(found), "")
    return prose(
        f"Time of one dependent load, in random order over slots of {size(points[0].stride)}, "
        "against the footprint of the chain. Lines: medians; bands: range of the samples"
        f"{several if any(point.cores == 'several' for point in points) else ''}.",
        found and f"Plateaus (labelled: {most}): {each}.".replace("\n", " "),
        marks - {EVICTED} and "Dotted: sizes that the driver reports.",
        EVICTED in marks
        and "A chase starts with what two laps left in the caches; right of the mark (several "
        "times the L2) everything was evicted instead, and every page visited.",
    )


COLUMNS = chase.COLUMNS | attributes(load_seconds="seconds", plateau="plateau")
TITLE = "Latency of every level of the hierarchy"
FIGURE = Figure(NAME, TITLE, 5, items, chart, _caption, COLUMNS, label=chase.label)
