"""How long is a load under way on this GPU, and how long was it on others, level by level?"""

from collections.abc import Sequence

from strata import published
from strata.figures import AxesGrid, Figure, _published
from strata.figures._published import Panel
from strata.published import Mark
from strata.records import Row

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


def draw(marks: Sequence[Mark], axes: AxesGrid) -> None:
    """A panel for each level."""
    _published.draw(marks, axes, PANELS)


def caption(marks: Sequence[Mark]) -> str:
    """What is compared, what is left out, and the sources with their doubts."""
    return (
        "Cycles of one dependent load. Filled, with the line through all GPUs: this run (largest "
        "footprint of 16 KiB for shared memory and L1, of an eighth of the L2 for it, four times "
        "the L2 for DRAM; of the far part of an L2 of two parts the mean over SMs and lines). "
        "Open: as published, with numbers of the bibliography; lines are printed ranges. Each "
        "cycle is one of the clock of its own GPU; latencies that are published in nanoseconds "
        f"alone are left out.{_published.sources(marks)}"
    )


def cells(mark: Mark) -> tuple[object, ...]:
    """One line of the data file."""
    return _published.cells(mark, PANELS[mark.panel].unit)


FIGURE = Figure(
    name="published_latency",
    title="Latencies beside those of other GPUs",
    order=300,
    prepare=prepare,
    grid=_published.grid,
    draw=draw,
    caption=caption,
    columns=_published.COLUMNS,
    cells=cells,
    source=_published.source,
)
