"""`measurements.csv`, read to be compared with what the samples give."""

import math
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path
from typing import Any

from strata.run.files import REWRITE, RunError, opened
from strata.run.rows import COLUMNS, Row, params_text

NUMBERS = ("value", "ci_low", "ci_high", "minimum", "maximum")
HEADER = ",".join(COLUMNS)


def read_table(path: Path, rows: tuple[Row, ...]) -> tuple[Row, ...]:
    """`rows` themselves where the table says just what they say, else its own rows.

    Compared column by column, so that a million rows take seconds. Raises `RunError` where the
    table cannot be read.
    """
    import pyarrow as pa  # type: ignore[import-untyped]  # dear to import

    params = {
        case: params_text(words) for case, words in {row.case: row.params for row in rows}.items()
    }
    known, same = 0, True
    for batch in _batches(path):
        here = rows[known : known + len(batch)]
        known += len(batch)
        for field, column in zip(batch.schema, batch.columns, strict=True):
            if field.name == "params":
                values: list[Any] = [params[row.case] for row in here]
            else:
                values = list(map(attrgetter(field.name), here))
            same = same and column.equals(pa.array(values, field.type))
    return rows if same and known == len(rows) else tuple(_rows(path))


def _rows(path: Path) -> Iterator[Row]:
    """The rows of the table, each case, quantity and method once, their numbers finite."""
    lines: dict[tuple[str, str, str], int] = {}
    for cells in (cells for batch in _batches(path) for cells in batch.to_pylist()):
        number = len(lines) + 2
        for name in NUMBERS:
            if not math.isfinite(cells[name] or 0):
                found, expected = f"{cells[name]} as {name}", "a finite number"
                raise RunError(path, number, found=found, expected=expected, mend=REWRITE)
        params = dict(pair.partition("=")[::2] for pair in cells["params"].split(";") if pair)
        row = Row(**cells | {"params": params})
        if lines.setdefault(row.key, number) != number:
            raise RunError(
                path,
                number,
                found=f"{one_of(row)} again (first in line {lines[row.key]})",
                expected="each case, quantity and method once",
                mend=REWRITE,
            )
        yield row


def one_of(row: Row) -> str:
    """A row in words."""
    return f"{row.quantity} by {row.method} of {row.case}"


def _batches(path: Path) -> Iterator[Any]:
    """The table in parts of some thousand rows, each column of its type, its numbers finite."""
    import pyarrow as pa
    from pyarrow import csv

    kinds = dict.fromkeys(COLUMNS, pa.string()) | dict.fromkeys(NUMBERS, pa.float64())
    kinds |= {"samples": pa.int64(), "valid": pa.bool_()}
    converted = csv.ConvertOptions(
        column_types=kinds, null_values=[""], true_values=["true"], false_values=["false"]
    )
    read = csv.ReadOptions(column_names=COLUMNS, block_size=1 << 22, use_threads=False)
    with opened(path) as file:
        header = file.readline().decode(errors="backslashreplace").rstrip("\r\n")
        if header != HEADER:
            found, expected = f"the columns {header!r}", f"the columns {HEADER!r}"
            raise RunError(path, 1, found=found, expected=expected, mend=REWRITE)
        try:
            yield from csv.open_csv(
                file, read, csv.ParseOptions(ignore_empty_lines=False), converted
            )
        except pa.ArrowInvalid as error:
            if f"{error}" == "Empty CSV file":
                return
            row, _, found = f"{error}".rpartition("Row #")[2].partition(": ")
            line = int(row) + 1 if row.isdecimal() else None
            expected = "a table as results/schema has it"
            raise RunError(path, line, found=found, expected=expected, mend=REWRITE) from None
