"""What a chart shows, for tests: figures are judged by charts, and drawn in `test_figures`."""

import csv
from collections.abc import Mapping, Sequence
from io import StringIO
from itertools import combinations
from typing import Any

from msgspec.structs import replace

from builders import GPU_RUN
from strata.figures import AnyFigure
from strata.figures._chart import Bars, Chart, Mark, Panel, Series, legend
from strata.figures._draw import draw
from strata.figures._figure import Figure
from strata.figures._plot import Plot, published
from strata.figures._sheet import Box, Shape, Sheet
from strata.run import Row, Run, load_run


def chart_of(figure: AnyFigure, run: Run) -> Chart:
    """The chart of a run, which must have something to show."""
    assert isinstance(figure, Figure)
    items = figure.items(run)
    assert items
    return figure.chart(items)


def panels(chart: Chart) -> list[Panel]:
    """Every panel, row by row."""
    return [panel for row in chart.rows for panel in row if panel]


def marks(panel: Panel, label: str = "", *, valid: bool | None = None) -> list[Mark]:
    """The marks of a panel: of the layer of that label, if one is given; valid ones or not."""
    return [
        mark
        for layer in panel.layers
        if isinstance(layer, Series | Bars) and label in ("", layer.label)
        for mark in layer.marks
        if valid is None or mark.valid == valid
    ]


def values(panel: Panel, label: str = "", *, valid: bool | None = True) -> list[float]:
    """The values of `marks`."""
    return [mark.value for mark in marks(panel, label, valid=valid)]


def labels(chart: Chart) -> list[str]:
    """The words of the legend."""
    return [key.label for key in legend(chart)]


def caption_of(figure: AnyFigure, run: Run) -> str:
    """The caption in full, with what is invalid."""
    if isinstance(figure, Plot):
        return figure.full_caption(figure.data(run), run.context)
    return figure.full_caption(figure.items(run), run.context)


def data_of(figure: AnyFigure, run: Run) -> Sequence[dict[str, str]]:
    """The lines of the data file."""
    if isinstance(figure, Plot):
        data = figure.data(run)
        return list(csv.DictReader(StringIO(published(data).decode()))) if len(data) else []
    text = figure.data(figure.items(run)).decode()
    return list(csv.DictReader(StringIO(text)))


def run_with(rows: Sequence[Row]) -> Run:
    """The stored run of a GPU with other rows."""
    return replace(load_run(GPU_RUN), cases=(), rows=tuple(rows))


def points(
    panel: Panel, label: str = "", *, valid: bool | None = True
) -> list[tuple[float, float]]:
    """Place and value of `marks`."""
    return [(mark.place, mark.value) for mark in marks(panel, label, valid=valid)]


def series(panel: Panel) -> list[list[tuple[float, float]]]:
    """Place and value of the marks of each series that has any."""
    return [
        [(mark.place, mark.value) for mark in layer.marks]
        for layer in panel.layers
        if isinstance(layer, Series) and layer.marks
    ]


def lines(panel: Panel, *, of_a_model: bool) -> list[list[tuple[float, float]]]:
    """Place and value of the marks of each series: those without a marker are of a model."""
    return [
        [(mark.place, mark.value) for mark in layer.marks]
        for layer in panel.layers
        if isinstance(layer, Series) and layer.marks and of_a_model == (not layer.look.marker)
    ]


def shown_words(panel: Panel) -> list[str]:
    """The words beside marks."""
    return [mark.words for mark in marks(panel) if mark.words]


def beside(panel: Panel) -> list[str]:
    """The words to the right of a panel."""
    return [text for _, text, _ in panel.beside]


def check_drawing(chart: Chart) -> Sheet:
    """Draws the chart: all texts lie on the sheet, none on another, and the legend in no panel."""
    sheet = draw(chart)
    level = check_texts(sheet)
    keys = {key.label for key in legend(chart)}
    inner = {thing.clip for thing in sheet.things if isinstance(thing, Shape) and thing.clip}
    for box, words in level:
        assert words not in keys or not any(overlap(box, panel) for panel in inner), words
    return sheet


def check_texts(sheet: Sheet) -> list[tuple[Box, str]]:
    """All texts lie on the sheet, none on another; gives those that are level or upright."""
    for x, y in (corner for text in sheet.texts for corner in text.outline):
        assert -1 <= x <= sheet.width + 1
        assert -1 <= y <= sheet.height + 1
    # The box of a slanted text is larger than the text.
    level = [(text.box, text.text) for text in sheet.texts if text.turned % 90 == 0]
    for (one, words), (two, others) in combinations(level, 2):
        assert not overlap(one, two), (words, others)
    return level


def overlap(one: Box, two: Box, least: float = 0.2) -> bool:
    """Whether two boxes share more than `least` points in both directions."""
    across = min(one.x1, two.x1) - max(one.x0, two.x0)
    return across > least and min(one.y1, two.y1) - max(one.y0, two.y0) > least


def timed(
    benchmark: str, params: Mapping[str, object], quantity: str, value: float, **changes: Any
) -> Row:
    """A row of a GPU, by events, with samples within a hundredth of `value`."""
    words = {axis: f"{setting}" for axis, setting in params.items()}
    row = Row(
        run="r", device="d", backend="cuda", suite="micro", benchmark=benchmark,
        case="/".join(words.values()), params=words, quantity=quantity, unit="B/s",
        provenance="timed", method="event_slope", value=value, ci_low=None, ci_high=None,
        minimum=0.99 * value, maximum=1.01 * value, samples=7, valid=True, reasons="",
    )  # fmt: skip
    return replace(row, **changes)
