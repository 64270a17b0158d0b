"""The figures of a comparison, drawn from tiny runs, against their stored images."""

from pathlib import Path

import pytest
from test_every_figure import same_matplotlib

from compare_images import IMAGES, PLOTS, path_of, png
from figure_images import difference, pixels

REDRAW = "PYTHONPATH=analysis/src python tests/analysis/compare_images.py"


def test_every_image_is_of_a_figure() -> None:
    assert {path_of(name) for name in PLOTS} == set(IMAGES.iterdir())


@same_matplotlib
@pytest.mark.parametrize("name", PLOTS)
def test_the_figure_looks_as_stored(name: str, tmp_path: Path) -> None:
    found = png(name)
    differing = difference(pixels(found), pixels(path_of(name).read_bytes()))
    if differing:
        path = tmp_path / f"{name}.png"
        path.write_bytes(found)
        pytest.fail(f"{differing}; compare {path} with {path_of(name)}; to store it: {REDRAW}")
