"""The figures of a comparison, drawn from tiny runs, against their stored images."""

from pathlib import Path

import matplotlib as mpl
import pytest

from compare_images import IMAGES, PLOTS, path_of, png
from figure_images import difference, locked, pixels

REDRAW = "PYTHONPATH=analysis/src python tests/analysis/compare_images.py"

same_matplotlib = pytest.mark.skipif(
    mpl.__version__ != locked(),
    reason=f"the stored images are of matplotlib {locked()}, here is {mpl.__version__}; "
    "install it: make setup-dev",
)


def test_every_image_is_of_a_figure() -> None:
    assert {path_of(name) for name in PLOTS} == set(IMAGES.iterdir())


@same_matplotlib
@pytest.mark.parametrize("name", PLOTS)
def test_the_figure_looks_as_it_did(name: str, tmp_path: Path) -> None:
    found = png(name)
    told = difference(pixels(found), pixels(path_of(name).read_bytes()))
    if told:
        path = tmp_path / f"{name}.png"
        path.write_bytes(found)
        pytest.fail(f"{told}; compare {path} with {path_of(name)}; where it is meant: {REDRAW}")
