"""A figure as data and a declaration: which items of a run it shows, how, and in which words."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any, Generic, TypeVar

from strata.figures._chart import Chart, listed_invalid
from strata.run import Context, Row, Run
from strata.run.files import csv_bytes

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Figure(Generic[Item]):
    """What the report must know to show a figure; `Item` is one bar or point of it.

    `items` takes them from a run, none where it has nothing to show; `chart` draws them; `caption`
    says what is drawn. `columns` are those of the data file, with units in their names: a cell is a
    row (then its value), a number, a word, or None; `params` and `attributes` make the usual ones.
    `row` is the row that an item shows; `invalid` names an item that does not count, and is empty
    for one that does.
    """

    name: str
    title: str
    order: int
    items: Callable[[Run], Sequence[Item]]
    chart: Callable[[Sequence[Item]], Chart]
    caption: Callable[[Sequence[Item]], str]
    columns: Mapping[str, Callable[[Item], object]]
    row: Callable[[Item], Row] = attrgetter("row")
    invalid: Callable[[Item], str] | None = None

    def data(self, items: Sequence[Item]) -> bytes:
        """The data file: a line an item."""
        lines = ([_cell(get(item)) for get in self.columns.values()] for item in items)
        return csv_bytes(self.columns, lines)

    def full_caption(self, items: Sequence[Item], context: Context) -> str:
        """The caption, what is invalid, and what was measured by which commit."""
        told = self.invalid or (lambda item: "" if self.row(item).valid else self.row(item).case)
        invalid = listed_invalid([label for label in map(told, items) if label])
        build = context.build
        commit = build.commit[:12] + (" with uncommitted changes" if build.dirty else "")
        return f"{self.caption(items)}{invalid} {context.device.name}, commit {commit}."


Columns = dict[str, Callable[[Any], object]]


def params(*axes: str, of: str = "") -> Columns:
    """A column for each axis; the attribute `of` of an item is the row that has them."""
    return {axis: _from(of, partial(_param, axis)) for axis in axes}


def _param(axis: str, row: Row) -> str:
    return row.params.get(axis, "")


def attributes(*names: str, of: str | Callable[[Any], object] = "", **renamed: str) -> Columns:
    """A column for each attribute of an item, or of what `of` it has; `column=attribute`."""
    both = {**{name: name for name in names}, **renamed}
    return {name: _from(of, attrgetter(attribute)) for name, attribute in both.items()}


def _from(
    of: str | Callable[[Any], object], get: Callable[[Any], object]
) -> Callable[[Any], object]:
    if not of:
        return get
    row = attrgetter(of) if isinstance(of, str) else of

    def one(item: Any) -> object:
        found = row(item)
        return None if found is None else get(found)

    return one


def _cell(value: object) -> object:
    match value:
        case Row():
            return value.value
        case bool():
            return f"{value}".lower()
        case None:
            return ""
        case _:
            return value
