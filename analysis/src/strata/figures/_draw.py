"""Lays out a chart: the one place where bars, curves, hollow marks, words and legends are made.

The margins of a panel are as wide as the texts in them, and what the texts say depends on the size
of the panel, so everything is laid out twice.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from textwrap import wrap
from typing import Any

from strata.figures import _chart as charts
from strata.figures._chart import (
    GREY,
    INK,
    PALE,
    Arrow,
    Axis,
    Bars,
    Chart,
    Key,
    Look,
    Mark,
    Panel,
    Rule,
    Scale,
    Series,
    Shade,
    Words,
)  # fmt: skip
from strata.figures._sheet import Box, Dots, Point, Shape, Sheet, Text, Thing

POINT = 72.0
FRAME = "#4d4d4d"
GAP, EDGE = 8.0, 4.0
"""Points between two panels, beside what their texts need, and to the edge of the sheet."""
LEADER = 34.0
"""Points from a panel to words that a line leads to."""
TICK, PAD = 3.5, 3.5
"""The length of a tick, and from there to what it says."""
NAME_PAD = 5.0
"""From a panel to the names of its places, which have no ticks."""
LABEL_PAD = 4.0
LABEL_SIZE, TITLE_SIZE, SMALL = 8.0, 9.0, 6.5
TITLE_PAD = 6.0
BELOW = 9.0
"""Points from a line of words below the panels to the next."""
MANY = 2000
"""More marks than this are an image inside the drawing, or an SVG grows to many megabytes."""
HANDLE, HANDLE_PAD, COLUMN_GAP, LINE_GAP = 12.8, 6.4, 11.2, 4.0
"""Of a legend: the sign, its distance to the words, and those between columns and lines."""

Limits = tuple[float, float]
Layered = tuple[float, Thing]
"""What is drawn, and its order: the higher is on top."""


@dataclass(frozen=True, slots=True)
class _Frame:
    """A panel, where it lies on the sheet, and the ends of its axes."""

    panel: Panel
    box: Box
    values: Limits
    places: Limits

    def at(self, place: float, value: float) -> Point:
        """A place and a value on the sheet."""
        return self.on(
            _share(self.panel.places.scale, self.places, place),
            _share(self.panel.values.scale, self.values, value),
        )

    def on(self, along: float, up: float) -> Point:
        """Shares of the axes of places and of values, on the sheet."""
        box = self.box
        if self.panel.sideways:
            return box.x0 + up * box.width, box.y1 - along * box.height
        return box.x0 + along * box.width, box.y0 + up * box.height

    def place(self, place: float) -> float:
        """Where a place is on its axis."""
        return self.at(place, self.values[0])[self.panel.sideways]

    def value(self, value: float) -> float:
        """Where a value is on its axis."""
        return self.at(self.places[0], value)[not self.panel.sideways]


def _share(scale: Scale, ends: Limits, at: float) -> float:
    """How far it is from one end of an axis to the other, of 1."""
    low, high, found = (_straight(scale, one) for one in (*ends, at))
    return (found - low) / (high - low)


def _straight(scale: Scale, at: float) -> float:
    """What is even on the axis; a logarithmic one has nothing from 0 down, which lies far off."""
    if scale == "linear":
        return at
    if scale == "symlog2":
        return math.copysign(2 + math.log2(abs(at)), at) if abs(at) > 1 else 2 * at
    return math.log(at) if at > 0 else -700.0


def draw(chart: Chart) -> Sheet:
    """A sheet with the chart on it."""
    below = [line for words in chart.below for line in _broken(words, chart.width)]
    foot = BELOW * len(below) + GAP if below else 0.0
    width, height = chart.width * POINT, chart.height * POINT + foot
    page = Box(0, foot, width, height)
    rows, columns = len(chart.rows), max(map(len, chart.rows))
    about = Box(0, 0, 0.8 * width / columns, 0.75 * height / rows)
    shared = charts.value_limits(chart)
    frames = {
        (row, column): _Frame(
            _once(chart, row, column, panel), about, shared[row, column],
            charts.place_limits(panel),
        )
        for row, panels in enumerate(chart.rows)
        for column, panel in enumerate(panels)
        if panel
    }  # fmt: skip
    legend = _legend(chart, width)
    for _ in range(2):
        frames = _laid_out(chart, frames, page, legend)
        far = {ends: ends[1] for ends in shared.values()}
        for at, frame in frames.items():
            far[shared[at]] = max(far[shared[at]], _room(frame, shared[at]))
        frames = {
            at: replace(frame, values=(shared[at][0], far[shared[at]]))
            for at, frame in frames.items()
        }
    things = [thing for frame in frames.values() for thing in _panel(frame)]
    things += _placed(legend, chart, page)
    if below:
        words = Text(EDGE, foot, "\n".join(below), SMALL, INK, "left", "top", spacing=1.35)
        things.append(words)
    return Sheet(width, height, things)


def _broken(words: str, width: float) -> list[str]:
    """A line in pieces that fit `width` inches, the later ones set in."""
    most = max(30, int((width - 0.3) / 0.056))
    return wrap(
        words, most, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    )


def _once(chart: Chart, row: int, column: int, panel: Panel) -> Panel:
    """The panel without names and labels that its neighbour to the left or below says as well."""
    places, values = panel.places, panel.values
    left = chart.rows[row][column - 1] if column else None
    below = chart.rows[row + 1][column] if row + 1 < len(chart.rows) else None
    if left and panel.sideways:
        if left.places.names == places.names and places.names:
            places = replace(places, names=[""] * len(places.names), label="")
    elif left and left.values.label == values.label:
        values = replace(values, label="")
    if below:
        if panel.sideways and below.values.label == values.label:
            values = replace(values, label="")
        elif not panel.sideways and below.places.label == places.label:
            places = replace(places, label="")
    return replace(panel, places=places, values=values)


# --- where panels lie -----------------------------------------------------------------------------

Sides = tuple[float, float, float, float]


def _laid_out(
    chart: Chart, frames: Mapping[tuple[int, int], _Frame], page: Box, legend: "_Legend"
) -> dict[tuple[int, int], _Frame]:
    """Puts panels where nothing is cut and nothing lies on another."""
    rows, columns = len(chart.rows), max(map(len, chart.rows))
    left, right = [0.0] * columns, [0.0] * columns
    above, below = [0.0] * rows, [0.0] * rows
    for (row, column), frame in frames.items():
        sides = _sides(frame)
        left[column] = max(left[column], sides[0])
        right[column] = max(right[column], sides[1])
        above[row] = max(above[row], sides[2])
        below[row] = max(below[row], sides[3])
    wide = legend.width + GAP if legend.keys and chart.legend == "beside" else 0.0
    high = legend.height + GAP if legend.keys and chart.legend == "above" else 0.0
    across = page.width - 2 * EDGE - wide - sum(left) - sum(right) - GAP * (columns - 1)
    down = page.height - 2 * EDGE - high - sum(above) - sum(below) - GAP * (rows - 1)
    widths = _shares(chart.widths, columns, max(across, 0.2 * page.width))
    heights = _shares(chart.heights, rows, max(down, 0.2 * page.height))
    placed = {}
    for (row, column), frame in frames.items():
        x = EDGE + sum(left[: column + 1]) + sum(right[:column]) + sum(widths[:column])
        y = EDGE + high + sum(above[: row + 1]) + sum(below[:row]) + sum(heights[:row])
        x, y = x + GAP * column, page.y1 - y - GAP * row
        placed[row, column] = replace(frame, box=Box(x, y - heights[row], x + widths[column], y))
    return placed


def _shares(weights: Sequence[float], count: int, room: float) -> list[float]:
    given = list(weights[:count]) or [1.0] * count
    return [room * weight / sum(given) for weight in given]


def _sides(frame: _Frame) -> Sides:
    """How far its texts reach left of a panel, right of it, above and below."""
    inner = frame.box
    boxes = [text.box for text in _around(frame)]
    texts = [one for one in frame.panel.layers if isinstance(one, Rule | Words)]
    drawn = [one for layer in texts for one in _DRAWN[type(layer)](frame, layer)]
    over = [text.box for order, text in drawn if isinstance(text, Text) and order == OVER]
    return (
        max([inner.x0 - box.x0 for box in boxes] + [0]),
        max([box.x1 - inner.x1 for box in boxes] + [0]),
        max([box.y1 - inner.y1 for box in boxes + over] + [0]),
        max([inner.y0 - box.y0 for box in boxes + over] + [0]),
    )


def _room(frame: _Frame, ends: Limits) -> float:
    """The far end of the values, such that the words beside the last marks fit in."""
    axis, sideways = frame.panel.values, frame.panel.sideways
    if axis.limits:
        return ends[1]
    low, high = (_straight(axis.scale, end) for end in ends)
    extent = frame.box.width if sideways else frame.box.height
    needed = high
    for layer in (one for one in frame.panel.layers if isinstance(one, Series | Bars)):
        for m in layer.marks:
            if m.words:
                words = Text(0, 0, m.words, layer.words_size)
                size = words.width if sideways else words.height
                share = min((size + 10) / extent, 0.7)
                needed = max(needed, low + (_straight(axis.scale, m.furthest) - low) / (1 - share))
    if needed == high:
        return ends[1]
    return math.exp(needed) if axis.scale != "linear" else needed


# --- one panel ------------------------------------------------------------------------------------

OVER = 4.5
"""The order of words whose height is a share of the panel's, which may lie above or below it."""


