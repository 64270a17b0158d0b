"""A sheet as PDF: a page of vectors, with text that can be searched and copied.

Matplotlib lays out every word anew and writes number by number, which takes ten times as long. The
used letters become Type 3 fonts: their outlines, in the order of first use.
"""

import zlib
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import lru_cache
from math import cos, isfinite, radians, sin
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.colors import to_rgb
from matplotlib.markers import MarkerStyle
from matplotlib.path import Path as Lines
from matplotlib.transforms import Affine2D

from strata.figures._letters import EM, Letter, placed
from strata.figures._sheet import HATCH, POINT, Dots, Point, Shape, Sheet, Text, Thing

UNITS = 1000 / EM
"""In one of those in which letters are measured."""
CODES = 100
"""As many letters has a font of a file: what a table of texts may list at once."""
TINY = 0.05
"""A letter is put apart from the one before where it stands further from it than so."""
JOINS, CAPS = ("miter", "round", "bevel"), ("butt", "round", "projecting")
OPERATORS = {Lines.MOVETO: "m", Lines.LINETO: "l", Lines.CURVE3: "c", Lines.CURVE4: "c"}
TEXTS = """/CIDInit /ProcSet findresource begin 12 dict begin begincmap
/CMapName /letters def /CMapType 2 def 1 begincodespacerange <00> <ff> endcodespacerange
{} beginbfchar {} endbfchar endcmap CMapName currentdict /CMap defineresource pop end end"""
"""Which text each code of a font is."""

Pixels = npt.NDArray[np.uint8]
Image = Callable[[Thing], Pixels]
"""A thing on its sheet as red, green, blue and opacity, from the top down."""


def pdf(sheet: Sheet, image: Image) -> bytes:
    """The sheet as a file, without dates or program names; `image` draws rasterised parts."""
    return _File(sheet, image).content()


