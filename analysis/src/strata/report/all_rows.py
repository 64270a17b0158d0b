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

ENDS = {"low": "ci_low", "high": "ci_high", "least": "minimum", "most": "maximum"}


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
    heads, notes = dict[Hashable, int](), dict[tuple[bool, str], int]()
    several = [row for row in rows if row.samples >= 2]
    text = {
        "cases": [
            (row.benchmark, params_text(row.params, " "), 1 + sum(1 for _ in others))
            for _, others in groupby(rows, attrgetter("case"))
            for row in [next(others)]
        ],
        "head": [
            heads.setdefault((row.quantity, row.unit, row.provenance, row.method), len(heads))
            for row in rows
        ],
        "note": [notes.setdefault((row.valid, row.reasons), len(notes)) for row in rows],
        "n": [row.samples for row in rows],
        "value": [_short(row.value) for row in rows],
        **{key: [_short(getattr(row, end)) for row in several] for key, end in ENDS.items()},
        "heads": list(heads),
        "notes": [(sound, shown(why)) for sound, why in notes],
    }
    packed = json.dumps(text, ensure_ascii=False, separators=(",", ":"))
    return base64.b64encode(zlib.compress(packed.encode())).decode()


def _short(value: float | None) -> float | None:
    """Integers as such, as counts are; others with seven digits."""
    if value is None:
        return None
    return int(value) if value.is_integer() and abs(value) < 1e15 else float(f"{value:.7g}")
