"""What the font of the figures can draw, and how wide it is."""

from functools import cache

from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.textpath import text_to_path

from strata.run.files import visible


def drawable(text: str) -> str:
    """The text with a placeholder for each letter that the font lacks."""
    known = _known()
    return "".join(one if one == "\n" or ord(one) in known else "\ufffd" for one in visible(text))


def width_of(text: str, size: float, *, bold: bool = False) -> float:
    """The width of a line in points."""
    font = FontProperties(size=size, weight="bold" if bold else "normal")
    width, *_ = text_to_path.get_text_width_height_descent(text, font, ismath=False)
    return float(width)


@cache
def _known() -> frozenset[int]:
    return frozenset(get_font(findfont(FontProperties())).get_charmap())
