"""Sentences and tables whose numbers know the rows that they come from."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from strata.model.units import quantity
from strata.run import Row


@dataclass(frozen=True, slots=True)
class Cited:
    """A number in a sentence or a table, and the row that it comes from."""

    text: str
    row: Row


Sentence = tuple[str | Cited, ...]

NONE: Sentence = ("–",)
"""The cell of a table that has nothing to say."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table for people: each cell is a sentence; `numeric` are the columns of numbers, from 0."""

    name: str
    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[Sentence, ...], ...]
    numeric: frozenset[int]


def table(
    name: str, title: str, lines: Sequence[Mapping[str, Sentence]], *, words: Collection[str]
) -> Table | None:
    """A table of lines, each its cells by their heads; `words` hold no numbers. None of no line."""
    if not lines:
        return None
    numeric = frozenset(at for at, head in enumerate(lines[0]) if head not in words)
    return Table(name, title, tuple(lines[0]), tuple(tuple(one.values()) for one in lines), numeric)


def plain(sentence: Sentence) -> str:
    """The sentence without its links."""
    return "".join(part if isinstance(part, str) else part.text for part in sentence)


def cited(row: Row) -> Cited:
    """The value of a row with its unit, linked to the row."""
    return Cited(quantity(row.value, row.unit), row)


def joined(parts: Sequence[Sequence[str | Cited]]) -> Sentence:
    """`a, b and c`, of pieces of a sentence."""
    result: list[str | Cited] = []
    for place, part in enumerate(parts):
        if place:
            result.append(" and " if place == len(parts) - 1 else ", ")
        result += part
    return tuple(result)
