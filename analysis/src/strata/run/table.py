"""`measurements.csv`, read for comparison with the rows of the samples."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any

from strata.run.files import MOST_OF_LINE, REWRITE, RunError, lines, opened
from strata.run.rows import COLUMNS, Row

NUMBERS = ("value", "ci_low", "ci_high", "minimum", "maximum")
HEADER = ",".join(COLUMNS)
_BLOCK_BYTES = 1 << 18
_CELLS: Mapping[str, Callable[[Row], object]] = {
    **{name: attrgetter(name) for name in COLUMNS},
    "params": lambda row: ";".join(row.case.split("/")[3:]),  # as required by loading
}


def read_table(path: Path, rows: tuple[Row, ...]) -> tuple[Row, ...]:
    """`rows` themselves if the table equals them, otherwise the table's own rows.

    Compared part by part while reading, so that a correct table takes no memory. Raises `RunError`
    if the table cannot be read.
    """
    try:
        same = _same(path, rows)
    except RunError:
        same = False  # an earlier line may be wrong too: all checks, from the first line on
    return rows if same else tuple(_rows(path))


def _same(path: Path, rows: Sequence[Row]) -> bool:
    """Whether each line equals the row at its position, and both have the same length."""
    place = 0
    for batch in _batches(path):
        part = rows[place : place + batch.num_rows]
        place += batch.num_rows
        if any(batch.column(name).to_pylist() != [*map(get, part)] for name, get in _CELLS.items()):
            return False
    return place == len(rows)


def _rows(path: Path) -> Iterator[Row]:
    """The rows of the table: each case, quantity and method once, with finite numbers."""
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
            found = f"{one_of(row)} again (first in line {lines[row.key]})"
            expected = "each case, quantity and method once"
            raise RunError(path, number, found=found, expected=expected, mend=REWRITE)
        yield row


def one_of(row: Row) -> str:
    """A row in words."""
    return f"{row.quantity} by {row.method} of {row.case}"


def _batches(path: Path) -> Iterator[Any]:
    """The table in parts of several thousand rows, each column typed, with finite numbers."""
    import pyarrow as pa  # type: ignore[import-untyped]  # dear to import
    from pyarrow import csv as tables

    kinds = dict.fromkeys(COLUMNS, pa.string()) | dict.fromkeys(NUMBERS, pa.float64())
    kinds |= {"samples": pa.int64(), "valid": pa.bool_()}
    converted = tables.ConvertOptions(
        column_types=kinds, null_values=[""], true_values=["true"], false_values=["false"]
    )
    parsed = tables.ParseOptions(ignore_empty_lines=False)
    read = tables.ReadOptions(column_names=COLUMNS, use_threads=False)
    with opened(path) as file:
        header = next(lines(file, path), b"").decode(errors="backslashreplace").rstrip("\r\n")
        if header != HEADER:
            found, expected = f"the columns {header!r}", f"the columns {HEADER!r}"
            raise RunError(path, 1, found=found, expected=expected, mend=REWRITE)
        done = 1
        while block := file.read(_BLOCK_BYTES):
            block += file.readline(MOST_OF_LINE)
            # Uses Arrow's own memory: its readers release their input on their own thread, and a
            # Python object released there while the interpreter ends aborts the process.
            owned = pa.BufferOutputStream()
            owned.write(block)
            source, pool = pa.BufferReader(owned.getvalue()), pa.system_memory_pool()
            try:
                part = tables.read_csv(source, read, parsed, converted, pool)
            except pa.ArrowInvalid as error:
                row, _, found = f"{error}".rpartition("Row #")[2].partition(": ")
                line = done + int(row) if row.isdecimal() else None
                expected = "a table as results/schema has it"
                raise RunError(path, line, found=found, expected=expected, mend=REWRITE) from None
            done += part.num_rows
            yield part
