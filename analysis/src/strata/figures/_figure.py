"""Columns and captions of figures."""

from collections.abc import Callable
from operator import attrgetter, methodcaller
from typing import Any

from msgspec.structs import replace

from strata.run import Row


def times(row: Row, factor: float) -> Row:
    """A row in another unit."""
    low, high = factor * row.minimum, factor * row.maximum
    return replace(row, value=factor * row.value, minimum=low, maximum=high)


def prose(*sentences: object) -> str:
    """The true sentences of a caption; an argument may be `any(…) and "Dashed: …"`."""
    return " ".join(f"{sentence}" for sentence in sentences if sentence)


Columns = dict[str, Callable[[Any], object]]


def params(*axes: str, of: str = "") -> Columns:
    """A column for each axis; the attribute `of` of an item is the row with the axes."""
    return {axis: _from(of, methodcaller("text", axis, "")) for axis in axes}


def attributes(*names: str, of: str | Callable[[Any], object] = "", **renamed: str) -> Columns:
    """A column for each attribute of an item, or of its attribute `of`; `column=attribute`."""
    both = {**{name: name for name in names}, **renamed}
    return {name: _from(of, attrgetter(attribute)) for name, attribute in both.items()}


def _from(
    of: str | Callable[[Any], object], get: Callable[[Any], object]
) -> Callable[[Any], object]:
    if not of:
        return get
    row = attrgetter(of) if isinstance(of, str) else of
    return lambda item: None if (found := row(item)) is None else get(found)
