"""How do devices differ? A panel for each unit, a line for each thing, a dot for each device."""

import math
from collections.abc import Sequence

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from strata import figures
from strata.compare.devices import Devices, Group, warnings
from strata.compare.drawing import ROOM, laid_out, with_words, wrapped
from strata.figures._palette import GREY, INK
from strata.model import units

_STYLES = (
    ("#0072B2", "o"), ("#D55E00", "s"), ("#009E73", "D"), ("#CC79A7", "^"), ("#E69F00", "v"),
    ("#56B4E9", "P"),
)  # fmt: skip
COLUMNS = 2


def images(found: Devices) -> dict[str, bytes]:
    """The figure as png, svg and pdf; the same runs give the same bytes."""
    with figures.style():
        return figures.images(draw(found))


def draw(found: Devices) -> Canvas:
    """The panels in two columns; below, what differs beside the devices.

    Call within `strata.figures.style`.
    """
    rows = [found.groups[start : start + COLUMNS] for start in range(0, len(found.groups), COLUMNS)]
    heights = [0.75 + 0.17 * max(len(group.lines) for group in row) for row in rows]
    columns = min(COLUMNS, len(found.groups))
    width = 4.4 * columns
    below = [line for one in warnings(found) for line in wrapped(f"WARNING, {one}", width)]
    canvas = with_words(width, sum(heights) + 0.4, below)
    parts = canvas.add_gridspec(len(rows), columns, height_ratios=heights)
    for line, row in enumerate(rows):
        for place, group in enumerate(row):
            _panel(canvas.add_subplot(parts[line, place]), group, len(found.runs))
    canvas.legend(
        handles=_handles(found.names), loc="outside upper center",
        ncols=max(1, min(len(found.names), int(width // 2.6))),
    )  # fmt: skip
    return laid_out(canvas)


def _panel(panel: Axes, group: Group, runs: int) -> None:
    values = [one.value for _, numbers in group.lines for one in numbers if one]
    for place in range(runs):
        colour, marker = _STYLES[place % len(_STYLES)]
        dots = [(line, numbers[place]) for line, (_, numbers) in enumerate(group.lines)]
        shown = [(one.value, line) for line, one in dots if one]
        panel.plot(
            [x for x, _ in shown], [y for _, y in shown], marker=marker, color=colour,
            markersize=4.5, linestyle="none", markeredgewidth=0, alpha=0.9, label=f"_run{place}",
        )  # fmt: skip
    for line, (_, numbers) in enumerate(group.lines):
        here = [one.value for one in numbers if one]
        panel.hlines(line, min(here), max(here), color="#c8c8c8", linewidth=1, zorder=1)
    if min(values) > 0 and max(values) > 20 * min(values):
        panel.set_xscale("log")
        # Half a decade more on both sides: a dot on the edge would be cut.
        panel.set_xlim(min(values) / 1.6, max(values) * 1.6)
        many = math.log10(max(values) / min(values)) > 2
        panel.xaxis.set_major_locator(LogLocator(subs=(1.0,) if many else (1.0, 3.0)))
        panel.xaxis.set_minor_formatter(NullFormatter())
    else:
        panel.set_xlim(0, max(values) * 1.1)
    panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: units.tick(value)))
    panel.set_yticks(range(len(group.lines)), [ROOM + label for label, _ in group.lines])
    panel.set_ylim(len(group.lines) - 0.4, -0.6)
    panel.tick_params(axis="y", length=0)
    panel.grid(visible=True, axis="x")
    panel.grid(visible=False, axis="y")
    panel.set_title(group.panel.title)
    arrow = "← better" if group.panel.better == "lower" else "better →"
    panel.set_xlabel(f"{group.panel.unit}   ({arrow})", color=INK)
    panel.spines["left"].set_color(GREY)


def _handles(names: Sequence[str]) -> list[Artist]:
    return [
        Line2D([], [], color=_STYLES[place % len(_STYLES)][0], linestyle="none", markersize=5,
               marker=_STYLES[place % len(_STYLES)][1], markeredgewidth=0, label=name)
        for place, name in enumerate(names)
    ]  # fmt: skip
