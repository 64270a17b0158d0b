"""The figures, one file each.

A module of this package registers its figures (`_plot`), with Matplotlib as `_style` sets it up:
adding one takes one file; those of `papers` redraw figures of papers. Modules with a leading
underscore are helpers; `_drawing` draws all figures of runs.
"""

import importlib
import pkgutil
from collections.abc import Mapping, Sequence
from functools import cache

from strata.figures._plot import FIGURES, Plot


@cache
def by_module() -> Mapping[str, Sequence[Plot]]:
    """The figures of each module, by its name: `tlb`, `papers.siegel`."""
    found = {}
    for module in sorted(m.name for m in pkgutil.walk_packages(__path__, f"{__name__}.")):
        name = module.removeprefix(f"{__name__}.")
        if not name.startswith("_") and name != "papers":
            importlib.import_module(module)
            found[name] = [plot for plot in FIGURES.values() if plot.draw.__module__ == module]
    return found


def discover() -> tuple[Plot, ...]:
    """Every figure of the package, in the order in which a report shows them."""
    found = [figure for of_module in by_module().values() for figure in of_module]
    return tuple(sorted(found, key=lambda figure: (figure.order, figure.name)))


def named(name: str) -> Plot | None:
    """The figure of this name."""
    return next((one for one in discover() if one.name == name), None)
