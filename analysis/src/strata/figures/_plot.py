"""A figure as three functions: its data, its drawing and its caption.

    @figure("NAME", "Title", order=75, data=data, caption=caption, size=(7, 3))
    def draw(data: pd.DataFrame, ax: Axes) -> None: ...

`data(run)` is the published table. Columns whose names begin with an underscore are not published:
`_row` is the row of the run that a line shows, `_label` its name in the caption if it is invalid.
`draw` gets an `ax`, or with a parameter `figure` the whole figure.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from operator import attrgetter
from typing import Any

import matplotlib.figure
import pandas as pd

from strata.figures import _style
from strata.figures._heading import heading_of
from strata.figures._letters import drawable
from strata.model.units import SPACE
from strata.run import Context, Row, Run
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
        with _style.headed(figure, heading_of(self.title, runs) if headings else None) as area:
            return {suffix: _style.saved(figure, suffix, area) for suffix in formats}

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
    return f"{SPACE if text.startswith('_') else ''}{drawable(text)}"


FIGURES: dict[str, Plot] = {}
"""Every figure of the imported modules, by name."""


def figure(
    name: str, title: str, *, order: int, data: Callable[[Run], pd.DataFrame],
    caption: Callable[[pd.DataFrame], str], size: tuple[float, float] = (7.0, 3.6),
    beside: Callable[[Sequence[Run]], pd.DataFrame] | None = None,
) -> Callable[[Draw], Draw]:  # fmt: skip
    """Register the decorated function as the drawing of a figure."""

    def register(draw: Draw) -> Draw:
        FIGURES[name] = Plot(name, title, order, size, data, draw, caption, beside)
        return draw

    return register


def table(
    items: Iterable[Any],
    columns: Mapping[str, Callable[[Any], object]],
    row: Callable[[Any], Row | None] = attrgetter("row"),
    label: Callable[[Any], str] | None = None,
) -> pd.DataFrame:
    """A line for each item: its columns (the value in place of a row), whether valid, its row."""
    lines = []
    for item in items:
        shown = row(item)
        line: dict[str, object] = {
            name: get(item) if name.startswith("_") else _value(get(item))
            for name, get in columns.items()
        }
        line.setdefault("valid", bool(shown and shown.valid))
        line.setdefault("case", shown.case if shown else "")
        lines.append(line | {"_row": shown} | ({"_label": label(item)} if label else {}))
    return pd.DataFrame(lines, dtype=object).infer_objects()


def _value(cell: object) -> object:
    return cell.value if isinstance(cell, Row) else cell


def published(data: pd.DataFrame) -> bytes:
    """The data as a CSV file."""
    names = [f"{name}" for name in data if not f"{name}".startswith("_")]
    shown = data[names].astype(object)
    lines = shown.where(shown.notna(), None).itertuples(index=False, name=None)
    return csv_bytes(names, ([_cell(cell) for cell in line] for line in lines))


def _cell(cell: object) -> object:
    return f"{cell}".lower() if isinstance(cell, bool) else cell
