"""The site of a GPU that serves a family of rows: sites are judged separately.

A noisy site (copies of pageable memory) then hides no quiet one (loads out of L1).
"""

from collections.abc import Mapping

from strata.fleet.dataset import Line
from strata.model.cases import CYCLE_CLOCKS

SITES: Mapping[str, str] = {
    "dram": "DRAM",
    "tlb": "address translation",
    "l2": "L2",
    "l1": "L1 and shared memory",
    "compute": "arithmetic",
    "host": "host link",
    "peer": "peer links",
    "launch": "launches",
    "clock": "clocks",
    "conditions": "what the driver reports",
}
"""Each site in words, in the order of the page."""

_CLOCKS = (*CYCLE_CLOCKS, "reported_clock")
_BENCHMARKS = {
    "tlb": "tlb", "transfers": "host", "peer_copy": "peer",
    "launch_overhead": "launch", "allocation": "launch", "clock_under_load": "clock",
    "bank_conflicts": "l1", "distributed_shared": "l1", "l2_partition": "l2",
}  # fmt: skip
_LEVELS = {
    "dram": "dram", "past L2": "dram", "past DRAM": "tlb", "l2": "l2", "l3": "l2",
    "past L1": "l2", "global": "l2", "global_cg": "l2", "l1": "l1", "shared": "l1",
    "constant": "l1", "texture": "l1", "mapped": "host", "pinned": "host", "pageable": "host",
    "host_memory": "host", "peer": "peer",
}  # fmt: skip


def site(line: Line) -> str:
    """The key in `SITES` of what serves a row."""
    if line.suite == CONDITIONS:
        return CONDITIONS
    if line.quantity in _CLOCKS:
        return "clock"
    return _BENCHMARKS.get(line.benchmark) or _LEVELS.get(line.level) or "compute"


CONDITIONS = "conditions"
"""The suite of values of a run's context, which are not rows."""
