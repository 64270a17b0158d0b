"""`measurements.csv`, read for comparison with the rows of the samples."""

import csv
import math
import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from msgspec.structs import astuple

from strata.run.files import REWRITE, RunError, lines, opened
from strata.run.rows import COLUMNS, Row
from strata.run.strict import WrongError, refusal

NUMBERS = ("value", "ci_low", "ci_high", "minimum", "maximum")
_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?", re.ASCII)
_FLAGS = {"true": True, "false": False}


def read_table(path: Path, rows: tuple[Row, ...]) -> tuple[Row, ...]:
    """`rows` themselves if the table equals them, otherwise the table's own rows, each once.

    A correct table takes no memory. Raises `RunError` if the table cannot be read.
    """
    both = zip_longest(_lines(path), rows)
    if all(line and row and _cells(line[1]) == _cells(row) for line, row in both):
        return rows
    found: dict[tuple[str, str, str], tuple[int, Row]] = {}
    for number, row in _lines(path):
        first, _ = found.setdefault(row.key, (number, row))
        if first != number:
            again = f"{one_of(row)} again (first in line {first})"
            expected = "each case, quantity and method once"
            raise RunError(path, number, found=again, expected=expected, mend=REWRITE)
    return tuple(row for _, row in found.values())


def _cells(row: Row) -> tuple[object, ...]:
    return astuple(row)[: len(COLUMNS)]


def _lines(path: Path) -> Iterator[tuple[int, Row]]:
    """The rows of the table with their line numbers."""
    with opened(path) as file:
        text = (line.decode(errors="backslashreplace") for line in lines(file, path))
        reader = csv.reader(text, strict=True)
        try:
            _check_header(next(reader, []))
            for row in map(_row, reader):
                yield reader.line_num, row
        except (csv.Error, WrongError) as error:
            raise refusal(path, reader.line_num or 1, error, REWRITE) from None


def _check_header(names: Sequence[str]) -> None:
    if (*names,) != COLUMNS:
        raise WrongError(f"the columns {','.join(names)!r}", f"the columns {','.join(COLUMNS)!r}")


def _row(cells: list[str]) -> Row:
    if len(cells) != len(COLUMNS):
        raise WrongError(f"{len(cells)} columns", f"{len(COLUMNS)} columns")
    row: dict[str, Any] = dict(zip(COLUMNS, cells, strict=True))
    for name in NUMBERS:
        text = row[name]
        row[name] = float(text) if _NUMBER.fullmatch(text) else None
        if not math.isfinite(row[name] or 0) or (text and row[name] is None):
            raise WrongError(f"{text} as {name}", "a finite number")
    if row["valid"] not in _FLAGS or not re.fullmatch(r"[0-9]{1,18}", row["samples"]):
        raise WrongError(f"{row['samples']},{row['valid']}", "a count of samples, true or false")
    row["valid"], row["samples"] = _FLAGS[row["valid"]], int(row["samples"])
    row["params"] = dict(pair.partition("=")[::2] for pair in row["params"].split(";") if pair)
    return Row(**row)


def one_of(row: Row) -> str:
    """A row in words."""
    return f"{row.quantity} by {row.method} of {row.case}"
