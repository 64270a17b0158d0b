"""What limits each kernel, arithmetic, issue or the bytes of a level, and how close is it?"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial, update_wrapper
from operator import attrgetter
from statistics import mode
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from strata.figures._image import drawable
from strata.figures._plot import figure, prose
from strata.figures._style import GREY, LEVEL, NOTE, hover, in_column, note, plain_log
from strata.ladder import rungs as ladder
from strata.model import ordered, units
from strata.reference import cite
from strata.roofline.ceilings import Ceiling
from strata.roofline.forms import FLOP, INSTRUCTION, LEVELS, LOADS, ONCE, Form, brief, level_words
from strata.roofline.points import Point
from strata.roofline.verdicts import Entry, ceilings_of, entries, pairs, points_of, problems
from strata.run import Run, grouped, one_line

LOOKS = {
    "l1": (LEVEL["l1"], "o"), "l2": (LEVEL["l2"], "s"), "l3": (LEVEL["l3"], "v"),
    "dram": (LEVEL["dram"], "^"), ONCE: ("k", "D"), LOADS: (GREY, "d"),
}  # fmt: skip
WALLS = {1.0: "stride 0", 1 / 4: "stride 1", 1 / 32: "stride ≥ 8"}
"""Loads of a word of 4 bytes by each lane against sectors (Ding and Williams 2019)."""
FIELDS = (
    "run", "entry", "name", "level", "basis", "lesser", "how", "intensity", "value", "low", "high",
    "unit", "work", "moved", "share_of_roof", "valid", "above", "above_by", "reason", "case",
    "shape", "seconds", "time_share", "roof", "lacks",
)  # fmt: skip
FAR = 1000
"""How far beyond all ridge points an intensity may be to be inside the axes."""
WIDTH, HEIGHT = 290, 230
"""Of a panel, about, in points."""
LABELS = 24
"""The most kernels that have their names beside the figure."""


def data_of(form: Form, found: Sequence[Entry], before: Sequence[Entry] = ()) -> pd.DataFrame:
    """A line for each ceiling and point, and for each point of a run `before`.

    `value` is the height or slope of a ceiling, or the rate of a point; `work` and `moved` are per
    step; `above` is the roof that a point should not exceed, and by which factor; `roof` is the one
    that limits it; `lacks` are metrics without which it is a lower bound.
    """

    def line(entry: Entry) -> dict[str, object]:
        above, limit = getattr(entry, "above", None), getattr(entry, "limit", None)
        return {field: getattr(entry, field, None) for field in FIELDS} | {
            "name": one_line(getattr(entry, "full", "") or entry.name),
            "unit": form.bandwidth if getattr(entry, "sloped", False) else form.rate,
            "lesser": getattr(entry, "lower", None),
            "share_of_roof": getattr(entry, "share", None),
            "above": above and above.name,
            "roof": limit and limit.name,
            "lacks": " ".join(getattr(entry, "lacks", ())) or None,
            "case": entry.row.case,
            "_row": entry.row,
            "_entry": entry,
            "_label": "",
        }

    earlier = [{**line(point), "entry": "before"} for point in points_of(before)]
    return pd.DataFrame([*map(line, found), *earlier])


def data(form: Form, run: Run) -> pd.DataFrame:
    """Of a run with kernels: ceilings alone have figures of their own in a report."""
    found = entries([run], form)
    return data_of(form, found if points_of(found) else ())


def place(point: Point, left: float) -> tuple[float, float]:
    """Intensity and rate; without work at the `left` edge, as far below its slope as it is."""
    if point.work:
        return point.intensity, point.value
    return left, point.moved / point.seconds * left


def limits(ceilings: Sequence[Ceiling], points: Sequence[Point]) -> tuple[float, ...]:
    """Left, right, bottom and top of the axes: all ridge points and kernels, but outliers."""
    flat = [one.value for one in ceilings if one.bounds and not one.sloped]
    roofs = [one.value for one in ceilings if one.roof and not one.sloped] or flat
    slopes = [one.value for one in ceilings if one.roof and one.sloped]
    ridges = [roof / slope for roof in roofs for slope in slopes]
    intensities = [point.intensity for point in points if point.work]
    across = ridges or intensities or [0.1, 100]
    left = max(min([*across, *intensities]), min(across) / FAR) / 12
    right = min(max([*across, *intensities]), max(across) * FAR) * 4
    top = max(flat or [slope * right for slope in slopes]) * 1.6
    rates = [place(point, left)[1] for point in points]
    return left, right, max(min([top / 200, *(rate / 3 for rate in rates)]), top / FAR**2), top


def shown(points: Sequence[Point]) -> dict[str, list[Point]]:
    """The drawn points of each kernel: of its usual size, and counted unless nothing was."""
    kernels = {}
    for kernel, mine in grouped(points, attrgetter("kernel")).items():
        of_size = [one for one in mine if one.size == min(point.size for point in mine)]
        counted = [one for one in of_size if one.basis == "counted"]
        kernels[kernel] = counted or of_size
    return kernels


def caption(form: Form, data: pd.DataFrame) -> str:
    entries = [*data["_entry"]]
    points, ceilings, above = points_of(entries), ceilings_of(entries), problems(entries)
    lost = dict.fromkeys(one.name for one in ceilings if not one.row.valid)
    return prose(
        _METHODS[form.name],
        not points and "Ceilings alone: no kernel with a time, operations and traffic.",
        "theoretical" in {ceiling.basis for ceiling in ceilings}
        and "Dotted: theoretical limits at the measured clock.",
        any(point.level == ONCE for point in points)
        and "Touched once: no bytes were counted; the nominal 20 operations per interaction "
        "against the minimum bytes of a step.",
        _kernels(points),
        above and f"Above a roof, which is impossible ({len(above)}): {'; '.join(above)}.",
        lost and f"Not drawn, because none of their rows is valid: {', '.join(lost)}.",
    )


_METHODS = {
    FLOP.name: f"Hierarchical roofline {cite('williams2009roofline', 'yang2020hierarchical')}. "
    "Thick: the best measured values; slopes are the bandwidth of a level, the flat one is 32-bit "
    "multiply-adds. Dashed: lower ceilings (ungrouped: words of 4 bytes; uncoalesced: lanes far "
    f"apart, by wanted bytes; after van den Braak et al. {cite('vandenbraak2010access')}). "
    "Counted kernels: additions, multiplications and multiply-adds (two), against the "
    "bytes at each level: L1 and shared memory 32 B per sector and 128 B per wavefront, L2 32 B "
    "per sector, device memory read and written. Points beyond the axes are at the edges.",
    INSTRUCTION.name: f"Instruction roofline {cite('ding2019instruction')}: executed warp "
    "instructions of any kind against sectors of 32 bytes; a wavefront of shared memory has four. "
    "Thick: the best measured values; slopes are the bandwidth of a level, the flat one is "
    "arithmetic in registers. Diamonds: global loads alone, against the sectors that they "
    "requested from L1; verticals: loads of a 4-byte word per lane, if all lanes read one word "
    "(stride 0), adjacent words (1), or a sector each (8 and more).",
}


def _kernels(points: Sequence[Point]) -> str:
    rungs = [point.row for point in points if point.row.suite == ladder.SUITE]
    if not rungs:
        return prose(
            points
            and "Kernels as timed and counted by Nsight Compute; area of marks: share of "
            "the time of all.",
            any(point.lacks for point in points)
            and "Arrow up: a lower bound, operations were executed that were not collected.",
            not all(point.work for point in points)
            and "At the left edge: kernels without operations, as far below the bandwidth of a "
            "level as they are.",
        )
    usual = mode(ladder.size_words(point.row) for point in points if not point.size)
    others = " or ".join(dict.fromkeys(point.size for point in points if point.size))
    return prose(
        f"Kernels: the n-body ladder, {usual}; beside the names: the rate, a nominal one in "
        "brackets.",
        others and f"In the data file alone: {others}.",
    )


def draw(form: Form, data: pd.DataFrame, figure: Figure) -> None:
    runs = grouped(data["_entry"][data.entry != "before"], attrgetter("run"))
    before = points_of(data["_entry"][data.entry == "before"])
    visible = {run: sum(shown(points_of(mine)).values(), before) for run, mine in runs.items()}
    ends = np.array([limits(ceilings_of(mine), visible[run]) for run, mine in runs.items()])
    least, most = ends.min(axis=0), ends.max(axis=0)
    unit, name = (1e12, "TFLOP/s") if form is FLOP and most[3] > 3e12 else (1e9, "GFLOP/s")
    name = name if form is FLOP else "10⁹/s"
    figure.set_figheight(0.5 + 3.9 * len(runs))
    figure.set_layout_engine("constrained", w_pad=0.12)
    panels = figure.subplots(len(runs), 1, squeeze=False)[:, 0]
    for ax, (run, mine) in zip(panels, runs.items(), strict=True):
        plain_log(ax, "x", (1,))
        plain_log(ax)
        ax.set(xlim=(least[0], most[1]), ylim=(least[2] / unit, most[3] / unit))
        ax.grid(axis="x")
        ax.set_title(run if len(runs) > 1 else "")
        ax.set_xlabel("arithmetic intensity (FLOP/B)" if form is FLOP
                      else "warp instructions per sector of 32 bytes")  # fmt: skip
        ax.set_ylabel(f"{'performance' if form is FLOP else 'warp instructions'} ({name})")
        measured = [one for one in ceilings_of(mine) if one.valid]
        # Slopes reach the peaks of the kernels, such as those of tensor cores.
        wanted = {point.arithmetic for point in points_of(mine)}
        flat = [one for one in measured if one.bounds and not one.sloped]
        roofs = [one for one in flat if one.roof or one.level in wanted] or flat
        _draw_ceilings(ax, measured, roofs, unit, form)
        _draw_ridges(ax, measured, roofs, unit, form)
        for old, new in pairs(before, points_of(mine)):
            start, end = ([x, y / unit] for x, y in (place(one, least[0]) for one in (old, new)))
            arrow = {"arrowstyle": "->", "color": LOOKS[new.level][0], "lw": 1, "shrinkB": 3}
            ax.annotate("", end, start, arrowprops=arrow)
            (mark,) = ax.plot(*start, LOOKS[new.level][1], c=LOOKS[new.level][0], alpha=0.4, ms=4)
            hover(mark, [f"before: {tooltip(old, form)}"])
        _draw_kernels(ax, points_of(mine), unit, form)


def tooltip(point: Point, form: Form) -> str:
    """Kernel, launch, time, intensity, rate, and the share of its roof."""
    rate = units.quantity(point.value, form.rate) if form is FLOP else f"{brief(point.value)}/s"
    least = "at least " if point.lacks else ""
    spent = f" ({100 * point.time_share:.1f}{units.SPACE}% of all)" if point.time_share else ""
    share = point.limit and f"{least}{100 * (point.share or 0):.1f}{units.SPACE}% of "
    parts = [
        point.full or point.name, point.shape, level_words(point.level, point.row.backend),
        f"{units.quantity(point.seconds, 's')}{spent}",
        f"{brief(point.intensity)} {form.intensity}", f"{least}{rate}",
        point.limit and f"{share}{point.limit.name}",
        point.above and f"above {point.above.name}: {point.reason}",
        f"not collected: {', '.join(point.lacks)}" if point.lacks else "",
    ]  # fmt: skip
    return "; ".join(part for part in parts if part)


def _draw_ridges(
    ax: Axes, found: Sequence[Ceiling], roofs: Sequence[Ceiling], unit: float, form: Form
) -> None:
    """Where each slope meets the roofs."""
    for slope in (one for one in found if one.roof and one.sloped):
        for roof in roofs:
            x, colour = roof.value / slope.value, LOOKS[slope.level][0]
            (line,) = ax.plot(x, roof.value / unit, ".", c=colour, ms=7, zorder=2)
            words = f"ridge point of {slope.name} and {roof.name}"
            hover(line, [f"{words}: {brief(x)} {form.intensity}"])


def _draw_ceilings(
    ax: Axes, found: Sequence[Ceiling], roofs: Sequence[Ceiling], unit: float, form: Form
) -> None:
    narrow = in_column(ax)
    (left, right), (bottom, top) = ax.get_xlim(), [unit * end for end in ax.get_ylim()]
    last = np.inf
    steepest = max((one.value for one in found if one.roof and one.sloped), default=np.inf)
    lowest = min((one.value for one in found if one.roof and one.sloped), default=0)
    peak = max((one.value for one in roofs), default=top)
    for ceiling in sorted(found, key=attrgetter("value"), reverse=True):
        value, lower = ceiling.value, ceiling.lower
        line = ":" if not ceiling.bounds else "--" if lower else "-"
        colour = LOOKS.get(ceiling.level, ("k",))[0]
        ends = np.array([max(left, value / steepest), right])
        if ceiling.sloped:
            ends = np.array([max(left, bottom / value), peak / value])
        heights = value * (ends if ceiling.sloped else np.ones(2)) / unit
        ax.plot(ends, heights, color=colour, ls=line, lw=1.6 if line == "-" else 0.8)
        if not ceiling.bounds or (narrow and (lower or ceiling.sloped)):
            continue  # colours are those of the legend
        if ceiling.sloped:
            sectors = f"{brief(value / 1e9)} Gsector/s"
            rate = units.quantity(value, "B/s") if form is FLOP else sectors
            name = ceiling.name.rpartition(", ")[2] if lower else ceiling.name
            # Lower slopes lie below those of their levels, and so do their words.
            x = 3.2 if lower else 1.3
            lift, side = (0.94, "top") if lower or value == lowest else (1.09, "baseline")
            slope = np.degrees(np.arctan(lift * value / unit))  # of the parallel below the words
            place = {"rotation": slope, "rotation_mode": "anchor",
                     "transform_rotates_text": True, "in_layout": False}  # fmt: skip
            x *= ends[0]
            y = lift * value * x / unit
            ax.text(x, y, f"{name} {rate}", size=NOTE, color=colour, va=side, **place)
        else:
            # Names of close ceilings follow each other, in points of the height.
            at = HEIGHT * np.log(value / bottom) / np.log(top / bottom)
            last, words = min(at, last - 9), f"{ceiling.name} {brief(value / unit)}"
            down = last - at
            room = WIDTH * np.log(ends[0] / left) / np.log(right / left)
            inside = narrow or room < 4.5 * len(words)
            look = {"ha": "left", "va": "bottom"} if inside else {"ha": "right", "va": "center"}
            note(ax, words, ends[0], heights[0], (2, 2 + down) if inside else (-4, down), **look)


def _draw_kernels(ax: Axes, points: Sequence[Point], unit: float, form: Form) -> None:
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    narrow = in_column(ax)
    kernels = shown(points)
    drawn = [
        point for of_kernel in kernels.values() for point in of_kernel
        if point.level != LOADS or point.value > bottom * unit
    ]  # fmt: skip

    def spot(point: Point) -> tuple[float, float]:
        x, y = place(point, left)
        return float(np.clip(x, left, right)), float(np.clip(y / unit, bottom, top))

    def mark(here: Sequence[Point], marker: Any, label: str = "", **look: Any) -> None:
        """Marks whose area is the share of time, in steps of half a point."""
        sizes = grouped(here, lambda one: one.time_share and round(22 * one.time_share**0.5) / 2)
        for size, of_size in sorted(sizes.items(), key=lambda item: item[0] or 0):
            xs, ys = zip(*map(spot, of_size), strict=True)
            area: dict[str, Any] = ({} if size is None else {"ms": max(3.5, size)}) | look
            (line,) = ax.plot(
                xs, ys, marker=marker, ls="", clip_on=False, zorder=3, label=label, **area
            )
            hover(line, [tooltip(point, form) for point in of_size])
            label = ""

    for level in ordered((point.level for point in drawn), tuple(LOOKS)):
        colour, marker = LOOKS[level]
        here = [point for point in drawn if point.level == level]
        label = level_words(level, here[0].row.backend)
        mark([point for point in here if point.valid], marker, label, c=colour)
        mark([point for point in here if not point.valid], marker, mec=colour, mfc="white")
    for x, y in {spot(point) for point in drawn if point.lacks}:
        up = {"arrowstyle": "->", "lw": 1, "shrinkA": 3}
        ax.annotate("", (x, y * (top / bottom) ** 0.09), (x, y), arrowprops=up, zorder=4)
    unknown = [one for one in drawn if one.work and not one.limit and one.level in LEVELS]
    mark(unknown, "o", "no ceiling of its type", mec="k", ms=9, mfc="none", mew=0.6)
    mark([one for one in drawn if one.above], "o", "above a roof", mec="k", ms=11, mfc="none")
    if any(point.level == LOADS for point in points):
        for x, words in WALLS.items():
            ax.axvline(x, color=GREY, lw=0.8, ls=":")
            y = bottom * (top / bottom) ** 0.7
            ax.text(x, y, "" if narrow else words, size=NOTE, color=GREY, rotation=90, va="top")
    _draw_names(ax, kernels, spot, unit, form)


def _draw_names(
    ax: Axes, kernels: Mapping[str, Sequence[Point]], spot: Callable[[Point], tuple[float, float]],
    unit: float, form: Form,
) -> None:  # fmt: skip
    """The names and rates of the kernels that take most time, beside the panel."""
    right, narrow, (bottom, top) = ax.get_xlim()[1], in_column(ax), ax.get_ylim()
    names: list[tuple[float, str]] = []
    longest = sorted(kernels.values(), key=lambda mine: -(mine[0].time_share or 1))[:LABELS]
    for of_kernel in sorted(longest, key=lambda mine: max(spot(one)[1] for one in mine)):
        bytes_moved = [point for point in of_kernel if point.level != LOADS]
        first, start = bytes_moved[0], min(spot(point)[0] for point in bytes_moved)
        y, rate = spot(first)[1], brief(first.value / unit)
        if not first.work:
            slow = bytes_moved[-1]
            rate = units.quantity(slow.moved / slow.seconds, form.bandwidth)
        ax.plot([start, right], [y, y], color=GREY, lw=0.6, zorder=1)
        rate = f"≥ {rate}" if first.lacks else rate
        rate = rate if first.basis == "counted" else f"({rate})"
        name = drawable(first.name)
        names.append((y, name if narrow else f"{name} {rate}"))
    places = _apart([np.log(y / bottom) / np.log(top / bottom) for y, _ in names])
    for (y, words), at in zip(names, places, strict=True):
        line = {"arrowstyle": "-", "relpos": (0, 0.5), "color": "#999999", "lw": 0.4}
        ax.annotate(
            words, (right, y), (1.06, at), textcoords=ax.transAxes, size=NOTE, va="center",
            arrowprops=line, annotation_clip=False,
        )  # fmt: skip


def _apart(wanted: Sequence[float], least: float = 0.05) -> list[float]:
    """Rising places at least `least` apart, near the wanted ones, at most 1."""
    places: list[float] = []
    for at in wanted:
        places.append(max(at, places[-1] + least) if places else at)
    shift = (sum(places) - sum(wanted)) / max(1, len(places))
    count = len(places)
    return [min(at - shift, 1 - least * (count - 1 - n)) for n, at in enumerate(places)]


for form, order in ((FLOP, 210), (INSTRUCTION, 211)):
    figure(
        form.name, form.title, order=order, data=partial(data, form), caption=partial(caption, form)
    )(update_wrapper(partial(draw, form), draw))
