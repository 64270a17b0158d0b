"""The figures of the tiny runs as images, small ones, stored to be compared with.

    PYTHONPATH=analysis/src python tests/analysis/figure_images.py

draws them anew into tests/data/figures and prints which changed. Look at those, and at their git
diff, before they are committed.
"""

import re
import sys
from collections.abc import Callable, Iterable
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.image import imread

from builders import DATA
from plots import plot_named, plotted
from strata import figures
from strata.figures import _image
from strata.figures._plot import Plot
from strata.model.truth import load_run
from strata.run import Run

RUNS: dict[str, Path] = {}
"""Tiny runs that were cut from recorded ones, by device and commit; later ones also by time."""
for _run in sorted(DATA.glob("excerpt-*")):
    _name = re.sub(r"^excerpt-(.*)-(\d{8}T\d{6}Z)-(.*)", r"\1-\3 \2", _run.name)
    RUNS[_name.replace(" ", "-") if _name.split()[0] in RUNS else _name.split()[0]] = _run
IMAGES = DATA / "figures"
LOCK = Path(__file__).parents[2] / "analysis" / "requirements.lock"
DPI = 55
"""Low: words can still be distinguished, and 50 images take 2 MB."""
LEVEL = 0.15
"""Two pixels are the same when no colour of theirs differs by more, of 1."""
SHARE = 2e-4
"""So many of the pixels may differ: a marker of a figure that moved by its width is more."""

Pixels = npt.NDArray[np.float64]


class Drawing(NamedTuple):
    """One figure of one of `RUNS`."""

    figure: str
    run: str

    @property
    def path(self) -> Path:
        """Where its image is stored."""
        return IMAGES / f"{self.figure}-{self.run}.png"


def figure_of(drawing: Drawing) -> Plot:
    """The figure that is drawn."""
    return plot_named(drawing.figure)


@cache
def run_of(run: str) -> Run:
    """A tiny run, read once."""
    return load_run(RUNS[run])


def drawings() -> list[Drawing]:
    """Every figure of every tiny run that has rows of it."""
    every = [Drawing(figure.name, run) for figure in figures.discover() for run in RUNS]
    return [one for one in every if figure_of(one).has(run_of(one.run))]


def stored() -> list[Drawing]:
    """The drawings of the images."""
    names = [path.stem.partition("-") for path in IMAGES.glob("*.png")]
    return sorted(Drawing(figure, run) for figure, _, run in names)


def png(drawing: Drawing) -> bytes:
    """The image, drawn."""
    with plotted(figure_of(drawing), run_of(drawing.run)) as drawn:
        return _image.saved(drawn, "png", dpi=DPI)


def pixels(image: bytes) -> Pixels:
    """Height by width by red, green and blue, each from 0 to 1."""
    return np.asarray(imread(BytesIO(image), format="png")[..., :3], dtype=np.float64)


def difference(found: Pixels, wanted: Pixels) -> str | None:
    """How two images differ, or None when they show the same."""
    if found.shape != wanted.shape:
        (rows, columns), (high, wide) = found.shape[:2], wanted.shape[:2]
        return f"{columns} × {rows} pixels, not {wide} × {high}"
    other = np.abs(found - wanted).max(axis=2) > LEVEL
    if other.mean() <= SHARE:
        return None
    down, across = np.nonzero(other)
    place = f"between ({across.min()}, {down.min()}) and ({across.max()}, {down.max()})"
    return f"{other.sum()} of {other.size} pixels differ, {place}"


def draw_anew(folder: Path, names: Iterable[str], draw: Callable[[str], bytes]) -> None:
    """Stores the images that are missing or look otherwise than they did, and prints which."""
    for name in names:
        path, image = folder / f"{name}.png", draw(name)
        old = pixels(path.read_bytes()) if path.exists() else None
        if words := "new" if old is None else difference(pixels(image), old):
            path.write_bytes(image)
            sys.stdout.write(f"{path.name}: {words}\n")


def locked() -> str:
    """The version of matplotlib that the images were drawn with."""
    (version,) = re.findall(r"^matplotlib==(\S+)", LOCK.read_text(encoding="utf-8"), re.MULTILINE)
    return str(version)


if __name__ == "__main__":
    if mpl.__version__ != locked():
        sys.exit(f"matplotlib is {mpl.__version__}; expected {locked()}; to fix: make setup-dev")
    wanted = {drawing.path.stem: drawing for drawing in drawings()}
    for path in IMAGES.glob("*.png"):
        if path.stem not in wanted:
            path.unlink()
            sys.stdout.write(f"{path.name}: removed\n")
    draw_anew(IMAGES, wanted, lambda name: png(wanted[name]))
