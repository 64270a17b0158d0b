"""Draws a chart: the one place where bars, curves, hollow marks, words and legends are made.

The size of every margin is measured once, from the texts that stand in it: matplotlib's own layout
measures everything twice, which takes longer than drawing does.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from textwrap import wrap
from typing import Any, Literal

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg, RendererAgg
from matplotlib.figure import Figure as Canvas
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator
from matplotlib.transforms import ScaledTranslation

from strata.figures import _chart as charts
from strata.figures._chart import (
    GREY,
    INK,
    Arrow,
    Axis,
    Bars,
    Chart,
    Key,
    Look,
    Mark,
    Panel,
    Rule,
    Series,
    Shade,
    Words,
)  # fmt: skip

GAP = 8.0
"""Points between two panels, beside what their texts need, and to the edge of the figure."""
EDGE = 4.0
LEADER = 34.0
"""Points from a panel to words that a line leads to."""
TITLE = 17.0
"""Points that a title needs above its panel."""
WIDER = 1.03
"""Texts of a stored image may be some percent wider than where they were measured."""
POINT = 72.0
BELOW = 9.0
"""Points from a line of words below the panels to the next."""
MANY = 2000
"""More marks than this are an image inside the drawing, or an SVG grows to many megabytes."""

Limits = tuple[float, float]


def draw(chart: Chart) -> Canvas:
    """A canvas with the chart on it, laid out once and for all; call within `style`."""
    below = [line for words in chart.below for line in _broken(words, chart.width)]
    foot = (BELOW * len(below) + GAP) / POINT if below else 0.0
    # Letters are as wide as they will be stored: at another resolution they are some percent off.
    canvas = Canvas(figsize=(chart.width, chart.height + foot), dpi=mpl.rcParams["savefig.dpi"])
    renderer = FigureCanvasAgg(canvas).get_renderer()
    canvas.text(
        EDGE / POINT / chart.width, foot / (chart.height + foot), "\n".join(below), va="top",
        fontsize=6.5, color=INK, linespacing=1.35,
    )  # fmt: skip
    shared = charts.value_limits(chart)
    shown = [
        (row, column, panel)
        for row, panels in enumerate(chart.rows)
        for column, panel in enumerate(panels)
        if panel
    ]
    axes = {}
    rows, columns = len(chart.rows), max(map(len, chart.rows))
    for row, column, panel in shown:
        # About as large as it will be: how far a tick's words reach depends on it.
        size = (0.8 / columns, 0.75 / rows)
        place = (0.1 + 0.9 * column / columns, 1 - (row + 0.9) / rows)
        axes[row, column] = canvas.add_axes((*place, *size))
        told = _once(chart, row, column, panel)
        _panel(axes[row, column], told, shared[row, column], charts.place_limits(panel))
    legend = _legend(canvas, chart, renderer)
    _lay_out(canvas, chart, axes, legend, renderer)
    for row, column, panel in shown:
        _make_room(axes[row, column], panel, shared[row, column], renderer)
        if panel.leaders:
            _lead(axes[row, column], panel, renderer)
    return canvas


def _broken(words: str, width: float) -> list[str]:
    """A line in pieces that fit `width` inches, the later ones set in."""
    most = max(30, int((width - 0.3) / 0.056))
    return wrap(
        words, most, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    )


def _once(chart: Chart, row: int, column: int, panel: Panel) -> Panel:
    """The panel without names and labels that its neighbour to the left or below says as well."""
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


# --- one panel ------------------------------------------------------------------------------------


def _panel(axes: Axes, panel: Panel, values: Limits, places: Limits) -> None:
    axes.grid(visible=False)
    axes.grid(visible=True, axis="x" if panel.sideways else "y")
    _axis(axes, "x" if panel.sideways else "y", panel.values, values)
    if panel.sideways:
        _axis(axes, "y", panel.places, places[::-1])
    else:
        _axis(axes, "x", panel.places, places)
    axes.set_title(panel.title, y=1.0)  # said, it is not sought again at each drawing
    if not panel.layers:
        axes.text(0.5, 0.5, panel.blank, transform=axes.transAxes, ha="center", color=GREY)
    for layer in panel.layers:
        _DRAWN[type(layer)](axes, layer, panel.sideways)
    for place, text, colour in panel.beside:
        axes.annotate(
            text, (1, place), xycoords=("axes fraction", "data"), fontsize=6.5,
            xytext=(LEADER if panel.leaders else 4, 0), textcoords="offset points", va="center",
            color=colour, label="_beside",
        )  # fmt: skip


def _axis(axes: Axes, name: Literal["x", "y"], said: Axis, ends: Limits) -> None:
    if said.scale != "linear":
        options: dict[str, Any] = {"base": 10 if said.scale == "log" else 2}
        if said.scale == "symlog2":
            options["linthresh"] = 1
        kind = "symlog" if said.scale == "symlog2" else "log"
        (axes.set_xscale if name == "x" else axes.set_yscale)(kind, **options)
    axis = axes.xaxis if name == "x" else axes.yaxis
    _ends(axes, name, said, ends)
    axis.set_minor_locator(NullLocator())
    axis.set_label_text(said.label)
    axis.set_tick_params(labelsize=said.size)
    if said.names is not None:
        axis.set_tick_params(length=0, pad=5)
    if said.names is not None and said.grid:
        for edge in said.ticks[1:] if said.ticks else ():
            (axes.axvline if name == "x" else axes.axhline)(
                edge - 0.5, color=charts.PALE, linewidth=0.6, zorder=0, label="_between"
            )
    elif said.grid:
        axes.grid(visible=True, axis=name)


def _ends(axes: Axes, name: Literal["x", "y"], said: Axis, ends: Limits) -> None:
    """Limits, and the ticks between them."""
    (axes.set_xlim if name == "x" else axes.set_ylim)(*ends)
    found = charts.ticks(said, min(ends), max(ends))
    axis = axes.xaxis if name == "x" else axes.yaxis
    axis.set_major_locator(FixedLocator([at for at, _ in found]))
    axis.set_major_formatter(FixedFormatter([text for _, text in found]))


def _xy(marks: Sequence[Mark], *, sideways: bool) -> tuple[list[float], list[float]]:
    places, values = [m.place for m in marks], [m.value for m in marks]
    return (values, places) if sideways else (places, values)


def _series(axes: Axes, series: Series, sideways: bool) -> None:  # noqa: FBT001
    look = series.look
    valid = [m for m in series.marks if m.valid]
    invalid = [m for m in series.marks if not m.valid]
    if valid:
        _spread(axes, valid, series, look.colour, sideways=sideways)
        axes.plot(
            *_xy(valid, sideways=sideways), color=look.colour, linestyle=look.line or "none",
            linewidth=look.width, alpha=look.alpha, zorder=series.order, label="_valid",
            clip_on=False, rasterized=len(valid) > MANY, **_marker(look),
        )  # fmt: skip
    if invalid:
        hollow = replace(look, marker=look.marker or "o", size=max(look.size, 3.0), hollow=True)
        axes.plot(
            *_xy(invalid, sideways=sideways), color=look.colour, linestyle="none",
            zorder=series.order + 1, label="_invalid", clip_on=False, **_marker(hollow),
        )  # fmt: skip
    gap = look.size / 2 if look.marker else 0
    _mark_words(axes, series.marks, series.words_size, gap, sideways=sideways)


def _marker(look: Look) -> dict[str, Any]:
    return {
        "marker": look.marker or None,
        "markersize": look.size,
        "markerfacecolor": "white" if look.hollow else look.colour,
        "markeredgewidth": 1.4 if look.marker in ("|", "_") else 0.9 if look.hollow else 0.7,
    }


def _spread(
    axes: Axes, marks: Sequence[Mark], of: Series | Bars, colour: str, *, sideways: bool
) -> None:
    """The intervals of marks, as a band, as thin lines, or as whiskers with caps."""
    known = [(m, m.low, m.high) for m in marks if m.low is not None and m.high is not None]
    if not of.spread or not known:
        return
    places = [m.place for m, _, _ in known]
    low, high = [low for _, low, _ in known], [high for _, _, high in known]
    if of.spread == "band":
        fill = axes.fill_betweenx if sideways else axes.fill_between
        fill(places, low, high, color=colour, alpha=0.18, linewidth=0)
        return
    lines = axes.hlines if sideways else axes.vlines
    lines(places, low, high, color=colour, linewidth=1.1, zorder=of.order + 0.5, label="_spread")
    if of.spread == "caps":
        for ends in (low, high):
            at = [Mark(place, end) for place, end in zip(places, ends, strict=True)]
            axes.plot(
                *_xy(at, sideways=sideways), linestyle="none", color=colour, markersize=3.2,
                marker="|" if sideways else "_", zorder=of.order + 0.5, label="_caps",
            )  # fmt: skip


def _bars(axes: Axes, bars: Bars, sideways: bool) -> None:  # noqa: FBT001
    look = bars.look
    for valid in (True, False):
        marks = [m for m in bars.marks if m.valid == valid]
        if not marks:
            continue
        places, starts = [m.place for m in marks], [m.start for m in marks]
        lengths = [m.value - m.start for m in marks]
        style: dict[str, Any] = {
            "facecolor": look.colour if valid and not look.hollow else "none" if valid else "white",
            "edgecolor": look.colour, "linestyle": (look.line or "-") if valid else "--",
            "linewidth": 0.8, "hatch": look.hatch or None, "zorder": bars.order,
            "alpha": look.alpha, "label": "_valid" if valid else "_invalid",
        }  # fmt: skip
        if sideways:
            axes.barh(places, lengths, bars.thick, starts, **style)
        else:
            axes.bar(places, lengths, bars.thick, starts, **style)
        if valid:
            _spread(axes, marks, bars, INK, sideways=sideways)
    _mark_words(axes, bars.marks, bars.words_size, sideways=sideways)


def _mark_words(
    axes: Axes, marks: Sequence[Mark], size: float, gap: float = 0, *, sideways: bool
) -> None:
    for m in marks:
        if m.words:
            axes.annotate(
                m.words, (m.furthest, m.place) if sideways else (m.place, m.furthest),
                xytext=(6, 0) if sideways else (0, 2 + gap), textcoords="offset points",
                ha="left" if sideways else "center", va="center" if sideways else "bottom",
                fontsize=size, color=INK if m.valid else GREY, label="_words", zorder=5,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5, "alpha": 0.8},
            )  # fmt: skip


def _rule(axes: Axes, rule: Rule, sideways: bool) -> None:  # noqa: FBT001
    upright = sideways == (rule.of == "value")
    look = rule.look
    line = axes.axvline if upright else axes.axhline
    line(
        rule.at, color=look.colour, linewidth=look.width, linestyle=look.line or "-",
        zorder=rule.order, label="_rule", alpha=look.alpha,
    )  # fmt: skip
    if rule.words and upright and sideways:
        place, coords = (rule.at, 1.0), ("data", "axes fraction")
        options: dict[str, Any] = {"xytext": (0, 2), "ha": "center", "va": "bottom"}
    elif rule.words and upright:
        place, coords = (rule.at, 0.985), ("data", "axes fraction")
        options = {"xytext": (-2, 0), "ha": "right", "va": "top", "rotation": 90, "bbox": _BOX}
    elif rule.words:
        place, coords = (0.01, rule.at), ("axes fraction", "data")
        options = {"xytext": (0, 2), "ha": "left", "va": "bottom", "bbox": _BOX}
    else:
        return
    axes.annotate(
        rule.words, place, xycoords=coords, textcoords="offset points", fontsize=6.5,
        color="#595959", zorder=4, **options,
    )  # fmt: skip


_BOX = {"facecolor": "white", "edgecolor": "none", "pad": 0.6, "alpha": 0.8}


def _words(axes: Axes, words: Words, sideways: bool) -> None:  # noqa: FBT001
    if words.slope is not None:
        inches = (words.dx / POINT, words.dy / POINT)
        axes.text(
            words.place, words.value, words.text, ha=words.across, va=words.up,
            transform=axes.transData + ScaledTranslation(*inches, axes.figure.dpi_scale_trans),
            rotation=math.degrees(math.atan(words.slope)), transform_rotates_text=True,
            rotation_mode="anchor", fontsize=words.size, color=words.colour, zorder=4,
        )  # fmt: skip
        return
    point, coords = (words.place, words.value), ("data", "data")
    if words.at == "edge":
        coords = ("data", "axes fraction")
    axes.annotate(
        words.text, point[::-1] if sideways else point,
        xycoords=coords[::-1] if sideways else coords, xytext=(words.dx, words.dy),
        textcoords="offset points", ha=words.across, va=words.up, fontsize=words.size,
        color=words.colour, rotation=words.turned, rotation_mode="anchor", linespacing=1.15,
        zorder=4, bbox=_BOX if words.boxed else None,
    )  # fmt: skip


def _arrow(axes: Axes, arrow: Arrow, sideways: bool) -> None:  # noqa: FBT001
    start, end = (arrow.start, arrow.end)
    if sideways:
        start, end = start[::-1], end[::-1]
    props = {
        "arrowstyle": arrow.heads, "color": arrow.look.colour, "linewidth": arrow.look.width,
        "shrinkA": 0, "shrinkB": 0,
    }  # fmt: skip
    axes.annotate("", xy=end, xytext=start, arrowprops=props)


def _shade(axes: Axes, shade: Shade, sideways: bool) -> None:  # noqa: FBT001
    span = axes.axvspan if sideways else axes.axhspan
    span(shade.low, shade.high, color=shade.colour, linewidth=0, zorder=0)


_DRAWN: dict[type[Any], Callable[[Axes, Any, bool], None]] = {
    Series: _series,
    Bars: _bars,
    Rule: _rule,
    Shade: _shade,
    Words: _words,
    Arrow: _arrow,
}


# --- the whole ------------------------------------------------------------------------------------


def _legend(canvas: Canvas, chart: Chart, renderer: RendererAgg) -> Legend | None:
    keys = charts.legend(chart)
    if not keys:
        return None
    handles = [_handle(key) for key in keys]
    columns = chart.legend_columns or (1 if chart.legend == "beside" else len(handles))
    while True:
        legend = canvas.legend(
            handles=handles, loc="upper left", bbox_to_anchor=(0, 1), ncols=columns,
            borderaxespad=0, borderpad=0,
        )  # fmt: skip
        fits = legend.get_window_extent(renderer).width * WIDER <= canvas.bbox.width
        if fits or columns == 1 or chart.legend == "beside":
            return legend
        legend.remove()
        columns -= 1


def _handle(key: Key) -> Artist:
    look = key.look
    if key.patch:
        return Patch(
            facecolor="white" if look.hollow else look.colour, edgecolor=look.colour,
            linestyle=look.line or "-", hatch=look.hatch or None, label=key.label,  # type: ignore[arg-type]
        )  # fmt: skip
    return Line2D(
        [], [], color=look.colour, linestyle=look.line or "none", linewidth=look.width,  # type: ignore[arg-type]
        label=key.label, **_marker(look),
    )  # fmt: skip


def _lay_out(
    canvas: Canvas,
    chart: Chart,
    axes: dict[tuple[int, int], Axes],
    legend: Legend | None,
    renderer: RendererAgg,
) -> None:
    """Puts panels and legend where nothing is cut and nothing lies on another."""
    rows, columns = len(chart.rows), max(map(len, chart.rows))
    left, right = [0.0] * columns, [0.0] * columns
    above, below = [0.0] * rows, [0.0] * rows
    for (row, column), panel in axes.items():
        sides = _sides(panel, renderer)
        _fix_labels(panel)
        left[column] = max(left[column], sides[0])
        right[column] = max(right[column], sides[1])
        above[row] = max(above[row], sides[2])
        below[row] = max(below[row], sides[3])
    unit = canvas.dpi / POINT
    gap, edge = GAP * unit, EDGE * unit
    width, height = canvas.bbox.width, canvas.bbox.height
    wide = high = 0.0
    if legend:
        box = legend.get_window_extent(renderer)
        beside = chart.legend == "beside"
        wide = box.width * WIDER + gap if beside else 0.0
        high = 0.0 if beside else box.height + gap
    across = width - 2 * edge - wide - sum(left) - sum(right) - gap * (columns - 1)
    down = chart.height * canvas.dpi - 2 * edge - high - sum(above) - sum(below) - gap * (rows - 1)
    widths = _shares(chart.widths, columns, max(across, 0.2 * width))
    heights = _shares(chart.heights, rows, max(down, 0.2 * height))
    for (row, column), panel in axes.items():
        x = edge + sum(left[: column + 1]) + sum(right[:column]) + sum(widths[:column])
        y = edge + high + sum(above[: row + 1]) + sum(below[:row]) + sum(heights[:row])
        bottom = height - y - gap * row - heights[row]
        panel.set_position(
            ((x + gap * column) / width, bottom / height, widths[column] / width,
             heights[row] / height)
        )  # fmt: skip
    if legend:
        top = 1 - edge / height
        box = legend.get_window_extent(renderer)
        at = width - edge - box.width * WIDER if wide else max(edge, (width - box.width) / 2)
        legend.set_bbox_to_anchor((at / width, top), canvas.transFigure)


def _fix_labels(axes: Axes) -> None:
    """Keeps the labels of both axes where they stand, or each drawing measures all ticks again."""
    inches = axes.get_figure(root=True).dpi_scale_trans  # type: ignore[union-attr]
    inner, dpi = axes.bbox, axes.get_figure(root=True).dpi  # type: ignore[union-attr]
    down = ScaledTranslation(0, (axes.xaxis.label.get_window_extent().y1 - inner.y0) / dpi, inches)
    left = ScaledTranslation((axes.yaxis.label.get_window_extent().x1 - inner.x0) / dpi, 0, inches)
    axes.xaxis.set_label_coords(0.5, 0, transform=axes.transAxes + down)
    axes.yaxis.set_label_coords(0, 0.5, transform=axes.transAxes + left)


def _shares(weights: Sequence[float], count: int, room: float) -> list[float]:
    given = list(weights[:count]) or [1.0] * count
    return [room * weight / sum(given) for weight in given]


def _sides(axes: Axes, renderer: RendererAgg) -> tuple[float, float, float, float]:
    """What stands left of a panel, right of it, above and below, in pixels."""
    inner = axes.bbox
    boxes = [box for box in _boxes(axes, renderer) if box is not None]
    return (
        WIDER * max([inner.x0 - box.x0 for box in boxes] + [0]),
        WIDER * max([box.x1 - inner.x1 for box in boxes] + [0]),
        max([box.y1 - inner.y1 for box in boxes] + [0]),
        max([inner.y0 - box.y0 for box in boxes] + [0]),
    )


def _boxes(axes: Axes, renderer: RendererAgg) -> Iterator[Any]:
    yield axes.xaxis.get_tightbbox(renderer)
    yield axes.yaxis.get_tightbbox(renderer)
    if axes.get_title(loc="left"):
        yield axes.bbox.translated(0, TITLE * renderer.dpi / POINT)
    for text in axes.texts:
        if text.get_label() == "_beside" or getattr(text, "xycoords", "") == (
            "data", "axes fraction",
        ):  # fmt: skip
            box = text.get_window_extent(renderer)
            yield box if text.get_label() == "_beside" else box.translated(axes.bbox.x0 - box.x0, 0)


def _make_room(axes: Axes, panel: Panel, ends: Limits, renderer: RendererAgg) -> None:
    """Moves the far end of the values so that the words beside the last marks fit in."""
    if panel.values.limits:
        return
    logarithmic = panel.values.scale != "linear"
    low, high = (math.log(end) for end in ends) if logarithmic else ends
    extent = axes.bbox.width if panel.sideways else axes.bbox.height
    needed = high
    texts = [text for text in axes.texts if text.get_label() == "_words"]
    worded = [m for m in charts.marks_of(panel) if m.words]
    for text, m in zip(texts, worded, strict=True):
        box = text.get_window_extent(renderer)
        size = WIDER * box.width if panel.sideways else box.height
        share = min((size + 10 * renderer.dpi / POINT) / extent, 0.7)
        at = math.log(m.furthest) if logarithmic else m.furthest
        needed = max(needed, low + (at - low) / (1 - share))
    if needed > high:
        far = math.exp(needed) if logarithmic else needed
        _ends(axes, "x" if panel.sideways else "y", panel.values, (ends[0], far))


def _lead(axes: Axes, panel: Panel, renderer: RendererAgg) -> None:
    """Keeps the words beside a panel apart, and leads to each from its place."""
    beside = [text for text in axes.texts if text.get_label() == "_beside"]
    at = [float(axes.transData.transform((1, place))[1]) for place, _, _ in panel.beside]
    order = sorted(range(len(at)), key=at.__getitem__)
    gap = 1.25 * max((text.get_window_extent(renderer).height for text in beside), default=0)
    places = charts.apart([at[one] for one in order], gap, axes.bbox.y0, axes.bbox.y1)
    for one, place in zip(order, places, strict=True):
        moved = (LEADER, (place - at[one]) * POINT / renderer.dpi)
        beside[one].set_position(moved)
        axes.annotate(
            "", (1, panel.beside[one][0]), xycoords=("axes fraction", "data"),
            xytext=(moved[0] - 2, moved[1]), textcoords="offset points", label="_leader",
            arrowprops={
                "arrowstyle": "-", "color": GREY, "linewidth": 0.5, "shrinkA": 0, "shrinkB": 0
            },
        )  # fmt: skip
