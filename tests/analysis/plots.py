"""What a figure drawn with Matplotlib shows, for tests."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import combinations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from strata.figures import _style, named
from strata.figures._plot import Plot
from strata.run import Run


@contextmanager
def drawn(figure: Plot, run: Run | None = None) -> Iterator[Figure]:
    """A figure that needs no run, laid out with all its texts apart."""
    with _style.styled():
        found = figure.plot(figure.data(run))  # type: ignore[arg-type]
        check_texts_of(found)
        yield found


@contextmanager
def plotted(figure: Plot, run: Run, width: float | None = None) -> Iterator[Figure]:
    """The figure of a run, laid out."""
    with _style.styled():
        yield figure.plot(figure.data(run), width)


def texts_of(figure: Figure) -> list[Text]:
    """The texts that are drawn: those of ticks outside an axis are not."""
    hidden: set[Text] = set()
    for ax in figure.findobj(Axes):
        assert isinstance(ax, Axes)
        for axis in (ax.xaxis, ax.yaxis):
            shown = axis._update_ticks() if ax.axison else []  # type: ignore[union-attr]
            for tick in (*axis.majorTicks, *axis.minorTicks):
                hidden |= {tick.label1, tick.label2} if tick not in shown else set()
    found = figure.findobj(lambda one: isinstance(one, Text) and one.get_visible())
    return [
        one
        for one in found
        if isinstance(one, Text) and one.get_text().strip() and one not in hidden
    ]


def _box(text: Text) -> Bbox:
    """The box of a text, without the arrow of an annotation, whose place it brings up to date."""
    whole = text.get_window_extent()
    return Text.get_window_extent(text) if getattr(text, "arrow_patch", None) else whole


def check_texts_of(figure: Figure, *, apart: bool = True) -> None:
    """All texts are inside the figure, and none is on another unless they need not be `apart`."""
    boxes = [(_box(text), text) for text in texts_of(figure)]
    for box, text in boxes:
        assert box.x0 > -1 and box.y0 > -1, text  # noqa: PT018
        assert box.x1 < figure.bbox.x1 + 1 and box.y1 < figure.bbox.y1 + 1, text  # noqa: PT018
    level = [(box, text) for box, text in boxes if text.get_rotation() % 90 == 0]
    for (one, words), (two, others) in combinations(level if apart else [], 2):
        across = min(one.x1, two.x1) - max(one.x0, two.x0)
        assert across < 1 or min(one.y1, two.y1) - max(one.y0, two.y0) < 1, (words, others)


def points_of(line: Line2D) -> list[tuple[float, float]]:
    """The points of a line."""
    return [(float(x), float(y)) for x, y in np.asarray(line.get_xydata())]


def lines_of(figure: Figure) -> list[Line2D]:
    """The lines with points in the panels, legends and ticks left out."""
    return [one for ax in figure.axes for one in ax.lines if len(points_of(one))]


def hollow_of(ax: Axes) -> list[tuple[float, float]]:
    """The points of a panel that are drawn hollow: the invalid ones."""
    hollow = [one for one in ax.lines if one.get_markerfacecolor() == "white"]
    return [point for one in hollow for point in points_of(one)]


def solid_of(ax: Axes, *, marked: bool = True) -> list[list[tuple[float, float]]]:
    """The points of each line of valid points, or of each line without markers."""
    found = [one for one in ax.lines if one.get_markerfacecolor() != "white" and points_of(one)]
    return [points_of(one) for one in found if marked == (one.get_marker() not in ("None", ""))]


def rules_of(ax: Axes) -> list[Line2D]:
    """The dashed or dotted lines across a panel, without markers."""
    plain = [one for one in ax.lines if one.get_marker() in ("None", "")]
    return [one for one in plain if one.get_linestyle() in ("--", ":") and len(points_of(one)) == 2]


def bars_of(figure: Figure) -> list[Rectangle]:
    """The bars of all panels."""
    return [one for ax in figure.axes for one in ax.patches if isinstance(one, Rectangle)]


def silent_of(figure: Figure) -> list[str]:
    """Lines with markers and bars that have no tooltip."""
    marked = [one for one in lines_of(figure) if one.get_marker() not in ("None", "", None)]
    return [f"{one}" for one in (*marked, *bars_of(figure)) if one not in _style.tooltips]


def plot_named(name: str) -> Plot:
    """A registered figure."""
    found = named(name)
    assert found
    return found


def labels_of(figure: Figure) -> list[str]:
    """The words of all legends."""
    own = [ax.get_legend() for ax in figure.axes]
    legends = [*figure.legends, *(one for one in own if one)]
    return [text.get_text() for legend in legends for text in legend.get_texts()]
