"""Shared by all figures: the style, axes of bytes and of numbers, hollow invalid marks, files."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from itertools import product
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
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator
from matplotlib.transforms import Bbox

from strata.figures._heading import Heading, fitted
from strata.model import units
from strata.model.names import FIELDS, fields_name, ordered
from strata.model.units import short, size
from strata.run import Row

STYLE = Path(__file__).with_name("strata.mplstyle")
POINT = 72.0
LEVEL = {"shared": "#CC79A7", "l1": "#56B4E9", "l2": "#0072B2", "l3": "#009E73", "dram": "#D55E00"}
LAYOUTS = {
    "aos": ("#D55E00", "o"), "soa": ("#0072B2", "s"), "aoas": ("#E69F00", "^"),
    "soaoas": ("#009E73", "D"), "aosoa32": ("#CC79A7", "v"),
}  # fmt: skip
WIDTHS = {
    1: ("#440154", "o"), 2: ("#414487", "s"), 4: ("#2a788e", "^"), 8: ("#22a884", "D"),
    16: ("#8fc31f", "v"),
}  # fmt: skip
"""Colour and marker of ordered sizes: viridis without its palest."""
PROBLEMS = {"single": ("#0072B2", "o"), "galaxies": ("#009E73", "s"), "gravit": ("#CC79A7", "^")}
GREY, QUIET = "#7a7a7a", "#595959"
NOTE, TITLE = 7.6, 10.0
"""Points: the smallest text of a figure, 11 pixels on a page, and the title of a heading."""
COLUMN = 5.0
"""Inches: a narrower figure is for a column of a paper."""
_METADATA: dict[str, dict[str, None]] = {
    "png": {"Software": None},
    "svg": dict.fromkeys(("Date", "Creator", "Format", "Type")),
    "pdf": dict.fromkeys(("CreationDate", "Creator", "Producer")),
}
"""No dates and no program names: equal runs give equal files."""

tooltips: WeakKeyDictionary[Artist, Sequence[Row | str]] = WeakKeyDictionary()
"""Of artists: a row or words for each point of a line, for a bar one."""


@contextmanager
def styled() -> Iterator[None]:
    """Matplotlib in our style alone, without the settings of its user."""
    with matplotlib.style.context(STYLE, after_reset=True):
        yield


def bytes_axis(ax: Axes, label: str) -> None:
    """A horizontal logarithmic axis of bytes, in powers of two."""
    ax.set_xscale("log", base=2)
    ticks = max(3, int(ax.get_window_extent().width / 46))
    ax.xaxis.set_major_locator(LogLocator(base=2, numticks=ticks))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda at, _: size(at)))
    ax.xaxis.set_minor_locator(LogLocator(base=2, numticks=60))
    ax.xaxis.set_minor_formatter("")
    ax.set_xlabel(label)


def plain_log(ax: Axes, which: str = "y", digits: Sequence[float] = (1, 2, 5)) -> None:
    """A logarithmic axis with plain numbers at 1, 2 and 5 of each decade."""
    axis = getattr(ax, f"{which}axis")
    getattr(ax, f"set_{which}scale")("log")
    axis.set_major_locator(LogLocator(subs=digits))
    axis.set_major_formatter(FuncFormatter(lambda at, _: f"{at:,.6g}"))
    axis.set_minor_formatter("")


def values_axis(ax: Axes, values: Iterable[int], ratio: float = 1.0) -> None:
    """A horizontal logarithmic axis with ticks at values, but none within a ratio of another."""
    shown: list[int] = []
    for value in sorted({*values}):
        if not shown or value >= ratio * shown[-1]:
            shown.append(value)
    ax.set_xscale("log", base=2)
    ax.set_xticks(shown, map(units.count, shown))
    ax.xaxis.set_minor_locator(NullLocator())


def points(ax: Axes, data: pd.DataFrame, x: str, y: str, spread: Any = "", **look: Any) -> None:
    """Valid points joined by a line; invalid ones hollow and not joined; all with a tooltip.

    `spread` draws `low` to `high` of valid points: a "band", or whiskers along "x" or "y".
    """
    good, bad = data[data.valid.astype(bool)], data[~data.valid.astype(bool)]
    (line,) = ax.plot(good[x], good[y], **look)
    hollow: dict[str, Any] = {
        "mfc": "white",
        "mec": line.get_color(),
        "ls": "",
        "ms": line.get_markersize(),
    }
    (marks,) = ax.plot(bad[x], bad[y], marker=line.get_marker(), **hollow)
    hover(line, good)
    hover(marks, bad)
    if spread == "band":
        ax.fill_between(good[x], good.low, good.high, color=line.get_color(), alpha=0.2, lw=0)
    elif spread:
        (whiskers, along) = (ax.hlines, y) if spread == "x" else (ax.vlines, x)
        whiskers(good[along], good.low, good.high, color=line.get_color(), lw=0.9)


def note(
    ax: Axes, words: str, x: float, y: float, by: tuple[float, float] = (6, 0), **look: Any
) -> None:
    """Small text beside a point, `by` points away from it."""
    aligned = {"va": "center" if by[0] else "bottom", "ha": "left" if by[0] > 0 else "right"}
    aligned |= {} if by[0] else {"ha": "center"}
    ax.annotate(words, (x, y), by, textcoords="offset points", **{"size": NOTE, **aligned, **look})


def theirs(ax: Axes, x: Any, y: Any, words: Iterable[str], marker: str = "D", **look: Any) -> None:
    """Published values: open marks with tooltips."""
    (line,) = ax.plot(x, y, marker, **{"c": "#D55E00", "mfc": "white", "ms": 4.2, **look})
    hover(line, words)


def marks(rows: pd.Series, places: Iterable[float], scale: float = 1.0) -> pd.DataFrame:
    """Rows of a hidden column, as `points` draws them: their places `at`, values and ranges."""
    lines = [(row, row.valid, row.value, row.minimum, row.maximum) for row in rows]
    found = pd.DataFrame(lines, columns=["_row", "valid", "value", "low", "high"])
    numbers = ["value", "low", "high"]
    return found.assign(at=[*places], **{name: found[name] / scale for name in numbers})


def bars(
    ax: Axes, data: pd.DataFrame, names: str, values: str, words: str = "", **look: Any
) -> BarContainer:
    """Horizontal bars from the top down, invalid ones hollow, with their values beside them."""
    drawn = ax.barh(range(len(data)), data[values], **{"height": 0.66, **look})
    _mark_rows(drawn, data)
    listed(ax, data[names])
    if words:
        ax.bar_label(drawn, [words.format(value) for value in data[values]], padding=4)
        ax.margins(x=0.12)
    return drawn


def in_column(ax: Axes | Figure) -> bool:
    """Whether the figure is for a column of a paper, and has less beside its marks."""
    return bool((ax.figure if isinstance(ax, Axes) else ax).bbox.width < COLUMN * POINT)


def parts(data: pd.DataFrame, by: str | list[str]) -> list[tuple[Any, pd.DataFrame]]:
    """The lines of each value of a column, in their order."""
    return [*data.groupby(by, sort=False)]


def listed(ax: Axes, names: Iterable[str]) -> None:
    """A vertical axis of names from the top down."""
    shown = [*names]
    ax.set(yticks=range(len(shown)), yticklabels=shown, ylim=(len(shown) - 0.4, -0.6))
    ax.grid(visible=False, axis="y")
    ax.grid(axis="x")


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


def grid(figure: Figure, count: int, line: float = 2.4) -> Sequence[Axes]:
    """Panels of `line` inches, two beside each other on a page, one in a column."""
    across = min(count, 1 if in_column(figure) else 2)
    rows = -(-count // across)
    figure.set_figheight(0.8 + line * rows)
    panels = [*figure.subplots(rows, across, squeeze=False).flat]
    for ax in panels[count:]:
        ax.remove()
    return panels[:count]


def hollow(bar: Patch, *, valid: bool) -> None:
    """Draw the bar of an invalid row as its dashed outline."""
    if not valid:
        bar.set(fc="white", ec=bar.get_facecolor(), ls="--", lw=1)


def _mark_rows(drawn: BarContainer, data: pd.DataFrame) -> None:
    """Make the bars of invalid rows hollow, and give each bar its row as a tooltip."""
    for bar, valid, row in zip(drawn, data.valid, data["_row"], strict=True):
        hollow(bar, valid=valid)
        hover(bar, [row])


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


def legend_above(figure: Figure) -> None:
    """One legend of all panels, above them, in as many columns as fit, evenly filled."""
    keys = {
        label: handle
        for ax in figure.axes
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)
    }
    rows = 1
    while keys:
        columns = -(-len(keys) // rows)
        drawn = figure.legend(keys.values(), keys, loc="outside upper left", ncols=columns)
        if columns == 1 or drawn.get_window_extent().width <= figure.bbox.width:
            return
        drawn.remove()
        rows += 1


def pale(colour: str, share: float = 0.13) -> str:
    """The colour on white."""
    red, green, blue = (1 - share * (1 - part) for part in to_rgb(colour))
    return to_hex((red, green, blue))


def lay_out(figure: Figure) -> None:
    """Place everything once, so that all files have the same layout."""
    figure.set_dpi(POINT)
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    page = Bbox.from_extents(0, 0, *figure.get_size_inches())
    for legend in figure.legends:  # stays where it is when a heading is added above
        legend.set_bbox_to_anchor(page, transform=figure.dpi_scale_trans)


@contextmanager
def headed(figure: Figure, heading: Heading | None) -> Iterator[Bbox | None]:
    """The area in inches to save, with the heading above the figure; None without one."""
    if not heading:
        yield None
        return
    wide, high = figure.get_size_inches()
    room = POINT * wide - 16
    look: dict[str, Any] = {"ha": "left", "va": "bottom", "transform": figure.dpi_scale_trans}
    lines = "\n".join(fitted(source, room, NOTE) for source in heading.sources)
    foot = figure.text(0.06, high + 0.06, lines, size=NOTE, color=QUIET, **look)
    top = foot.get_window_extent().y1 / figure.dpi + 0.05
    title = fitted(heading.title, room, TITLE, "bold")
    head = figure.text(0.06, top, title, size=TITLE, weight="bold", **look)
    yield Bbox([[0, 0], [wide, head.get_window_extent().y1 / figure.dpi + 0.06]])
    head.remove()
    foot.remove()


def saved(figure: Figure, suffix: str, area: Bbox | None = None, dpi: float | None = None) -> bytes:
    """The figure as a file of this format."""
    buffer = BytesIO()
    look: dict[str, Any] = {} if dpi is None else {"dpi": dpi}
    figure.savefig(buffer, format=suffix, metadata=_METADATA[suffix], bbox_inches=area, **look)
    found = buffer.getvalue()
    return _compact(found.decode()).encode() if suffix == "svg" else found


def _compact(svg: str) -> str:
    """A third of the letters: short numbers and names, styles of equal markers written once.

    The style sheet moves into the element: it would hold for the whole page that shows it.
    """
    svg = re.sub(r"<style.*?</style>", "", svg, count=1, flags=re.DOTALL)
    svg = svg.replace("<svg ", '<svg stroke-linejoin="round" ', 1)
    svg = re.sub(r"<[^>]+>", lambda tag: _short(tag[0]), svg)
    svg = re.sub(r">\s+<", "><", svg).replace("<defs></defs>", "")
    names = {name: f"i{at}" for at, name in enumerate(re.findall(r' id="([^"]+)"', svg))}
    svg = re.sub(
        r'( id="|url\(#|xlink:href="#)([^")]+)', lambda found: found[1] + names[found[2]], svg
    )
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


def foot(figure: Figure, lines: Iterable[str]) -> None:
    """Text below the panels, broken at the width of the figure, which becomes taller by it."""
    most = int(figure.get_figwidth() / 0.064)
    broken = [part for line in lines for part in wrap(line, most, subsequent_indent="    ")]
    if broken:
        figure.set_figheight(figure.get_figheight() + 0.155 * len(broken) + 0.1)
        figure.supxlabel("\n".join(broken), x=0.01, ha="left", size=NOTE)


def scaled(most: float, unit: str, least: float = 1.0) -> tuple[float, str]:
    """The scale, at least `least`, and the unit name for values up to `most`."""
    steps = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1.0, ""))
    scale, prefix = next((s, p) for s, p in steps if most >= s or s <= least)
    return scale, prefix + unit


def per_second(rates: Iterable[float]) -> tuple[float, str]:
    """The scale and the unit name for interactions per second of a GPU, or of a CPU."""
    return (1e12, "10¹²/s") if max(rates) >= 0.1e12 else (1e9, "10⁹/s")


def by_layout(
    figure: Figure, data: pd.DataFrame, rows: str, line: float = 0.17
) -> Iterator[tuple[Axes, str, pd.DataFrame]]:
    """A panel for each value of the column `rows` and set of fields, with a line per layout.

    Yields the panel, the value and its data, whose column `at` is the line.
    """
    layouts, fields = ordered(data.layout, tuple(LAYOUTS)), ordered(data.fields, FIELDS)
    values = [*data[rows].unique()]
    figure.set_figheight(0.8 + (0.35 + line * len(layouts)) * len(values))
    panels = figure.subplots(len(values), len(fields), squeeze=False, sharex="row", sharey=True)
    data = data.assign(at=data.layout.map(layouts.index))
    for ax, (value, field) in zip(panels.flat, product(values, fields), strict=True):
        ax.set(yticks=range(len(layouts)), yticklabels=layouts, ylim=(len(layouts) - 0.4, -0.6))
        ax.grid(visible=False, axis="y")
        yield ax, value, data[(data[rows] == value) & (data.fields == field)]
    for ax, field in zip(panels[0], fields, strict=True):
        ax.set_title(fields_name(field).replace(" and ", "\nand "))


def layout_bars(ax: Axes, data: pd.DataFrame, value: str, low: str, high: str) -> None:
    """Bars of the layouts of a panel, with values and whiskers."""
    colours = [LAYOUTS.get(name, (GREY,))[0] for name in data.layout]
    drawn = ax.barh(data["at"], data[value], 0.7, color=colours)
    _mark_rows(drawn, data)
    ends = data[[value, high]].max(axis=1)
    ax.hlines(data["at"], data[low].fillna(data[value]), data[high].fillna(ends), color="k", lw=0.9)
    for end, at, one in zip(ends, data["at"], data[value], strict=True):
        note(ax, short(one), end, at)
    ax.grid(axis="x")
    ax.set_xlim(0, max(ax.get_xlim()[1], 1.2 * ends.max()))


def beside_marks(
    ax: Axes, words: Iterable[str], x: Iterable[float], y: Iterable[float], **look: Any
) -> None:
    """A text to the right of each point."""
    for text, end, at in zip(words, x, y, strict=True):
        note(ax, text, end, at, **look)
