"""A run as the rest of the package uses it."""

from collections.abc import Iterable, Mapping
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
    """One sweep on one device; `cases` and `rows` are in sweep order."""

    folder: Path
    context: Context
    cases: tuple[Case, ...]
    rows: tuple[Row, ...]
    before: "Run | None" = None
    """The recorded run, if `strata.model.truth` judged some of its rows again."""

    @property
    def recorded(self) -> "Run":
        """The run as recorded in its files."""
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
        """The case ids of the sweep that the run has not reached yet."""
        done = {case.id for case in self.cases}
        return tuple(case for case in self.context.sweep.cases if case not in done)

    @cached_property
    def table(self) -> tuple[Row, ...] | None:
        """`measurements.csv`, read on first use; None if an unfinished run has none.

        The recorded `rows` themselves if it is identical. Raises `RunError` if it cannot be read.
        """
        if self.before:
            return self.before.table
        path = self.folder / MEASUREMENTS_FILE
        known = self.context.state == "complete" or path.exists() or packed(path).exists()
        return read_table(path, self.rows) if known else None


def frame(run: Run) -> "pd.DataFrame":
    """The rows of a run as a pandas frame, with one column per parameter instead of `params`.

    One row per row of the run, in its order; numbers in the row's `unit`, parameters as text, None
    if a row has none. A parameter with the name of a column (`method` of `async_copy`) gets the
    prefix `param_`.
    """
    import pandas as pd  # slow to import, and only needed at a prompt

    columns: dict[str, list[Any]] = {
        name: [getattr(row, name) for row in run.rows] for name in COLUMNS if name != "params"
    }
    for axis in dict.fromkeys(axis for case in run.cases for axis in case.params):
        name = f"param_{axis}" if axis in COLUMNS else axis
        columns[name] = [row.params.get(axis) for row in run.rows]
    return pd.DataFrame(columns)


def tidy(rows: Iterable[Row]) -> "pd.DataFrame":
    """Rows as a pandas frame to compute with: one line per row, in their order.

    Columns: the fields of a row without `params` and `taken`; `low` and `high`, its interval in
    its `unit` (with fewer than six samples their range); one column per axis (named as in `frame`),
    a number if every value is a whole number; `_row`, the row itself.
    """
    import pandas as pd

    rows = tuple(rows)
    columns: dict[str, list[Any]] = {
        name: [getattr(row, name) for row in rows] for name in COLUMNS if name != "params"
    }
    columns["low"], columns["high"] = ([row.interval[end] for row in rows] for end in (0, 1))
    for axis in dict.fromkeys(axis for row in rows for axis in row.params):
        counts = [row.count(axis) for row in rows]
        words = [row.params.get(axis) for row in rows]
        columns[f"param_{axis}" if axis in COLUMNS else axis] = words if None in counts else counts
    return pd.DataFrame({**columns, "_row": rows})


def beside(
    lines: "pd.DataFrame", rows: "pd.DataFrame", quantity: str, column: str = "value"
) -> "pd.Series[Any]":
    """For each line of `lines`, `column` of another `quantity` of its case; NaN without one.

    `rows` is the `tidy` frame with those quantities; of several methods the first is taken.
    """
    found = rows[rows.quantity == quantity].drop_duplicates("case").set_index("case")[column]
    return found.reindex(lines["case"]).set_axis(lines.index)
