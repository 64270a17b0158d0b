"""Names for the series of a drawing, by which the page switches them off and on.

The SVG has `class="key-N"` on a legend entry and `class="series-N"` on its marks: the artists with
its label, and those without any that have its colour, unless it is grey or of two entries.
"""

from collections import Counter
from itertools import chain
from typing import Any

from matplotlib.artist import Artist
from matplotlib.colors import to_rgba_array
from matplotlib.figure import Figure


def name_series(figure: Figure) -> None:
    """Give the entries of the legend and their marks their ids."""
    entries = [
        (text, handle)
        for legend in figure.legends
        for text, handle in zip(legend.get_texts(), legend.legend_handles, strict=True)
        if handle
    ]
    colours = Counter(_colour(handle) for _, handle in entries)
    marks = [mark for ax in figure.axes for mark in ax.get_children()]
    boxes = [box for ax in figure.axes for box in ax.containers]
    for number, (text, handle) in enumerate(entries):
        label, colour = text.get_text(), _colour(handle)
        text.set_gid(f"key-{number}")
        handle.set_gid(f"key-{number}")
        mine = chain.from_iterable(box.get_children() for box in boxes if box.get_label() == label)
        for mark in (*mine, *marks):
            alone = f"{mark.get_label()}".startswith("_") or not mark.get_label()
            alike = (
                alone and colours[colour] == 1 and colour == _colour(mark) and len({*colour}) > 1
            )
            if alike or mark.get_label() == label:
                mark.set_gid(f"series-{number}")


def _colour(artist: Artist) -> tuple[float, ...]:
    """Red, green and blue of a line, a text or an area; empty for others."""
    get: Any = getattr(artist, "get_color", None) or getattr(artist, "get_facecolor", tuple)
    return tuple(to_rgba_array(get())[:1, :3].flat)
