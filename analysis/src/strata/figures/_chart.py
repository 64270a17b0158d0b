"""The content of a figure, independent of matplotlib: panels of series, bars, lines and words.

A panel has two axes: values go up and places go right; in a `sideways` panel values go right and
places go down, as in a list of names. `strata.figures._draw` draws a chart.
"""

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from statistics import fmean
from typing import Any, Literal, TypeVar

from strata.model import ordered
from strata.model.units import SPACE, quantity, size, tick
from strata.run import Row, grouped

INK = "#262626"
GREY = "#7a7a7a"
PALE = "#e3e3e3"

T = TypeVar("T")
K = TypeVar("K")
Scale = Literal["linear", "log", "log2", "symlog2"]
Spread = Literal["", "band", "bar", "caps"]


@dataclass(frozen=True, slots=True)
class Look:
    """Colour, marker and line of an element; sizes in points.

    `marker` and `line` are matplotlib's, empty for none; `hollow` marks and bars are white inside.
    """

    colour: str = INK
    marker: str = ""
    line: str = ""
    size: float = 4.0
    width: float = 1.2
    hollow: bool = False
    hatch: str = ""
    alpha: float = 1.0


@dataclass(frozen=True, slots=True)
class Mark:
    """One value at a place, with the interval `low` to `high` if it has one.

    A bar runs from `start` to `value`. `words` are shown beside the mark. `row` is the measured
    row, for tooltips; `told` is the tooltip of a mark that is not a row of the run.
    """

    place: float
    value: float
    low: float | None = None
    high: float | None = None
    valid: bool = True
    words: str = ""
    start: float = 0.0
    row: Row | None = None
    told: str = ""

    @property
    def furthest(self) -> float:
        """The far end of the drawn mark."""
        return max(self.value, self.start, self.value if self.high is None else self.high)


def mark(
    place: float, row: Row, scale: float = 1.0, words: str = "", *, most: float | None = None
) -> Mark:
    """The median of a row with the range of its samples, up to `most`, in units of `scale`."""
    low, high = row.minimum / scale, row.maximum / scale
    if most:
        high = max(min(high, most / scale), row.value / scale)
    return Mark(place, row.value / scale, low, high, row.valid, words, row=row)


@dataclass(frozen=True, slots=True)
class Series:
    """Marks of one look. A line joins the valid ones; invalid ones are hollow and not joined."""

    marks: Sequence[Mark]
    look: Look
    label: str = ""
    spread: Spread = ""
    order: float = 2.0
    words_size: float = 6.5


@dataclass(frozen=True, slots=True)
class Bars:
    """Bars of one look, `thick` in units of the distance of two places; invalid ones are hollow."""

    marks: Sequence[Mark]
    look: Look
    label: str = ""
    spread: Spread = ""
    thick: float = 0.62
    order: float = 1.0
    words_size: float = 7.0


@dataclass(frozen=True, slots=True)
class Rule:
    """A straight line across the panel at a value, or at a place."""

    at: float
    look: Look = field(default_factory=lambda: Look(line=":", width=0.8, colour=GREY))
    label: str = ""
    of: Literal["value", "place"] = "value"
    words: str = ""
    order: float = 0.5


@dataclass(frozen=True, slots=True)
class Shade:
    """The values between `low` and `high`, shaded."""

    low: float
    high: float
    colour: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class Words:
    """A text at a place and a value, moved by `dx` and `dy` points.

    `at` defines how `place` and `value` are measured: in data, or for "edge" the value as a share
    of the panel. The words are `turned` by degrees, or run along a line through the point with a
    rise of `slope` per place. `row` is the row of their tooltip.
    """

    place: float
    value: float
    text: str
    dx: float = 0.0
    dy: float = 0.0
    across: Literal["left", "center", "right"] = "center"
    up: Literal["top", "center", "bottom"] = "center"
    size: float = 6.5
    colour: str = INK
    turned: float = 0.0
    slope: float | None = None
    boxed: bool = False
    at: Literal["data", "edge"] = "data"
    bold: bool = False
    row: Row | None = None


