"""A chart as image files: matplotlib's renderers write the result of `_draw`."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import lru_cache
from io import BytesIO
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.backend_bases import GraphicsContextBase
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.colors import to_rgba
from matplotlib.markers import MarkerStyle
from matplotlib.path import Path as Lines
from matplotlib.transforms import Affine2D, Bbox
from PIL import Image

from strata.figures._chart import Chart
from strata.figures._draw import draw
from strata.figures._heading import Heading, headed
from strata.figures._letters import EM, placed
from strata.figures._pdf import Pixels, pdf
from strata.figures._sheet import HATCH, POINT, Box, Dots, Shape, Sheet, Text, Thing
from strata.figures._svg import svg

FORMATS = ("png", "svg", "pdf")
DPI = 160
PNG_LEVEL = 2
"""Of deflate: a third of the time of the usual 6, and few more bytes of a drawing."""
SETTINGS = {
    name: value
    for name, value in mpl.rcParamsDefault.items()
    if name.startswith(("agg.", "path.", "markers.", "hatch."))
}
"""Matplotlib's own of all that is drawn with, never those of a user's matplotlibrc."""


def images(chart: Chart, heading: Heading | None = None) -> dict[str, bytes]:
    """The chart as png, svg and pdf, without dates or program names."""
    sheet = draw(chart)
    return files(headed(sheet, heading) if heading else sheet)


def files(sheet: Sheet, formats: Iterable[str] = FORMATS) -> dict[str, bytes]:
    """The drawing in each format."""

    def image(thing: Thing) -> Pixels:
        return _painted(replace(sheet, things=[thing]), DPI)

    kinds: dict[str, Callable[[], bytes]] = {
        "png": lambda: png(sheet),
        "svg": lambda: svg(sheet).encode(),
        "pdf": lambda: pdf(sheet, image),
    }
    return {name: kinds[name]() for name in formats}


def png(sheet: Sheet, dpi: int = DPI) -> bytes:
    """The drawing in pixels, on white."""
    page = Shape([Box(0, 0, sheet.width, sheet.height).outline], "white", fill="white")
    pixels, file = _painted(replace(sheet, things=[page, *sheet.things]), dpi), BytesIO()
    image = Image.fromarray(pixels).convert("RGB")
    image.save(file, "png", compress_level=PNG_LEVEL, dpi=(dpi, dpi))
    return file.getvalue()


def _painted(sheet: Sheet, dpi: int) -> Pixels:
    """Red, green, blue and alpha of each pixel, from the top row down."""
    with mpl.rc_context(SETTINGS):
        size = (round(side / POINT * dpi, 6) for side in (sheet.width, sheet.height))
        renderer = RendererAgg(*map(int, size), dpi)  # type: ignore[call-arg]
        for thing in sheet.drawn:
            _paint(renderer, thing)
        return np.asarray(renderer.buffer_rgba())


def _paint(renderer: Any, thing: Thing) -> None:
    match thing:
        case Shape():
            _shape(renderer, thing)
        case Dots():
            _dots(renderer, thing)
        case Text():
            _text(renderer, thing)


def _shape(renderer: Any, shape: Shape) -> None:
    corners = [point for line in shape.lines for point in line]
    if not corners:
        return
    pen, scaled = _pen(renderer, shape.colour, shape.width, shape.alpha)
    if shape.dashes:
        pen.set_dashes(0, shape.dashes)
    if shape.clip:
        box = Bbox.from_extents(*shape.clip)
        pen.set_clip_rectangle(Bbox(scaled.transform(box.get_points())))
    if shape.hatch:
        pen.set_hatch(shape.hatch)
        pen.set_hatch_color(shape.colour)
        pen.set_hatch_linewidth(HATCH)
    codes = [
        Lines.LINETO if at else Lines.MOVETO for line in shape.lines for at in range(len(line))
    ]
    fill = to_rgba(shape.fill, shape.alpha) if shape.fill else None
    path = Lines(corners, codes if len(shape.lines) > 1 else None)
    renderer.draw_path(pen, path, scaled, fill)
    pen.restore()


def _dots(renderer: Any, dots: Dots) -> None:
    pen, scaled = _pen(renderer, dots.colour, dots.width, dots.alpha)
    style = MarkerStyle(dots.marker)
    pen.set_joinstyle(style.get_joinstyle())
    pen.set_capstyle(style.get_capstyle())
    sized = style.get_transform() + Affine2D().scale(renderer.points_to_pixels(dots.size))
    fill = to_rgba(dots.fill, dots.alpha) if style.is_filled() else None
    renderer.draw_markers(pen, style.get_path(), sized, Lines(dots.points), scaled, fill)
    pen.restore()


def _text(renderer: Any, text: Text) -> None:
    pen, scaled = _pen(renderer, text.colour, 0.0)
    for x, y, line in text.lines:
        sized = Affine2D().scale(text.size / EM).rotate_deg(text.turned).translate(x, y)
        renderer.draw_path(pen, _outline(line, text.bold), sized + scaled, to_rgba(text.colour))
    pen.restore()


@lru_cache(maxsize=8192)
def _outline(line: str, bold: bool) -> Lines:  # noqa: FBT001
    """The outlines of the letters of a line."""
    parts = [(*letter.outline, (at, 0)) for letter, at in placed(line, bold)]
    return Lines(
        np.concatenate([points + at for points, _, at in parts]),
        np.concatenate([codes for _, codes, _ in parts]),
    )


def _pen(
    renderer: Any, colour: str, width: float, alpha: float = 1.0
) -> tuple[GraphicsContextBase, Affine2D]:
    """A graphics context, and the conversion from points to its pixels."""
    pen = renderer.new_gc()
    pen.set_linewidth(width)
    pen.set_foreground(to_rgba(colour, alpha), isRGBA=True)
    pen.set_joinstyle("round")
    return pen, _scaled(renderer.points_to_pixels(1.0))


@lru_cache(maxsize=8)
def _scaled(dots: float) -> Affine2D:
    return Affine2D().scale(dots)
