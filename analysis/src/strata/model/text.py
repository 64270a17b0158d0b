"""Sentences and tables whose numbers refer to their rows."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from strata.model.units import quantity
from strata.run import Row


@dataclass(frozen=True, slots=True)
class Cited:
    """A number in a sentence or a table, and its row."""

    text: str
    row: Row


Sentence = tuple[str | Cited, ...]

NONE: Sentence = ("–",)
"""An empty cell of a table."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of sentences; `numeric` are the indices of numeric columns, from 0."""

    name: str
    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[Sentence, ...], ...]
    numeric: frozenset[int]


def table(
    name: str,
    title: str,
    lines: Sequence[Mapping[str, Sentence]],
    *,
    words: Collection[str],
    blank: Collection[str] | None = None,
) -> Table | None:
    """A table of lines, each of which maps heads to cells; None without lines.

    The columns `words` are not numeric. Of the columns without any cell only `blank` are kept, if
    given.
    """
    if not lines:
        return None
    heads = [
        head
        for head in lines[0]
        if blank is None or head in blank or any(line[head] != NONE for line in lines)
    ]
    rows = tuple(tuple(line[head] for head in heads) for line in lines)
    numeric = frozenset(at for at, head in enumerate(heads) if head not in words)
    return Table(name, title, tuple(heads), rows, numeric)


def plain(sentence: Sentence) -> str:
    """The sentence without its links."""
    return "".join(part if isinstance(part, str) else part.text for part in sentence)


def cited(row: Row) -> Cited:
    """The value of a row with its unit, linked to the row."""
    return Cited(quantity(row.value, row.unit), row)


def cell(row: Row | None, write: Callable[[float], str]) -> Sentence:
    """The cell of a row: its value, formatted by `write`."""
    return (Cited(write(row.value), row),) if row else NONE


def joined(parts: Sequence[Sequence[str | Cited]]) -> Sentence:
    """`a, b and c`, from parts of a sentence."""
    result: list[str | Cited] = []
    for place, part in enumerate(parts):
        if place:
            result.append(" and " if place == len(parts) - 1 else ", ")
        result += part
    return tuple(result)
