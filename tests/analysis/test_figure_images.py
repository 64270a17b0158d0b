"""Every figure, drawn from a tiny run (cut from a recorded one), against its stored image."""

from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest

from figure_images import IMAGES, RUNS, Drawing, difference, drawings, locked, pixels, png, stored
from strata import figures
from strata.run import load_run
from strata.run.validate import findings

REDRAW = "PYTHONPATH=analysis/src python tests/analysis/figure_images.py"

same_matplotlib = pytest.mark.skipif(
    mpl.__version__ != locked(),
    reason=f"the stored images are of matplotlib {locked()}, here is {mpl.__version__}; "
    "install it: make setup-dev",
)


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_a_tiny_run_keeps_the_contract(run: Path) -> None:
    assert findings(load_run(run)) == ()


def test_the_tiny_runs_fill_every_figure_and_each_has_its_image() -> None:
    wanted = set(drawings())
    filled = {drawing.figure for drawing in wanted}
    assert {figure.name for figure in figures.discover()} == filled
    assert {drawing.path for drawing in wanted} == set(IMAGES.iterdir()), f"run {REDRAW}"


def test_the_stored_data_are_small() -> None:
    def size(folder: Path) -> int:
        return sum(path.stat().st_size for path in folder.iterdir())

    assert sum(map(size, RUNS.values())) < 2.1e6
    assert size(IMAGES) < 3e6


@same_matplotlib
@pytest.mark.parametrize("drawing", stored(), ids=lambda drawing: drawing.path.stem)
def test_the_figure_looks_as_it_did(drawing: Drawing, tmp_path: Path) -> None:
    found = png(drawing)
    told = difference(pixels(found), pixels(drawing.path.read_bytes()))
    if told:
        path = tmp_path / drawing.path.name
        path.write_bytes(found)
        pytest.fail(f"{told}; compare {path} with {drawing.path}; where it is meant: {REDRAW}")


def test_a_bar_or_a_marker_that_moved_is_noticed() -> None:
    wanted = np.ones((200, 500, 3))
    wanted[50:55, 100:105] = (0.0, 0.45, 0.70)
    assert difference(wanted.copy(), wanted) is None
    # Edges of letters and lines may differ a little between processors.
    assert difference(wanted - 0.1 * (wanted == 1), wanted) is None
    assert "50 of 100000 pixels differ, between (100, 50) and (109, 54)" in str(
        difference(np.roll(wanted, 5, axis=1), wanted)
    )
    assert "500 × 190 pixels, not 500 × 200" in str(difference(wanted[10:], wanted))
