"""The tables of a report's summary, one file each.

A module of this package is a table: its `make` makes it, or returns None if a run has none; its
`ORDER` is its position, and assigns it to its question (`report.questions`), as for figures. Adding
one takes one file. Modules with a leading underscore are helpers.
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
    """The makers of all tables of the package, in display order."""
    names = (m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))
    modules = [importlib.import_module(f"{__name__}.{name}") for name in sorted(names)]
    return [module.make for module in sorted(modules, key=lambda module: module.ORDER)]


def tables_of(run: Run, notices: list[str] | None = None) -> list[tuple[int, Table]]:
    """The tables for which the run has rows, with their orders; failures are left out and named."""
    orders = [(getattr(sys.modules[make.__module__], "ORDER", -1), make) for make in discover()]
    return [(order, one) for order, make in orders for one in made([make], run, notices)]


def made(makers: Iterable[Maker], run: Run, notices: list[str] | None = None) -> list[Table]:
    """The tables that the `makers` make for the run."""
    tables = []
    for make in makers:
        with attempt(f"The table of {make.__module__}", notices):
            tables.append(make(run))
    return [table for table in tables if table]
