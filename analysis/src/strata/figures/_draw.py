"""Lays out a chart: the positions of its panels and its legend on the sheet.

The margins of a panel are as wide as its texts, and the texts depend on the size of the panel, so
everything is laid out twice.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from textwrap import wrap

from strata.figures import _chart as c
from strata.figures._legend import EDGE, Legend, legend_of, placed
from strata.figures._panel import SMALL, Frame, hits_of, room, sides, things_of
from strata.figures._sheet import POINT, Box, Sheet, Text

GAP = 8.0
"""Points between two panels, beside what their texts need."""
BELOW = 9.0
"""Points from a line of words below the panels to the next."""


def draw(chart: c.Chart) -> Sheet:
    """The chart on a sheet."""
    below = [line for words in chart.below for line in _broken(words, chart.width)]
    foot = BELOW * len(below) + GAP if below else 0.0
    width, height = chart.width * POINT, chart.height * POINT + foot
    page = Box(0, foot, width, height)
    rows, columns = len(chart.rows), max(map(len, chart.rows))
    about = Box(0, 0, 0.8 * width / columns, 0.75 * height / rows)
    shared = c.value_limits(chart)
    frames = {
        (row, column): Frame(
            _once(chart, row, column, panel), about, shared[row, column], c.place_limits(panel)
        )
        for row, panels in enumerate(chart.rows)
        for column, panel in enumerate(panels)
        if panel
    }  # fmt: skip
    legend = legend_of(chart, width)
    for _ in range(2):
        frames = _laid_out(chart, frames, page, legend)
        far = {ends: ends[1] for ends in shared.values()}  # panels with shared limits keep theirs
        for at, frame in frames.items():
            far[shared[at]] = max(far[shared[at]], room(frame, shared[at]))
        for at, frame in frames.items():
            frames[at] = replace(frame, values=(shared[at][0], far[shared[at]]))
    things = [thing for frame in frames.values() for thing in things_of(frame)]
    things += placed(legend, chart, page)
    if below:
        words = Text(EDGE, foot, "\n".join(below), SMALL, c.INK, "left", "top", spacing=1.35)
        things.append(words)
    return Sheet(width, height, things, [hit for f in frames.values() for hit in hits_of(f)])


def _broken(words: str, width: float) -> list[str]:
    """A line broken into pieces of at most `width` inches, the later ones indented."""
    most = max(30, int((width - 0.3) / 0.056))
    return wrap(
        words, most, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    )


def _once(chart: c.Chart, row: int, column: int, panel: c.Panel) -> c.Panel:
    """The panel without names and labels that its left or lower neighbour also shows."""
    places, values = panel.places, panel.values
    left = chart.rows[row][column - 1] if column else None
    below = chart.rows[row + 1][column] if row + 1 < len(chart.rows) else None
    if left and panel.sideways:
        if left.places.names == places.names and places.names:
            places = replace(places, names=[""] * len(places.names), label="")
    elif left and left.values.label == values.label:
        values = replace(values, label="")
    if below:
        if panel.sideways and below.values.label == values.label:
            values = replace(values, label="")
        elif not panel.sideways and below.places.label == places.label:
            places = replace(places, label="")
    return replace(panel, places=places, values=values)


# --- where panels lie -----------------------------------------------------------------------------


def _laid_out(
    chart: c.Chart, frames: Mapping[tuple[int, int], Frame], page: Box, legend: Legend
) -> dict[tuple[int, int], Frame]:
    """Places panels so that nothing is cut off or overlaps."""
    rows, columns = len(chart.rows), max(map(len, chart.rows))
    reach = {at: sides(frame) for at, frame in frames.items()}
    left, right = (
        [
            max(side[of] for at, side in reach.items() if at[1] == column)
            for column in range(columns)
        ]
        for of in (0, 1)
    )
    above, below = (
        [max(side[of] for at, side in reach.items() if at[0] == row) for row in range(rows)]
        for of in (2, 3)
    )
    wide = legend.width + GAP if legend.keys and chart.legend == "beside" else 0.0
    high = legend.height + GAP if legend.keys and chart.legend == "above" else 0.0
    across = page.width - 2 * EDGE - wide - sum(left) - sum(right) - GAP * (columns - 1)
    down = page.height - 2 * EDGE - high - sum(above) - sum(below) - GAP * (rows - 1)
    widths = _shares(chart.widths, columns, max(across, 0.2 * page.width))
    heights = _shares(chart.heights, rows, max(down, 0.2 * page.height))
    placed = {}
    for (row, column), frame in frames.items():
        x = EDGE + sum(left[: column + 1]) + sum(right[:column]) + sum(widths[:column])
        y = EDGE + high + sum(above[: row + 1]) + sum(below[:row]) + sum(heights[:row])
        x, y = x + GAP * column, page.y1 - y - GAP * row
        placed[row, column] = replace(frame, box=Box(x, y - heights[row], x + widths[column], y))
    return placed


def _shares(weights: Sequence[float], count: int, room: float) -> list[float]:
    given = list(weights[:count]) or [1.0] * count
    return [room * weight / sum(given) for weight in given]
