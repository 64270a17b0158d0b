"""How much does each level give in a clock, and DRAM of its pins: here, and on other GPUs?"""

from collections.abc import Sequence

from strata import published
from strata.figures import AxesGrid, Figure, _published
from strata.figures._published import Panel
from strata.published import Mark
from strata.records import Row

PER_CLOCK, OF_PINS = "B/clk/SM", "% of the pins"
PANELS = {
    "shared": Panel("shared, read", PER_CLOCK),
    "l1": Panel("L1, read", PER_CLOCK),
    "l2": Panel("L2, read", PER_CLOCK),
    "dram_read": Panel("DRAM, read", OF_PINS),
    "dram_copy": Panel("DRAM, copy", OF_PINS),
}


def prepare(rows: Sequence[Row]) -> Sequence[Mark]:
    """Marks of the levels that the run has a valid row of."""
    return published.bandwidth_marks(rows)


def draw(marks: Sequence[Mark], axes: AxesGrid) -> None:
    """A panel for each level."""
    _published.draw(marks, axes, PANELS)


def caption(marks: Sequence[Mark]) -> str:
    """How rates are made comparable, what is left out, and the sources with their doubts."""
    return (
        "Bytes in a clock for each SM, and of DRAM the share of what its pins carry. Filled, with "
        "the line through all GPUs: the best launch of this run. Open: as published, with numbers "
        "of the bibliography. Rates of a whole GPU per clock are divided by its number of SMs, "
        "operations of 32 bits count 4 B, and GB/s are shares of the peak that data sheets or the "
        "devices themselves give; a rate whose clock, SMs or peak are not known, or whose unit is "
        f"not certain, is left out.{_published.sources(marks)}"
    )


def cells(mark: Mark) -> tuple[object, ...]:
    """One line of the data file."""
    return _published.cells(mark, PANELS[mark.panel].unit)


FIGURE = Figure(
    name="published_bandwidth",
    title="Bandwidths beside those of other GPUs",
    order=301,
    prepare=prepare,
    grid=_published.grid,
    draw=draw,
    caption=caption,
    columns=_published.COLUMNS,
    cells=cells,
    source=_published.source,
)
