"""Levels of memory as boxes in one another, each with its numbers: what `hierarchy_map` draws.

Places are bytes; heights are lines of words, from the top down. A box ends at its size, or, where
nobody tells one or its words would not fit, with a dashed edge where there is room.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log2
from typing import Literal

from strata.figures import _chart as c
from strata.model.hierarchy import WHAT, Hierarchy, Number

LEAST, MOST = 2.0**10, 2.0**50
"""Bytes: where the axis begins, and a size that nobody has."""
APART, UNKNOWN, INDENT = 3.0, 5.0, 0.2
"""Powers of two beyond the box inside: at the least, without a size; and between left edges."""
INSET, HEAD, FOOT, GAP = 0.55, 1.35, 0.35, 0.5
"""In lines: between two edges, from an edge to the first line, to the edge below, between boxes."""
SMALL, LARGE, LETTER, PAD = 7.0, 8.0, 0.58, 5.0
"""Points: sizes of words, how wide a letter is of them, and from words to an edge."""
MOST_LETTERS, MOST_LINES = 1.25, 1.4
"""How much larger words and lines are where a box has room."""
SIDE, PITCH = 118.0, 76.0
"""Points from the edge of a flat box to its first number, and to the next."""
FIRST = ("time", "bandwidth")
"""What is asked first: larger than the rest."""
COLOUR = {**c.LEVEL_COLOUR, "registers": "#666666", "host_memory": "#666666", "peer": "#666666"}
MARKS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")

Side = Literal["left", "right"]
End = tuple[float, bool]
"""The right edge of a box in bytes, and whether that is its size."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a box: its label, and the number of each device."""

    what: str
    label: str
    numbers: Sequence[Number | None]


@dataclass(frozen=True, slots=True)
class Shown:
    """A level of all devices: its lines, its size on each device where one is told, its parts."""

    name: str
    title: str
    depth: int | None
    lines: Sequence[Line]
    sizes: Sequence[float | None]
    parts: "Sequence[Shown]" = ()

    @property
    def reason(self) -> str:
        """Why all of it is missing; empty where something is there, or the reasons are many."""
        why = {n.why if n and not n.text else "" for line in self.lines for n in line.numbers}
        return why.pop() if len(why) == 1 else ""

    @property
    def flat(self) -> float:
        """The height of a box with numbers side by side, in lines."""
        return HEAD + (0 if self.reason else len(self.sizes))

    @property
    def height(self) -> float:
        """Of a box with numbers below one another."""
        parts = sum(part.height + GAP for part in self.parts)
        return HEAD + len(self.lines) + parts + FOOT


def shown(maps: Sequence[Hierarchy]) -> list[Shown]:
    """Every level that some device has; parts are in the levels that they are of."""
    levels = {level.name: level for one in maps for level in one.levels}

    def of(name: str) -> Shown:
        level, known = levels[name], [one.numbers(name) for one in maps]
        lines = [
            _line(what, [numbers.get(what) for numbers in known], maps[0].core) for what in WHAT
        ]
        lines = [line for line in lines if any(line.numbers)]
        sizes = [one.value if (one := numbers.get("size")) else None for numbers in known]
        parts = [of(part.name) for part in levels.values() if part.part_of == name]
        return Shown(name, level.title_of(maps[0].core), level.depth, lines, sizes, parts)

    return [of(name) for name, level in levels.items() if not level.part_of]


def _line(what: str, numbers: Sequence[Number | None], core: str) -> Line:
    told = dict.fromkeys(one.source for one in numbers if one)
    said = ", ".join(source for source in told if source in ("fact", "reported"))
    label = WHAT[what].replace("core", core)
    return Line(what, f"{label} ({said})" if said else label, numbers)


@dataclass(frozen=True, slots=True)
class Band:
    """Levels that lie equally deep, with the ends of their boxes on each device.

    Their boxes begin at `start`, their words at `left`, where what is inside ends, and end at
    `right`; all in bytes. `label` and `number` are how wide the longest ones are, in points.
    """

    levels: Sequence[Shown]
    ends: Mapping[str, Sequence[End]]
    start: float
    left: float
    right: float

    @property
    def number(self) -> float:
        """Points that the longest number takes, with the room beside it."""
        return max(len(n.text) for line in self._lines for n in line.numbers if n) * _WIDE + PAD

    @property
    def needed(self) -> float:
        """Points that its words take."""
        label = max(len(line.label) for line in self._lines) * LETTER * SMALL
        return label + len(self.levels[0].sizes) * self.number + 3 * PAD

    @property
    def octaves(self) -> float:
        """Powers of two that there are for words."""
        return log2(self.right / self.left)

    @property
    def _lines(self) -> list[Line]:
        return [line for one in self.levels for of in (one, *one.parts) for line in of.lines]


_WIDE = LETTER * LARGE


def bands(levels: Sequence[Shown]) -> list[Band]:
    """The levels of a device, from the innermost outward."""
    deepest = max(one.depth or 0 for one in levels)
    found: list[Band] = []
    inner = LEAST
    for depth in range(deepest + 1):
        here = [one for one in levels if one.depth == depth]
        ends = {one.name: [_end(size, inner) for size in one.sizes] for one in here}
        edges = [end for both in ends.values() for end, _ in both]
        start = LEAST * 2 ** (INDENT * (deepest - depth))
        found.append(Band(here, ends, start, inner if depth else start, min(edges)))
        inner = max(edges)
    return found


