"""Pictures with their headings as images, small ones, stored to be compared with.

    PYTHONPATH=analysis/src python tests/analysis/heading_images.py

draws them anew into tests/data/headings; look at them before they are committed. All other stored
images are drawn without.
"""

import sys

from builders import DATA
from figure_images import DPI, Drawing, draw_anew, figure_of, run_of
from plots import plotted
from strata.figures import _style
from strata.figures._heading import Heading, heading_of

IMAGES = DATA / "headings"
H200 = "nvidia-h200-0683d2f"
PICTURES = {
    "one": (Drawing("tlb", H200), 1),
    "several": (Drawing("atomics", "intel-xeon-processor-0cf4ff2"), 6),
}
"""A figure of an excerpt, and the number of runs in its heading."""


def heading(drawing: Drawing, runs: int) -> Heading:
    """As a report has it; of several runs the last has a name that no line holds."""
    own = heading_of(figure_of(drawing).title, [run_of(drawing.run)] * runs)
    return own if runs == 1 else Heading(f"{own.title}, as before " * 6, [*own.sources, "W" * 400])


def png(name: str) -> bytes:
    """The image, drawn."""
    drawing, runs = PICTURES[name]
    with (
        plotted(figure_of(drawing), run_of(drawing.run)) as drawn,
        _style.headed(drawn, heading(drawing, runs)) as area,
    ):
        return _style.saved(drawn, "png", area, DPI)


def main() -> int:
    draw_anew(IMAGES, PICTURES, png)
    return 0


if __name__ == "__main__":
    sys.exit(main())
