"""One panel of a chart on a sheet: axes, ticks and texts, bars, curves, hollow marks and words."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from strata.figures import _chart as c
from strata.figures._sheet import Box, Dots, Hit, Point, Shape, Text, Thing

FRAME = "#4d4d4d"
LEADER = 34.0
"""Points from a panel to words that a line leads to."""
TICK, PAD = 3.5, 3.5
"""The length of a tick, and from there to what it says."""
NAME_PAD = 5.0
"""From a panel to the names of its places, which have no ticks."""
LABEL_PAD, TITLE_PAD = 4.0, 6.0
LABEL_SIZE, TITLE_SIZE, SMALL = 8.0, 9.0, 6.5
MANY = 2000
"""More marks than this are an image inside the drawing, or an SVG grows to many megabytes."""

Limits = tuple[float, float]
Layered = tuple[float, Thing]
"""What is drawn, and its order: the higher is on top."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A panel, its position on the sheet, and the limits of its axes."""

    panel: c.Panel
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
        """A position on the sheet from shares of both axes."""
        box = self.box
        if self.panel.sideways:
            return box.x0 + up * box.width, box.y1 - along * box.height
        return box.x0 + along * box.width, box.y0 + up * box.height

    def place(self, place: float) -> float:
        """Position of a place on its axis."""
        return self.at(place, self.values[0])[self.panel.sideways]

    def value(self, value: float) -> float:
        """Position of a value on its axis."""
        return self.at(self.places[0], value)[not self.panel.sideways]


def _share(scale: c.Scale, ends: Limits, at: float) -> float:
    """Position between the ends of an axis, from 0 to 1."""
    low, high, found = (_straight(scale, one) for one in (*ends, at))
    return (found - low) / (high - low)


def _straight(scale: c.Scale, at: float) -> float:
    """The linear coordinate on the axis; on a logarithmic one, values up to 0 are far outside."""
    if scale == "linear":
        return at
    if scale == "symlog2":
        return math.copysign(2 + math.log2(abs(at)), at) if abs(at) > 1 else 2 * at
    return math.log(at) if at > 0 else -700.0


OVER = 4.5
"""The order of words whose height is a share of the panel's, which may lie above or below it."""


def things_of(frame: Frame) -> list[Thing]:
    """Everything in a panel, topmost last."""
    found = [*_axes(frame), *((3.0, text) for text in _around(frame)), *_layers(frame)]
    return [thing for _, thing in sorted(found, key=lambda one: one[0])]


def hits_of(frame: Frame) -> Iterator[Hit]:
    """The positions of the rows that the panel shows, and of other tooltips."""
    for layer in frame.panel.layers:
        if isinstance(layer, c.Words) and layer.row:
            yield from (Hit(text.box, layer.row) for _, text in _words(frame, layer))
        half = layer.thick / 2 if isinstance(layer, c.Bars) else 0.0
        for m in layer.marks if isinstance(layer, c.Series | c.Bars) else ():
            if m.row or m.told:
                ends = frame.at(m.place - half, m.start if half else m.value)
                (x0, x1), (y0, y1) = map(
                    sorted, zip(ends, frame.at(m.place + half, m.value), strict=True)
                )
                yield Hit(Box(x0, y0, x1, y1), m.row, m.told)


def _layers(frame: Frame) -> Iterator[Layered]:
    if not frame.panel.layers:
        yield 3.0, Text(*frame.on(0.5, 0.5), frame.panel.blank, LABEL_SIZE, c.GREY, up="center")
    for layer in frame.panel.layers:
        yield from _DRAWN[type(layer)](frame, layer)
    if frame.panel.leaders:
        at = sorted((frame.box.x1, frame.value(value)) for value, _, _ in frame.panel.beside)
        ends = [(text.x - 2, text.y) for text in _beside(frame)]
        yield 3.0, Shape(list(zip(at, ends, strict=True)), c.GREY, 0.5)


def _axes(frame: Frame) -> Iterator[Layered]:
    """The frame, its ticks, and the grid lines."""
    box, panel = frame.box, frame.panel
    corner = [(box.x0, box.y1), (box.x0, box.y0), (box.x1, box.y0)]
    yield 2.5, Shape([corner], FRAME, 0.7)
    for axis, where, is_value in (
        (panel.places, frame.place, False), (panel.values, frame.value, True)
    ):  # fmt: skip
        upright = is_value == panel.sideways  # grid lines of this axis are vertical
        at = [where(tick) for tick, _ in _ticks(frame, axis)]
        if axis.names is None:
            yield 0.5, Shape([_outward(box, one, upright=upright) for one in at], FRAME, 0.7)
        between = [where(edge - 0.5) for edge in (axis.ticks or ())[1:]]
        lines = between if axis.names is not None and axis.grid else at
        if is_value or axis.grid:
            grid = [_across(box, one, upright=upright) for one in lines]
            yield 0.0, Shape(grid, c.PALE, 0.6, clip=box)


def _ticks(frame: Frame, axis: c.Axis) -> list[tuple[float, str]]:
    """The ticks within the limits of an axis."""
    ends = frame.values if axis is frame.panel.values else frame.places
    low, high = min(ends), max(ends)
    room = 1e-9 * (high - low)
    found = c.ticks(axis, low, high)
    return [(at, text) for at, text in found if low - room <= at <= high + room]


def _outward(box: Box, at: float, *, upright: bool) -> list[Point]:
    """A tick."""
    return [(at, box.y0), (at, box.y0 - TICK)] if upright else [(box.x0, at), (box.x0 - TICK, at)]