def _panel(frame: _Frame) -> list[Thing]:
    """All of a panel, what is on top last."""
    found = [*_axes(frame), *((3.0, text) for text in _around(frame)), *_layers(frame)]
    return [thing for _, thing in sorted(found, key=lambda one: one[0])]


def _layers(frame: _Frame) -> Iterator[Layered]:
    if not frame.panel.layers:
        yield 3.0, Text(*frame.on(0.5, 0.5), frame.panel.blank, LABEL_SIZE, GREY, up="center")
    for layer in frame.panel.layers:
        yield from _DRAWN[type(layer)](frame, layer)
    if frame.panel.leaders:
        at = [(frame.box.x1, frame.value(value)) for value, _, _ in frame.panel.beside]
        ends = [(text.x - 2, text.y) for text in _beside(frame)]
        yield 3.0, Shape(list(zip(at, ends, strict=True)), GREY, 0.5)


def _axes(frame: _Frame) -> Iterator[Layered]:
    """The frame, its ticks, and the lines between them."""
    box, panel = frame.box, frame.panel
    corner = [(box.x0, box.y1), (box.x0, box.y0), (box.x1, box.y0)]
    yield 2.5, Shape([corner], FRAME, 0.7)
    for axis, where, is_value in (
        (panel.places, frame.place, False), (panel.values, frame.value, True)
    ):  # fmt: skip
        upright = is_value == panel.sideways  # the lines of this axis go up
        at = [where(tick) for tick, _ in _ticks(frame, axis)]
        if axis.names is None:
            yield 0.5, Shape([_outward(box, one, upright=upright) for one in at], FRAME, 0.7)
        between = [where(edge - 0.5) for edge in (axis.ticks or ())[1:]]
        lines = between if axis.names is not None and axis.grid else at
        if is_value or axis.grid:
            grid = [_across(box, one, upright=upright) for one in lines]
            yield 0.0, Shape(grid, PALE, 0.6, clip=box)


