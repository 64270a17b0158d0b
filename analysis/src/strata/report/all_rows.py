"""All rows of a run as a page carries them: small enough to embed a million of them.

A page holds no element for each row. It holds one text, which its script unpacks: columns with
every word once, numbers with seven digits, deflated and in base64. `measurements.csv` has all
digits.
"""

import base64
import json
import zlib
from collections.abc import Callable, Iterable, Sequence

from strata.run import Row, params_text

DIGITS = 7
_EXACT = 1e15
"""Whole numbers below this are written whole, as counts are."""


class Places:
    """Where rows stand among those of their run, counted from 0."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = rows
        self._first: dict[str, int] = {}
        last: str | None = None
        for place, row in enumerate(rows):
            if row.case is not last:
                last = row.case
                self._first.setdefault(last, place)

    def of(self, row: Row) -> int:
        """The place of the row with the key of `row`. Raises KeyError where there is none."""
        for place in range(self._first[row.case], len(self._rows)):
            here = self._rows[place]
            if here is row or here.key == row.key:
                return place
            if here.case != row.case:
                break
        raise KeyError(row.key)


def spans(places: Iterable[int]) -> str:
    """Places from 0 as numbers from 1, in order, what follows on each other joined: `3-7,12`."""
    parts: list[list[int]] = []
    for place in sorted(set(places)):
        if parts and parts[-1][1] == place:
            parts[-1][1] = place + 1
        else:
            parts.append([place + 1, place + 1])
    return ",".join(f"{low}" if low == high else f"{low}-{high}" for low, high in parts)


def pack(rows: Sequence[Row], shown: Callable[[str], str] = str) -> str:
    """`rows` as the script of a page reads them; `shown` is applied to the reasons of a row.

    Deflated JSON in base64. Of each case, in order: benchmark, parameters, number of rows. Of each
    row: the numbers of its words (`heads`: quantity, unit, provenance, method; `notes`: whether
    valid, and reasons), value and number of samples; of rows with several samples as well the ends
    of interval and range.
    """
    cases: list[list[str | int]] = []
    heads: dict[tuple[str, ...], int] = {}
    notes: dict[tuple[bool, str], int] = {}
    head: list[int] = []
    note: list[int] = []
    last: str | None = None
    for row in rows:
        if row.case is not last:
            last = row.case
            cases.append([row.benchmark, params_text(row.params, " "), 0])
        cases[-1][2] += 1  # type: ignore[operator]
        words = (row.quantity, row.unit, row.provenance, row.method)
        head.append(heads.setdefault(words, len(heads)))
        note.append(notes.setdefault((row.valid, row.reasons), len(notes)))
    several = [row for row in rows if row.samples > 1]
    words_of = json.dumps(
        {
            "cases": cases,
            "heads": list(heads),
            "notes": [(valid, shown(reasons)) for valid, reasons in notes],
        },
        ensure_ascii=False,
        separators=(",", ":"),
    )
    columns = {
        "head": map(str, head),
        "note": map(str, note),
        "n": (str(row.samples) for row in rows),
        "value": (_text(row.value) for row in rows),
        "low": (_text(row.ci_low) for row in several),
        "high": (_text(row.ci_high) for row in several),
        "least": (_text(row.minimum) for row in several),
        "most": (_text(row.maximum) for row in several),
    }
    numbers = ",".join(f'"{name}":[{",".join(cells)}]' for name, cells in columns.items())
    packed = zlib.compress(f"{words_of[:-1]},{numbers}}}".encode(), 6)
    return base64.b64encode(packed).decode()


def _text(value: float | None) -> str:
    if value is None:
        return "null"
    if value.is_integer() and abs(value) < _EXACT:
        return f"{value:.0f}"
    return f"{value:.{DIGITS}g}"
