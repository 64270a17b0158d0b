"""Every mark of every figure has a tooltip: a row of the run, or words. No panel is empty."""

import pytest

from compare_images import PLOTS
from figure_images import Drawing, figure_of, run_of, stored
from plots import drawn, plotted, silent_of


@pytest.mark.parametrize("drawing", stored(), ids=lambda one: one.path.stem)
def test_every_mark_of_a_figure_has_a_row_or_is_told(drawing: Drawing) -> None:
    with plotted(figure_of(drawing), run_of(drawing.run)) as figure:
        assert silent_of(figure) == []
        assert all(ax.has_data() or ax.texts for ax in figure.axes)


@pytest.mark.parametrize("name", PLOTS)
def test_every_mark_of_a_comparison_has_a_row_or_is_told(name: str) -> None:
    with drawn(PLOTS[name]()) as figure:
        assert silent_of(figure) == []
