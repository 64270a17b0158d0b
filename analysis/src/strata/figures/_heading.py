"""The heading of a picture outside its page, in letters that the font has."""

from collections.abc import Sequence
from functools import cache
from textwrap import wrap
from typing import NamedTuple

from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.textpath import text_to_path

from strata.run import Run
from strata.run.files import visible

MOST = 4
"""More runs than these are counted."""
LINES = 2
"""What needs more lines than these is cut short, with a mark."""


class Heading(NamedTuple):
    """A title, and one line per shown run."""

    title: str
    sources: Sequence[str]


def heading_of(title: str, runs: Sequence[Run]) -> Heading:
    """The heading of a picture of several runs: one line for each, its device first."""
    of = [f"{run.context.device.name}, run {run.context.run}" for run in runs]
    more = [f"and {len(of) - MOST} more runs"] if len(of) > MOST else []
    return Heading(title, [*of[:MOST], *more])


def fitted(words: str, room: float, size: float, weight: str = "normal") -> str:
    """The words in lines of at most `room` points."""
    words = " ".join(drawable(words[:2000]).split())
    font = FontProperties(size=size, weight=weight)
    width, *_ = text_to_path.get_text_width_height_descent(words, font, ismath=False)
    letters = int(0.88 * len(words) * room / max(width, 1.0))
    return "\n".join(wrap(words, max(2, letters), max_lines=LINES, placeholder="…"))


def drawable(text: str) -> str:
    """The text with a placeholder for each letter that the font lacks."""
    known = _known()
    return "".join(
        letter if letter == "\n" or ord(letter) in known else "\ufffd" for letter in visible(text)
    )


@cache
def _known() -> frozenset[int]:
    return frozenset(get_font(findfont(FontProperties())).get_charmap())