def _end(size: float | None, inner: float) -> End:
    known = size is not None and inner * 2**APART <= size <= MOST
    return (size, True) if size and known else (inner * 2**UNKNOWN, False)


@dataclass(frozen=True, slots=True)
class Pen:
    """Draws: in the colours of the devices, lines and letters so much larger.

    `notes` are the reasons why numbers are missing, each with its mark.
    """

    colours: Sequence[str]
    notes: dict[str, str]
    lines: float = 1.0
    letters: float = 1.0

    def band(self, band: Band, top: float, bottom: float, wide: float) -> Iterator[c.Layer]:
        """The boxes of a depth, one below the other, as tall as there is room; `wide` in points."""
        free = bottom - top - GAP * (len(band.levels) - 1)
        taller = free / sum(one.height for one in band.levels)
        letters = max(1.0, min(taller, wide / band.needed, MOST_LETTERS))
        pen = replace(self, lines=min(taller, MOST_LINES), letters=letters)
        for one in band.levels:
            ends, inside = band.ends[one.name], band.left * 2**INDENT
            yield from self.box(one.name, band.start, ends, top, top + taller * one.height)
            yield from pen.told(one, band, band.left, ends, top)
            y = top + pen.lines * (HEAD + len(one.lines) + FOOT)
            for part in one.parts:
                of = [(end / len(one.parts), known) for end, known in ends]
                yield from self.box(one.name, inside, of, y, y + pen.lines * part.height)
                yield from pen.told(part, band, inside, of, y)
                y += pen.lines * (part.height + GAP)
            top += taller * one.height + GAP

    def box(
        self, name: str, left: float, ends: Sequence[End], top: float, low: float
    ) -> Iterator[c.Layer]:
        """A box that ends at the size on each device, in the level's colour where all agree."""
        colour, alike = COLOUR.get(name, c.OTHER.colour), len(set(ends)) == 1
        fill = c.pale(colour, 0.13)
        yield c.Area((left, top), (max(end for end, _ in ends), low), c.Look(fill, width=0), fill)
        for device, (end, known) in enumerate(ends[:1] if alike else ends):
            own = colour if alike else self.colour(device)
            yield c.Area((left, top), (end, low), c.Look(own, line="-" if known else "--", width=1))

    def told(
        self, one: Shown, band: Band, left: float, ends: Sequence[End], top: float
    ) -> Iterator[c.Layer]:
        """The title of a box, and a line for each number: its label, and each device's."""
        yield self.text(left, top + self.lines * HEAD / 2, one.title, PAD, size=LARGE, bold=True)
        right = min(end for end, _ in ends)
        for at, line in enumerate(one.lines):
            y = top + self.lines * (HEAD + at + 0.5)
            yield self.text(left, y, line.label, PAD, colour=c.GREY)
            for device in range(len(ends)):
                dx = -PAD - self.letters * band.number * (len(ends) - 1 - device)
                yield self.value(right, y, line, device, dx=dx, across="right")

    def strip(self, one: Shown, top: float, end: End) -> Iterator[c.Layer]:
        """What is beside the device: a flat box, numbers side by side."""
        yield from self.box(one.name, LEAST, [end], top, top + one.flat)
        head = top + HEAD / 2
        yield self.text(LEAST, head, one.title, PAD, size=LARGE, bold=True)
        if one.reason:
            yield self.text(LEAST, head, one.reason, SIDE)
            return
        for at, line in enumerate(one.lines):
            dx = SIDE + at * PITCH
            yield self.text(LEAST, head, line.label, dx, colour=c.GREY)
            for device in range(len(one.sizes)):
                y = head + 1 + device
                yield self.value(LEAST, y, line, device, dx=dx, across="left")

    def value(
        self, place: float, y: float, line: Line, device: int, *, dx: float, across: Side
    ) -> c.Words:
        """What a line says of a device; a mark where that is missing."""
        found, colour = line.numbers[device], self.colour(device)
        if found and not found.text:
            mark = f"{len(self.notes) + 1}".translate(MARKS)
            missing = f"–{self.notes.setdefault(found.why, mark)}"
            return self.text(place, y, missing, dx, across, colour=colour)
        large = line.what in FIRST
        size, words = LARGE if large else SMALL, found.text if found else ""
        return self.text(place, y, words, dx, across, size=size, colour=colour, bold=large)

    def text(
        self, place: float, y: float, text: str, dx: float, across: Side = "left", *,
        size: float = SMALL, colour: str = c.INK, bold: bool = False,
    ) -> c.Words:  # fmt: skip
        """Words in a line, `dx` points beside a place."""
        large = size * self.letters
        return c.Words(place, y, text, dx, 0, across, "center", large, colour, bold=bold)

    def colour(self, device: int) -> str:
        """Of the numbers of a device."""
        return self.colours[device % len(self.colours)]