def _across(box: Box, at: float, *, upright: bool) -> list[Point]:
    """A line across the panel."""
    return [(at, box.y0), (at, box.y1)] if upright else [(box.x0, at), (box.x1, at)]


def _around(frame: Frame) -> list[Text]:
    """The texts around a panel: tick labels, axis labels, title, and words beside it."""
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


def _beside(frame: Frame) -> list[Text]:
    """Words to the right of a panel, spread apart if lines lead to them."""
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
    places = c.apart([at[one] for one in order], gap, box.y0, box.y1)
    return [replace(found[one], y=y) for one, y in zip(order, places, strict=True)]


def _series(frame: Frame, series: c.Series) -> Iterator[Layered]:
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
            yield series.order, replace(dots(points, look), pixels=many)
    if invalid:
        hollow = replace(look, marker=look.marker or "o", size=max(look.size, 3.0), hollow=True)
        points = [frame.at(m.place, m.value) for m in invalid]
        yield series.order + 1, dots(points, hollow)
    gap = look.size / 2 if look.marker else 0
    yield from _mark_words(frame, series.marks, series.words_size, gap)


def dots(points: Sequence[Point], look: c.Look) -> Dots:
    edge = 1.4 if look.marker in ("|", "_") else 0.9 if look.hollow else 0.7
    fill = "white" if look.hollow else look.colour
    return Dots(points, look.marker, look.size, look.colour, fill, edge, look.alpha)


def _spread(
    frame: Frame, marks: Sequence[c.Mark], of: c.Series | c.Bars, colour: str
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
        cap = c.Look(colour, "|" if frame.panel.sideways else "_", size=3.2)
        yield of.order + 0.5, replace(dots([*low, *high], cap), width=0.7)


def _bars(frame: Frame, bars: c.Bars) -> Iterator[Layered]:
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
            yield from _spread(frame, marks, bars, c.INK)
    yield from _mark_words(frame, bars.marks, bars.words_size)


def _mark_words(
    frame: Frame, marks: Sequence[c.Mark], size: float, gap: float = 0
) -> Iterator[Layered]:
    for m in marks:
        if m.words:
            x, y = frame.at(m.place, m.furthest)
            colour = c.INK if m.valid else c.GREY
            if frame.panel.sideways:
                yield 5.0, Text(x + 6, y, m.words, size, colour, "left", "center", pad=0.5)
            else:
                yield 5.0, Text(x, y + 2 + gap, m.words, size, colour, pad=0.5)


def _rule(frame: Frame, rule: c.Rule) -> Iterator[Layered]:
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


def _words(frame: Frame, words: c.Words) -> Iterator[tuple[float, Text]]:
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
        turned, words.bold, 0.6 if words.boxed else None, 1.15,
    )  # fmt: skip
    yield OVER if words.at == "edge" else 4.0, text


def _arrow(frame: Frame, arrow: c.Arrow) -> Iterator[Layered]:
    """A line with open arrowheads."""
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


def _shade(frame: Frame, shade: c.Shade) -> Iterator[Layered]:
    ends = Box(*frame.on(0, 0), *frame.on(1, 1))
    low, high = frame.value(shade.low), frame.value(shade.high)
    sideways = frame.panel.sideways
    box = Box(low, ends.y0, high, ends.y1) if sideways else Box(ends.x0, low, ends.x1, high)
    yield 0.0, Shape([box.outline], shade.colour, fill=shade.colour, clip=frame.box)


def _area(frame: Frame, area: c.Area) -> Iterator[Layered]:
    box, look = Box(*frame.at(*area.start), *frame.at(*area.end)), area.look
    yield 0.1, Shape([box.outline], look.colour, look.width, look.line or "-", area.fill)


_DRAWN: Mapping[type[Any], Callable[[Frame, Any], Iterable[Layered]]] = {
    c.Series: _series,
    c.Bars: _bars,
    c.Rule: _rule,
    c.Shade: _shade,
    c.Words: _words,
    c.Arrow: _arrow,
    c.Area: _area,
}


def sides(frame: Frame) -> tuple[float, float, float, float]:
    """The extent of a panel's texts on its left, right, top and bottom."""
    inner = frame.box
    boxes = [text.box for text in _around(frame)]
    texts = [one for one in frame.panel.layers if isinstance(one, c.Rule | c.Words)]
    drawn = [one for layer in texts for one in _DRAWN[type(layer)](frame, layer)]
    over = [text.box for order, text in drawn if isinstance(text, Text) and order == OVER]
    return (
        max([inner.x0 - box.x0 for box in boxes] + [0]),
        max([box.x1 - inner.x1 for box in boxes] + [0]),
        max([box.y1 - inner.y1 for box in boxes + over] + [0]),
        max([inner.y0 - box.y0 for box in boxes + over] + [0]),
    )


def room(frame: Frame, ends: Limits) -> float:
    """The far end of the values at which the words beside the last marks fit."""
    axis, sideways = frame.panel.values, frame.panel.sideways
    if axis.limits or axis.scale == "symlog2":
        return ends[1]
    low, high = (_straight(axis.scale, end) for end in ends)
    extent = frame.box.width if sideways else frame.box.height
    needed = high
    for layer in (one for one in frame.panel.layers if isinstance(one, c.Series | c.Bars)):
        for m in layer.marks:
            if m.words:
                words = Text(0, 0, m.words, layer.words_size)
                size = words.width if sideways else words.height
                share = min((size + 10) / extent, 0.7)
                needed = max(needed, low + (_straight(axis.scale, m.furthest) - low) / (1 - share))
    if needed == high:
        return ends[1]
    return math.exp(needed) if axis.scale != "linear" else needed
