"""A run as everything else in the package sees it."""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from strata.run.files import MEASUREMENTS_FILE, packed
from strata.run.rows import COLUMNS, Row, grouped
from strata.run.schema import Case, Context
from strata.run.table import read_table

if TYPE_CHECKING:
    import pandas as pd


class Run(Struct, frozen=True, dict=True):
    """One sweep on one device; `cases` and `rows` stand in the order of the sweep."""

    folder: Path
    context: Context
    cases: tuple[Case, ...]
    rows: tuple[Row, ...]
    before: "Run | None" = None
    """The run as it was recorded, where `strata.model.truth` judged some of its rows anew."""

    @property
    def recorded(self) -> "Run":
        """The run as its files have it."""
        return self.before or self

    def of(self, benchmark: str) -> tuple[Row, ...]:
        """The rows of one benchmark, in their order."""
        return self._of.get(benchmark, ())

    @cached_property
    def _of(self) -> Mapping[str, tuple[Row, ...]]:
        by_name = grouped(self.rows, lambda row: row.benchmark)
        return {name: tuple(rows) for name, rows in by_name.items()}

    @cached_property
    def pending(self) -> tuple[str, ...]:
        """The case ids of the sweep that the run has not come to yet."""
        done = {case.id for case in self.cases}
        return tuple(case for case in self.context.sweep.cases if case not in done)

    @cached_property
    def table(self) -> tuple[Row, ...] | None:
        """`measurements.csv`, read when first asked for; None where an unfinished run has none.

        The recorded `rows` themselves where it says the same. Raises `RunError` where it cannot be
        read.
        """
        if self.before:
            return self.before.table
        path = self.folder / MEASUREMENTS_FILE
        known = self.context.state == "complete" or path.exists() or packed(path).exists()
        return read_table(path, self.rows) if known else None


def frame(run: Run) -> "pd.DataFrame":
    """The rows of a run as a pandas frame, with one column per parameter in place of `params`.

    A row a row of the run, in its order; numbers in the row's `unit`, parameters as text, None
    where a row has none. A parameter that is called as a column is (`method` of `async_copy`) has
    `param_` before its name.
    """
    import pandas as pd  # dear to import, and only wanted by people at a prompt

    columns: dict[str, list[Any]] = {
        name: [getattr(row, name) for row in run.rows] for name in COLUMNS if name != "params"
    }
    for axis in dict.fromkeys(axis for case in run.cases for axis in case.params):
        name = f"param_{axis}" if axis in COLUMNS else axis
        columns[name] = [row.params.get(axis) for row in run.rows]
    return pd.DataFrame(columns)
