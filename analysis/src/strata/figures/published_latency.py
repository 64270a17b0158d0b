"""How long is a load under way on this GPU, and how long was it on others, level by level?"""

from collections.abc import Sequence

from strata.figures import _published
from strata.figures._published import Panel
from strata.reference import published
from strata.reference.published import Mark
from strata.run import Row

PANELS = {
    "shared": Panel("shared memory", "cycles"),
    "l1": Panel("L1", "cycles"),
    "l2": Panel("L2, near part", "cycles"),
    "l2_far": Panel("L2, far part", "cycles"),
    "dram": Panel("DRAM", "cycles"),
}


def prepare(rows: Sequence[Row]) -> Sequence[Mark]:
    """Marks of the levels that the run has a valid row of."""
    return published.latency_marks(rows, tuple(PANELS))


FIGURE = _published.figure(
    name="published_latency",
    title="Latencies beside those of other GPUs",
    order=300,
    panels=PANELS,
    prepare=prepare,
    caption=(
        "Cycles of one dependent load. Filled, with the line through all GPUs: this run (largest "
        "footprint of 16 KiB for shared memory and L1, of an eighth of the L2 for it, four times "
        "the L2 for DRAM; of the far part of an L2 of two parts the mean over SMs and lines). "
        "Open: as published, with numbers of the bibliography; lines are printed ranges. Each "
        "cycle is one of the clock of its own GPU; latencies that are published in nanoseconds "
        "alone are left out."
    ),
)
