"""Every mark of every figure has a tooltip: a row of the run, or words."""

from collections.abc import Iterator

import pytest

from charts import panels
from compare_images import PLOTS
from figure_images import Drawing, figure_of, items_of, run_of, stored
from plots import drawn, plotted, silent_of
from strata.figures._chart import Bars, Chart, Series
from strata.figures._plot import Plot


def silent(chart: Chart) -> Iterator[str]:
    """The marks without a tooltip: their panel, layer and number."""
    for panel in panels(chart):
        for layer in panel.layers:
            if isinstance(layer, Bars) or (isinstance(layer, Series) and layer.look.marker):
                lost = [mark for mark in layer.marks if not (mark.row or mark.told)]
                if lost:
                    name = layer.label or layer.look.marker or "bars"
                    yield f"{panel.title or panel.values.label}: {name} ({len(lost)})"


@pytest.mark.parametrize("drawing", stored(), ids=lambda one: one.path.stem)
def test_every_mark_of_a_figure_has_a_row_or_is_told(drawing: Drawing) -> None:
    figure = figure_of(drawing)
    if isinstance(figure, Plot):
        with plotted(figure, run_of(drawing.run)) as drawn:
            assert silent_of(drawn) == []
    else:
        assert list(silent(figure.chart(items_of(drawing)))) == []


@pytest.mark.parametrize("name", PLOTS)
def test_every_mark_of_a_comparison_has_a_row_or_is_told(name: str) -> None:
    with drawn(PLOTS[name]()) as figure:
        assert silent_of(figure) == []


def test_every_mark_of_two_maps_has_a_row_or_is_told() -> None:
    assert list(silent(two_maps())) == []
