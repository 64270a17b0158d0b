"""A chart as the bytes of image files."""

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import matplotlib as mpl
from matplotlib import style as mpl_style
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure as Canvas

from strata.figures._chart import Chart
from strata.figures._draw import draw
from strata.figures._recording import record

STYLE = Path(__file__).with_name("style.mplstyle")
PNG_LEVEL = 2
"""Of deflate: a third of the time of the usual 6, and few more bytes of a drawing."""


@contextmanager
def style() -> Iterator[None]:
    """The style of Strata's figures, put back afterwards; drawing and saving both need it."""
    with mpl.rc_context(), mpl_style.context(["default", STYLE]):
        yield


def images(chart: Chart) -> dict[str, bytes]:
    """The chart as png, svg and pdf, without dates or program names."""
    with style():
        canvas = draw(chart)
        recording = record(canvas)
        if recording:  # else something lives in pixels, and each format draws it by itself
            canvas.draw = lambda renderer: recording.play(renderer, canvas.dpi)  # type: ignore[method-assign]
        return written(canvas)


def written(canvas: Canvas) -> dict[str, bytes]:
    """The files of a canvas by their suffix; call within `style`.

    `Figure.savefig` would draw everything twice for each, the first time to lay it out.
    """
    png, svg, pdf = BytesIO(), BytesIO(), BytesIO()
    canvas.set_dpi(mpl.rcParams["savefig.dpi"])
    quick = {"compress_level": PNG_LEVEL}
    FigureCanvasAgg(canvas).print_png(png, metadata={"Software": None}, pil_kwargs=quick)
    FigureCanvasSVG(canvas).print_svg(svg, metadata={"Date": None, "Creator": None})
    unsaid = {"CreationDate": None, "Creator": None, "Producer": None}
    FigureCanvasPdf(canvas).print_pdf(pdf, metadata=unsaid)
    return {"png": png.getvalue(), "svg": svg.getvalue(), "pdf": pdf.getvalue()}
