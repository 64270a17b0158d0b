"""What limits each kernel, arithmetic, issue or the bytes of a level, and how close is it?"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from statistics import geometric_mean, mode

from strata.figures import _chart as c
from strata.figures._figure import Figure, prose
from strata.ladder import rungs as ladder
from strata.model import ordered, units
from strata.reference import cite
from strata.roofline.ceilings import Ceiling
from strata.roofline.forms import FLOP, INSTRUCTION, LEVELS, LOADS, ONCE, Form, brief, level_words
from strata.roofline.points import Point
from strata.roofline.verdicts import Entry, ceilings_of, entries, points_of, problems

MARKERS = {"l1": "o", "l2": "s", "l3": "v", "dram": "^", ONCE: "D", LOADS: "d"}
LESSER, THEORETICAL = c.Look(line="--", width=0.8), c.Look(line=":", width=0.8)
JOINED = c.Look(line="-", width=0.6, alpha=0.75)
LEADER = c.Look(colour=c.GREY, line="-", width=0.4, alpha=0.6)
RING = c.Look(marker="o", size=11, width=1.4, hollow=True)
NOMINAL = c.Look(colour=c.GREY, marker="o", hollow=True)
SECOND = c.Look(colour=c.GREY, marker="o", size=2.6)
INVALID = c.Look(colour=c.GREY, marker="X", hollow=True)
RUN, SIZE = attrgetter("run"), attrgetter("size")
WALLS = {1.0: "stride 0", 1 / 4: "stride 1", 1 / 32: "stride ≥ 8"}
"""Loads of a word of 4 bytes by each lane against sectors (Ding and Williams 2019)."""


@dataclass(frozen=True, slots=True)
class Ends:
    """Limits of both axes: intensity from `left` to `right`, rate from `bottom` to `top`."""

    left: float
    right: float
    bottom: float
    top: float


Name = tuple[float, str, str]


def limits(entries: Sequence[Entry]) -> Ends:
    """The limits from the measured ceilings of the widest run, rounded outwards to half a decade.

    So two figures with the same ceilings can be overlaid, whatever kernels they show.
    """
    reach = []
    for mine in c.grouped(ceilings_of(entries), RUN).values():
        flat = [one.value for one in mine if one.roof and not one.sloped]
        slopes = [one.value for one in mine if one.roof and one.sloped]
        peaks = [one.value for one in mine if one.bounds and not one.sloped]
        # Room for text on all sides; below the lowest roof for an operation, three lines.
        left, right = min(flat) / max(slopes) / 100, max(flat) / min(slopes) * 5000
        reach.append((left, right, min(min(flat) / 60, min(slopes) / 12), max(peaks) * 1.6))
    lefts, rights, bottoms, tops = zip(*reach, strict=True)
    least = [10 ** (math.floor(2 * math.log10(min(each))) / 2) for each in (lefts, bottoms)]
    most = [10 ** (math.ceil(2 * math.log10(max(each))) / 2) for each in (rights, tops)]
    return Ends(least[0], most[0], least[1], most[1])


def chart(form: Form, entries: Sequence[Entry]) -> c.Chart:
    """One panel per run, one above the other, all with the same axes."""
    ends = limits(entries)
    unit, name = c.scaled(ends.top / 3, "FLOP/s")
    across, up = "operations for each byte moved (FLOP/B)", "operations"
    if form is INSTRUCTION:
        unit, name = 1e9, "10⁹/s"
        across, up = "instructions of a warp for each sector of 32 bytes", "instructions of warps"
    ends = replace(ends, bottom=ends.bottom / unit, top=ends.top / unit)
    places = c.Axis(across, "log", (ends.left, ends.right), grid=True)
    values = c.Axis(f"{up} ({name})", "log", (ends.bottom, ends.top))
    rows = []
    by_run = c.grouped((replace(one, value=one.value / unit) for one in entries), RUN)
    for run, mine in by_run.items():
        points, ceilings = points_of(mine), [one for one in ceilings_of(mine) if one.valid]
        walls = WALLS if any(one.level == LOADS for one in points) else {}
        kernels, names = _kernels(points, ends)
        layers = [
            *(c.Rule(at, of="place", words=words) for at, words in walls.items()),
            *_ceilings(ceilings, ends, unit if form is FLOP else None),
            *kernels,
        ]
        title = run if len(by_run) > 1 else ""
        rows.append([c.Panel(layers, places, values, title, beside=names, leaders=True)])
    return c.Chart(rows, 9.0, 0.3 + 4.75 * len(rows), keys=list(_keys(entries)))


def roof(height: float, start: float, end: float, look: c.Look, *, sloped: bool) -> c.Series:
    """A roof between two intensities; if `sloped`, the height is that at 1."""
    marks = [c.Mark(at, height * at if sloped else height) for at in (start, end)]
    return c.Series(marks, look, order=1.6)


def _ceilings(found: Sequence[Ceiling], ends: Ends, bytes_unit: float | None) -> Iterator[c.Layer]:
    """Slopes up to the peak, with text along them, and peaks from the steepest slope on.

    A slope is in bytes times `bytes_unit`, or in 10⁹ sectors.
    """
    slopes = [one.value for one in found if one.roof and one.sloped]
    peak = max(one.value for one in found if one.roof and not one.sloped)
    groups: list[list[Ceiling]] = []
    for one in sorted(found, key=lambda one: -one.value):
        value, look = one.value, c.Look(line="-", width=1.5)
        if one.lesser or not one.bounds:
            look = LESSER if one.bounds else THEORETICAL
        if not one.sloped:
            yield roof(value, value / max(slopes), ends.right, look, sloped=False)
            if one.bounds and groups and groups[-1][-1].value < 1.2 * value:
                groups[-1].append(one)  # their names would overlap
            elif one.bounds:
                groups.append([one])
            continue
        # From the point where the slope enters the panel, at its left or lower edge.
        start = max(ends.left, ends.bottom / value)
        look = replace(look, colour=c.level_colour(one.level))
        yield roof(value, start, peak / value, look, sloped=True)
        if one.bounds:
            crowded = any(value / 4 < other < value for other in slopes)
            below = one.lesser or any(value < other < 2 * value for other in slopes)
            part = 0.02 if not one.lesser else 0.12 if crowded else 0.05
            at = start * (ends.right / ends.left) ** part
            name = one.name.rpartition(", ")[2] if one.lesser else one.name
            sectors = f"{brief(value)}{units.SPACE}Gsector/s"
            rate = units.quantity(value * bytes_unit, "B/s") if bytes_unit else sectors
            yield c.Words(
                at, value * at, f"{name} {rate}", slope=value, across="left",
                dx=2 if below else -1, dy=-1 if below else 1, up="top" if below else "bottom",
                size=6.2 if one.lesser else 7, colour=c.level_ink(one.level),
            )  # fmt: skip
    for group in groups:
        words = ",\n".join(f"{one.name} {brief(one.value)}" for one in group)
        at, middle = group[-1].value / max(slopes), geometric_mean(one.value for one in group)
        yield c.Words(at, middle, words, dx=-4, across="right", size=7, boxed=True)


def _place(point: Point, ends: Ends) -> tuple[float, float, str]:
    """The position and marker of a point: an arrowhead at the edge if it is outside."""
    x, y, marker = point.intensity, point.value, MARKERS[point.level]
    wide, high = (ends.right / ends.left) ** 0.012, (ends.top / ends.bottom) ** 0.015
    if not ends.left <= x <= ends.right:
        x, marker = (ends.right / wide, ">") if x > ends.right else (ends.left * wide, "<")
    if not ends.bottom <= y <= ends.top:
        y, marker = (ends.top / high, "^") if y > ends.top else (ends.bottom * high, "v")
    return x, y, marker


def _shown(points: Sequence[Point], ends: Ends) -> list[Point]:
    """Everything except pure loads far below: they are a small part of most kernels."""
    return [one for one in points if one.level != LOADS or one.value >= ends.bottom]


def _kernels(points: Sequence[Point], ends: Ends) -> tuple[list[c.Series], list[Name]]:
    """The points of each kernel, joined at its rate, impossible ones circled; and its name.

    A kernel of two sizes has one name, with both rates; the marks of the second are small.
    """
    layers, names = [], []
    for mine in c.grouped(points, lambda one: one.kernel).values():
        rates = []
        for nth, same in enumerate(c.grouped(sorted(mine, key=SIZE), SIZE).values()):
            shown = [one for one in same if _filled(one)] or same
            xs = [_place(one, ends)[0] for one in shown]
            y, rate = _place(shown[0], ends)[1], brief(shown[0].value)
            layers.append(roof(y, min(xs), max(xs), LEADER if nth else JOINED, sloped=False))
            rates.append((y, rate if shown[0].basis == "counted" else f"({rate})"))
            if not nth:
                layers.append(roof(y, max(xs), ends.right, LEADER, sloped=False))
        first = min(mine, key=SIZE).name
        names.append((rates[0][0], f"{first} {' · '.join(rate for _, rate in rates)}", c.INK))
    for one in _shown(points, ends):
        x, y, marker = _place(one, ends)
        size = (SECOND.size if one.size else 4.6) * (1 if _filled(one) else 0.83)
        hollow = not (_filled(one) and one.valid)
        marker = marker if one.valid else "X"
        look = c.Look(colour=_colour(one.level), marker=marker, size=size, hollow=hollow)
        layers.append(c.Series([c.Mark(x, y, row=one.row)], look, order=3 + _filled(one)))
        if one.above:
            layers.append(c.Series([c.Mark(x, y, row=one.row)], RING, order=2.5))
    return layers, names


def _filled(point: Point) -> bool:
    return point.basis == "counted" and point.level != LOADS


def _colour(level: str) -> str:
    return {ONCE: c.INK, LOADS: c.GREY}.get(level) or c.level_colour(level)


def _keys(entries: Sequence[Entry]) -> Iterator[c.Key]:
    points, ceilings = points_of(entries), ceilings_of(entries)
    for level in ordered((one.level for one in points), (*LEVELS, ONCE, LOADS)):
        look = c.Look(colour=_colour(level), marker=MARKERS[level], hollow=level in (ONCE, LOADS))
        yield c.Key(level_words(level, points[0].row.backend), look)
    sizes = _seconds(points)
    for label, look, present in (
        (f"small: {sizes}", SECOND, sizes),
        ("nominal", NOMINAL, any(one.basis == "nominal" and one.level != ONCE for one in points)),
        ("lesser ceiling", LESSER, any(one.lesser for one in ceilings)),
        ("theoretical", THEORETICAL, any(one.basis == "theoretical" for one in ceilings)),
        ("above a roof", RING, any(one.above for one in points)),
        ("invalid", INVALID, any(not one.valid for one in points)),
    ):
        if present:
            yield c.Key(label, look)


def caption(form: Form, entries: Sequence[Entry]) -> str:
    """The meaning of lines and points, what was counted, and what is impossible."""
    points, ceilings = points_of(entries), ceilings_of(entries)
    above = problems(entries)
    lost = dict.fromkeys(one.name for one in ceilings if not one.row.valid)
    invalid = c.listed_invalid(list(dict.fromkeys(one.name for one in points if not one.valid)))
    return prose(
        (_of_operations if form is FLOP else _of_instructions)(points, ceilings),
        _sizes(points),
        *_beyond(points, limits(entries)),
        above and f"Above a roof, which is impossible ({len(above)}): {'; '.join(above)}.",
        lost and f"Not drawn, because none of their rows is valid: {', '.join(lost)}.",
        invalid.strip().replace("drawn hollow", "crossed out"),
    )


def _of_operations(points: Sequence[Point], ceilings: Sequence[Ceiling]) -> str:
    lesser = [one for one in ceilings if one.lesser]
    sloped = any(one.sloped for one in lesser)
    counted = any(one.basis == "counted" for one in points)
    return prose(
        f"Hierarchical roofline {cite('williams2009roofline', 'yang2020hierarchical')}. Thick: "
        "the best measured values; slopes are the bandwidth of a level, the flat one is "
        "32-bit multiply-adds.",
        sloped
        and "Dashed: lower ceilings (ungrouped: words of 4 bytes; uncoalesced: lanes far "
        "apart, by wanted bytes; after van den Braak et al. "
        f"{cite('vandenbraak2010access')}).",
        lesser and not sloped and "Dashed: lower ceilings.",
        any(one.basis == "theoretical" for one in ceilings)
        and "Dotted: limits by lanes, pins and the measured clock.",
        counted
        and "Filled: the counted additions, multiplications and multiply-adds (two), against "
        "the counted bytes at each level, one row per kernel: L1 and shared memory 32 B "
        "per sector and 128 B per wavefront (shuffles use the same path; constant caches "
        "do not), L2 32 B per sector, device memory read and written.",
        counted
        and any(one.basis == "nominal" and one.level != ONCE for one in points)
        and "Hollow: the same bytes with the nominal 20 operations per interaction.",
        any(one.level == ONCE for one in points)
        and "Touched once: no bytes were counted; hollow, 20 operations per interaction "
        "against the minimum bytes of a step (each body read once, each result written "
        "once): no intensity at the level that holds the bodies can be higher.",
    )


def _of_instructions(points: Sequence[Point], ceilings: Sequence[Ceiling]) -> str:
    return prose(
        f"Instruction roofline {cite('ding2019instruction')}: executed warp instructions of "
        "any kind against sectors of 32 bytes; a wavefront of shared memory has four. Thick: "
        "the best measured values; slopes are the bandwidth of a level, the flat one is "
        "arithmetic in registers.",
        any(one.basis == "theoretical" for one in ceilings)
        and "Dotted: four instructions per cycle on each SM, and the limits by lanes and "
        "pins, at the measured clock.",
        any(one.level == LOADS for one in points)
        and "Diamonds: global loads alone, against the sectors that they requested from L1. "
        "Verticals: loads of a 4-byte word per lane, if all lanes read one word (stride "
        "0), adjacent words (1), or a sector each (8 and more).",
    )


def _sizes(points: Sequence[Point]) -> str:
    """What the kernels computed."""
    names = "; beside the names: the rate"
    if any(one.level == ONCE for one in points):
        names += ", in brackets a nominal one"
    rungs = [one for one in points if one.row.suite == ladder.SUITE]
    if not rungs:
        return f"Kernels as timed and counted by Nsight Compute{names}."
    usual = mode(ladder.size_words(one.row) for one in rungs if not one.size)
    odd = f"; small marks and second rates: {sizes}" if (sizes := _seconds(points)) else ""
    return f"Kernels: the n-body ladder, {usual}{names}{odd}."


def _seconds(points: Sequence[Point]) -> str:
    """The sizes of small marks."""
    return " or ".join(dict.fromkeys(one.size for one in points if one.size))


def _beyond(points: Sequence[Point], ends: Ends) -> Iterator[str]:
    """Points outside the axes."""
    shown = _shown(points, ends)
    edge = [one for one in shown if _place(one, ends)[:2] != (one.intensity, one.value)]
    if edge:
        furthest = max(one.intensity for one in edge)
        end = f" (up to {brief(furthest)})" if furthest > ends.right else ""
        yield f"Arrowheads: beyond the axes, which the ceilings determine{end}."
    if len(shown) < len(points):
        yield f"Not drawn, far below: the loads of {len(points) - len(shown)} kernels."


def _get(form: Form, path: str, one: object) -> object:
    """The attribute of an entry; None if it has none."""
    if path == "unit":
        return form.bandwidth if getattr(one, "sloped", False) else form.rate
    for name in path.split("."):
        one = getattr(one, name, None)
    return one


# In the data file `value` is the height or slope of a ceiling, or the rate of a point; `work` and
# `moved` are per step; `above` is the roof that a point should not exceed, and by which factor.
COLUMNS = (
    "run", "entry", "name", "level", "basis", "lesser", "how", "intensity", "value", "low", "high",
    "unit", "work", "moved", "share", "valid", "above.name", "above_by", "reason", "row.case",
)  # fmt: skip
NAMES = {"share": "share_of_roof", "above.name": "above", "row.case": "case"}
FIGURES = [
    Figure(
        form.name, form.title, order,
        partial(lambda form, run: entries([run], form), form),
        partial(chart, form), partial(caption, form),
        {NAMES.get(path, path): partial(_get, form, path) for path in COLUMNS},
        label=lambda _: "",
    )
    for form, order in ((FLOP, 210), (INSTRUCTION, 211))
]  # fmt: skip
