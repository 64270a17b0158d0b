"""`measurements.csv`, read for comparison with the rows of the samples."""

import csv
import math
import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from msgspec.structs import astuple

from strata.run.files import REWRITE, lines, opened
from strata.run.rows import COLUMNS, Row
from strata.run.strict import WrongError, refusal

NUMBERS = ("value", "ci_low", "ci_high", "minimum", "maximum")
_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?", re.ASCII)
WIDTH = len(COLUMNS)
_FLAGS = {"true": True, "false": False}


def read_table(path: Path, rows: tuple[Row, ...]) -> tuple[Row, ...]:
    """`rows` themselves if the table equals them, otherwise the table's own rows.

    Raises `RunError` if the table cannot be read.
    """
    found = tuple(_rows(path, rows))
    same = all(row is known for row, known in zip_longest(found, rows))
    return rows if same else found


def _rows(path: Path, rows: tuple[Row, ...]) -> Iterator[Row]:
    """The rows of the table; the known one if it is equal, to save memory."""
    known = {row.key: row for row in rows}
    places: dict[tuple[str, str, str], int] = {}
    with opened(path) as file:
        text = (line.decode(errors="backslashreplace") for line in lines(file, path))
        reader = csv.reader(text, strict=True)
        try:
            _check_header(next(reader, []))
            for row in map(_row, reader):
                _check_first(row, places.setdefault(row.key, reader.line_num), reader.line_num)
                same = known.get(row.key, row)
                yield same if astuple(same)[:WIDTH] == astuple(row)[:WIDTH] else row
        except (csv.Error, WrongError) as error:
            raise refusal(path, reader.line_num or 1, error, REWRITE) from None


def _check_header(names: Sequence[str]) -> None:
    if (*names,) != COLUMNS:
        raise WrongError(f"the columns {','.join(names)!r}", f"the columns {','.join(COLUMNS)!r}")


def _check_first(row: Row, first: int, line: int) -> None:
    if first != line:
        found = f"{one_of(row)} again (first in line {first})"
        raise WrongError(found, "each case, quantity and method once")


def _row(cells: list[str]) -> Row:
    if len(cells) != WIDTH:
        raise WrongError(f"{len(cells)} columns", f"{WIDTH} columns")
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
