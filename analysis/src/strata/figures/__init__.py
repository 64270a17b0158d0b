"""The figures, one file each.

A module of this package registers its figures (`_plot`), with Matplotlib as `_style` sets it up:
adding one takes one file. Modules with a leading underscore are helpers; `_drawing` draws all
figures of runs. Modules that define `FIGURE` or `FIGURES` are drawn by the layer of `_chart`,
`_draw` and `_images` until they are ported.
"""

import importlib
import pkgutil
from collections.abc import Mapping, Sequence
from functools import cache
from types import ModuleType
from typing import Any

from strata.figures import _plot
from strata.figures._figure import Figure
from strata.figures._plot import Plot

AnyFigure = Figure[Any] | Plot


@cache
def by_module() -> Mapping[str, Sequence[AnyFigure]]:
    """The figures of each module, by its name."""
    names = sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))
    modules = {name: importlib.import_module(f"{__name__}.{name}") for name in names}
    return {
        name: getattr(module, "FIGURES", None) or _of(module) for name, module in modules.items()
    }


def _of(module: ModuleType) -> Sequence[AnyFigure]:
    if hasattr(module, "FIGURE"):
        return (module.FIGURE,)
    return [one for one in _plot.FIGURES.values() if one.draw.__module__ == module.__name__]


def discover() -> tuple[AnyFigure, ...]:
    """Every figure of the package, in the order in which a report shows them."""
    found = [figure for of_module in by_module().values() for figure in of_module]
    return tuple(sorted(found, key=lambda figure: (figure.order, figure.name)))


def named(name: str) -> AnyFigure | None:
    """The figure of this name."""
    return next((one for one in discover() if one.name == name), None)
