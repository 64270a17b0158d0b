"""How long does a load of a constant take on this GPU, and how long did it on others?"""

from collections.abc import Sequence

from strata.figures import _published
from strata.figures._published import Panel
from strata.reference import published
from strata.reference.published import Mark
from strata.run import Row

PANELS = {
    "constant_l1": Panel("constant cache of an SM", "cycles"),
    "constant_l15": Panel("constant cache behind it (L1.5)", "cycles"),
}


def prepare(rows: Sequence[Row]) -> Sequence[Mark]:
    """Marks of the caches that the run has a valid row of."""
    return published.latency_marks(rows, tuple(PANELS))


FIGURE = _published.figure(
    name="published_constant",
    title="Constant caches beside those of other GPUs",
    order=302,
    panels=PANELS,
    prepare=prepare,
    caption=(
        "Cycles of one dependent load of a constant whose address is in a register. Filled, with "
        "the line through all GPUs: this run (largest footprint of 1 KiB, and between 8 and "
        "24 KiB). Open: as published, with numbers of the bibliography; each cycle is one of the "
        "clock of its own GPU."
    ),
)
