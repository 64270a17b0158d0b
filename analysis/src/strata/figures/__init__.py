"""The figures, one file each.

A module of this package registers its figures (`_plot`), with Matplotlib as `_style` sets it up:
adding one takes one file. Modules with a leading underscore are helpers; `_drawing` draws all
figures of runs.
"""

import importlib
import pkgutil
from collections.abc import Mapping, Sequence
from functools import cache

from strata.figures._plot import FIGURES, Plot


@cache
def by_module() -> Mapping[str, Sequence[Plot]]:
    """The figures of each module, by its name."""
    names = sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))
    modules = {name: importlib.import_module(f"{__name__}.{name}").__name__ for name in names}
    return {
        name: [one for one in FIGURES.values() if one.draw.__module__ == module]
        for name, module in modules.items()
    }


def discover() -> tuple[Plot, ...]:
    """Every figure of the package, in the order in which a report shows them."""
    found = [figure for of_module in by_module().values() for figure in of_module]
    return tuple(sorted(found, key=lambda figure: (figure.order, figure.name)))


def named(name: str) -> Plot | None:
    """The figure of this name."""
    return next((one for one in discover() if one.name == name), None)
