"""A run as the rest of the package uses it."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from strata.run.files import MEASUREMENTS_FILE, packed
from strata.run.rows import COLUMNS, Row, grouped, read_table
from strata.run.schema import Case, Context

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

    def valid(self, benchmark: str, quantity: str = "", *methods: str, **axes: str) -> list[Row]:
        """The valid rows of a benchmark: of a quantity by some `methods` at values of `axes`."""
        return [
            row
            for row in self.of(benchmark)
            if row.valid and quantity in ("", row.quantity)
            if (not methods or row.method in methods) and axes.items() <= row.params.items()
        ]

    @cached_property
    def _of(self) -> Mapping[str, tuple[Row, ...]]:
        groups = grouped(self.rows, lambda row: row.benchmark)
        return {benchmark: tuple(rows) for benchmark, rows in groups.items()}

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
        if self.folder.is_file():
            return self.rows
        path = self.folder / MEASUREMENTS_FILE
        known = self.context.state == "complete" or path.exists() or packed(path).exists()
        return read_table(path, self.rows) if known else None


def frame(run: Run) -> "pd.DataFrame":
    """The rows of a run as a pandas frame, with one column per parameter instead of `params`.

    One row per row of the run, in its order; numbers in the row's `unit`, parameters as text, None
    if a row has none. A parameter with the name of a column (`method` of `async_copy`) gets the
    prefix `param_`.
    """
    import pandas as pd  # slow to import, and not every command needs it

    axes = [axis for case in run.cases for axis in case.params]
    words = {axis: [row.params.get(axis) for row in run.rows] for axis in axes}
    return pd.DataFrame(_columns(run.rows, words))


def tidy(rows: Iterable[Row]) -> "pd.DataFrame":
    """Rows as a pandas frame to compute with: one line per row, in their order.

    Columns as in `frame`, but an axis is a number if every value is a whole number; `low` and
    `high`, the interval in the row's `unit` (with fewer than six samples their range); `_row`, the
    row itself.
    """
    import pandas as pd

    rows = tuple(rows)

    values: dict[str, list[Any]] = {}
    for axis in dict.fromkeys(axis for row in rows for axis in row.params):
        counts = [row.count(axis) for row in rows]
        values[axis] = [row.params.get(axis) for row in rows] if None in counts else counts
    low, high = ([row.interval[end] for row in rows] for end in (0, 1))
    return pd.DataFrame({**_columns(rows, values), "low": low, "high": high, "_row": rows})


def _columns(rows: Sequence[Row], axes: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
    fixed = {name: [getattr(row, name) for row in rows] for name in COLUMNS if name != "params"}
    return fixed | {f"param_{axis}" if axis in COLUMNS else axis: axes[axis] for axis in axes}


def beside(
    lines: "pd.DataFrame", rows: "pd.DataFrame", quantity: str, column: str = "value"
) -> "pd.Series[Any]":
    """For each line of `lines`, `column` of another `quantity` of its case; NaN without one.

    `rows` is the `tidy` frame with those quantities; of several methods the first is taken.
    """
    found = rows[rows.quantity == quantity].drop_duplicates("case").set_index("case")[column]
    return found.reindex(lines["case"]).set_axis(lines.index)
