"""Where the published figures lie, and how their tables are read.

`results/reference` is their only home. A wheel carries that folder as `strata.reference.data`; in a
checkout it is found from here.
"""

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from io import StringIO
from pathlib import Path

from strata.run import RunError

MARK = "sources.csv"
"""The file by which the folder is known."""
CHECKOUT = Path(__file__).resolve().parents[4] / "results" / "reference"
MEND = "take the file from the repository (results/reference), or install the package again"


class ReferenceTableError(RunError):
    """A table of published figures that cannot be used; its text is one line."""


@dataclass(frozen=True, slots=True)
class Span:
    """A published number as it is printed: a value, a range, a bound, or nothing.

    `low` and `high` are equal for a value; one of them is None for a bound, both for a blank cell.
    """

    text: str
    low: float | None
    high: float | None

    @property
    def value(self) -> float | None:
        """The number, where one number is printed."""
        return self.low if self.low == self.high else None

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Both ends, where both are printed."""
        return None if self.low is None or self.high is None else (self.low, self.high)


_NUMBER = r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?"
_RANGE = re.compile(rf"({_NUMBER})(?:-|\.\.)({_NUMBER})( KiB)?", re.ASCII)
_EITHER = re.compile(rf"({_NUMBER}) or ({_NUMBER})", re.ASCII)
_AT_LEAST = re.compile(rf">=?({_NUMBER})|({_NUMBER}) \+ wait", re.ASCII)
_VALUE = re.compile(_NUMBER, re.ASCII)


def span(text: str) -> Span:
    """`400-600`, `32..128 KiB`, `>=4`, `4 + wait`, `28`, or a blank cell.

    Raises ValueError for anything else. A range in KiB becomes bytes.
    """
    if not text:
        return Span(text, None, None)
    if _VALUE.fullmatch(text):
        return Span(text, float(text), float(text))
    if found := _EITHER.fullmatch(text):
        return Span(text, float(found[1]), float(found[2]))
    if found := _RANGE.fullmatch(text):
        scale = 1024 if found[3] else 1
        low, high = float(found[1]) * scale, float(found[2]) * scale
        if low < high:
            return Span(text, low, high)
    if found := _AT_LEAST.fullmatch(text):
        return Span(text, float(found[1] or found[2]), None)
    raise ValueError(text)


class Line:
    """One line of a table: its cells, and how to complain about them."""

    def __init__(self, path: Path, number: int, cells: dict[str, str]) -> None:
        self._path = path
        self._number = number
        self._cells = cells

    def bad(self, found: str, expected: str) -> ReferenceTableError:
        """What is wrong with this line."""
        return ReferenceTableError(
            self._path, self._number, found=found, expected=expected, mend=MEND
        )

    def text(self, name: str) -> str:
        """A cell that may be blank."""
        return self._cells[name]

    def word(self, name: str) -> str:
        """A cell that may not be blank."""
        if not self._cells[name]:
            raise self.bad(f"nothing under {name}", "a word")
        return self._cells[name]

    def one_of(self, name: str, allowed: Sequence[str]) -> str:
        """A cell with one of `allowed`."""
        if self._cells[name] not in allowed:
            raise self.bad(
                f"'{self._cells[name]}' under {name}",
                f"one of {', '.join(word or 'blank' for word in allowed)}",
            )
        return self._cells[name]

    def span(self, name: str, *, blank: bool = True) -> Span:
        """A number, a range or a bound."""
        text = self._cells[name]
        try:
            if text or blank:
                return span(text)
        except ValueError:
            pass
        raise self.bad(f"'{text}' under {name}", "a number, a range (400-600) or a bound (>=4)")

    def number(self, name: str) -> float | None:
        """A single number, or None for a blank cell."""
        found = self.span(name)
        if found.text and found.value is None:
            raise self.bad(f"'{found.text}' under {name}", "a single number")
        return found.value

    def integer(self, name: str) -> int | None:
        """A whole number, or None for a blank cell."""
        found = self.number(name)
        if found is not None and found != int(found):
            raise self.bad(f"'{self._cells[name]}' under {name}", "a whole number")
        return None if found is None else int(found)


@cache
def folder() -> Path:
    """The folder of the tables: the package's own copy in a wheel, else the repository's."""
    packaged = Path(str(files("strata.reference"))) / "data"
    for place in (packaged, CHECKOUT):
        if (place / MARK).is_file():
            return place
    raise ReferenceTableError(
        CHECKOUT,
        found="no folder of published figures",
        expected=f"{MARK} there or in {packaged}",
        mend=MEND,
    )


def lines(path: Path, columns: Sequence[str]) -> Iterator[Line]:
    """The lines of a table, which has exactly these columns, in the order of the file.

    Raises `ReferenceTableError`: no file, other columns, cells too few or too many, not UTF-8.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ReferenceTableError(
            path, found=f"{error}", expected="a readable table in UTF-8", mend=MEND
        ) from error
    reader = csv.reader(StringIO(text, newline=""))
    header = next(reader, [])
    if header != list(columns):
        raise ReferenceTableError(
            path,
            1,
            found=f"columns {','.join(header) or 'none'}",
            expected=",".join(columns),
            mend=MEND,
        )
    for cells in reader:
        if len(cells) != len(columns):
            raise ReferenceTableError(
                path,
                reader.line_num,
                found=f"{len(cells)} cells",
                expected=f"{len(columns)}",
                mend=MEND,
            )
        yield Line(path, reader.line_num, dict(zip(columns, cells, strict=True)))
