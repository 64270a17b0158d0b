"""Levels of memory as nested boxes with their numbers, for `hierarchy_map`.

Places are bytes; heights are lines of text, from the top down. A box ends at its size. If its size
is unknown, or its text would not fit, it has a dashed edge where there is room.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import log2
from operator import attrgetter
from typing import Literal

from strata.figures import _chart as c
from strata.figures._sheet import POINT
from strata.model.hierarchy import WHAT, Hierarchy, Level, Number

LEAST, MOST = 2.0**10, 2.0**50
"""Bytes: where the axis begins, and a size that nobody has."""
APART, UNKNOWN, INDENT = 3.0, 5.0, 0.2
"""Powers of two beyond the box inside: at the least, without a size; and between left edges."""
INSET, HEAD, FOOT, GAP = 0.55, 1.35, 0.35, 0.5
"""In lines: between two edges, from an edge to the first line, to the edge below, between boxes."""
SMALL, LARGE, LETTER, PAD = 7.0, 8.0, 0.58, 5.0
"""Points: sizes of words, how wide a letter is of them, and from words to an edge."""
SIDE, PITCH = 118.0, 76.0
"""Points from the edge of a flat box to its first number, and to the next."""
WIDE, WIDEST = 8.4, 17.0
"""Inches of the sheet: where that is enough for the words, and at the most."""
FIRST = ("time", "bandwidth")
"""What is asked first: larger than the rest."""
COLOUR = {**c.LEVEL_COLOUR, "registers": "#666666", "host_memory": "#666666", "peer": "#666666"}
MARKS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")

End = tuple[float, bool]
"""The right edge of a box in bytes, and whether that is its size."""
Line = tuple[tuple[str, ...], Sequence[Number | None]]
"""What a line of a box tells, and the number of each device; several if one reason lacks them."""


class Drawing:
    """The boxes of devices with the same levels; `notes` explain missing numbers."""

    def __init__(self, maps: Sequence[Hierarchy]) -> None:
        self.maps, self.notes = maps, dict[str, str]()
        self.colours = c.COLOURS if len(maps) > 1 else (c.INK,)
        self.levels = {level.name: level for one in maps for level in one.levels}
        own = [one for one in self.levels.values() if one.depth is not None]
        told = [n for level in own for _, numbers in self._lines(level) for n in numbers if n]
        self.number = max(len(n.text) for n in told) * LETTER * LARGE + PAD
        bands = c.grouped((one for one in own if not one.part_of), attrgetter("depth")).values()
        self.layers, self.octave, self.last = list[c.Layer](), 0.0, LEAST
        insets = [INSET * (len(bands) - 1 - depth) for depth in range(len(bands))]
        self.tall = max(
            2 * inset + sum(self._height(one) + GAP for one in levels) - GAP
            for inset, levels in zip(insets, bands, strict=True)
        )
        for inset, levels in zip(insets, bands, strict=True):  # from the inside out
            self.layers[:0] = self._band(levels, inset)  # outer levels below inner ones
        needed = log2(self.last / LEAST) * self.octave / POINT
        self.wide = min(max(WIDE, needed), WIDEST)
        for level in self.levels.values():
            if level.depth is None:
                self.layers += self._flat(level)

    def _numbers(self, level: Level) -> list[dict[str, Number]]:
        return [dict(one.numbers(level.name)) for one in self.maps]

    def _sizes(self, level: Level) -> list[float | None]:
        found = [numbers.get("size") for numbers in self._numbers(level)]
        return [one.value if one else None for one in found]

    def _lines(self, level: Level) -> list[Line]:
        of, lines = self._numbers(level), list[Line]()
        for what in WHAT:
            numbers = [one.get(what) for one in of]
            if lines and _reason(numbers) and _reason(numbers) == _reason(lines[-1][1]):
                lines[-1] = (*lines[-1][0], what), numbers
            elif any(numbers):
                lines.append(((what,), numbers))
        return lines

    def _label(self, line: Line) -> str:
        names, numbers = line
        told = dict.fromkeys(one.source for one in numbers if one)
        said = ", ".join(source for source in told if source in ("fact", "reported"))
        label = ", ".join(WHAT[what] for what in names).replace("core", self.maps[0].core)
        return f"{label} ({said})" if said else label

    def _parts(self, level: Level) -> list[Level]:
        return [one for one in self.levels.values() if one.part_of == level.name]

    def _height(self, level: Level) -> float:
        parts = sum(self._height(part) + GAP for part in self._parts(level))
        return HEAD + len(self._lines(level)) + parts + FOOT

    def _band(self, levels: Sequence[Level], top: float) -> list[c.Layer]:
        """The boxes of one depth, one below the other, as tall as there is room.

        They begin slightly to the left of the inner boxes; their text begins where those end.
        """
        inner, start = self.last, LEAST * 2 ** (INDENT * top / INSET)
        left = inner if self.layers else start
        spare = self.tall - 2 * top - sum(self._height(one) + GAP for one in levels) + GAP
        layers = list[c.Layer]()
        for level in levels:
            ends, parts = _ends(self._sizes(level), inner), self._parts(level)
            self.last = max(self.last, *(end for end, _ in ends))
            height = self._height(level) + spare / len(levels)
            layers += self._box(level.name, start, ends, top, top + height)
            layers += self._words(level, left, ends, top)
            low = top + HEAD + len(self._lines(level)) + FOOT
            for part in parts:
                at, half = left * 2**INDENT, [(end / len(parts), known) for end, known in ends]
                layers += self._box(level.name, at, half, low, low + self._height(part))
                layers += self._words(part, at, half, low)
                low += self._height(part) + GAP
            top += height + GAP
        return layers

    def _words(self, level: Level, left: float, ends: Sequence[End], y: float) -> Iterator[c.Layer]:
        """The text of a box, between its left edge and the nearest of its right edges."""
        lines, right = self._lines(level), min(end for end, _ in ends)
        label = max(len(self._label(line)) for line in lines) * LETTER * SMALL
        needed = label + len(self.maps) * self.number + 3 * PAD
        self.octave = max(self.octave, needed / log2(right / left))
        title = level.title_of(self.maps[0].core)
        yield _text(left, y + HEAD / 2, title, PAD, size=LARGE, bold=True)
        for at, line in enumerate(lines):
            to = y + HEAD + at + 0.5
            yield _text(left, to, self._label(line), PAD, colour=c.GREY)
            for device in range(len(ends)):
                dx = -PAD - self.number * (len(ends) - 1 - device)
                yield self._number((right, to, dx), line, device, "right")

    def _flat(self, level: Level) -> Iterator[c.Layer]:
        """Levels beside the device: a flat box below, with numbers side by side."""
        lines = self._lines(level)
        sizes = [one for one in self._sizes(level) if one and one <= MOST]
        reason = _reason([n for _, numbers in lines for n in numbers])
        top = self.tall + GAP
        self.tall = top + HEAD + (0 if reason else len(self.maps))
        end = (max(sizes), True) if sizes else (self.last, False)
        self.last = max(self.last, end[0])
        yield from self._box(level.name, LEAST, [end], top, self.tall)
        yield _text(LEAST, top + HEAD / 2, level.title, PAD, size=LARGE, bold=True)
        if reason:
            yield _text(LEAST, top + HEAD / 2, reason, SIDE)
            return
        for at, line in enumerate(lines):
            dx = SIDE + at * PITCH
            yield _text(LEAST, top + HEAD / 2, self._label(line), dx, colour=c.GREY)
            for device in range(len(self.maps)):
                yield self._number((LEAST, top + HEAD / 2 + 1 + device, dx), line, device)

    def _box(
        self, name: str, left: float, ends: Sequence[End], top: float, low: float
    ) -> Iterator[c.Layer]:
        """A box that ends at its size on each device, in the colour of the level if all agree."""
        colour, alike = COLOUR.get(name, c.OTHER.colour), len(set(ends)) == 1
        fill = c.pale(colour, 0.13)
        yield c.Area((left, top), (max(end for end, _ in ends), low), c.Look(fill, width=0), fill)
        for device, (end, known) in enumerate(ends[:1] if alike else ends):
            own = colour if alike else self.colour(device)
            yield c.Area((left, top), (end, low), c.Look(own, line="-" if known else "--", width=1))

    def _number(
        self, at: tuple[float, float, float], line: Line, device: int,
        across: Literal["left", "right"] = "left",
    ) -> c.Words:  # fmt: skip
        """A number of a device, at a place, a line and an offset in points; a mark if missing."""
        found, large = line[1][device], line[0][0] in FIRST
        words, size = found.text if found else "", LARGE if large else SMALL
        if found and not words:
            mark = f"{len(self.notes) + 1}".translate(MARKS)
            words, size, large = f"–{self.notes.setdefault(found.why, mark)}", SMALL, False
        (place, y, dx), colour = at, self.colour(device)
        text = _text(place, y, words, dx, size=size, colour=colour, across=across, bold=large)
        return replace(text, row=found.row if found else None)

    def colour(self, device: int) -> str:
        """The colour of a device's numbers."""
        return self.colours[device % len(self.colours)]


def _reason(numbers: Sequence[Number | None]) -> str:
    """Why all of them are missing, if that is one reason."""
    why = {one.why if one and not one.text else "" for one in numbers}
    return why.pop() if len(why) == 1 else ""


def _ends(sizes: Sequence[float | None], inner: float) -> list[End]:
    """The right ends of boxes around one that ends at `inner`."""
    known = [size for size in sizes if size and inner * 2**APART <= size <= MOST]
    other = max(known, default=inner * 2**UNKNOWN)
    return [(size, True) if size in known and size else (other, False) for size in sizes]


def _text(
    place: float, y: float, text: str, dx: float, *, size: float = SMALL, colour: str = c.INK,
    across: Literal["left", "right"] = "left", bold: bool = False,
) -> c.Words:  # fmt: skip
    return c.Words(place, y, text, dx, 0, across, "center", size, colour, bold=bold)
