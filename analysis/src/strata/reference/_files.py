"""Location and reading of the tables of published figures.

They are in `results/reference`. A wheel contains that folder as `strata.reference.data`; in a
checkout it is found relative to this file.
"""

import csv
import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from io import StringIO
from pathlib import Path
from typing import Any, TypeVar, get_args

import msgspec

from strata.run import RunError
from strata.run.files import read_utf8

Record = TypeVar("Record", bound=msgspec.Struct)

MARK = "sources.bib"
"""The file by which the folder is known."""
CHECKOUT = Path(__file__).resolve().parents[4] / "results" / "reference"
MEND = "take the file from the repository (results/reference), or install the package again"
_NUMBER = r"(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)"
_PRINTED = re.compile(
    rf">=?{_NUMBER}|{_NUMBER} \+ wait|{_NUMBER}(?:(?:-|\.\.| or ){_NUMBER}( KiB)?)?|", re.ASCII
)


class ReferenceTableError(RunError):
    """An unusable table of published figures; its text is one line."""


class Span:
    """A published number as printed: a value, a range, a bound, or nothing.

    Parsed from `28`, `400-600`, `16 or 32`, `32..128 KiB` (then in bytes), `>=4`, `4 + wait` or a
    blank; raises ValueError for anything else. `high` is None for a bound, both for a blank.
    """

    def __init__(self, text: str = "") -> None:
        found = _PRINTED.fullmatch(text)
        least, waited, low, high, kib = found.groups() if found else (None,) * 5
        scale = 1024 if kib else 1
        self.text = text
        ends = (least or waited or low, high or low)
        self.low, self.high = (float(number) * scale if number else None for number in ends)
        if not found or (self.bounds and self.bounds[0] > self.bounds[1]):
            raise ValueError(f"Expected a number, a range (400-600) or a bound (>=4), got '{text}'")

    @property
    def value(self) -> float | None:
        """The number, if a single one is printed."""
        return self.low if self.low == self.high else None

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Both ends, if both are printed."""
        return None if self.low is None or self.high is None else (self.low, self.high)


@cache
def folder() -> Path:
    """The folder of the tables: the package's copy in a wheel, otherwise the repository's."""
    packaged = Path(str(files("strata.reference"))) / "data"
    for place in (packaged, CHECKOUT):
        if (place / MARK).is_file():
            return place
    found, expected = "no folder of published figures", f"{MARK} there or in {packaged}"
    raise ReferenceTableError(CHECKOUT, found=found, expected=expected, mend=MEND)


def read(path: Path, kind: type[Record]) -> Iterator[Record]:
    """The rows of a CSV file whose columns are the fields of `kind`, in file order.

    The fields of `origin` are columns too; a blank cell is the default of its field. Raises
    `ReferenceTableError` for a missing file, text that is not UTF-8, other columns, or an invalid
    cell.
    """

    def refused(line: int | None, found: str, expected: str) -> ReferenceTableError:
        return ReferenceTableError(path, line, found=found, expected=expected, mend=MEND)

    columns = _columns(kind)
    try:
        reader = csv.reader(StringIO(read_utf8(path), newline=""))
        lines = [(texts, reader.line_num) for texts in reader]
    except (OSError, UnicodeDecodeError, RunError, csv.Error) as error:
        raise refused(None, f"{error}", "a readable table in UTF-8") from error
    header = lines[0][0] if lines else []
    if sorted(header) != sorted(columns):
        raise refused(1, f"columns {','.join(header) or 'none'}", ",".join(columns))
    for texts, line in lines[1:]:
        if len(texts) != len(header):
            raise refused(line, f"{len(texts)} cells", f"{len(header)}")
        cells = {name: text for name, text in zip(header, texts, strict=True) if text}
        for name, field in columns.items():
            if field.required and name not in cells:
                raise refused(line, f"nothing under {name}", "a word or a number")
        row = cells | {"origin": cells}
        try:
            yield msgspec.convert(row, kind, strict=False, dec_hook=lambda of, text: of(text))
        except msgspec.ValidationError as error:
            said, _, place = f"{error}".partition(" - at ")
            name = place.strip("`").rpartition(".")[2]
            if name not in cells:
                raise refused(line, said, "a row as README.md has it") from error
            # The allowed values of its type, otherwise the message of msgspec.
            allowed = [getattr(one, "description", one) for one in get_args(columns[name].type)]
            expected = " or ".join(word for word in allowed if isinstance(word, str))
            expected = expected or said.removeprefix("Expected ").partition(", got ")[0]
            found = f"'{cells[name]}' under {name}"
            raise refused(line, found, expected) from error


def _columns(kind: Any) -> dict[str, msgspec.structs.FieldInfo]:
    columns: dict[str, msgspec.structs.FieldInfo] = {}
    for field in msgspec.structs.fields(kind):
        columns |= _columns(field.type) if field.name == "origin" else {field.encode_name: field}
    return columns
