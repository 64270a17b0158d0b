"""The tables of a report's summary, one file each.

A module of this package that defines `TABLE` is a table: adding one takes one file. Names with a
leading underscore are helpers.
"""

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass

from strata.model import Table
from strata.run import Run


@dataclass(frozen=True, slots=True)
class ReportTable:
    """A table, where it stands among the others, and how it is made: None where a run has none."""

    order: int
    make: Callable[[Run], Table | None]


def discover() -> tuple[ReportTable, ...]:
    """Every table of the package, in the order in which a report shows them."""
    names = sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))
    tables = [importlib.import_module(f"{__name__}.{name}").TABLE for name in names]
    return tuple(sorted(tables, key=lambda table: table.order))


def tables_of(run: Run) -> tuple[Table, ...]:
    """The tables that the run has rows for."""
    made = (table.make(run) for table in discover())
    return tuple(table for table in made if table is not None)