def _ticks(frame: _Frame, axis: Axis) -> list[tuple[float, str]]:
    """The ticks between the ends of an axis."""
    ends = frame.values if axis is frame.panel.values else frame.places
    low, high = min(ends), max(ends)
    room = 1e-9 * (high - low)
    found = charts.ticks(axis, low, high)
    return [(at, text) for at, text in found if low - room <= at <= high + room]


def _outward(box: Box, at: float, *, upright: bool) -> list[Point]:
    """A tick."""
    return [(at, box.y0), (at, box.y0 - TICK)] if upright else [(box.x0, at), (box.x0 - TICK, at)]


def _across(box: Box, at: float, *, upright: bool) -> list[Point]:
    """A line across the panel."""
    return [(at, box.y0), (at, box.y1)] if upright else [(box.x0, at), (box.x1, at)]


def _around(frame: _Frame) -> list[Text]:
    """The texts around a panel: what ticks say, labels, title, and words beside it."""
    box, panel = frame.box, frame.panel
    level, upright = (
        (panel.values, panel.places) if panel.sideways else (panel.places, panel.values)
    )
    across, up = (frame.value, frame.place) if panel.sideways else (frame.place, frame.value)
    pads = [PAD + TICK if axis.names is None else NAME_PAD for axis in (level, upright)]
    under = [
        Text(across(at), box.y0 - pads[0], text, level.size, up="top")
        for at, text in _ticks(frame, level)
        if text
    ]
    left = [
        Text(box.x0 - pads[1], up(at), text, upright.size, across="right", up="middle")
        for at, text in _ticks(frame, upright)
        if text
    ]
    found = [*under, *left, *_beside(frame)]
    if level.label:
        lowest = min([text.y - text.height for text in under] or [box.y0 - TICK])
        middle, y = (box.x0 + box.x1) / 2, lowest - LABEL_PAD
        found.append(Text(middle, y, level.label, LABEL_SIZE, up="top"))
    if upright.label:
        furthest = min([text.x - text.width for text in left] or [box.x0 - TICK])
        x, middle = furthest - LABEL_PAD, (box.y0 + box.y1) / 2
        found.append(Text(x, middle, upright.label, LABEL_SIZE, turned=90))
    if panel.title:
        title = Text(box.x0, box.y1 + TITLE_PAD, panel.title, TITLE_SIZE, across="left", bold=True)
        found.append(title)
    return found


