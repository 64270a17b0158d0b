"""The figures, one file each.

A module of this package that defines `FIGURE`, or several as `FIGURES`, is a figure: adding one
takes one file. Modules with a leading underscore are helpers: `_figure` defines what a figure is,
`_chart` its content, `_draw` lays it out, `_images` writes it, `_drawing` draws all figures of
runs.
"""

import importlib
import pkgutil
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from strata.figures._figure import Figure


@cache
def by_module() -> Mapping[str, Sequence[Figure[Any]]]:
    """The figures of each module, by its name."""
    names = sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))
    modules = {name: importlib.import_module(f"{__name__}.{name}") for name in names}
    return {
        name: module.FIGURES if hasattr(module, "FIGURES") else (module.FIGURE,)
        for name, module in modules.items()
    }


def discover() -> tuple[Figure[Any], ...]:
    """Every figure of the package, in the order in which a report shows them."""
    found = [figure for of_module in by_module().values() for figure in of_module]
    return tuple(sorted(found, key=lambda figure: (figure.order, figure.name)))
