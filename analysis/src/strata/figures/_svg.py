"""A sheet as SVG: tenths of points, marks of one look in one path, words as text.

A tenth of the size of matplotlib's output, in a fifth of its time: a page contains fifty of them.
Words keep their laid-out width, whatever font the reader has.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from html import escape
from itertools import pairwise
from math import isfinite

from matplotlib.colors import to_hex
from matplotlib.markers import MarkerStyle
from matplotlib.path import Path as Lines
from matplotlib.transforms import Affine2D

from strata.figures._letters import FAMILY, width_of
from strata.figures._sheet import HATCH, Box, Dots, Point, Shape, Sheet, Text, Thing

HATCHED = 720
"""Tenths of a point from one tile of a hatch to the next."""
HEAD = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="{0}pt" height="{1}pt" viewBox="0 0 {0} {1}">'
    '<rect width="{0}" height="{1}" fill="#ffffff"/>'
)
FONT = f"font-family=\"'{FAMILY}',Verdana,sans-serif\""


def svg(sheet: Sheet) -> str:
    """The sheet as a file: on white, with its laid-out width."""
    size = [f"{side:.2f}".rstrip("0").rstrip(".") for side in (sheet.width, sheet.height)]
    drawing = _Drawing(sheet.height)
    drawn = [part for thing in sheet.drawn for part in drawing.thing(thing)]
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        HEAD.format(*size),
        f'<g transform="scale(.1)" fill="none" stroke-linejoin="round" {FONT}>',
        *drawing.definitions.values(),
        *drawn,
        "</g></svg>\n",
    ]
    return "\n".join(lines)


class _Drawing:
    """The drawing, which refers to clips and hatches, defined once."""

    def __init__(self, height: float) -> None:
        self._height = height
        self.definitions: dict[object, str] = {}

    def thing(self, thing: Thing) -> Iterator[str]:
        match thing:
            case Shape():
                yield from self._shape(thing)
            case Dots():
                yield from self._dots(thing)
            case Text():
                yield from self._text(thing)

    def _shape(self, shape: Shape) -> Iterator[str]:
        path = "".join(_line(self._on(line)) for line in shape.lines)
        if not path:
            return
        colour, told = to_hex(shape.colour), ""
        if shape.width:
            told += f' stroke="{colour}" stroke-width="{10 * shape.width:.3g}"'
        if shape.dashes:
            parts = (f"{10 * part:.3g}" for part in shape.dashes)
            told += f' stroke-dasharray="{" ".join(parts)}"'
        if shape.fill:
            told += f' fill="{to_hex(shape.fill)}"'
        if shape.alpha < 1:
            told += f' opacity="{shape.alpha:g}"'
        if shape.clip:
            told += f' clip-path="url(#{self._clip(shape.clip)})"'
        yield f'<path d="{path}"{told}/>'
        if shape.hatch:
            yield f'<path d="{path}" fill="url(#{self._hatch(shape.hatch, colour)})"/>'

    def _dots(self, dots: Dots) -> Iterator[str]:
        at, colour, fill = self._on(dots.points), to_hex(dots.colour), to_hex(dots.fill)
        outline, filled = _marker(dots.marker, dots.size)
        wide = 10 * dots.width
        # Translucent marks are drawn one by one, because two in one path would be as faint as one.
        see = f' opacity="{dots.alpha:g}"' if dots.alpha < 1 else ""
        if outline:
            paths = [f"M{x} {y}{outline}" for x, y in at]
            looks = [f'stroke="{colour}" stroke-width="{wide:.3g}"']
            looks[0] += f' fill="{fill}"' if filled else ""
        else:  # a round cap of a line without length is a disc
            paths = [f"M{x} {y}h0" for x, y in at] if see else [_discs(at)]
            rounds = [(colour, 10 * dots.size + wide)]
            rounds += [(fill, 10 * dots.size - wide)] if fill != colour else []
            looks = [f'stroke="{ink}" stroke-linecap="round" stroke-width="{size:.3g}"'
                     for ink, size in rounds]  # fmt: skip
        for look in looks:
            if not see:
                yield f'<path d="{"".join(paths)}" {look}/>'
                continue
            yield f"<g {look}>"
            yield from (f'<path d="{path}"{see}/>' for path in paths)
            yield "</g>"

    def _text(self, text: Text) -> Iterator[str]:
        look = f'font-size="{10 * text.size:.3g}" fill="{to_hex(text.colour)}"'
        look += ' font-weight="bold"' if text.bold else ""
        for x, y, line in text.lines:
            wide = round(10 * width_of(line, text.size, text.bold))
            ((across, down),) = self._on([(x, y)]) or ((0, 0),)
            where = f'x="{across}" y="{down}"'
            if text.turned:
                where += f' transform="rotate({-text.turned:.4g} {across} {down})"'
            held = f'textLength="{wide}" lengthAdjust="spacingAndGlyphs"'
            yield f"<text {where} {look} {held}>{escape(line, quote=False)}</text>"

    def _on(self, points: Iterable[Point]) -> list[tuple[int, int]]:
        """In tenths of points, downwards; undefined points are left out."""
        high = self._height
        known = (one for one in points if isfinite(one[0]) and isfinite(one[1]))
        return [(round(10 * x), round(10 * (high - y))) for x, y in known]

    def _clip(self, box: Box) -> str:
        path = f'<path d="{_line(self._on(box.outline))}"/>'
        return self._defined(box, f'<clipPath id="c{{}}">{path}</clipPath>')

    def _hatch(self, hatch: str, colour: str) -> str:
        tile = _relative(Lines.hatch(hatch).transformed(Affine2D().scale(HATCHED)))
        return self._defined(
            (hatch, colour),
            f'<pattern id="h{{}}" width="{HATCHED}" height="{HATCHED}" '
            f'patternUnits="userSpaceOnUse"><path d="M0 0{tile}" stroke="{colour}" '
            f'stroke-width="{10 * HATCH:.3g}" fill="{colour}"/></pattern>',
        )

    def _defined(self, key: object, element: str) -> str:
        """An element's name, with a placeholder for its number."""
        one = self.definitions.setdefault(key, element.format(len(self.definitions)))
        return one.split('"', 2)[1]


