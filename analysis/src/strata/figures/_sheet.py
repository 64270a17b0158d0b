"""The elements of a drawing: shapes, markers and texts, in points from the lower left."""

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
        """Its corners; the first one is repeated at the end."""
        x0, y0, x1, y1 = self
        return [(x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0)]


@dataclass(frozen=True, slots=True)
class Shape:
    """Lines through points, `width` wide; `fill` or `hatch` fills the area that they enclose.

    `line` is matplotlib's style. Nothing is drawn outside `clip`; `pixels` become an image.
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
        """The lengths of dashes and gaps; empty for a solid line."""
        return [part * self.width for part in DASHES.get(self.line, ())]


@dataclass(frozen=True, slots=True)
class Dots:
    """One marker at many points; its edge is `width` wide, and `fill` is its interior."""

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
    """Words at a point, aligned by `across` and `up`, and `turned` by degrees.

    "middle" is "center" without the descenders of the last line. With a `pad`, a white box with
    that margin in points is behind the words. Lines are `spacing` times the size apart.
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
        """The width of the longest line."""
        return max(width_of(line, self.size, self.bold) for line in self.text.split("\n"))

    @property
    def height(self) -> float:
        """The height of all lines."""
        return self.size * (ASCENT + DESCENT + self.spacing * self.text.count("\n"))

    @property
    def outline(self) -> list[Point]:
        """The corners of the text, including its box."""
        left, top, pad = self._left, self._top, self.pad or 0.0
        box = Box(left - pad, top - self.height - pad, left + self.width + pad, top + pad)
        return [self._turn(x, y) for x, y in box.outline]

    @property
    def box(self) -> Box:
        """The bounding box of the words."""
        xs, ys = zip(*self.outline, strict=True)
        return Box(min(xs), min(ys), max(xs), max(ys))

    @property
    def lines(self) -> Iterator[tuple[float, float, str]]:
        """Each line with letters, and its starting point."""
        left, wide, baseline = self._left, self.width, self._top - self.size * ASCENT
        for at, line in enumerate(self.text.split("\n")):
            spare = wide - width_of(line, self.size, self.bold)
            right = left + spare * _BEFORE[self.across]
            if line.strip():
                yield *self._turn(right, baseline - at * self.spacing * self.size), line

    @property
    def _left(self) -> float:
        """The left end of the longest line, relative to the point, before rotation."""
        return -self.width * _BEFORE[self.across]

    @property
    def _top(self) -> float:
        """The top, relative to the point, before rotation."""
        share = {"top": 0.0, "center": 0.5, "middle": 0.5, "bottom": 1.0}[self.up]
        return share * (self.height - (self.size * DESCENT if self.up == "middle" else 0.0))

    def _turn(self, right: float, up: float) -> Point:
        """Rotates an offset from the point."""
        if not self.turned:
            return self.x + right, self.y + up
        cos, sin = math.cos(math.radians(self.turned)), math.sin(math.radians(self.turned))
        return self.x + right * cos - up * sin, self.y + right * sin + up * cos


_BEFORE = {"left": 0.0, "center": 0.5, "right": 1.0}
"""How much of a line lies before its point."""

Thing = Shape | Dots | Text


class Hit(NamedTuple):
    """The position of a row or of another tooltip: a bar, or a box without size for a mark."""

    box: Box
    row: Row | None
    told: str = ""


@dataclass(frozen=True, slots=True)
class Sheet:
    """A drawing: its size in points, its elements, topmost last, and the positions of its rows."""

    width: float
    height: float
    things: Sequence[Thing]
    hits: Sequence[Hit] = ()

    @property
    def drawn(self) -> Iterator[Thing]:
        """The elements in drawing order, including the boxes behind words."""
        for thing in self.things:
            if isinstance(thing, Text) and thing.pad is not None:
                yield Shape([thing.outline], "white", fill="white", alpha=0.8)
            yield thing

    @property
    def texts(self) -> list[Text]:
        """All words."""
        return [thing for thing in self.things if isinstance(thing, Text)]


def drawable(text: str) -> str:
    """The text with a placeholder for each letter that the font lacks."""
    return "".join(one if _drawn(one) else "\ufffd" for one in visible(text))


@cache
def _drawn(letter: str) -> bool:
    return letter == "\n" or known(letter)
