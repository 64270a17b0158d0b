"""How a roofline is drawn, whichever of its forms: axes by the ceilings, every kernel by name."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
from matplotlib.transforms import ScaledTranslation

from strata.figures import AxesGrid, Figure, Grid, flat
from strata.figures._palette import GREY, INK, invalid_note, legend_above, level_colour, level_ink
from strata.ladder import rungs as ladder
from strata.model import ordered, units
from strata.roofline import roofline
from strata.roofline.roofline import FLOP, LOADS, ONCE, Ceiling, Entry, Limits, Point
from strata.run import Row

_MARKERS = {"l1": "o", "l2": "s", "l3": "v", "dram": "^", ONCE: "D", LOADS: "d"}
_MARKER_SIZE = 4.6
_TALL = 4.1
"""Inches, roughly, from the bottom of a panel to its top."""
_LINE = 0.147
"""Inches that a line of names takes."""
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_WALLS = {1.0: "stride 0", 1 / 4: "stride 1", 1 / 32: "stride ≥ 8"}
"""Loads of a word of 4 bytes by each lane against sectors (Ding and Williams 2019)."""


@dataclass(frozen=True, slots=True)
class Scale:
    """What one on the vertical axis is, and its name."""

    unit: float
    name: str


def grid(entries: Sequence[Entry]) -> Grid:
    """One panel for each run, one above the other."""
    panels = max(1, len(roofline.runs_of(entries)))
    return Grid(panels, 1, width=8.4, height=0.3 + (_TALL + 0.65) * panels)


def draw(entries: Sequence[Entry], axes: AxesGrid, form: str) -> None:
    """The panels, all on the same axes, and one legend above them."""
    panels, runs = flat(axes), roofline.runs_of(entries)
    ends = roofline.limits(entries)
    scale = _scale(ends, form)
    for panel, run in zip(panels, runs, strict=True):
        _panel(panel, [one for one in entries if one.run == run], ends, scale)
        if len(runs) > 1:
            panel.set_title(run)
    panels[-1].set_xlabel(
        "operations for each byte moved (FLOP/B)"
        if form == FLOP
        else "instructions of a warp for each sector of 32 bytes"
    )
    for panel in panels:
        panel.set_ylabel(
            f"operations ({scale.name})"
            if form == FLOP
            else f"instructions of warps ({scale.name})"
        )
    legend_above(panels[0], _handles(entries))


def _scale(ends: Limits, form: str) -> Scale:
    if form != FLOP:
        return Scale(1e9, "10⁹/s")
    return Scale(1e12, "TFLOP/s") if ends.top > 3e12 else Scale(1e9, "GFLOP/s")


def _panel(panel: Axes, entries: Sequence[Entry], ends: Limits, scale: Scale) -> None:
    panel.set_xscale("log")
    panel.set_yscale("log")
    panel.set_xlim(ends.left, ends.right)
    panel.set_ylim(ends.bottom / scale.unit, ends.top / scale.unit)
    for axis in (panel.xaxis, panel.yaxis):
        axis.set_major_locator(LogLocator(10.0, numticks=12))
        axis.set_major_formatter(FuncFormatter(lambda value, _: _tick(value)))
        axis.set_minor_formatter(NullFormatter())
    panel.grid(visible=True, axis="both")
    ceilings = [one for one in roofline.ceilings_of(entries) if one.valid]
    points = roofline.points_of(entries)
    _ceilings(panel, ceilings, ends, scale)
    _walls(panel, points)
    _kernels(panel, points, ends, scale)


def _tick(value: float) -> str:
    """A power of ten, as a number where it is short."""
    if 1e-3 <= value < 1e6:
        return units.tick(value)
    return f"10{f'{round(math.log10(value))}'.translate(_RAISED)}"


# --- ceilings -------------------------------------------------------------------------------------


def _ceilings(panel: Axes, ceilings: Sequence[Ceiling], ends: Limits, scale: Scale) -> None:
    measured = [one for one in ceilings if one.basis == "measured"]
    roofs = [one for one in measured if not one.lesser]
    peak = max(one.value for one in roofs if not one.sloped)
    slope = max(one.value for one in roofs if one.sloped)
    for one in ceilings:
        dotted = one.basis == "theoretical"
        weight = 0.8 if dotted or one.lesser else 1.5
        dashes = ":" if dotted else (0, (5, 2.4)) if one.lesser else "-"
        colour = level_colour(one.level) if one.sloped else INK
        label = "_theoretical" if dotted else "_lesser" if one.lesser else "_roof"
        if one.sloped:
            xs = [ends.left, peak / one.value]
            ys = [one.at(x) / scale.unit for x in xs]
        else:
            xs = [one.value / slope, ends.right]
            ys = [one.value / scale.unit] * 2
        panel.plot(
            xs, ys, color=colour, linewidth=weight, linestyle=dashes, label=label, zorder=1.6
        )
    for one in measured:
        if one.sloped:
            crowded = any(one.value / 4 < other.value < one.value for other in roofs)
            part = 0.02 if not one.lesser else 0.12 if crowded else 0.05
            near = any(one.value < other.value < 2 * one.value for other in roofs if other.sloped)
            _along(panel, one, ends, scale, part=part, below=one.lesser or near)
    for group in _together([one for one in measured if not one.sloped]):
        height = math.prod(one.value for one in group) ** (1 / len(group))
        words = ", ".join(_peak_words(one, scale) for one in group)
        start = min(one.value for one in group) / slope
        panel.annotate(
            words, (start, height / scale.unit), xytext=(-4, 0), textcoords="offset points",
            ha="right", va="center", fontsize=7, color=INK,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8},
        )  # fmt: skip


def _peak_words(one: Ceiling, scale: Scale) -> str:
    return f"{one.name} {roofline.brief(one.value / scale.unit)}"


def _together(ceilings: Sequence[Ceiling]) -> list[list[Ceiling]]:
    """Peaks so near to each other that their names would overlap, highest first."""
    groups: list[list[Ceiling]] = []
    for one in sorted(ceilings, key=lambda one: -one.value):
        if groups and groups[-1][-1].value < 1.2 * one.value:
            groups[-1].append(one)
        else:
            groups.append([one])
    return groups


def _along(
    panel: Axes, one: Ceiling, ends: Limits, scale: Scale, *, part: float, below: bool
) -> None:
    """The name of a slope above or below it, from a part of the axis beyond its lower end on."""
    # Where the slope comes into the panel, at its left or its lower edge.
    start = max(ends.left, ends.bottom / one.value)
    x = start * (ends.right / ends.left) ** part
    rate = f"{units.quantity(one.value, 'B/s')}"
    if one.row.unit != "B/s" or one.value != one.row.value:
        rate = f"{roofline.brief(one.value / 1e9)}{units.SPACE}Gsector/s"
    name = one.name.partition(", un")
    words = f"un{name[2]} {rate}" if name[1] else f"{one.name} {rate}"
    shift = (2 / 72, -1 / 72) if below else (-1 / 72, 1 / 72)
    aside = ScaledTranslation(*shift, panel.figure.dpi_scale_trans)
    panel.text(
        x, one.at(x) / scale.unit, words, transform=panel.transData + aside,
        # Along the line, wherever the layout puts its ends.
        rotation=math.degrees(math.atan(one.value / scale.unit)), transform_rotates_text=True,
        rotation_mode="anchor", ha="left", va="top" if below else "bottom",
        fontsize=6.2 if one.lesser else 7, color=level_ink(one.level),
    )  # fmt: skip


def _walls(panel: Axes, points: Sequence[Point]) -> None:
    """What loads of a word by each lane can be at the most and at the least: uprights."""
    if not any(point.level == LOADS for point in points):
        return
    for x, words in _WALLS.items():
        panel.axvline(
            x, color=GREY, linewidth=0.8, linestyle=(0, (1.5, 1.5)), label="_wall", zorder=1.4
        )
        panel.annotate(
            words, (x, 1), xycoords=("data", "axes fraction"), xytext=(3, -2),
            textcoords="offset points", ha="left", va="top", fontsize=6.2, color=INK,
        )  # fmt: skip


# --- kernels --------------------------------------------------------------------------------------


def _on(point: Point, ends: Limits) -> tuple[float, float, str]:
    """Where a point is drawn, and by what: an arrowhead at the edge that it lies beyond."""
    x, y, marker = point.intensity, point.rate, _MARKERS.get(point.level, "o")
    wide, high = ends.right / ends.left, ends.top / ends.bottom
    if x > ends.right:
        x, marker = ends.right / wide**0.012, ">"
    elif x < ends.left:
        x, marker = ends.left * wide**0.012, "<"
    if y < ends.bottom:
        y, marker = ends.bottom * high**0.015, "v"
    elif y > ends.top:
        y, marker = ends.top / high**0.015, "^"
    return x, y, marker


def _shown(points: Iterable[Point], ends: Limits) -> list[Point]:
    """All but loads alone that are far below: they are a small part of most kernels."""
    return [one for one in points if one.level != LOADS or one.rate >= ends.bottom]


def _kernels(panel: Axes, points: Sequence[Point], ends: Limits, scale: Scale) -> None:
    names: list[tuple[str, Point]] = []
    for kernel in dict.fromkeys(point.kernel for point in points):
        mine = [one for one in points if one.kernel == kernel]
        whole = [one for one in mine if one.basis == "counted" and one.level != LOADS] or mine
        names.append((kernel, whole[0]))
        places = [_on(one, ends) for one in whole]
        y = places[0][1] / scale.unit
        panel.plot(
            [min(x for x, _, _ in places), max(x for x, _, _ in places)], [y, y], color=INK,
            linewidth=0.6, alpha=0.75, zorder=2, label="_kernel",
        )  # fmt: skip
        panel.plot(
            [max(x for x, _, _ in places), ends.right], [y, y], color=GREY, linewidth=0.4,
            alpha=0.6, zorder=1.5, label="_leader",
        )  # fmt: skip
        # Counted ones over nominal ones.
        for one in sorted(_shown(mine, ends), key=lambda one: one.basis == "counted"):
            _mark(panel, one, ends, scale)
    _names(panel, names, ends, scale)


def _mark(panel: Axes, one: Point, ends: Limits, scale: Scale) -> None:
    x, y, marker = _on(one, ends)
    colour = _colour(one.level)
    counted = one.basis == "counted" and one.level != LOADS
    label = "_invalid" if not one.valid else f"_{one.basis}"
    panel.plot(
        [x], [y / scale.unit], marker="X" if not one.valid else marker, linestyle="none",
        markersize=_MARKER_SIZE if counted else 0.82 * _MARKER_SIZE, color=colour,
        markerfacecolor=colour if counted and one.valid else "white",
        markeredgecolor=colour, markeredgewidth=0.4 if counted and one.valid else 0.8,
        zorder=4 if counted else 3, label=label, clip_on=False,
    )  # fmt: skip
    if one.above is not None:
        panel.plot(
            [x], [y / scale.unit], marker="o", markersize=2.4 * _MARKER_SIZE, linestyle="none",
            markerfacecolor="none", markeredgecolor=INK, markeredgewidth=1.4, zorder=5,
            label="_above", clip_on=False,
        )  # fmt: skip


def _colour(level: str) -> str:
    return {ONCE: INK, LOADS: GREY}.get(level) or level_colour(level)


def _names(panel: Axes, kernels: Sequence[tuple[str, Point]], ends: Limits, scale: Scale) -> None:
    """The kernels by name beside the panel, each led to from its height."""
    high = math.log10(ends.top / ends.bottom)
    heights = {
        name: min(1.0, max(0.0, math.log10(point.rate / ends.bottom) / high))
        for name, point in kernels
    }
    order = sorted(kernels, key=lambda one: (heights[one[0]], one[0]))
    places = spread([heights[name] for name, _ in order], _LINE / _TALL)
    for (name, point), place in zip(order, places, strict=True):
        rate = roofline.brief(point.rate / scale.unit)
        words = f"{name} {rate}" if point.basis == "counted" else f"{name} ({rate})"
        panel.annotate(
            words, (1.0, heights[name]), xycoords="axes fraction", xytext=(1.045, place),
            textcoords="axes fraction", ha="left", va="center", fontsize=7, color=INK,
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "relpos": (0, 0.5), "linewidth": 0.5, "color": GREY, "shrinkA": 1, "shrinkB": 0
            },
        )  # fmt: skip


def spread(wanted: Sequence[float], gap: float) -> list[float]:
    """Ascending places as near to the wanted (ascending, 0 to 1) as a gap between them allows.

    Neighbours that are too near become a group about their mean; groups stay between 0 and 1 where
    they have room.
    """
    groups: list[list[float]] = []
    for one in wanted:
        groups.append([one])
        while len(groups) > 1 and _foot(groups[-1], gap) < _foot(groups[-2], gap) + gap * len(
            groups[-2]
        ):
            groups[-2:] = [groups[-2] + groups[-1]]
    return [_foot(group, gap) + gap * place for group in groups for place in range(len(group))]


def _foot(group: Sequence[float], gap: float) -> float:
    """The lowest place of a group about the mean of what its members want."""
    reach = gap * (len(group) - 1)
    low = sum(group) / len(group) - reach / 2
    return max(0.0, min(low, 1.0 - reach))


# --- legend and caption ---------------------------------------------------------------------------


def _key(words: str, marker: str, colour: str, *, filled: bool = True) -> Line2D:
    return Line2D(
        [], [], color=colour, marker=marker, markersize=_MARKER_SIZE, linestyle="none",
        markerfacecolor=colour if filled else "white", label=words,
    )  # fmt: skip


def _handles(entries: Sequence[Entry]) -> list[Artist]:
    points, ceilings = roofline.points_of(entries), roofline.ceilings_of(entries)
    backend = points[0].row.backend
    levels = ordered((one.level for one in points), (*roofline.LEVELS, ONCE, LOADS))
    handles: list[Artist] = [
        _key(
            roofline.level_words(level, backend), _MARKERS.get(level, "o"), _colour(level),
            filled=level not in (ONCE, LOADS),
        )
        for level in levels
    ]  # fmt: skip
    if any(one.basis == "nominal" and one.level != ONCE for one in points):
        handles.append(_key("nominal", "o", GREY, filled=False))
    if any(one.lesser for one in ceilings):
        handles.append(
            Line2D(
                [], [], color=INK, linewidth=0.8, linestyle=(0, (5, 2.4)), label="lesser ceiling"
            )
        )
    if any(one.basis == "theoretical" for one in ceilings):
        handles.append(Line2D([], [], color=INK, linewidth=0.8, linestyle=":", label="theoretical"))
    if any(one.above for one in points):
        handles.append(
            Line2D([], [], color=INK, marker="o", markersize=1.8 * _MARKER_SIZE, linestyle="none",
                   markerfacecolor="none", markeredgewidth=1.4, label="above a roof")
        )  # fmt: skip
    if any(not one.valid for one in points):
        handles.append(_key("invalid", "X", GREY, filled=False))
    return handles


def beyond(entries: Sequence[Entry]) -> str:
    """The sentence of a caption about what lies outside the axes; empty without any."""
    ends = roofline.limits(entries)
    points = roofline.points_of(entries)
    shown = _shown(points, ends)
    lost = len(points) - len(shown)
    edge = [one for one in shown if _on(one, ends)[:2] != (one.intensity, one.rate)]
    furthest = max((one.intensity for one in edge), default=0.0)
    words = " Arrowheads: beyond the axes, which the ceilings fix" if edge else ""
    if furthest > ends.right:
        words += f" (up to {roofline.brief(furthest)})"
    words += "." if edge else ""
    if lost:
        words += f" Not drawn, far below: the loads of {lost} kernels."
    return words


def faults(entries: Sequence[Entry]) -> str:
    """The sentences of a caption about points above a roof, and about invalid ones."""
    told = roofline.problems(entries)
    words = f" Above a roof, which cannot be ({len(told)}): {'; '.join(told)}." if told else ""
    flat = [one.name for one in roofline.ceilings_of(entries) if not one.valid]
    if flat:
        words += f" Not drawn, as no row of them is valid: {', '.join(dict.fromkeys(flat))}."
    points = roofline.points_of(entries)
    bad = dict.fromkeys(one.kernel for one in points if not one.valid)
    return words + invalid_note(bad).replace("drawn hollow", "crossed out")


def sizes(entries: Sequence[Entry]) -> str:
    """The sentence of a caption about what the kernels computed."""
    points = roofline.points_of(entries)
    rows = {one.kernel: one.row for one in points if one.row.suite == ladder.SUITE}
    names = "; beside the names: the rate" + (
        ", in brackets a nominal one" if any(one.level == ONCE for one in points) else ""
    )
    if not rows:
        return f" Kernels as Nsight Compute timed and counted them{names}."
    words = {name: ladder.size_words(row) for name, row in rows.items()}
    common = max(dict.fromkeys(words.values()), key=list(words.values()).count)
    odd = "; ".join(f"{name} {size}" for name, size in words.items() if size != common)
    return f" Kernels: the n-body ladder, {common}{f' ({odd})' if odd else ''}{names}."


def source(entry: Entry) -> Row:
    """The row that a ceiling or a point shows."""
    return entry.row


def figure(
    *, name: str, title: str, order: int, form: str, caption: Callable[[Sequence[Entry]], str]
) -> Figure[Entry]:
    """The figure of one form; nothing where ceilings or kernels are missing."""
    return Figure(
        name=name,
        title=title,
        order=order,
        prepare=lambda rows: roofline.entries(rows, form),
        grid=grid,
        draw=lambda entries, axes: draw(entries, axes, form),
        caption=caption,
        columns=roofline.COLUMNS,
        cells=lambda entry: roofline.cells(entry, form),
        source=source,
    )