class _File:
    """The file: drawings refer to fonts, markers, hatches, opacities and images, defined once."""

    def __init__(self, sheet: Sheet, image: Image) -> None:
        self._sheet, self._image = sheet, image
        self._objects = list[bytes]()
        self._known: dict[str, dict[Hashable, tuple[str, str]]] = defaultdict(dict)
        lines = ((line, text.bold) for text in sheet.texts for *_, line in text.lines)
        letters = list(dict.fromkeys(one for line in lines for one, _ in placed(*line)))
        self._codes: dict[Letter, tuple[str, int]] = {}
        for bold in (False, True):
            of = [one for one in letters if one.bold == bold]
            for part in (of[at : at + CODES] for at in range(0, len(of), CODES)):
                font = self._named("Font", self._font, *part)
                self._codes |= {one: (font, code) for code, one in enumerate(part)}

    def content(self) -> bytes:
        """The content of the file."""
        drawn = [part for thing in self._sheet.drawn for part in self._thing(thing)]
        page = self._object("", "\n".join(drawn).encode())
        named = "".join(
            f"/{kind}<<{' '.join(f'/{name} {of}' for name, of in known.values())}>>"
            for kind, known in self._known.items()
        )
        size, pages = f"{self._sheet.width:.2f} {self._sheet.height:.2f}", len(self._objects) + 2
        told = f"/Type/Page/Parent {pages} 0 R/MediaBox[0 0 {size}]/Contents {page}"
        only = self._object(f"{told}/Resources<<{named}>>")
        root = self._object(
            f"/Type/Catalog/Pages {self._object(f'/Type/Pages/Count 1/Kids[{only}]')}"
        )
        file, places = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n", list[int]()
        for number, one in enumerate(self._objects, start=1):
            places.append(len(file))
            file += b"%d 0 obj\n%b\nendobj\n" % (number, one)
        count = len(places) + 1
        table = "".join(f"{place:010} 00000 n \n" for place in places)
        table = f"xref\n0 {count}\n0000000000 65535 f \n{table}"
        trailer = f"trailer\n<</Size {count}/Root {root}>>\nstartxref\n{len(file)}\n%%EOF\n"
        return file + (table + trailer).encode()

    def _object(self, entries: str, stream: bytes | None = None) -> str:
        """Adds a dictionary, with an optional stream; returns the reference to it."""
        content = f"<<{entries}>>".encode()
        if stream is not None:
            packed = zlib.compress(stream)
            told = f"<<{entries}/Filter/FlateDecode/Length {len(packed)}>>"
            content = b"%b\nstream\n%b\nendstream" % (told.encode(), packed)
        self._objects.append(content)
        return f"{len(self._objects)} 0 R"

    def _named(self, kind: str, make: Callable[..., str], *of: Any) -> str:
        """The name of an object that is made `of` something, created once."""
        known = self._known[kind]
        if of not in known:
            known[of] = (f"{kind[0]}{len(known)}", make(*of))
        return f"/{known[of][0]}"

    def _thing(self, thing: Thing) -> Iterator[str]:
        yield "q"
        match thing:
            case Text():
                yield from self._text(thing)
            case Shape(pixels=True) | Dots(pixels=True):
                yield from self._pixels(thing)
            case Shape():
                yield from self._shape(thing)
            case Dots():
                yield from self._dots(thing)
        yield "Q"

    def _shape(self, shape: Shape) -> Iterator[str]:
        if not (path := " ".join(filter(None, map(_line, shape.lines)))):
            return
        if clip := shape.clip:
            yield f"{clip.x0:.2f} {clip.y0:.2f} {clip.width:.2f} {clip.height:.2f} re W n"
        yield self._ink(shape.colour, shape.fill, shape.width, shape.alpha)
        yield f"1 j [{' '.join(f'{part:.2f}' for part in shape.dashes)}] 0 d"
        yield f"{path} {_does(shape.width, shape.fill)}"
        if shape.hatch:
            name = self._named("Pattern", self._hatch, shape.hatch, shape.colour)
            yield f"/Pattern cs {name} scn {path} f"

    def _dots(self, dots: Dots) -> Iterator[str]:
        style = MarkerStyle(dots.marker)
        fill = dots.fill if style.is_filled() else ""
        yield self._ink(dots.colour, fill, dots.width, dots.alpha)
        yield f"{JOINS.index(style.get_joinstyle())} j {CAPS.index(style.get_capstyle())} J"
        does = _does(dots.width, fill)
        name = self._named("XObject", self._marker, dots.marker, dots.size, dots.width, does)
        for x, y in _somewhere(dots.points):
            yield f"q 1 0 0 1 {x:.2f} {y:.2f} cm {name} Do Q"

    def _text(self, text: Text) -> Iterator[str]:
        along, up = cos(radians(text.turned)), sin(radians(text.turned))
        yield f"BT {_colour(text.colour)} rg"
        for x, y, line in text.lines:
            yield f"{along:.5f} {up:.5f} {-up:.5f} {along:.5f} {x:.2f} {y:.2f} Tm"
            font, shown, pen = "", "", 0.0
            for letter, at in placed(line, text.bold):
                of, code = self._codes[letter]
                if of != font:
                    shown += f"{']TJ' if font else ''}{of} {text.size:.2f} Tf["
                    font = of
                if abs(at - pen) > TINY:
                    shown += f"{UNITS * (pen - at):.0f}"
                shown += f"<{code:02x}>"
                pen = at + letter.advance
            yield f"{shown}]TJ".replace("><", "")
        yield "ET"

    def _ink(self, colour: str, fill: str, width: float, alpha: float) -> str:
        told = f"{_colour(colour)} RG {_colour(fill or colour)} rg {width:.2f} w"
        return told if alpha == 1 else f"{told} {self._named('ExtGState', self._opacity, alpha)} gs"

    def _opacity(self, alpha: float) -> str:
        return self._object(f"/CA {alpha:.3f}/ca {alpha:.3f}")

    def _hatch(self, hatch: str, colour: str) -> str:
        tile = _path(Lines.hatch(hatch).transformed(Affine2D().scale(POINT)))
        ink = f"{_colour(colour)} RG {_colour(colour)} rg {HATCH} w"
        box = f"/BBox[0 0 {POINT} {POINT}]/XStep {POINT}/YStep {POINT}"
        told = f"/PatternType 1/PaintType 1/TilingType 1{box}/Resources<<>>"
        return self._object(told, f"{ink} {tile} B".encode())

    def _marker(self, marker: str, size: float, width: float, does: str) -> str:
        style = MarkerStyle(marker)
        path = style.get_path().transformed(style.get_transform() + Affine2D().scale(size))
        most = size + width
        told = f"/Type/XObject/Subtype/Form/BBox[-{most:.2f} -{most:.2f} {most:.2f} {most:.2f}]"
        return self._object(told, f"{_path(path)} {does}".encode())

    def _pixels(self, thing: Thing) -> Iterator[str]:
        """Too many marks, drawn as an image of their part of the sheet."""
        shown = self._image(thing)
        rows, columns = (np.flatnonzero(shown[..., 3].any(axis=side)) for side in (1, 0))
        if not len(rows):
            return
        top, low, left, right = rows[0], rows[-1] + 1, columns[0], columns[-1] + 1
        part, dot = shown[top:low, left:right], self._sheet.height / len(shown)
        size = f"/Type /XObject /Subtype /Image /Width {right - left} /Height {low - top}"
        told = f"{size} /BitsPerComponent 8 /ColorSpace"
        mask = self._object(f"{told} /DeviceGray", part[..., 3].tobytes())
        name = f"X{len(self._known['XObject'])}"
        image = self._object(f"{told} /DeviceRGB /SMask {mask}", part[..., :3].tobytes())
        self._known["XObject"][name] = (name, image)
        where = f"{dot * left:.2f} {self._sheet.height - dot * low:.2f}"
        yield f"{dot * (right - left):.2f} 0 0 {dot * (low - top):.2f} {where} cm /{name} Do"

    def _font(self, *letters: Letter) -> str:
        wide = [f"{UNITS * one.advance:.2f}" for one in letters]
        procs = names = texts = ""
        for code, one in enumerate(letters):
            outline = self._object("", f"{wide[code]} 0 d0 {_outline(one)}".encode())
            procs += f"/g{code} {outline}"
            names += f"/g{code}"
            texts += f"<{code:02x}> <{one.text.encode('utf-16-be').hex()}> "
        unicode = self._object("", TEXTS.format(len(letters), texts).encode())
        return self._object(
            "/Type/Font/Subtype/Type3/FontBBox[0 0 0 0]/FontMatrix[.001 0 0 .001 0 0]/Resources<<>>"
            f"/FirstChar 0/LastChar {len(letters) - 1}/Widths[{' '.join(wide)}]"
            f"/CharProcs<<{procs}>>/Encoding<</Differences[0{names}]>>/ToUnicode {unicode}"
        )


