"""Shared by all figures: the style, axes, marks of rows with their tooltips, and panels."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from textwrap import wrap
from typing import Any
from weakref import WeakKeyDictionary

import matplotlib.style
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import EngFormatter, FuncFormatter, LogLocator, NullLocator
from matplotlib.transforms import Bbox

from strata.model import units
from strata.run import Row

STYLE = Path(__file__).with_name("strata.mplstyle")
POINT = 72.0
LEVEL = {"shared": "#CC79A7", "l1": "#56B4E9", "l2": "#0072B2", "l3": "#009E73", "dram": "#D55E00"}
WIDTHS = {
    1: ("#440154", "o"), 2: ("#414487", "s"), 4: ("#2a788e", "^"), 8: ("#22a884", "D"),
    16: ("#8fc31f", "v"),
}  # fmt: skip
"""Colour and marker of ordered sizes: viridis without its palest."""
PROBLEMS = {"single": ("#0072B2", "o"), "galaxies": ("#009E73", "s"), "gravit": ("#CC79A7", "^")}
GREY, QUIET = "#7a7a7a", "#595959"
NOTE = 7.6
"""Points: the smallest text of a figure, 11 pixels on a page."""
COLUMN = 5.0
"""Inches: a narrower figure is for a column of a paper."""

tooltips: WeakKeyDictionary[Artist, Sequence[Row | str]] = WeakKeyDictionary()
"""Of artists: a row or words for each point of a line, for a bar one."""


@contextmanager
def styled() -> Iterator[None]:
    """Matplotlib in our style alone, without the settings of its user."""
    with matplotlib.style.context(STYLE, after_reset=True):
        yield


def pale(colour: str, share: float = 0.13) -> str:
    """The colour on white."""
    red, green, blue = (1 - share * (1 - part) for part in to_rgb(colour))
    return to_hex((red, green, blue))


# --- axes -----------------------------------------------------------------------------------------


def bytes_axis(ax: Axes, label: str) -> None:
    """A horizontal logarithmic axis of bytes, in powers of two."""
    ax.set_xscale("log", base=2)
    ticks = max(3, int(ax.get_window_extent().width / 46))
    ax.xaxis.set_major_locator(LogLocator(base=2, numticks=ticks))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda at, _: units.size(at)))
    ax.xaxis.set_minor_locator(LogLocator(base=2, numticks=60))
    ax.xaxis.set_minor_formatter("")
    ax.set_xlabel(label)


def plain_log(ax: Axes, which: str = "y", digits: Sequence[float] = (1, 2, 5)) -> None:
    """A logarithmic axis with plain numbers at these digits of each decade, or more in one."""
    axis = getattr(ax, f"{which}axis")
    low, high = getattr(ax, f"get_{which}lim")()
    if high < 10 * low:
        digits = (1, 2, 3, 4, 5, 7)
    getattr(ax, f"set_{which}scale")("log")
    axis.set_major_locator(LogLocator(subs=digits))
    axis.set_major_formatter(FuncFormatter(lambda at, _: f"{at:,.6g}"))
    axis.set_minor_formatter("")


def si_axis(ax: Axes, which: str = "y", unit: str = "") -> None:
    """SI prefixes at the major ticks of an axis: 2 T, 5 µs."""
    getattr(ax, f"{which}axis").set_major_formatter(EngFormatter(unit))


def values_axis(ax: Axes, values: Iterable[int], ratio: float = 1.0) -> None:
    """A horizontal logarithmic axis with ticks at values, but none within a ratio of another."""
    shown: list[int] = []
    for value in sorted({*values}):
        if not shown or value >= ratio * shown[-1]:
            shown.append(value)
    ax.set_xscale("log", base=2)
    ax.set_xticks(shown, map(units.count, shown))
    ax.xaxis.set_minor_locator(NullLocator())


def listed(ax: Axes, names: Iterable[str]) -> None:
    """A vertical axis of names from the top down."""
    shown = [*names]
    ax.set(yticks=range(len(shown)), yticklabels=shown, ylim=(len(shown) - 0.4, -0.6))
    ax.grid(visible=False, axis="y")
    ax.grid(axis="x")


# --- marks ----------------------------------------------------------------------------------------


def points(ax: Axes, data: pd.DataFrame, x: str, y: str, spread: Any = "", **look: Any) -> None:
    """Valid points joined by a line; invalid ones hollow and not joined; all with a tooltip.

    `spread` draws `low` to `high` of valid points: a "band", or whiskers along "x" or "y".
    """
    if data.empty:  # its label would be in the legend
        return
    good, bad = data[data.valid.astype(bool)], data[~data.valid.astype(bool)]
    (line,) = ax.plot(good[x], good[y], **look)
    colour, size = line.get_color(), line.get_markersize()
    (marks,) = ax.plot(
        bad[x], bad[y], marker=line.get_marker(), ms=size, mec=colour, mfc="white", ls=""
    )
    hover(line, good)
    hover(marks, bad)
    if spread == "band":
        ax.fill_between(good[x], good.low, good.high, color=colour, alpha=0.2, lw=0)
    elif spread:
        (whiskers, along) = (ax.hlines, y) if spread == "x" else (ax.vlines, x)
        whiskers(good[along], good.low, good.high, color=colour, lw=0.9)


def series(  # noqa: PLR0917
    ax: Axes, data: pd.DataFrame, by: str, looks: Mapping[Any, Sequence[str]], x: str, y: str,
    spread: Any = "", *, label: Any = "{}", **look: Any,
) -> None:  # fmt: skip
    """`points` of each value of a column, in the order of their looks.

    A look is the name, the colour and the marker of a value; without a name the `label` has it.
    """
    for value in [*looks, *({*data[by]} - looks.keys())]:
        *name, colour, marker = looks.get(value, (GREY, "X"))
        here = data[data[by] == value]
        if len(here):
            own = {"color": colour, "marker": marker, "label": label.format(*name or [value])}
            points(ax, here, x, y, spread, **own, **look)


def marks(rows: pd.Series, places: Iterable[float], scale: float = 1.0) -> pd.DataFrame:
    """Rows of a hidden column, as `points` draws them: their places `at`, values and ranges."""
    lines = [(row, row.valid, row.value, row.minimum, row.maximum) for row in rows]
    found = pd.DataFrame(lines, columns=["_row", "valid", "value", "low", "high"])
    numbers = ["value", "low", "high"]
    return found.assign(at=[*places], **{name: found[name] / scale for name in numbers})


def theirs(ax: Axes, x: Any, y: Any, words: Iterable[str], marker: str = "D", **look: Any) -> None:
    """Published values: open marks with tooltips."""
    (line,) = ax.plot(x, y, marker, **{"c": "#D55E00", "mfc": "white", "ms": 4.2, **look})
    hover(line, words)


def bars(
    ax: Axes, data: pd.DataFrame, names: str, values: str, words: str = "", **look: Any
) -> None:
    """Horizontal bars from the top down, invalid ones hollow, with their values beside them."""
    drawn = ax.barh(range(len(data)), data[values], **{"height": 0.66, **look})
    mark_rows(drawn, data)
    listed(ax, data[names])
    if words:
        ax.bar_label(drawn, [words.format(value) for value in data[values]], padding=4)
        ax.margins(x=0.12)


def mark_rows(drawn: BarContainer, data: pd.DataFrame) -> None:
    """Make the bars of invalid rows hollow, and give each bar its row as a tooltip."""
    for bar, valid, row in zip(drawn, data.valid, data["_row"], strict=True):
        hollow(bar, valid=valid)
        hover(bar, [row])


def hollow(bar: Patch, *, valid: bool) -> None:
    """Draw the bar of an invalid row as its dashed outline."""
    if not valid:
        bar.set(fc="white", ec=bar.get_facecolor(), ls="--", lw=1)


def note(
    ax: Axes, words: str, x: float, y: float, by: tuple[float, float] = (6, 0), **look: Any
) -> None:
    """Small text beside a point, `by` points away from it."""
    aligned = {"va": "center" if by[0] else "bottom", "ha": "left" if by[0] > 0 else "right"}
    aligned |= {} if by[0] else {"ha": "center"}
    ax.annotate(words, (x, y), by, textcoords="offset points", **{"size": NOTE, **aligned, **look})


def beside_marks(
    ax: Axes, words: Iterable[str], x: Iterable[float], y: Iterable[float], **look: Any
) -> None:
    """A text to the right of each point."""
    for text, end, at in zip(words, x, y, strict=True):
        note(ax, text, end, at, **look)


def hover(artist: Artist, rows: pd.DataFrame | Iterable[Row | str]) -> None:
    """Give a line or the patches of bars tooltips: a row or words for each of their points."""
    tooltips[artist] = [*(rows["_row"] if isinstance(rows, pd.DataFrame) else rows)]


def hits(figure: Figure) -> Iterator[tuple[Bbox, Row | str]]:
    """The position of each tooltip in points from the lower left: a box, or one without size."""
    scale = POINT / figure.dpi
    for artist in figure.findobj(lambda one: one in tooltips):
        rows = tooltips[artist]
        if hasattr(artist, "get_xydata"):
            places = artist.get_transform().transform(artist.get_xydata())
            boxes = [Bbox([place, place]) for place in places]
        else:
            boxes = [artist.get_window_extent()] * len(rows)
        for box, row in zip(boxes, rows, strict=True):
            yield Bbox(box.get_points() * scale), row


# --- panels and layout ----------------------------------------------------------------------------


def in_column(ax: Axes | Figure) -> bool:
    """Whether the figure is for a column of a paper, and has less beside its marks."""
    return bool((ax.figure if isinstance(ax, Axes) else ax).bbox.width < COLUMN * POINT)


def parts(data: pd.DataFrame, by: str | list[str]) -> list[tuple[Any, pd.DataFrame]]:
    """The lines of each value of a column, in their order."""
    return [*data.groupby(by, sort=False)]


def stacked(figure: Figure, lengths: Iterable[int], line: float = 0.3) -> Sequence[Axes]:
    """Panels one below the other, with room for lists of so many lines; `line` in inches."""
    ratios = [*lengths]
    figure.set_figheight(0.5 + sum(0.8 + line * length for length in ratios))
    return [*figure.subplots(len(ratios), squeeze=False, height_ratios=ratios).flat]


def lists(figure: Figure, lengths: Sequence[int], line: float = 0.3) -> Sequence[Axes]:
    """Panels of lists: in a column `stacked`, on a page side by side with shared names."""
    if in_column(figure):
        return stacked(figure, lengths, line)
    figure.set_figheight(1.2 + line * max(lengths))
    return [*figure.subplots(1, len(lengths), squeeze=False, sharey=True).flat]


def grid(figure: Figure, count: int, line: float = 2.4, most: int = 2) -> Sequence[Axes]:
    """Panels of `line` inches, at most so many beside each other on a page, one in a column."""
    across = min(count, 1 if in_column(figure) else most)
    rows = -(-count // across)
    figure.set_figheight(0.8 + line * rows)
    panels = [*figure.subplots(rows, across, squeeze=False).flat]
    for ax in panels[count:]:
        ax.remove()
    return panels[:count]


def panels(
    figure: Figure, data: pd.DataFrame, by: str | list[str], line: float = 2.4
) -> Iterator[tuple[Axes, Any, pd.DataFrame]]:
    """A panel of a `grid` for each value of a column: the panel, the value and its lines."""
    found = parts(data, by)
    for ax, (value, here) in zip(grid(figure, len(found), line), found, strict=True):
        yield ax, value, here


def legend_above(figure: Figure) -> None:
    """One legend above all panels without their own, in as many columns as fit, evenly filled."""
    keys = {
        label: handle
        for ax in figure.axes
        if ax.get_legend() is None
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)
    }
    rows = 1
    while keys:
        columns = -(-len(keys) // rows)
        drawn = figure.legend(keys.values(), keys, loc="outside upper left", ncols=columns)
        if columns == 1 or drawn.get_window_extent().width + 12 <= figure.bbox.width:
            return
        drawn.remove()
        rows += 1


def foot(figure: Figure, lines: Iterable[str]) -> None:
    """Text below the panels, broken at the width of the figure, which becomes taller by it."""
    most = int(figure.get_figwidth() / 0.064)
    broken = [part for line in lines for part in wrap(line, most, subsequent_indent="    ")]
    if broken:
        figure.set_figheight(figure.get_figheight() + 0.155 * len(broken) + 0.1)
        figure.supxlabel("\n".join(broken), x=0.01, ha="left", size=NOTE)


def lay_out(figure: Figure) -> None:
    """Place everything once, so that all files have the same layout."""
    figure.set_dpi(POINT)
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    page = Bbox.from_extents(0, 0, *figure.get_size_inches())
    for legend in figure.legends:  # stays where it is when a heading is added above
        legend.set_bbox_to_anchor(page, transform=figure.dpi_scale_trans)
