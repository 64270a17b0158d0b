"""All rows of a run, embedded in a page: small enough for a million of them.

A page has no element for each row, but one text that its script unpacks: columns with every word
once, numbers with seven digits, deflated and in base64. `measurements.csv` has all digits.
"""

import base64
import json
import zlib
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import groupby
from operator import attrgetter

from strata.run import Row, params_text


def spans(places: Iterable[int]) -> str:
    """Places from 0 as numbers from 1, in order, with runs joined: `3-7,12`."""
    ends: list[list[int]] = []
    for number in sorted({place + 1 for place in places}):
        if ends and ends[-1][-1] == number - 1:
            ends[-1][1:] = [number]
        else:
            ends.append([number])
    return ",".join("-".join(map(str, part)) for part in ends)


def pack(rows: Sequence[Row], shown: Callable[[str], str] = str) -> str:
    """`rows` as the script of a page reads them; `shown` is applied to the reasons of a row.

    Deflated JSON in base64. For each case, in order: benchmark, parameters, number of rows. For
    each row: the indices of its words (`heads`: quantity, unit, provenance, method; `notes`:
    validity and reasons), value and number of samples; for rows with several samples also the ends
    of interval and range.
    """
    heads: dict[Hashable, int] = {}
    notes: dict[tuple[bool, str], int] = {}
    groups = [list(group) for _, group in groupby(rows, attrgetter("case"))]

    def head(row: Row) -> str:
        words = (row.quantity, row.unit, row.provenance, row.method)
        return f"{heads.setdefault(words, len(heads))}"

    def note(row: Row) -> str:
        return f"{notes.setdefault((row.valid, row.reasons), len(notes))}"

    def column(name: str, cell: Callable[[Row], str], *, least: int = 1) -> str:
        parts = (",".join([cell(row) for row in group if row.samples >= least]) for group in groups)
        return f',"{name}":[{",".join(filter(None, parts))}]'

    columns = [
        column("head", head),
        column("note", note),
        column("n", lambda row: f"{row.samples}"),
        column("value", lambda row: _text(row.value)),
        column("low", lambda row: _text(row.ci_low), least=2),
        column("high", lambda row: _text(row.ci_high), least=2),
        column("least", lambda row: _text(row.minimum), least=2),
        column("most", lambda row: _text(row.maximum), least=2),
    ]
    cases = [(one[0].benchmark, params_text(one[0].params, " "), len(one)) for one in groups]
    told = [(sound, shown(why)) for sound, why in notes]
    words = {"cases": cases, "heads": list(heads), "notes": told}
    text = json.dumps(words, ensure_ascii=False, separators=(",", ":"))
    deflate = zlib.compressobj(6)
    parts = [deflate.compress(part.encode()) for part in (text[:-1], *columns, "}")]
    return base64.b64encode(b"".join([*parts, deflate.flush()])).decode()


def _text(value: float | None) -> str:
    """Integers as such, as counts are; others with seven digits."""
    if value is None:
        return "null"
    return f"{value:.0f}" if value.is_integer() and abs(value) < 1e15 else f"{value:.7g}"