@dataclass(frozen=True, slots=True)
class Arrow:
    """A line with heads from one (place, value) to another; `heads` is matplotlib's style."""

    start: tuple[float, float]
    end: tuple[float, float]
    look: Look = field(default_factory=lambda: Look(width=0.9))
    heads: str = "<->"


@dataclass(frozen=True, slots=True)
class Area:
    """A box from one (place, value) to another, its edge in the look's colour and line."""

    start: tuple[float, float]
    end: tuple[float, float]
    look: Look
    fill: str = ""


Layer = Series | Bars | Rule | Shade | Words | Arrow | Area


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis: its scale, its tick labels, and its limits.

    Without `limits` an axis includes all marks, words and intervals; `zero` makes it begin there.
    Without `ticks` they are round numbers; `names` replace numbers at the ticks. `grid` draws lines
    at the ticks, or between the names.
    """

    label: str = ""
    scale: Scale = "linear"
    limits: tuple[float, float] | None = None
    zero: bool = False
    ticks: Sequence[float] | None = None
    names: Sequence[str] | None = None
    text: Callable[[float], str] = tick
    most: int = 9
    size: float = 7.5
    grid: bool = False
    room: float = 0.07


@dataclass(frozen=True, slots=True)
class Panel:
    """One pair of axes and what is drawn between them.

    `beside` are coloured words to the right of the panel, at their places; with `leaders` they are
    spread apart, and a line leads to each.
    """

    layers: Sequence[Layer]
    places: Axis = field(default_factory=Axis)
    values: Axis = field(default_factory=Axis)
    title: str = ""
    sideways: bool = False
    beside: Sequence[tuple[float, str, str]] = ()
    leaders: bool = False
    blank: str = "not measured"


@dataclass(frozen=True, slots=True)
class Key:
    """An additional entry of the legend, of no layer."""

    label: str
    look: Look
    patch: bool = False


@dataclass(frozen=True, slots=True)
class Chart:
    """Panels in rows, their size in inches, one legend, and lines of text below all of them.

    `share` gives the values of a row, of a column, or of all panels the same limits.
    """

    rows: Sequence[Sequence[Panel | None]]
    width: float
    height: float
    legend: Literal["above", "beside"] = "above"
    legend_columns: int = 0
    keys: Sequence[Key] = ()
    share: Literal["", "row", "column", "all"] = ""
    widths: Sequence[float] = ()
    heights: Sequence[float] = ()
    below: Sequence[str] = ()


def wrapped(panels: Sequence[Panel], columns: int) -> list[list[Panel | None]]:
    """Arranges panels in rows of equal length; the last row may be shorter."""
    rows = [list[Panel | None](panels[at : at + columns]) for at in range(0, len(panels), columns)]
    rows[-1] += [None] * (len(rows[0]) - len(rows[-1]))
    return rows


def facets(
    items: Sequence[T],
    down: Callable[[T], str],
    across: Callable[[T], str],
    panel: Callable[[str, str, list[T]], Panel | None],
    *,
    rows: Sequence[str] = (),
    columns: Sequence[str] = (),
) -> list[list[Panel | None]]:
    """Panels by two keys of the items; `rows` and `columns` come first, in their order.

    `panel` makes one from its row, its column and its items, which may be empty.
    """
    tall = ordered((down(item) for item in items), rows)
    wide = ordered((across(item) for item in items), columns)
    of = grouped(items, lambda item: f"{down(item)}\0{across(item)}")
    return [[panel(one, two, of.get(f"{one}\0{two}", [])) for two in wide] for one in tall]


def by_look(
    items: Iterable[T],
    key: Callable[[T], K],
    looks: Mapping[K, tuple[str, Look]],
    of: Callable[[T], Mark | None],
    make: Callable[..., Layer] = Series,
    **options: object,
) -> list[Any]:
    """A layer for each of `looks` (label and look by key) that has marks, in their order.

    `of` returns the mark of an item, if it has one; `make` returns the layer of marks. A mark
    without a row gets that of its item.
    """

    def made(item: T) -> Mark | None:
        row = item if isinstance(item, Row) else getattr(item, "row", None)
        mark = of(item)
        bare = mark and not mark.row and isinstance(row, Row)
        return replace(mark, row=row) if mark and bare else mark

    found = {name: [made(item) for item in here] for name, here in grouped(items, key).items()}
    return [
        make([mark for mark in found[name] if mark], look, label, **options)
        for name, (label, look) in looks.items()
        if any(found.get(name, ()))
    ]


def names_axis(names: Sequence[str], **more: object) -> Axis:
    """The axis of a list: names at 0, 1, 2, … with half a step of room at both ends."""
    ticks = list(range(len(names)))
    limits = (-0.6, len(names) - 0.4)
    return Axis(limits=limits, ticks=ticks, names=names, **more)  # type: ignore[arg-type]


def groups_axis(names: Sequence[str], members: int, gap: float = 1.0, **more: object) -> Axis:
    """The axis of groups of `members` bars at 0, 1, 2, …, with a `gap` between groups."""
    pitch = members + gap
    ticks = [(members - 1) / 2 + pitch * group for group in range(len(names))]
    limits = (-1, pitch * len(names) - gap)
    return Axis(limits=limits, ticks=ticks, names=names, **more)  # type: ignore[arg-type]


def bytes_axis(label: str, sizes: Sequence[float], most: int = 6) -> Axis:
    """The axis of sizes in bytes, by powers of two, with the unit below each number."""
    ends = (min(sizes) / 1.4, max(sizes) * 1.4)
    return Axis(
        label, "log2", ends, text=lambda at: size(round(at)).replace(SPACE, "\n"), most=most
    )


def seconds(value: float) -> str:
    """A round number of seconds: 1e-05 gives 10 µs."""
    return re.sub(r"\.0+\b", "", quantity(value, "s"))


def scaled(most: float, unit: str, least: float = 1.0) -> tuple[float, str]:
    """The scale, at least `least`, and the unit name for values up to `most`."""
    steps = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1.0, ""))
    scale, prefix = next((s, p) for s, p in steps if most >= s or s <= least)
    return scale, prefix + unit


def per_second(rates: Iterable[float]) -> tuple[float, str]:
    """The scale and the unit name for interactions per second of a GPU, or of a CPU."""
    return (1e12, "10¹²/s") if max(rates) >= 0.1e12 else (1e9, "10⁹/s")


# --- limits and ticks -----------------------------------------------------------------------------


def marks_of(panel: Panel) -> list[Mark]:
    """Every mark of a panel."""
    return [m for layer in panel.layers if isinstance(layer, Series | Bars) for m in layer.marks]


def invalid_in(chart: Chart) -> bool:
    """Whether anything is drawn hollow because it is invalid."""
    return any(not m.valid for row in chart.rows for p in row if p for m in marks_of(p))


def _values(panel: Panel) -> list[float]:
    found: list[float] = []
    for layer in panel.layers:
        if isinstance(layer, Arrow):
            found += [layer.start[1], layer.end[1]]
        elif isinstance(layer, Series | Bars):
            found += [m.value for m in layer.marks]
            found += [m.start for m in layer.marks] if isinstance(layer, Bars) else []
            ends = [(m.low, m.high) for m in layer.marks if layer.spread and m.valid]
            found += [end for both in ends for end in both if end is not None]
    return found


def limits(axis: Axis, values: Iterable[float]) -> tuple[float, float]:
    """The limits of an axis for `values`, with a small margin at both ends."""
    if axis.limits:
        return axis.limits
    logarithmic = axis.scale.startswith("log")
    shown = [v for v in values if math.isfinite(v) and (v > 0 or not logarithmic)]
    if not shown:
        return (1.0, 10.0) if logarithmic else (0.0, 1.0)
    low, high = min(shown), max(shown)
    if logarithmic:
        span = max(math.log(high / low), math.log(1.6))
        return low * math.exp(-axis.room * span), high * math.exp(axis.room * span)
    if axis.zero:
        low, high = min(low, 0.0), max(high, 0.0)
    span = high - low or abs(high) or 1.0
    return (
        low if axis.zero and low == 0 else low - axis.room * span,
        high if axis.zero and high == 0 else high + 1.6 * axis.room * span,
    )


def value_limits(chart: Chart) -> dict[tuple[int, int], tuple[float, float]]:
    """The value limits of every panel, by row and column, shared as the chart requires.

    Panels with limits of their own are left out.
    """
    shown = {(r, c): one for r, row in enumerate(chart.rows) for c, one in enumerate(row) if one}
    groups: Mapping[str, Callable[[tuple[int, int]], object]] = {
        "row": itemgetter(0), "column": itemgetter(1), "all": lambda _: 0, "": lambda at: at,
    }  # fmt: skip
    group_of = groups[chart.share]
    found: dict[object, list[float]] = defaultdict(list)
    for at, panel in shown.items():
        found[group_of(at)] += [] if panel.values.limits else _values(panel)
    return {at: limits(panel.values, found[group_of(at)]) for at, panel in shown.items()}


def place_limits(panel: Panel) -> tuple[float, float]:
    """The limits of the places of a panel."""
    places = [m.place for m in marks_of(panel)]
    if panel.places.ticks and not panel.places.limits:
        places += panel.places.ticks
    return limits(panel.places, places)


_DIGITS: Sequence[Sequence[float]] = (
    (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9), (1, 1.5, 2, 3, 5, 7), (1, 2, 5), (1,)
)  # fmt: skip


def ticks(axis: Axis, low: float, high: float) -> list[tuple[float, str]]:
    """The positions and labels of the ticks of an axis within its limits."""
    if axis.ticks is not None:
        names = axis.names or [axis.text(at) for at in axis.ticks]
        return list(zip(axis.ticks, names, strict=True))
    if axis.scale == "log":
        found = _log_ticks(low, high, axis.most)
    elif axis.scale in ("log2", "symlog2"):
        first, last = math.ceil(math.log2(max(low, 1e-300))), math.floor(math.log2(high))
        step = max(1, -(-(last - first + 1) // axis.most))
        found = [2.0**power for power in range(first, last + 1, step)]
    else:
        found = _round_ticks(low, high, axis.most)
    return [(at, axis.text(at)) for at in found]


def _log_ticks(low: float, high: float, most: int) -> list[float]:
    """Round numbers, at most `most`: digits of every power of ten, or powers of ten alone."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    found: list[float] = []
    for step, digits in [(1, digits) for digits in _DIGITS] + [(step, (1,)) for step in (2, 3, 4)]:
        found = [digit * 10.0**power for power in powers if power % step == 0 for digit in digits]
        found = [at for at in found if low * (1 - 1e-9) <= at <= high * (1 + 1e-9)]
        if len(found) <= most:
            break
    return found if len(found) > 2 or high > 2 * low else _round_ticks(low, high, most)


