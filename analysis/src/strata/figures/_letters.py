"""The font of all texts: outlines of its letters, and their positions in a line.

A letter and a pair of letters are measured once, for all sizes and file formats.
"""

from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.ft2font import FT2Font, Kerning, LoadFlags

if TYPE_CHECKING:
    from matplotlib.ft2font import GlyphIndexType

FAMILY = "DejaVu Sans"
EM = 100.0
"""The size of which letters are measured."""


class Letter(NamedTuple):
    """A letter of the font and its advance."""

    text: str
    bold: bool
    number: "GlyphIndexType"
    advance: float

    @property
    def outline(self) -> tuple[Any, Any]:
        """Points and codes of a path, relative to the position of the letter."""
        return _outline(self)


def known(letter: str) -> bool:
    """Whether the font has the letter, also in bold."""
    return all(_face(bold).get_char_index(ord(letter)) for bold in (False, True))


@lru_cache(maxsize=8192)
def placed(line: str, bold: bool) -> tuple[tuple[Letter, float], ...]:  # noqa: FBT001
    """The letters of a line, each with its distance from the first."""
    found, at = list[tuple[Letter, float]](), 0.0
    for letter in (_letter(one, bold) for one in line):
        at += _kern(found[-1][0].number, letter.number, bold) if found else 0.0
        found.append((letter, at))
        at += letter.advance
    return tuple(found)


@lru_cache(maxsize=8192)
def width_of(line: str, size: float, bold: bool) -> float:  # noqa: FBT001
    """The width of a line."""
    of = placed(line, bold)
    return (of[-1][1] + of[-1][0].advance) * size / EM if of else 0.0


@cache
def _file(bold: bool) -> Any:  # noqa: FBT001
    return findfont(FontProperties(family=FAMILY, weight="bold" if bold else "normal"))


def _face(bold: bool) -> FT2Font:  # noqa: FBT001
    """Matplotlib's font, reopened in a forked process: two readers of one file would interfere."""
    face = get_font(_file(bold))
    face.set_size(EM, 72)  # dots per inch: one dot is one point
    return face


@lru_cache(maxsize=4096)
def _letter(text: str, bold: bool) -> Letter:  # noqa: FBT001
    face = _face(bold)
    glyph = face.load_char(ord(text), flags=LoadFlags.NO_HINTING)
    number = face.get_char_index(ord(text))
    return Letter(text, bold, number, glyph.linearHoriAdvance / 65536)


@lru_cache(maxsize=4096)
def _outline(letter: Letter) -> tuple[Any, Any]:
    face = _face(letter.bold)
    face.load_char(ord(letter.text), flags=LoadFlags.NO_HINTING)
    points, codes = face.get_path()
    return np.asarray(points), codes


@lru_cache(maxsize=16384)
def _kern(left: Any, right: Any, bold: bool) -> float:  # noqa: FBT001
    return _face(bold).get_kerning(left, right, Kerning.UNFITTED) / 64
