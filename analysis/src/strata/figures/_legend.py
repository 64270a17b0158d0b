"""The legend of a chart on a sheet."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from strata.figures import _chart as c
from strata.figures._panel import LABEL_SIZE, dots
from strata.figures._sheet import Box, Shape, Text, Thing

EDGE = 4.0
"""Points to the edge of the sheet."""
HANDLE, HANDLE_PAD, COLUMN_GAP, LINE_GAP = 12.8, 6.4, 11.2, 4.0
"""The sign of an entry, its distance to the words, and those between columns and lines."""


@dataclass(frozen=True, slots=True)
class Legend:
    """The entries of a legend in columns."""

    columns: Sequence[Sequence[c.Key]] = ()

    @property
    def keys(self) -> list[c.Key]:
        return [key for column in self.columns for key in column]

    @property
    def widths(self) -> list[float]:
        """Widths of the columns."""
        words = [max(_entry(key).width for key in column) for column in self.columns]
        return [HANDLE + HANDLE_PAD + width for width in words]

    @property
    def width(self) -> float:
        return sum(self.widths) + COLUMN_GAP * (len(self.columns) - 1)

    @property
    def height(self) -> float:
        return max(_tall(column) for column in self.columns)


def _entry(key: c.Key) -> Text:
    return Text(0, 0, key.label, LABEL_SIZE, across="left", up="top")


def _tall(column: Sequence[c.Key]) -> float:
    return sum(_entry(key).height for key in column) + LINE_GAP * (len(column) - 1)


def legend_of(chart: c.Chart, width: float) -> Legend:
    """The legend, in as many columns as fit."""
    keys = c.legend(chart)
    if not keys:
        return Legend()
    most = chart.legend_columns or (1 if chart.legend == "beside" else len(keys))
    for columns in range(min(most, len(keys)), 1, -1):
        found = Legend(_parts(keys, columns))
        if found.width <= width or chart.legend == "beside":
            return found
    return Legend([keys])


def _parts(keys: Sequence[c.Key], count: int) -> list[Sequence[c.Key]]:
    """Splits into that many parts; the first ones are longer by one if necessary."""
    short, longer = divmod(len(keys), count)
    starts = [at * short + min(at, longer) for at in range(count + 1)]
    return [keys[start:end] for start, end in pairwise(starts)]


def placed(legend: Legend, chart: c.Chart, page: Box) -> Iterator[Thing]:
    """The legend on the sheet: above all panels, or at the right."""
    if not legend.keys:
        return
    x = max(EDGE, (page.width - legend.width) / 2)
    if chart.legend == "beside":
        x = page.width - EDGE - legend.width
    for column, width in zip(legend.columns, legend.widths, strict=True):
        y = page.y1 - EDGE
        for key in column:
            words = replace(_entry(key), x=x + HANDLE + HANDLE_PAD, y=y)
            yield from _handle(key.look, x, y - words.height / 2, patch=key.patch)
            yield words
            y -= words.height + LINE_GAP
        x += width + COLUMN_GAP


def _handle(look: c.Look, x: float, y: float, *, patch: bool) -> Iterator[Thing]:
    """The sign of an entry, around a height."""
    if patch:
        box = Box(x, y - 2.8, x + HANDLE, y + 2.8)
        fill = "white" if look.hollow else look.colour
        yield Shape([box.outline], look.colour, 0.8, look.line or "-", fill, look.hatch)
        return
    if look.line:
        yield Shape([[(x, y), (x + HANDLE, y)]], look.colour, look.width, look.line)
    if look.marker:
        yield dots([(x + HANDLE / 2, y)], look)
