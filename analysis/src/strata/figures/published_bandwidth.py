"""How much does each level give in a clock, and DRAM of its pins: here, and on other GPUs?"""

from strata.figures import _published
from strata.figures._published import Panel
from strata.reference import published

PER_CLOCK, OF_PINS = "B/clk/SM", "% of the pins"
PANELS = {
    "shared": Panel("shared, read", PER_CLOCK),
    "l1": Panel("L1, read", PER_CLOCK),
    "l2": Panel("L2, read", PER_CLOCK),
    "dram_read": Panel("DRAM, read", OF_PINS),
    "dram_copy": Panel("DRAM, copy", OF_PINS),
}


FIGURE = _published.figure(
    name="published_bandwidth",
    title="Bandwidths beside those of other GPUs",
    order=301,
    panels=PANELS,
    prepare=published.bandwidth_marks,
    caption=(
        "Bytes in a clock for each SM, and of DRAM the share of what its pins carry. Filled, with "
        "the line through all GPUs: the best launch of this run. Open: as published, with numbers "
        "of the bibliography. Rates of a whole GPU per clock are divided by its number of SMs, "
        "operations of 32 bits count 4 B, and GB/s are shares of the peak that data sheets or the "
        "devices themselves give; a rate whose clock, SMs or peak are not known, or whose unit is "
        "not certain, is left out."
    ),
)