def _round_ticks(low: float, high: float, most: int) -> list[float]:
    """Multiples of 1, 2, 2.5 or 5 times a power of ten, at most six or `most` of them."""
    rough = (high - low) / min(most, 6)
    power = 10.0 ** math.floor(math.log10(rough)) if rough > 0 else 1.0
    step = next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= rough * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(count * step, 12) for count in range(first, last + 1)]


def apart(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """The places nearest to the `wanted` (ascending) with a minimum gap, from low to high.

    Least squares by the min-max formula of isotonic regression.
    """
    count = len(wanted)
    loose = [one - gap * at for at, one in enumerate(wanted)]
    found = [
        max(
            min(fmean(loose[first:last]) for last in range(at + 1, count + 1))
            for first in range(at + 1)
        )
        for at in range(count)
    ]
    top = high - gap * (count - 1)
    return [max(low, min(one, top)) + gap * at for at, one in enumerate(found)]


# --- the legend -----------------------------------------------------------------------------------


def legend(chart: Chart) -> list[Key]:
    """The legend entries: every label once, the chart's own entries, and the meaning of hollow."""
    found: dict[str, Key] = {}
    for layer in (layer for row in chart.rows for p in row if p for layer in p.layers):
        label = getattr(layer, "label", "")
        if not label or label in found:
            continue
        if isinstance(layer, Shade):
            found[label] = Key(label=label, look=Look(colour=layer.colour), patch=True)
        elif isinstance(layer, Series | Bars | Rule):
            found[label] = Key(label=label, look=layer.look, patch=isinstance(layer, Bars))
    keys = [*found.values(), *chart.keys]
    if invalid_in(chart):
        dashed = all(key.patch for key in keys)
        look = Look(colour=GREY, marker="o", hollow=True, line="--" if dashed else "")
        keys.append(Key(label="invalid (hollow)", look=look, patch=dashed))
    return keys


def listed_invalid(labels: Sequence[str], shown: int = 4) -> str:
    """The sentence of a caption that lists invalid items; empty if there are none."""
    if not labels:
        return ""
    more = f"; and {len(labels) - shown} more" if len(labels) > shown else ""
    return f" Invalid, drawn hollow ({len(labels)}): {'; '.join(labels[:shown])}{more}."


LAYOUT_LOOK: Mapping[str, Look] = {
    name: Look(colour=colour, marker=marker, line="-")
    for name, colour, marker in (
        ("aos", "#D55E00", "o"),
        ("soa", "#0072B2", "s"),
        ("aoas", "#E69F00", "^"),
        ("soaoas", "#009E73", "D"),
        ("aosoa32", "#CC79A7", "v"),
    )
}
LEVEL_COLOUR: Mapping[str, str] = {
    "shared": "#CC79A7",
    "l1": "#56B4E9",
    "l2": "#0072B2",
    "l3": "#009E73",
    "dram": "#D55E00",
}
WIDTH_LOOK: Mapping[int, Look] = {
    width: Look(colour=colour, marker=marker, line="-")
    for width, colour, marker in (
        (1, "#440154", "o"),
        (2, "#414487", "s"),
        (4, "#2a788e", "^"),
        (8, "#22a884", "D"),
        (16, "#8fc31f", "v"),
    )
}
"""Widths of access in bytes are ordered, and so are their colours: viridis without its palest."""
PROBLEM_LOOK: Mapping[str, Look] = {
    name: Look(colour=colour, marker=marker, line="-", size=4.5, width=1.4)
    for name, colour, marker in (
        ("single", "#0072B2", "o"),
        ("galaxies", "#009E73", "s"),
        ("gravit", "#CC79A7", "^"),
    )
}
THEIRS = Look(colour="#D55E00", marker="D", size=5.5, hollow=True)
"""Of what others published."""
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#E69F00", "#CC79A7", "#56B4E9", "#666666", "#000000")
"""Okabe and Ito's, for every eye."""
OTHER = Look(colour="#666666", marker="X", line="-")


def look_of(looks: Mapping[T, Look], name: T, **changed: object) -> Look:
    """The look of a name, or the default look, with `changed` parts."""
    return replace(looks.get(name, OTHER), **changed)  # type: ignore[arg-type]


def pale(colour: str, share: float) -> str:
    """The colour, lightened to this share on white."""
    parts = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return "#" + "".join(f"{round(255 - share * (255 - part)):02x}" for part in parts)


def layout_looks(layouts: Iterable[str], **changed: object) -> dict[str, tuple[str, Look]]:
    """Label and look of each layout that occurs, in the order of every legend."""
    present = ordered(layouts, tuple(LAYOUT_LOOK))
    return {name: (name, look_of(LAYOUT_LOOK, name, **changed)) for name in present}


def level_colour(level: str | None) -> str:
    """The colour of a level of the hierarchy; grey without one."""
    return LEVEL_COLOUR.get(level or "", OTHER.colour)


def level_ink(level: str | None) -> str:
    """The text colour of a level: darker if the line colour is too pale to read."""
    return "#1f75a8" if level == "l1" else level_colour(level)