def _beside(frame: _Frame) -> list[Text]:
    """Words to the right of a panel, kept apart where lines lead to them."""
    box, panel = frame.box, frame.panel
    at = [frame.place(p) if panel.sideways else frame.value(p) for p, _, _ in panel.beside]
    x = box.x1 + (LEADER if panel.leaders else 4)
    found = [
        Text(x, y, text, SMALL, colour, across="left", up="center")
        for y, (_, text, colour) in zip(at, panel.beside, strict=True)
    ]
    if not panel.leaders:
        return found
    order = sorted(range(len(at)), key=at.__getitem__)
    gap = 1.25 * max((text.height for text in found), default=0)
    places = charts.apart([at[one] for one in order], gap, box.y0, box.y1)
    return [replace(found[one], y=y) for one, y in zip(order, places, strict=True)]


def _series(frame: _Frame, series: Series) -> Iterator[Layered]:
    look = series.look
    valid = [m for m in series.marks if m.valid]
    invalid = [m for m in series.marks if not m.valid]
    many = len(valid) > MANY
    if valid:
        yield from _spread(frame, valid, series, look.colour)
        points = [frame.at(m.place, m.value) for m in valid]
        if look.line:
            yield (
                series.order,
                Shape([points], look.colour, look.width, look.line, alpha=look.alpha, pixels=many),
            )
        if look.marker:
            yield series.order, replace(_dots(points, look), pixels=many)
    if invalid:
        hollow = replace(look, marker=look.marker or "o", size=max(look.size, 3.0), hollow=True)
        points = [frame.at(m.place, m.value) for m in invalid]
        yield series.order + 1, _dots(points, hollow)
    gap = look.size / 2 if look.marker else 0
    yield from _mark_words(frame, series.marks, series.words_size, gap)


def _dots(points: Sequence[Point], look: Look) -> Dots:
    edge = 1.4 if look.marker in ("|", "_") else 0.9 if look.hollow else 0.7
    fill = "white" if look.hollow else look.colour
    return Dots(points, look.marker, look.size, look.colour, fill, edge, look.alpha)