def _line(points: Sequence[tuple[int, int]]) -> str:
    """A line as relative steps from its first point; closed if it ends at its start."""
    if not points:
        return ""
    closed = len(points) > 2 and points[0] == points[-1]
    steps = _steps(points[:-1] if closed else points)
    along = f"l{' '.join(steps)}" if steps else "h0"
    return f"M{points[0][0]} {points[0][1]}{along}{'z' if closed else ''}".replace(" -", "-")


def _steps(points: Sequence[tuple[int, int]]) -> list[str]:
    return [f"{x - a} {y - b}" for (a, b), (x, y) in pairwise(points) if (x, y) != (a, b)]


def _discs(points: Sequence[tuple[int, int]]) -> str:
    """A line without length at each point."""
    if not points:
        return ""
    (x, y), steps = points[0], _steps(points)
    return f"M{x} {y}h0{''.join(f'm{step}h0' for step in steps)}".replace(" -", "-")


@lru_cache(maxsize=256)
def _marker(marker: str, size: float) -> tuple[str, bool]:
    """A marker's outline around its centre, and whether it is filled; nothing for a disc."""
    style = MarkerStyle(marker)
    path = style.get_path().transformed(
        style.get_transform() + Affine2D().scale(10 * size, -10 * size)
    )
    round_one = any(code == Lines.CURVE4 for _, code in path.iter_segments(simplify=False))
    return "" if round_one else _relative(path), style.is_filled()


def _relative(path: Lines) -> str:
    """A path of straight lines, relative to its starting point."""
    told, at, first = [], (0, 0), (0, 0)
    for vertex, code in path.iter_segments(curves=False, simplify=False):
        to = (round(vertex[0]), round(vertex[1]))
        if code == Lines.CLOSEPOLY:
            told.append("z")
            at = first
            continue
        first = to if code == Lines.MOVETO else first
        told.append(f"{'m' if code == Lines.MOVETO else 'l'}{to[0] - at[0]} {to[1] - at[1]}")
        at = to
    return "".join(told).replace(" -", "-")
