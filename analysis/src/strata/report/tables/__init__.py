"""The tables of a report's summary, one file each.

A module of this package that defines `TABLE` is a table: adding one takes one file. Names with a
leading underscore are helpers.
"""

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from typing import NamedTuple

from strata.model.text import Table
from strata.report.attempt import attempt
from strata.run import Run

Maker = Callable[[Run], Table | None]


class ReportTable(NamedTuple):
    """A table, where it stands among the others, and how it is made: None where a run has none."""

    order: int
    make: Maker


def discover() -> tuple[ReportTable, ...]:
    """Every table of the package, in the order in which a report shows them."""
    names = (m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))
    tables = [importlib.import_module(f"{__name__}.{name}").TABLE for name in sorted(names)]
    return tuple(sorted(tables, key=lambda table: table.order))


def tables_of(run: Run, notices: list[str] | None = None) -> list[Table]:
    """The tables that the run has rows for; one that fails is left out and named."""
    return made((table.make for table in discover()), run, notices)


def made(makers: Iterable[Maker], run: Run, notices: list[str] | None = None) -> list[Table]:
    """What the `makers` make of the run."""
    tables = []
    for make in makers:
        with attempt(f"The table of {make.__module__}", notices):
            tables.append(make(run))
    return [table for table in tables if table]
