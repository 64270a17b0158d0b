"""The figures, one file each.

A module of this package that defines `FIGURE` is a figure: adding one takes one file. Names with a
leading underscore are helpers. A figure's functions take data and axes; they return nothing from
drawing, save nothing, and set no global state.
"""

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any, Generic, TypeVar

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib import style as mpl_style
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure as Canvas

from strata.figures._recording import Recording, record
from strata.run import Context, Row, Run

STYLE = Path(__file__).with_name("style.mplstyle")
PNG_LEVEL = 2
"""Of deflate: a third of the time of the usual 6, and few more bytes of a drawing."""

Item = TypeVar("Item")
AxesGrid = npt.NDArray[np.object_]
"""Axes by row and column, as `matplotlib.figure.Figure.subplots(squeeze=False)` gives them."""


@dataclass(frozen=True, slots=True)
class Grid:
    """Panels of a figure, and its size in inches."""

    rows: int
    columns: int
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Figure(Generic[Item]):
    """What the report must know to show a figure; `Item` is one bar or point of it.

    `columns` names the columns of the data file behind the figure, with units; `cells` gives the
    cells of one item; `source` is the row that the item shows.
    """

    name: str
    title: str
    order: int
    prepare: Callable[[Any], Sequence[Item]]
    grid: Callable[[Sequence[Item]], Grid]
    draw: Callable[[Sequence[Item], AxesGrid], None]
    caption: Callable[[Sequence[Item]], str]
    columns: tuple[str, ...]
    cells: Callable[[Item], tuple[object, ...]]
    source: Callable[[Item], Row]
    of_run: bool = False
    """Whether `prepare` takes the run, not its rows alone."""

    def items(self, run: Run) -> Sequence[Item]:
        """What the figure shows of the run."""
        return self.prepare(run if self.of_run else run.rows)


@cache
def by_module() -> Mapping[str, Sequence[Any]]:
    """The figures of each module, by its name."""
    names = sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))
    modules = {name: importlib.import_module(f"{__name__}.{name}") for name in names}
    return {
        name: module.FIGURES if hasattr(module, "FIGURES") else (module.FIGURE,)
        for name, module in modules.items()
    }


def discover() -> tuple[Any, ...]:
    """Every figure of the package, in the order in which a report shows them."""
    found = [figure for of_module in by_module().values() for figure in of_module]
    return tuple(sorted(found, key=lambda figure: (figure.order, figure.name)))


def module_of(name: str) -> str:
    """The module that a figure stands in."""
    return next(
        module for module, found in by_module().items() if name in [figure.name for figure in found]
    )


@contextmanager
def style() -> Iterator[None]:
    """The style of Strata's figures, put back afterwards; drawing and saving both need it."""
    with mpl.rc_context(), mpl_style.context(["default", STYLE]):
        yield


def render(figure: Figure[Item], items: Sequence[Item]) -> Canvas:
    """A canvas with the figure on it, laid out once and for all.

    Call within `style`; the ticks and texts of the canvas are final and can be measured.
    """
    grid = figure.grid(items)
    canvas = Canvas(figsize=(grid.width, grid.height), layout="constrained")
    FigureCanvasAgg(canvas)
    axes = canvas.subplots(grid.rows, grid.columns, squeeze=False)
    figure.draw(items, axes)
    layout = canvas.get_layout_engine()
    if layout is not None:
        layout.execute(canvas)
    canvas.set_layout_engine("none")
    return canvas


def images(canvas: Canvas) -> dict[str, bytes]:
    """The canvas as png, svg and pdf, without dates or program names; call within `style`.

    `Figure.savefig` would draw everything twice for each of them, the first time to lay it out.
    """
    with _drawn_once(canvas):
        return _written(canvas)


@contextmanager
def _drawn_once(canvas: Canvas) -> Iterator[None]:
    """The canvas draws itself now, and repeats that to whatever renderer asks it meanwhile."""
    recording: Recording | None = record(canvas)
    if recording is None:
        yield
        return
    draw = canvas.draw
    canvas.draw = lambda renderer: recording.play(renderer, canvas.dpi)  # type: ignore[method-assign]
    try:
        yield
    finally:
        canvas.draw = draw  # type: ignore[method-assign]


def _written(canvas: Canvas) -> dict[str, bytes]:
    result = {}
    canvas.set_dpi(mpl.rcParams["savefig.dpi"])
    with BytesIO() as buffer:
        quick = {"compress_level": PNG_LEVEL}
        FigureCanvasAgg(canvas).print_png(buffer, metadata={"Software": None}, pil_kwargs=quick)
        result["png"] = buffer.getvalue()
    with BytesIO() as buffer:
        FigureCanvasSVG(canvas).print_svg(buffer, metadata={"Date": None, "Creator": None})
        result["svg"] = buffer.getvalue()
    with BytesIO() as buffer:
        unsaid = {"CreationDate": None, "Creator": None, "Producer": None}
        FigureCanvasPdf(canvas).print_pdf(buffer, metadata=unsaid)
        result["pdf"] = buffer.getvalue()
    return result


def full_caption(figure: Figure[Item], items: Sequence[Item], context: Context) -> str:
    """The caption, and what was measured by which commit."""
    build = context.build
    commit = build.commit[:12] + (" with uncommitted changes" if build.dirty else "")
    return f"{figure.caption(items)} {context.device.name}, commit {commit}."


def flat(axes: AxesGrid) -> list[Axes]:
    """The axes of a grid, row by row."""
    return [panel for row in axes for panel in row]
