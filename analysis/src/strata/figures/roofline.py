"""What limits each kernel, arithmetic, issue or the bytes of a level, and how close is it?"""

from collections.abc import Sequence
from functools import partial, update_wrapper
from operator import attrgetter
from statistics import mode
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from strata.figures._plot import figure, prose
from strata.figures._style import GREY, LEVEL, NOTE, hover, in_column, note, plain_log
from strata.ladder import rungs as ladder
from strata.model import ordered, units
from strata.reference import cite
from strata.roofline.ceilings import Ceiling
from strata.roofline.forms import FLOP, INSTRUCTION, LOADS, ONCE, Form, brief, level_words
from strata.roofline.points import Point
from strata.roofline.verdicts import Entry, ceilings_of, entries, points_of, problems
from strata.run import Run, grouped

LOOKS = {
    "l1": (LEVEL["l1"], "o"), "l2": (LEVEL["l2"], "s"), "l3": (LEVEL["l3"], "v"),
    "dram": (LEVEL["dram"], "^"), ONCE: ("k", "D"), LOADS: (GREY, "d"),
}  # fmt: skip
WALLS = {1.0: "stride 0", 1 / 4: "stride 1", 1 / 32: "stride ≥ 8"}
"""Loads of a word of 4 bytes by each lane against sectors (Ding and Williams 2019)."""
FIELDS = (
    "run", "entry", "name", "level", "basis", "lesser", "how", "intensity", "value", "low", "high",
    "unit", "work", "moved", "share_of_roof", "valid", "above", "above_by", "reason", "case",
)  # fmt: skip


def data_of(form: Form, found: Sequence[Entry]) -> pd.DataFrame:
    """A line for each ceiling and point.

    `value` is the height or slope of a ceiling, or the rate of a point; `work` and `moved` are per
    step; `above` is the roof that a point should not exceed, and by which factor.
    """

    def line(entry: Entry) -> dict[str, object]:
        above = getattr(entry, "above", None)
        return {field: getattr(entry, field, None) for field in FIELDS} | {
            "unit": form.bandwidth if getattr(entry, "sloped", False) else form.rate,
            "lesser": getattr(entry, "lower", None),
            "share_of_roof": getattr(entry, "share", None),
            "above": above and above.name,
            "case": entry.row.case,
            "_row": entry.row,
            "_entry": entry,
            "_label": "",
        }

    return pd.DataFrame(map(line, found))


def data(form: Form, run: Run) -> pd.DataFrame:
    return data_of(form, entries([run], form))


def limits(ceilings: Sequence[Ceiling]) -> tuple[float, float, float, float]:
    """Left, right, bottom and top of the axes, by the measured ceilings alone.

    So figures of one device can be overlaid, whatever kernels they show.
    """
    flat = [one.value for one in ceilings if one.bounds and not one.sloped]
    slopes = [one.value for one in ceilings if one.roof and one.sloped]
    roofs = [one.value for one in ceilings if one.roof and not one.sloped]
    left, right = min(roofs) / max(slopes) / 40, max(roofs) / min(slopes) * 200
    return left, right, min(roofs) / 25, max(flat) * 1.6


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
        return "Kernels as timed and counted by Nsight Compute."
    usual = mode(ladder.size_words(point.row) for point in points if not point.size)
    others = " or ".join(dict.fromkeys(point.size for point in points if point.size))
    return prose(
        f"Kernels: the n-body ladder, {usual}; beside the names: the rate, a nominal one in "
        "brackets.",
        others and f"In the data file alone: {others}.",
    )


def draw(form: Form, data: pd.DataFrame, figure: Figure) -> None:
    runs = grouped(data["_entry"], attrgetter("run"))
    ends = np.array([limits(ceilings_of(mine)) for mine in runs.values()])
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
        _draw_ceilings(ax, [one for one in ceilings_of(mine) if one.valid], unit, form)
        _draw_kernels(ax, points_of(mine), unit)