@lru_cache(maxsize=4096)
def _outline(letter: Letter) -> str:
    points, codes = letter.outline
    return f"{_path(Lines(UNITS * points, codes))} f" if len(points) else ""


@lru_cache(maxsize=256)
def _colour(colour: str) -> str:
    return " ".join(f"{part:.3g}" for part in to_rgb(colour))


def _does(width: float, fill: str) -> str:
    """The operator of a path: B fills and strokes it, n does neither."""
    return ("B" if fill else "S") if width else ("f" if fill else "n")


def _somewhere(points: Sequence[Point]) -> list[Point]:
    return [(x, y) for x, y in points if isfinite(x) and isfinite(y)]


def _line(points: Sequence[Point]) -> str:
    """A line; closed if it ends at its start."""
    known = _somewhere(points)
    told = [f"{x:.2f} {y:.2f} {'l' if at else 'm'}" for at, (x, y) in enumerate(known)]
    return " ".join(told + ["h"] * (len(known) > 2 and known[0] == known[-1]))


def _path(path: Lines) -> str:
    """A matplotlib path; quadratic curves become cubic ones, since PDF has no others."""
    told, at = list[str](), np.zeros(2)
    for points, code in path.iter_segments(simplify=False):
        if code == Lines.CLOSEPOLY:
            told.append("h")
            continue
        if code == Lines.CURVE3:
            by, to = points[:2], points[2:]
            points = np.concatenate([(at + 2 * by) / 3, (to + 2 * by) / 3, to])  # noqa: PLW2901
        told.append(f"{' '.join(f'{one:.2f}' for one in points)} {OPERATORS[code]}")
        at = points[-2:].copy()
    return " ".join(told)
