"""What a drawing is made of: shapes, markers and texts, in points from the lower left corner."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, NamedTuple

from strata.figures._chart import INK
from strata.figures._letters import known, width_of
from strata.run import Row
from strata.run.files import visible

POINT = 72.0
"""Points of an inch."""
DASHES: Mapping[str, Sequence[float]] = {
    "--": (3.7, 1.6), ":": (1.0, 1.65), "-.": (6.4, 1.6, 1.0, 1.6)
}  # fmt: skip
"""In widths of the line: how long it is drawn, and how long not."""
HATCH = 0.8
"""The width of hatches, in points."""
ASCENT, DESCENT = 0.76, 0.24
"""Of the size of a font: how far its letters reach above and below the line they stand on."""

Point = tuple[float, float]


class Box(NamedTuple):
    """A rectangle."""

    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def width(self) -> float:
        return self.x1 - self.x0

    @property
    def height(self) -> float:
        return self.y1 - self.y0

    @property
    def outline(self) -> list[Point]:
        """Its corners, the first one again last."""
        x0, y0, x1, y1 = self
        return [(x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0)]


@dataclass(frozen=True, slots=True)
class Shape:
    """Lines through points, drawn `width` wide; with `fill` or `hatch` what they enclose.

    `line` is matplotlib's style. Nothing is drawn outside of `clip`; `pixels` become an image.
    """

    lines: Sequence[Sequence[Point]]
    colour: str
    width: float = 0.0
    line: str = "-"
    fill: str = ""
    hatch: str = ""
    alpha: float = 1.0
    clip: Box | None = None
    pixels: bool = False

    @property
    def dashes(self) -> list[float]:
        """How long it is drawn, and how long not; nothing where it always is."""
        return [part * self.width for part in DASHES.get(self.line, ())]


@dataclass(frozen=True, slots=True)
class Dots:
    """The same marker at many points: its edge is `width` wide, and `fill` is inside."""

    points: Sequence[Point]
    marker: str
    size: float
    colour: str
    fill: str
    width: float
    alpha: float = 1.0
    pixels: bool = False


@dataclass(frozen=True, slots=True)
class Text:
    """Words at a point, which lies in them where `across` and `up` say, `turned` by degrees.

    "middle" is "center" without what hangs below the last line. A white box with `pad` points of
    room is behind the words, if there is a `pad`. Lines are `spacing` times the size apart.
    """

    x: float
    y: float
    text: str
    size: float
    colour: str = INK
    across: Literal["left", "center", "right"] = "center"
    up: Literal["top", "center", "middle", "bottom"] = "bottom"
    turned: float = 0.0
    bold: bool = False
    pad: float | None = None
    spacing: float = 1.2

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", drawable(self.text))

    @property
    def width(self) -> float:
        """Of the longest line."""
        return max(width_of(line, self.size, self.bold) for line in self.text.split("\n"))

    @property
    def height(self) -> float:
        """Of all lines."""
        return self.size * (ASCENT + DESCENT + self.spacing * self.text.count("\n"))

    @property
    def outline(self) -> list[Point]:
        """The corners of what the words cover, with the box behind them."""
        left, top, pad = self._left, self._top, self.pad or 0.0
        box = Box(left - pad, top - self.height - pad, left + self.width + pad, top + pad)
        return [self._turn(x, y) for x, y in box.outline]

    @property
    def box(self) -> Box:
        """What holds the words."""
        xs, ys = zip(*self.outline, strict=True)
        return Box(min(xs), min(ys), max(xs), max(ys))

    @property
    def lines(self) -> Iterator[tuple[float, float, str]]:
        """Each line that has letters, and the point from where they stand on it."""
        left, wide, baseline = self._left, self.width, self._top - self.size * ASCENT
        for at, line in enumerate(self.text.split("\n")):
            spare = wide - width_of(line, self.size, self.bold)
            right = left + spare * _BEFORE[self.across]
            if line.strip():
                yield *self._turn(right, baseline - at * self.spacing * self.size), line

    @property
    def _left(self) -> float:
        """Where the longest line begins, right of the point before it is turned."""
        return -self.width * _BEFORE[self.across]

    @property
    def _top(self) -> float:
        """How far the top lies above the point before it is turned."""
        share = {"top": 0.0, "center": 0.5, "middle": 0.5, "bottom": 1.0}[self.up]
        return share * (self.height - (self.size * DESCENT if self.up == "middle" else 0.0))

    def _turn(self, right: float, up: float) -> Point:
        """Where something is that was so far from the point before it was turned."""
        if not self.turned:
            return self.x + right, self.y + up
        cos, sin = math.cos(math.radians(self.turned)), math.sin(math.radians(self.turned))
        return self.x + right * cos - up * sin, self.y + right * sin + up * cos


_BEFORE = {"left": 0.0, "center": 0.5, "right": 1.0}
"""How much of a line lies before its point."""

Thing = Shape | Dots | Text


class Hit(NamedTuple):
    """Where a row, or what words tell of, is drawn: a bar, or a box without size for a mark."""

    box: Box
    row: Row | None
    told: str = ""


@dataclass(frozen=True, slots=True)
class Sheet:
    """A drawing: its size in points and what is on it, the last on top; and where its rows are."""

    width: float
    height: float
    things: Sequence[Thing]
    hits: Sequence[Hit] = ()

    @property
    def drawn(self) -> Iterator[Thing]:
        """What is drawn, one after the other: the boxes behind words as well."""
        for thing in self.things:
            if isinstance(thing, Text) and thing.pad is not None:
                yield Shape([thing.outline], "white", fill="white", alpha=0.8)
            yield thing

    @property
    def texts(self) -> list[Text]:
        """All words."""
        return [thing for thing in self.things if isinstance(thing, Text)]


def drawable(text: str) -> str:
    """The text with a mark in place of each letter that the font lacks."""
    return "".join(one if _drawn(one) else "\ufffd" for one in visible(text))


@cache
def _drawn(letter: str) -> bool:
    return letter == "\n" or known(letter)
