"""A figure as data and a declaration: its items from a run, its chart, and its caption."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter, methodcaller
from typing import Any, Generic, TypeVar

from msgspec.structs import replace

from strata.figures._chart import Chart, listed_invalid
from strata.run import Context, Row, Run
from strata.run.files import csv_bytes

Item = TypeVar("Item")


def _row(item: Any) -> Row:
    found: Row = item if isinstance(item, Row) else item.row
    return found


@dataclass(frozen=True, slots=True)
class Figure(Generic[Item]):
    """What the report must know to show a figure; `Item` is one bar or point of it.

    `items` extracts them from a run, none if there is nothing to show; `chart` draws them;
    `caption` describes the drawing. `columns` are those of the data file, with units in their
    names: a cell is a row (which stands for its value), a number, a word, or None; `params` and
    `attributes` make the usual ones, and `valid` and `case` are added unless a column is the case.
    `row` returns the row that an item shows, if any: an item is valid if its row is, or by its own
    `valid`. `label` names an invalid item in the caption, unless it is empty. `beside` extracts the
    items of all runs of a comparison; a figure without it is not drawn for comparisons.
    """

    name: str
    title: str
    order: int
    items: Callable[[Run], Sequence[Item]]
    chart: Callable[[Sequence[Item]], Chart]
    caption: Callable[[Sequence[Item]], str]
    columns: Mapping[str, Callable[[Item], object]]
    row: Callable[[Item], Row | None] = _row
    label: Callable[[Item], str] | None = None
    beside: Callable[[Sequence[Run]], Sequence[Item]] | None = None

    def has(self, run: Run) -> bool:
        """Whether the run has anything to show."""
        return bool(self.items(run))

    def valid(self, item: Item) -> bool:
        """Whether an item is valid."""
        own, row = getattr(item, "valid", None), self.row(item)
        return bool(row and row.valid if own is None else own)

    def case(self, item: Item) -> str:
        """The case of its row; empty without one."""
        row = self.row(item)
        return row.case if row else ""

    def data(self, items: Sequence[Item]) -> bytes:
        """The data file: one line per item."""
        columns = dict(self.columns)
        if "case" not in columns:
            columns |= {"valid": self.valid, "case": self.case}
        lines = ([_cell(get(item)) for get in columns.values()] for item in items)
        return csv_bytes(columns, lines)

    def full_caption(self, items: Sequence[Item], context: Context) -> str:
        """The caption, the invalid items, and what was measured at which commit."""
        label = self.label or self.case
        labels = [label(item) for item in items if not self.valid(item)]
        invalid = listed_invalid([name for name in labels if name])
        build = context.build
        commit = build.commit[:12] + (" with uncommitted changes" if build.dirty else "")
        return f"{self.caption(items)}{invalid} {context.device.name}, commit {commit}."


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
