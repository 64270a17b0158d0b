"""The tables of a report's summary.

A function of a module of this package with `@at(ORDER)` is a table: it makes it from a run, or
returns None if the run has none of its rows. The order is its position, and assigns it to its
question (`report.questions`), as for figures.
"""

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Mapping

from strata.model.text import Table
from strata.report.attempt import attempt
from strata.run import Run

Maker = Callable[[Run], Table | None]
_ORDERS: dict[Maker, int] = {}


def at(order: int) -> Callable[[Maker], Maker]:
    """Makes a function a table of the report, at this position."""

    def register(make: Maker) -> Maker:
        _ORDERS[make] = order
        return make

    return register


def discover() -> Mapping[Maker, int]:
    """The makers of all tables with their orders, in display order."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    return dict(sorted(_ORDERS.items(), key=lambda item: item[1]))


def tables_of(run: Run, notices: list[str] | None = None) -> list[tuple[int, Table]]:
    """The tables for which the run has rows, with their orders; failures are left out and named."""
    makers = discover().items()
    return [(order, table) for make, order in makers for table in made([make], run, notices)]


def made(makers: Iterable[Maker], run: Run, notices: list[str] | None = None) -> list[Table]:
    """The tables that the `makers` make for the run."""
    tables = []
    for make in makers:
        with attempt(f"The table of {make.__module__}.{make.__name__}", notices):
            tables.append(make(run))
    return [table for table in tables if table]
