"""A drawn figure as a file with a heading, and as an SVG element whose series a page can switch.

The SVG has `class="key-N"` on a legend entry and `class="series-N"` on its marks: the artists with
its label, and those without any that have its colour, unless it is grey or of two entries.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from io import BytesIO
from textwrap import wrap
from typing import Any

from matplotlib.colors import to_rgba_array
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.textpath import text_to_path
from matplotlib.transforms import Bbox

from strata.figures._style import NOTE, POINT, QUIET
from strata.run import Run
from strata.run.files import visible

TITLE = 10.0
"""Points, of a heading."""
MOST = 4
"""More runs than these are counted in a heading."""
LINES = 2
"""What needs more lines than these is cut short, with a mark."""
_METADATA: dict[str, dict[str, None]] = {
    "png": {"Software": None},
    "svg": dict.fromkeys(("Date", "Creator", "Format", "Type")),
    "pdf": dict.fromkeys(("CreationDate", "Creator", "Producer")),
}
"""No dates and no program names: equal runs give equal files."""


def saved(figure: Figure, suffix: str, area: Bbox | None = None, dpi: float | None = None) -> bytes:
    """The figure as a file of this format."""
    buffer = BytesIO()
    look: dict[str, Any] = {} if dpi is None else {"dpi": dpi}
    figure.savefig(buffer, format=suffix, metadata=_METADATA[suffix], bbox_inches=area, **look)
    found = buffer.getvalue()
    return _compact(found.decode()).encode() if suffix == "svg" else found


# --- headings -------------------------------------------------------------------------------------


def sources_of(runs: Sequence[Run]) -> list[str]:
    """One line for each run of a picture, its device first."""
    of = [f"{run.context.device.name}, run {run.context.run}" for run in runs]
    return of[:MOST] + ([f"and {len(of) - MOST} more runs"] if len(of) > MOST else [])


@contextmanager
def headed(figure: Figure, title: str, sources: Sequence[str]) -> Iterator[Bbox]:
    """The area in inches to save, with a heading above the figure."""
    wide, high = figure.get_size_inches()
    room = POINT * wide - 16
    look: dict[str, Any] = {"ha": "left", "va": "bottom", "transform": figure.dpi_scale_trans}
    lines = "\n".join(fitted(source, room, NOTE) for source in sources)
    foot = figure.text(0.06, high + 0.06, lines, size=NOTE, color=QUIET, **look)
    top = foot.get_window_extent().y1 / figure.dpi + 0.05
    words = fitted(title, room, TITLE, "bold")
    head = figure.text(0.06, top, words, size=TITLE, weight="bold", **look)
    yield Bbox([[0, 0], [wide, head.get_window_extent().y1 / figure.dpi + 0.06]])
    head.remove()
    foot.remove()


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


# --- SVG elements ---------------------------------------------------------------------------------


def name_series(figure: Figure) -> None:
    """Give the entries of the legend and their marks the ids by which a page switches them."""
    entries = [
        (text, handle)
        for legend in figure.legends
        for text, handle in zip(legend.get_texts(), legend.legend_handles, strict=True)
        if handle
    ]
    colours = Counter(_colour(handle) for _, handle in entries)
    marks = [(f"{mark.get_label()}", mark) for ax in figure.axes for mark in ax.get_children()]
    marks += [
        (f"{bars.get_label()}", bar)
        for ax in figure.axes for bars in ax.containers for bar in bars.get_children()
    ]  # fmt: skip
    for number, (text, handle) in enumerate(entries):
        colour = _colour(handle)
        by_colour = colours[colour] == 1 and len({*colour}) > 1
        text.set_gid(f"key-{number}")
        handle.set_gid(f"key-{number}")
        for label, mark in marks:
            alike = by_colour and label[:1] in ("", "_") and colour == _colour(mark)
            if alike or label == text.get_text():
                mark.set_gid(f"series-{number}")


def _colour(artist: Any) -> tuple[float, ...]:
    """Red, green and blue of a line, a text or an area; empty for others."""
    get: Any = getattr(artist, "get_color", None) or getattr(artist, "get_facecolor", tuple)
    return tuple(to_rgba_array(get())[:1, :3].flat)


def _compact(svg: str) -> str:
    """A third of the letters: short numbers and names, styles of equal markers written once.

    The style sheet moves into the element: it would hold for the whole page that shows it.
    """
    svg = re.sub(r"<style.*?</style>", "", svg, count=1, flags=re.DOTALL)
    svg = svg.replace("<svg ", '<svg stroke-linejoin="round" ', 1)
    svg = re.sub(r"<[^>]+>", lambda tag: _short(tag[0]), svg)
    svg = re.sub(r">\s+<", "><", svg).replace("<defs></defs>", "")
    names = {name: f"i{at}" for at, name in enumerate(re.findall(r' id="([^"]+)"', svg))}
    reference = r'( id="|url\(#|xlink:href="#)([^")]+)'
    svg = re.sub(reference, lambda found: found[1] + names[found[2]], svg)
    return re.sub(r"<g([^>]*)>((?:<use [^>]*/>)+)</g>", _with_one_style, svg)


def _short(tag: str) -> str:
    tag = re.sub(r'^<g id="((?:key|series)-\d+)"', r'<g class="\1"', " ".join(tag.split()))
    tag = re.sub(r'^<g id="[^"]*"', "<g", tag)
    tag = re.sub(r' transform="rotate\(-0 [^)]*\)"', "", tag)
    return re.sub(r"-?\d+\.\d{3,}", lambda number: f"{round(float(number[0]), 2):g}", tag)


def _with_one_style(group: re.Match[str]) -> str:
    styles = set(re.findall(r' style="[^"]*"', group[2]))
    if len(styles) != 1 or "style=" in group[1]:
        return group[0]
    (style,) = styles
    return f"<g{group[1]}{style}>{group[2].replace(style, '')}</g>"