def _spread(
    frame: _Frame, marks: Sequence[Mark], of: Series | Bars, colour: str
) -> Iterator[Layered]:
    """The intervals of marks, as a band, as thin lines, or as whiskers with caps."""
    known = [(m.place, m.low, m.high) for m in marks if m.low is not None and m.high is not None]
    if not of.spread or not known:
        return
    low = [frame.at(place, low) for place, low, _ in known]
    high = [frame.at(place, high) for place, _, high in known]
    if of.spread == "band":
        yield 1.0, Shape([[*low, *reversed(high)]], colour, fill=colour, alpha=0.18, clip=frame.box)
        return
    yield of.order + 0.5, Shape(list(zip(low, high, strict=True)), colour, 1.1, clip=frame.box)
    if of.spread == "caps":
        cap = Look(colour, "|" if frame.panel.sideways else "_", size=3.2)
        yield of.order + 0.5, replace(_dots([*low, *high], cap), width=0.7)


def _bars(frame: _Frame, bars: Bars) -> Iterator[Layered]:
    look = bars.look
    half = bars.thick / 2
    for valid in (True, False):
        marks = [m for m in bars.marks if m.valid == valid]
        if not marks:
            continue
        boxes = [
            Box(*frame.at(m.place - half, m.start), *frame.at(m.place + half, m.value)).outline
            for m in marks
        ]
        fill = "white" if not valid else "" if look.hollow else look.colour
        line = (look.line or "-") if valid else "--"
        yield (
            bars.order,
            Shape(boxes, look.colour, 0.8, line, fill, look.hatch, look.alpha, frame.box),
        )
        if valid:
            yield from _spread(frame, marks, bars, INK)
    yield from _mark_words(frame, bars.marks, bars.words_size)


def _mark_words(
    frame: _Frame, marks: Sequence[Mark], size: float, gap: float = 0
) -> Iterator[Layered]:
    for m in marks:
        if m.words:
            x, y = frame.at(m.place, m.furthest)
            colour = INK if m.valid else GREY
            if frame.panel.sideways:
                yield 5.0, Text(x + 6, y, m.words, size, colour, "left", "center", pad=0.5)
            else:
                yield 5.0, Text(x, y + 2 + gap, m.words, size, colour, pad=0.5)


def _rule(frame: _Frame, rule: Rule) -> Iterator[Layered]:
    upright = frame.panel.sideways == (rule.of == "value")
    at = frame.value(rule.at) if rule.of == "value" else frame.place(rule.at)
    look, box = rule.look, frame.box
    line = _across(box, at, upright=upright)
    style = look.line or "-"
    yield rule.order, Shape([line], look.colour, look.width, style, alpha=look.alpha, clip=box)
    if not rule.words:
        return
    words = Text(at, box.y1 + 2, rule.words, SMALL, "#595959")
    if upright and frame.panel.sideways:
        yield OVER, words
    elif upright:
        y = box.y0 + 0.985 * box.height
        yield 4.0, replace(words, x=at - 2, y=y, across="right", turned=90, pad=0.6)
    else:
        x = box.x0 + 0.01 * box.width
        yield 4.0, replace(words, x=x, y=at + 2, across="left", pad=0.6)


def _words(frame: _Frame, words: Words) -> Iterator[Layered]:
    x, y = frame.at(words.place, words.value)
    if words.at == "edge":
        along = _share(frame.panel.places.scale, frame.places, words.place)
        x, y = frame.on(along, words.value)
    turned = words.turned
    if words.slope is not None:
        step = 1e-6 * (words.place or 1.0)
        along, up = frame.at(words.place + step, words.value + words.slope * step)
        turned = math.degrees(math.atan2(up - y, along - x))
    text = Text(
        x + words.dx, y + words.dy, words.text, words.size, words.colour, words.across, words.up,
        turned, pad=0.6 if words.boxed else None, spacing=1.15,
    )  # fmt: skip
    yield OVER if words.at == "edge" else 4.0, text


def _arrow(frame: _Frame, arrow: Arrow) -> Iterator[Layered]:
    """A line with open heads."""
    start, end = frame.at(*arrow.start), frame.at(*arrow.end)
    lines = [[start, end]]
    if "<" in arrow.heads:
        lines.append(_head(start, end))
    if ">" in arrow.heads:
        lines.append(_head(end, start))
    yield 3.0, Shape(lines, arrow.look.colour, arrow.look.width)


