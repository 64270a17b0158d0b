"""A figure as three functions: its data, its drawing and its caption.

    @figure("NAME", "Title", 75, data, caption, size=(7, 3))
    def draw(data: pd.DataFrame, ax: Axes) -> None: ...

`data(run)` is the published table. Columns whose names begin with an underscore are not published:
`_row` is the row of the run that a line shows, `_label` its name in the caption if it is invalid.
`draw` gets an `ax`, or with a parameter `figure` the whole figure. A caption that depends on
nothing is a text instead of a function.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any

import matplotlib.figure
import pandas as pd

from strata.figures import _image, _style
from strata.model.units import SPACE
from strata.run import Context, Run, tidy
from strata.run.files import csv_bytes

Draw = Callable[[pd.DataFrame, Any], None]
FORMATS = ("png", "svg", "pdf")


@dataclass(frozen=True, slots=True)
class Plot:
    """A registered figure: `order` selects its place and section, `size` is in inches.

    `beside` makes the data of the runs of a comparison; without it, comparisons lack the figure.
    """

    name: str
    title: str
    order: int
    size: tuple[float, float]
    data: Callable[[Run], pd.DataFrame]
    draw: Draw
    caption: Callable[[pd.DataFrame], str]
    beside: Callable[[Sequence[Run]], pd.DataFrame] | None = None

    @property
    def paper(self) -> bool:
        """Whether it redraws a figure of a paper; a page folds these."""
        return ".papers." in self.draw.__module__

    def has(self, run: Run) -> bool:
        """Whether the run has anything to show."""
        return not self.data(run).empty

    def plot(self, data: pd.DataFrame, width: float | None = None) -> matplotlib.figure.Figure:
        """The drawing, laid out; `width` in inches, with the same height. Needs `styled()`."""
        clean = data.map(lambda cell: _drawable(cell) if isinstance(cell, str) else cell)
        figure = matplotlib.figure.Figure(figsize=self.size)
        whole = "figure" in signature(self.draw).parameters
        if width:
            figure.set_figwidth(width)
        self.draw(clean, figure if whole else figure.add_subplot())
        _style.legend_above(figure)
        _style.lay_out(figure)
        return figure

    def files(
        self, figure: matplotlib.figure.Figure, runs: Sequence[Run], formats: Iterable[str],
        *, headings: bool = True,
    ) -> dict[str, bytes]:  # fmt: skip
        """What `plot` drew, in each format, with a heading on request. Needs `styled()`."""
        if not headings:
            return {suffix: _image.saved(figure, suffix) for suffix in formats}
        with _image.headed(figure, self.title, _image.sources_of(runs)) as area:
            return {suffix: _image.saved(figure, suffix, area) for suffix in formats}

    def full_caption(self, data: pd.DataFrame, context: Context) -> str:
        """The caption, the invalid lines, and what was measured at which commit."""
        bad = data[~data.valid.astype(bool)]
        names = bad["_label"] if "_label" in data else bad["case"]
        build = context.build
        commit = build.commit[:12] + (" with uncommitted changes" if build.dirty else "")
        invalid = listed_invalid([name for name in names if name])
        return f"{self.caption(data)}{invalid} {context.device.name}, commit {commit}."


def listed_invalid(labels: Sequence[str], shown: int = 4) -> str:
    """The sentence of a caption that lists invalid lines; empty if there are none."""
    if not labels:
        return ""
    more = f"; and {len(labels) - shown} more" if len(labels) > shown else ""
    return f" Invalid, drawn hollow ({len(labels)}): {'; '.join(labels[:shown])}{more}."


def _drawable(text: str) -> str:
    """The text in the letters of the font; legends would leave out what begins with `_`."""
    return f"{SPACE if text.startswith('_') else ''}{_image.drawable(text)}"


FIGURES: dict[str, Plot] = {}
"""Every figure of the imported modules, by name."""


def figure(  # noqa: PLR0917  (as in the example above)
    name: str, title: str, order: int, data: Callable[[Run], pd.DataFrame],
    caption: str | Callable[[pd.DataFrame], str], size: tuple[float, float] = (7.0, 3.6),
    beside: Callable[[Sequence[Run]], pd.DataFrame] | None = None,
) -> Callable[[Draw], Draw]:  # fmt: skip
    """Register the decorated function as the drawing of a figure."""

    def register(draw: Draw) -> Draw:
        words = (lambda _: caption) if isinstance(caption, str) else caption
        FIGURES[name] = Plot(name, title, order, size, data, draw, words, beside)
        return draw

    return register


def rows_of(run: Run, benchmark: str, **axes: object) -> pd.DataFrame:
    """The rows of a benchmark as `strata.run.tidy` gives them, with a column for each of `axes`.

    The value of `axes` replaces a missing one; if it is an integer, the column has integers.
    """
    rows = tidy(run.of(benchmark)).astype({"valid": bool, "value": float})
    for axis, default in axes.items():
        column = rows[axis] if axis in rows else pd.Series(None, rows.index, dtype=object)
        if isinstance(default, int):
            column = pd.to_numeric(column, errors="coerce").fillna(default).astype(int)
        rows[axis] = column.where(column.notna(), default)
    return rows


def in_order(lines: pd.DataFrame, *by: str, **orders: Iterable[str]) -> pd.DataFrame:
    """Lines sorted by columns: by the order given for a column, or ascending."""
    ranks = {name: {value: n for n, value in enumerate(order)} for name, order in orders.items()}

    def key(column: "pd.Series[Any]") -> "pd.Series[Any]":
        return column.map(ranks[f"{column.name}"]) if column.name in ranks else column

    return lines.sort_values([*by], key=key, kind="stable", ignore_index=True)


def worded(lines: pd.DataFrame, words: str) -> list[str]:
    """The words for each line: `"{mix}, {seconds} s"` with the values of its columns."""
    return [words.format_map(line) for line in lines.to_dict("records")]


def columns(lines: pd.DataFrame, *names: str, **renamed: str) -> pd.DataFrame:
    """The published columns in this order (`new="old"` renames), `valid`, `case`, hidden ones.

    `new="_row.minimum"` takes an attribute of the rows or other items of a hidden column.
    """
    if lines.empty:
        return lines
    hidden = [f"{name}" for name in lines if f"{name}".startswith("_")]
    shown = {name: name for name in names} | renamed
    shown |= {name: name for name in ("valid", "case", *hidden) if name not in shown}
    found = {}
    for new, old in shown.items():
        name, *attributes = old.split(".")
        items = lines[name]
        for attribute in attributes:
            items = pd.Series([getattr(item, attribute, None) for item in items], lines.index)
        found[new] = items
    return pd.DataFrame(found).reset_index(drop=True)


def of_items(items: Sequence[Any], label: Callable[[Any], str], row: str = "row") -> pd.DataFrame:
    """The tidy rows of items, with each item (`_item`) and its label."""
    lines = tidy(getattr(item, row) for item in items)
    lines["_item"] = pd.Series(list(items), dtype=object)
    lines["_label"] = [label(item) for item in items]
    return lines


def prose(*sentences: object) -> str:
    """The true sentences of a caption; an argument may be `any(…) and "Dashed: …"`."""
    return " ".join(f"{sentence}" for sentence in sentences if sentence)


def published(data: pd.DataFrame) -> bytes:
    """The data as a CSV file."""
    names = [f"{name}" for name in data if not f"{name}".startswith("_")]
    shown = data[names].astype(object)
    lines = shown.where(shown.notna(), None).itertuples(index=False, name=None)
    return csv_bytes(names, ([_cell(cell) for cell in line] for line in lines))


def _cell(cell: object) -> object:
    return f"{cell}".lower() if isinstance(cell, bool) else cell
