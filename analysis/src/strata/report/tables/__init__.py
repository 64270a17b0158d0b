"""The tables of a report's summary, one file each.

A module of this package is a table: its `make` makes it, or gives None where a run has none; its
`ORDER` is its place among the others, and that of its question (`report.questions`), as a figure's
is. Adding one takes one file. Names with a leading underscore
are helpers.
"""

import importlib
import pkgutil
import sys
from collections.abc import Callable, Iterable

from strata.model.text import Table
from strata.report.attempt import attempt
from strata.run import Run

Maker = Callable[[Run], Table | None]


def discover() -> list[Maker]:
    """What makes every table of the package, in the order in which a report shows them."""
    names = (m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))
    modules = [importlib.import_module(f"{__name__}.{name}") for name in sorted(names)]
    return [module.make for module in sorted(modules, key=lambda module: module.ORDER)]


def tables_of(run: Run, notices: list[str] | None = None) -> list[tuple[int, Table]]:
    """The tables that the run has rows for, with their orders; who fails is left out and named."""
    orders = [(getattr(sys.modules[make.__module__], "ORDER", -1), make) for make in discover()]
    return [(order, one) for order, make in orders for one in made([make], run, notices)]


def made(makers: Iterable[Maker], run: Run, notices: list[str] | None = None) -> list[Table]:
    """What the `makers` make of the run."""
    tables = []
    for make in makers:
        with attempt(f"The table of {make.__module__}", notices):
            tables.append(make(run))
    return [table for table in tables if table]