def _head(tip: Point, tail: Point) -> list[Point]:
    (x, y), turned = tip, math.atan2(tail[1] - tip[1], tail[0] - tip[0])
    cos, sin = 3.2 * math.cos(turned), 3.2 * math.sin(turned)
    return [(x + cos - sin / 2, y + sin + cos / 2), tip, (x + cos + sin / 2, y + sin - cos / 2)]


def _shade(frame: _Frame, shade: Shade) -> Iterator[Layered]:
    ends = Box(*frame.on(0, 0), *frame.on(1, 1))
    low, high = frame.value(shade.low), frame.value(shade.high)
    sideways = frame.panel.sideways
    box = Box(low, ends.y0, high, ends.y1) if sideways else Box(ends.x0, low, ends.x1, high)
    yield 0.0, Shape([box.outline], shade.colour, fill=shade.colour, clip=frame.box)


_DRAWN: Mapping[type[Any], Callable[[_Frame, Any], Iterable[Layered]]] = {
    Series: _series,
    Bars: _bars,
    Rule: _rule,
    Shade: _shade,
    Words: _words,
    Arrow: _arrow,
}


# --- the legend -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Legend:
    """The entries of a legend in columns."""

    columns: Sequence[Sequence[Key]] = ()

    @property
    def keys(self) -> list[Key]:
        return [key for column in self.columns for key in column]

    @property
    def widths(self) -> list[float]:
        """Of the columns."""
        words = [max(_entry(key).width for key in column) for column in self.columns]
        return [HANDLE + HANDLE_PAD + width for width in words]

    @property
    def width(self) -> float:
        return sum(self.widths) + COLUMN_GAP * (len(self.columns) - 1)

    @property
    def height(self) -> float:
        return max(_tall(column) for column in self.columns)


def _entry(key: Key) -> Text:
    return Text(0, 0, key.label, LABEL_SIZE, across="left", up="top")


def _tall(column: Sequence[Key]) -> float:
    return sum(_entry(key).height for key in column) + LINE_GAP * (len(column) - 1)


def _legend(chart: Chart, width: float) -> _Legend:
    """The legend in as many columns as fit."""
    keys = charts.legend(chart)
    if not keys:
        return _Legend()
    most = chart.legend_columns or (1 if chart.legend == "beside" else len(keys))
    for columns in range(min(most, len(keys)), 1, -1):
        found = _Legend(_parts(keys, columns))
        if found.width <= width or chart.legend == "beside":
            return found
    return _Legend([keys])


def _parts(keys: Sequence[Key], count: int) -> list[Sequence[Key]]:
    """So many parts, the first ones longer by one where they are not alike."""
    short, longer = divmod(len(keys), count)
    starts = [at * short + min(at, longer) for at in range(count + 1)]
    return [keys[start:end] for start, end in pairwise(starts)]


def _placed(legend: _Legend, chart: Chart, page: Box) -> Iterator[Thing]:
    """The legend on the sheet: above all panels, or at the right."""
    if not legend.keys:
        return
    x = max(EDGE, (page.width - legend.width) / 2)
    if chart.legend == "beside":
        x = page.width - EDGE - legend.width
    for column, width in zip(legend.columns, legend.widths, strict=True):
        y = page.y1 - EDGE
        for key in column:
            words = replace(_entry(key), x=x + HANDLE + HANDLE_PAD, y=y)
            yield from _handle(key.look, x, y - words.height / 2, patch=key.patch)
            yield words
            y -= words.height + LINE_GAP
        x += width + COLUMN_GAP


def _handle(look: Look, x: float, y: float, *, patch: bool) -> Iterator[Thing]:
    """The sign of an entry, around a height."""
    if patch:
        box = Box(x, y - 2.8, x + HANDLE, y + 2.8)
        fill = "white" if look.hollow else look.colour
        yield Shape([box.outline], look.colour, 0.8, look.line or "-", fill, look.hatch)
        return
    if look.line:
        yield Shape([[(x, y), (x + HANDLE, y)]], look.colour, look.width, look.line)
    if look.marker:
        yield _dots([(x + HANDLE / 2, y)], look)
