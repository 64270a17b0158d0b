"""All rows of a run as a page carries them: small enough to embed a million of them.

A page holds no element for each row. It holds one text, which its script unpacks: columns with
every word once, numbers with seven digits, deflated and in base64. `measurements.csv` has all
digits.
"""

import base64
import json
import zlib
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import groupby
from typing import TypeVar

from strata.run import Row, params_text

T = TypeVar("T", bound=Hashable)


def spans(places: Iterable[int]) -> str:
    """Places from 0 as numbers from 1, in order, what follows on each other joined: `3-7,12`."""
    ends: list[list[int]] = []
    for number in sorted({place + 1 for place in places}):
        if ends and ends[-1][-1] == number - 1:
            ends[-1][1:] = [number]
        else:
            ends.append([number])
    return ",".join("-".join(map(str, part)) for part in ends)


def pack(rows: Sequence[Row], shown: Callable[[str], str] = str) -> str:
    """`rows` as the script of a page reads them; `shown` is applied to the reasons of a row.

    Deflated JSON in base64. Of each case, in order: benchmark, parameters, number of rows. Of each
    row: the numbers of its words (`heads`: quantity, unit, provenance, method; `notes`: whether
    valid, and reasons), value and number of samples; of rows with several samples as well the ends
    of interval and range.
    """
    heads, head = _numbered((row.quantity, row.unit, row.provenance, row.method) for row in rows)
    notes, note = _numbered((row.valid, row.reasons) for row in rows)
    groups = [list(group) for _, group in groupby(rows, key=lambda row: row.case)]
    cases = [(one[0].benchmark, params_text(one[0].params, " "), len(one)) for one in groups]
    words = {"cases": cases, "heads": heads, "notes": [(sound, shown(why)) for sound, why in notes]}
    several = [row for row in rows if row.samples > 1]
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
    text = json.dumps(words, ensure_ascii=False, separators=(",", ":"))
    numbers = ",".join(f'"{name}":[{",".join(cells)}]' for name, cells in columns.items())
    return base64.b64encode(zlib.compress(f"{text[:-1]},{numbers}}}".encode(), 6)).decode()


def _numbered(words: Iterable[T]) -> tuple[list[T], list[int]]:
    """Every word once, and the number of each."""
    known: dict[T, int] = {}
    numbers = [known.setdefault(word, len(known)) for word in words]
    return list(known), numbers


def _text(value: float | None) -> str:
    """Whole numbers whole, as counts are; others with seven digits."""
    if value is None:
        return "null"
    return f"{value:.0f}" if value.is_integer() and abs(value) < 1e15 else f"{value:.7g}"