def _draw_ceilings(ax: Axes, found: Sequence[Ceiling], unit: float, form: Form) -> None:
    narrow = in_column(ax)
    steepest = max(ceiling.value for ceiling in found if ceiling.roof and ceiling.sloped)
    peak = max(ceiling.value for ceiling in found if ceiling.roof and not ceiling.sloped)
    (left, right), bottom, last = ax.get_xlim(), ax.get_ylim()[0] * unit, np.inf
    for ceiling in sorted(found, key=attrgetter("value"), reverse=True):
        value, lower = ceiling.value, ceiling.lower
        line = ":" if not ceiling.bounds else "--" if lower else "-"
        colour = LOOKS.get(ceiling.level, ("k",))[0]
        ends = np.array([value / steepest, right])
        if ceiling.sloped:
            ends = np.array([max(left, bottom / value), peak / value])
        heights = value * (ends if ceiling.sloped else np.ones(2)) / unit
        ax.plot(ends, heights, color=colour, ls=line, lw=1.6 if line == "-" else 0.8)
        if not ceiling.bounds or (narrow and lower):
            continue
        if ceiling.sloped:
            sectors = f"{brief(value / 1e9)} Gsector/s"
            rate = units.quantity(value, "B/s") if form is FLOP else sectors
            name = ceiling.name.rpartition(", ")[2] if lower else ceiling.name
            place = {"rotation": np.degrees(np.arctan(value / unit)), "rotation_mode": "anchor",
                     "transform_rotates_text": True, "in_layout": False}  # fmt: skip
            x, lift, side = (3.2, 0.94, "top") if lower else (1.3, 1.06, "baseline")
            x, words = x * ends[0], name if narrow else f"{name} {rate}"
            y = lift * value * x / unit
            ax.text(x, y, words, size=NOTE, color=colour, va=side, **place)
        else:
            down = -9 if value > last / 1.2 else 0
            last, words = value, f"{ceiling.name} {brief(value / unit)}"
            look = {"ha": "left", "va": "bottom"} if narrow else {"ha": "right", "va": "center"}
            note(ax, words, ends[0], heights[0], (2, 2) if narrow else (-4, down), **look)


def _draw_kernels(ax: Axes, points: Sequence[Point], unit: float) -> None:
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    narrow = in_column(ax)
    kernels = shown(points)
    drawn = [
        point for of_kernel in kernels.values() for point in of_kernel
        if point.level != LOADS or point.value > bottom * unit
    ]  # fmt: skip

    def mark(here: Sequence[Point], marker: str, **look: Any) -> None:
        if here:
            xs = np.clip([point.intensity for point in here], left, right)
            ys = np.clip([point.value / unit for point in here], bottom, top)
            (line,) = ax.plot(xs, ys, marker, clip_on=False, zorder=3, **look)
            hover(line, [point.row for point in here])

    for level in ordered((point.level for point in drawn), tuple(LOOKS)):
        colour, marker = LOOKS[level]
        here = [point for point in drawn if point.level == level]
        label = level_words(level, here[0].row.backend)
        mark([point for point in here if point.valid], marker, c=colour, label=label)
        mark([point for point in here if not point.valid], marker, mec=colour, mfc="white")
    above = [point for point in drawn if point.above]
    mark(above, "o", mec="k", ms=11, mfc="none", label="above a roof")
    if any(point.level == LOADS for point in points):
        for x, words in WALLS.items():
            ax.axvline(x, color=GREY, lw=0.8, ls=":")
            y = bottom * (top / bottom) ** 0.7
            ax.text(x, y, "" if narrow else words, size=NOTE, color=GREY, rotation=90, va="top")
    names: list[tuple[float, str]] = []
    for of_kernel in sorted(kernels.values(), key=lambda mine: max(one.value for one in mine)):
        bytes_moved = [point for point in of_kernel if point.level != LOADS]
        first, start = bytes_moved[0], min(point.intensity for point in bytes_moved)
        y, rate = np.clip(first.value / unit, bottom, top), brief(first.value / unit)
        ax.plot([np.clip(start, left, right), right], [y, y], color=GREY, lw=0.6, zorder=1)
        rate = rate if first.basis == "counted" else f"({rate})"
        names.append((y, first.name if narrow else f"{first.name} {rate}"))
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
