"""A chart as the bytes of image files: matplotlib's renderers write what `_draw` made of it."""

import struct
import zlib
from functools import lru_cache
from io import BytesIO
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.backend_bases import GraphicsContextBase
from matplotlib.backends.backend_agg import FigureCanvasAgg, RendererAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure as Canvas
from matplotlib.font_manager import findfont, get_font
from matplotlib.markers import MarkerStyle
from matplotlib.path import Path as Lines
from matplotlib.textpath import text_to_path
from matplotlib.transforms import Affine2D, Bbox

from strata.figures._chart import Chart
from strata.figures._draw import draw
from strata.figures._heading import Heading, headed
from strata.figures._sheet import POINT, Box, Dots, Shape, Sheet, Text, Thing, font
from strata.figures._svg import DASHES, svg

DPI = 160
STRIP = 128
"""Lines of a PNG that are packed at a time."""
PNG_LEVEL = 2
"""Of deflate: a third of the time of the usual 6, and few more bytes of a drawing."""
HATCH = 0.8
"""The width of hatches, in points."""
SETTINGS = {
    **mpl.rcParamsDefault,
    "pdf.fonttype": 3,  # subsets of Type 42 are named by a hash that changes between processes
}
"""Matplotlib's own, never those of a user's matplotlibrc."""


def images(chart: Chart, heading: Heading | None = None) -> dict[str, bytes]:
    """The chart as png, svg and pdf, without dates or program names."""
    sheet = draw(chart)
    return files(headed(sheet, heading) if heading else sheet)


def files(sheet: Sheet) -> dict[str, bytes]:
    """The drawing as png, svg and pdf."""
    pdf = BytesIO()
    with mpl.rc_context(SETTINGS):
        unsaid = {"CreationDate": None, "Creator": None, "Producer": None}
        FigureCanvasPdf(_Canvas(sheet)).print_pdf(pdf, metadata=unsaid)
    return {"png": png(sheet), "svg": svg(sheet).encode(), "pdf": pdf.getvalue()}


def png(sheet: Sheet, dpi: int = DPI) -> bytes:
    """The drawing in pixels."""
    with mpl.rc_context(SETTINGS):
        canvas = FigureCanvasAgg(_Canvas(sheet, dpi=dpi))
        canvas.draw()
    wide, high = canvas.get_width_height()
    pixels, deflate, packed = np.asarray(canvas.buffer_rgba()), zlib.compressobj(PNG_LEVEL), b""
    for top in range(0, high, STRIP):
        strip = pixels[top : top + STRIP, :, :3]
        lines = np.zeros((len(strip), 1 + 3 * wide), np.uint8)  # a line begins with 0: unfiltered
        lines[:, 1:] = strip.reshape(len(strip), -1)
        packed += deflate.compress(lines.data)
    metre = round(dpi / 0.0254)
    parts = {
        b"IHDR": struct.pack(">IIBBBBB", wide, high, 8, 2, 0, 0, 0),
        b"pHYs": struct.pack(">IIB", metre, metre, 1),
        b"IDAT": packed + deflate.flush(),
        b"IEND": b"",
    }
    return b"\x89PNG\r\n\x1a\n" + b"".join(map(_chunk, parts, parts.values()))


def _chunk(kind: bytes, content: bytes) -> bytes:
    """A part of a PNG: no filters, which cost more than they save on drawings of few colours."""
    check = zlib.crc32(kind + content)
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", check)


class _Canvas(Canvas):
    """A figure of matplotlib that has no artists: it draws a sheet.

    Its axes, ticks and legends would ask one another for their sizes at each drawing, which takes
    longer than the writing of all three formats.
    """

    def __init__(self, sheet: Sheet, **more: Any) -> None:
        super().__init__(figsize=(sheet.width / POINT, sheet.height / POINT), **more)
        self._sheet = sheet

    def draw(self, renderer: Any) -> None:
        """The sheet, on white."""
        page = Box(0, 0, self._sheet.width, self._sheet.height)
        for thing in (Shape([page.outline], "white", fill="white"), *self._sheet.things):
            pixels = getattr(thing, "pixels", False)
            if pixels:
                renderer.start_rasterizing()
            _paint(renderer, thing)
            if pixels:
                renderer.stop_rasterizing()


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
    if shape.line in DASHES:
        pen.set_dashes(0, [part * shape.width for part in DASHES[shape.line]])
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
    if text.pad is not None:
        _shape(renderer, Shape([text.outline], "white", fill="white", alpha=0.8))
    pen, scaled = _pen(renderer, text.colour, 0.0)
    for x, y, line in text.lines:
        if isinstance(renderer, RendererAgg):  # its hints make letters wider than in vectors
            sized = Affine2D().scale(text.size / text_to_path.FONT_SCALE)
            turned = sized.rotate_deg(text.turned).translate(x, y) + scaled
            renderer.draw_path(pen, _letters(line, text.bold), turned, to_rgba(text.colour))
        else:
            along, up = scaled.transform((x, y))
            how = font(text.size, text.bold), text.turned
            renderer.draw_text(pen, along, up, line, *how, ismath=False)
    pen.restore()


@lru_cache(maxsize=8192)
def _letters(line: str, bold: bool) -> Lines:  # noqa: FBT001
    """The outline of a line, FONT_SCALE units to the size; each letter is taken once of a font."""
    face = get_font(findfont(font(text_to_path.FONT_SCALE, bold)))
    face.set_size(text_to_path.FONT_SCALE, text_to_path.DPI)
    placed, outlines, _ = text_to_path.get_glyphs_with_font(face, line, _OUTLINES)
    parts = [(*outlines[letter], at) for letter, *at, _ in placed]
    return Lines(
        np.concatenate([points + at for points, _, at in parts]),
        np.concatenate([codes for _, codes, _ in parts]),
    )


_OUTLINES: dict[str, Any] = {}
"""Points and codes of every letter that was drawn, by its name."""


def _pen(
    renderer: Any, colour: str, width: float, alpha: float = 1.0
) -> tuple[GraphicsContextBase, Affine2D]:
    """A graphics context, and what makes dots of the renderer from points."""
    pen = renderer.new_gc()
    pen.set_linewidth(width)
    pen.set_foreground(to_rgba(colour, alpha), isRGBA=True)
    pen.set_joinstyle("round")
    return pen, _scaled(renderer.points_to_pixels(1.0))


@lru_cache(maxsize=8)
def _scaled(dots: float) -> Affine2D:
    return Affine2D().scale(dots)
