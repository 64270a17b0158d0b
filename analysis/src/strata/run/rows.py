"""Rows derived from the samples of a run, one per quantity of a case."""

import csv
import math
import re
from collections.abc import Callable, Generator, Hashable, Iterable, Mapping, Sequence
from contextlib import closing
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any, TypeVar, cast

from msgspec import Struct
from msgspec.structs import astuple

from strata.run.files import REWRITE, RunError, lines, opened
from strata.run.schema import Backend, Case, Context, Gate, Line, Noise, Provenance, Verdict
from strata.run.statistics import spread_of_visits
from strata.run.strict import WrongError, refusal

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


DIGITS = 18  # of a size or a count; a longer word is not a number


class Row(Struct, frozen=True, gc=False):
    """One quantity of one case by one method: a row of `measurements.csv`.

    `value`, `ci_low`, `ci_high`, `minimum` and `maximum` are in `unit`; the interval is None with
    fewer than six samples. `noise` is the verdict of the noise gate; `taken` are the samples
    themselves, in the order of the record.
    """

    run: str
    device: str
    backend: Backend
    suite: str
    benchmark: str
    case: str
    params: Mapping[str, str]
    quantity: str
    unit: str
    provenance: Provenance
    method: str
    value: float
    ci_low: float | None
    ci_high: float | None
    minimum: float
    maximum: float
    samples: int
    valid: bool
    reasons: str
    noise: Verdict = "not_applicable"
    taken: tuple[float, ...] = ()

    def text(self, axis: str, default: str = "?") -> str:
        """The value of an axis; `default` if the case has no such axis."""
        return self.params.get(axis, default)

    def count(self, axis: str) -> int | None:
        """The value of an axis as an integer below 10^18; None if it is not one."""
        value = self.params.get(axis, "")
        return int(value) if value.isdecimal() and len(value) <= DIGITS else None

    @property
    def interval(self) -> tuple[float, float]:
        """The interval; with fewer than six samples their range."""
        if self.ci_low is None or self.ci_high is None:
            return self.minimum, self.maximum
        return self.ci_low, self.ci_high

    @property
    def key(self) -> tuple[str, str, str]:
        """(case, quantity, method): what identifies a row within a run."""
        return (self.case, self.quantity, self.method)


COLUMNS = Row.__struct_fields__[:-2]
"""The columns of `measurements.csv`."""


def derive(context: Context, case: Line, again: Sequence[Line] = ()) -> tuple[Case, Sequence[Row]]:
    """A case, and its rows in the order of its measurements; `again` are its later visits."""
    head = (context.run, context.device.slug, case.backend, case.suite, case.benchmark)
    reasons = [_reason(gate) for gate in case.gates if gate.verdict in ("failed", "unverified")]
    sound = all(gate.verdict != "failed" for gate in case.gates)
    of_case, rows = "; ".join(reasons), list[Row]()
    later = [{(m.quantity, m.method): m.samples for m in line.measurements} for line in again]
    for one in case.measurements:
        valid, why, verdict, samples = sound, of_case, one.noise.verdict, one.samples
        visits, key = [samples], (one.quantity, one.method)
        if later and one.provenance == "timed":
            visits += [samples_of[key] for samples_of in later if key in samples_of]
            samples = tuple(chain.from_iterable(visits))
        if verdict in ("failed", "unverified"):
            valid = valid and verdict != "failed"
            why = "; ".join([*reasons, _reason(one.noise)])
        value, low, high, least, most = spread_of_visits(visits)
        names = (*head, case.id, case.params, one.quantity, one.unit, one.provenance, one.method)
        numbers = (value, low, high, least, most, len(samples))
        rows.append(Row(*cast("Any", (*names, *numbers, valid, why, verdict, samples))))
    return Case(*(getattr(case, name) for name in Case.__struct_fields__)), rows


def _reason(gate: Gate | Noise) -> str:
    return f"{gate.name}: {gate.detail or gate.verdict}"


def params_text(params: Mapping[str, str], separator: str = ";") -> str:
    """`k=v` of every parameter, sorted by key, joined by `separator`."""
    return separator.join([f"{key}={params[key]}" for key in sorted(params)])


def case_id(suite: str, benchmark: str, backend: str, params: Mapping[str, str]) -> str:
    """The canonical id of a case: suite/benchmark/backend/k=v/..."""
    words = params_text(params, "/")
    return f"{suite}/{benchmark}/{backend}" + (f"/{words}" if words else "")


def grouped(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Items by a key; keys and items in the order of appearance."""
    found: dict[K, list[T]] = {}
    for item in items:
        found.setdefault(key(item), []).append(item)
    return found


class Places:
    """The positions of rows among those of their run, from 0."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._places = {row.key: place for place, row in enumerate(rows)}

    def of(self, row: Row) -> int:
        """The position of the row with the key of `row`. Raises KeyError if there is none."""
        return self._places[row.key]


# --- measurements.csv, read for comparison with the rows of the samples ---------------------------

NUMBERS = ("value", "ci_low", "ci_high", "minimum", "maximum")
_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?", re.ASCII)
_FLAGS = {"true": True, "false": False}


def read_table(path: Path, rows: tuple[Row, ...]) -> tuple[Row, ...]:
    """`rows` themselves if the table equals them, otherwise the table's own rows, each once.

    A correct table takes no memory. Raises `RunError` if the table cannot be read.
    """
    with closing(_lines(path)) as stored:
        both = zip_longest(stored, rows)
        if all(line and row and _cells(line[1]) == _cells(row) for line, row in both):
            return rows
    return table_rows(path)


def is_table(path: Path) -> bool:
    """Whether a file is a `measurements.csv`, by its first line."""
    if not path.is_file():
        return False
    with opened(_unpacked(path)) as file:
        return file.readline(MOST_OF_HEADER).decode(errors="replace").strip() == ",".join(COLUMNS)


def _unpacked(path: Path) -> Path:
    """The path of a table by which `opened` finds it, packed or not."""
    return path.with_suffix("") if path.suffix == ".gz" else path


MOST_OF_HEADER = 4096
"""Letters."""


def table_rows(path: Path) -> tuple[Row, ...]:
    """The rows of a table, each once; raises `RunError` if it cannot be read."""
    path = _unpacked(path)
    found: dict[tuple[str, ...], tuple[int, Row]] = {}
    with closing(_lines(path)) as stored:
        for number, row in stored:
            first, _ = found.setdefault((row.run, *row.key), (number, row))
            if first != number:
                again = f"{one_of(row)} again (first in line {first})"
                expected = "each case, quantity and method once"
                raise RunError(path, number, found=again, expected=expected, fix=REWRITE)
    return tuple(row for _, row in found.values())


def _cells(row: Row) -> tuple[object, ...]:
    return astuple(row)[: len(COLUMNS)]


def _lines(path: Path) -> Generator[tuple[int, Row], None, None]:
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
