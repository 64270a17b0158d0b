"""L2 of a GPU by its loads: its halves, what one SM and all SMs use, and the region beyond.

A chase of one SM stays at one latency while the half near that SM keeps copies of all its lines. Of
a longer chain the lines of the near half come from memory, and those of the far half are far hits:
this region is half DRAM, and is not L2.
"""

from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

from strata.model import atlas
from strata.model.atlas import footprint
from strata.model.cases import by_case
from strata.model.units import SPACE, size
from strata.run import Row, Run

FLAT = 1.01
"""Over the latency of a plateau: the last load that is on it."""
FINE = 2
"""Times a footprint: a chain that is longer bounds no size."""
FEW = 0.02, 0.005
"""Shares of hits in the near half, and of memory behind the far half, that count as none."""
COUNTS = ("l2_hit_share", "dram_far_share", "dram_read_bytes", "l2_load_sectors")
HALF = (0.25, 0.75)
"""Bounds of the share of memory in a region that is half DRAM."""


class Reach(NamedTuple):
    """The last chain on the plateau of L2, and the first one that is not."""

    last: Row
    next: Row


class Beyond(NamedTuple):
    """The chains whose near lines come from memory and whose far lines are hits.

    `share` is the share of loads that memory served, by the bytes `counted` in the middle case.
    """

    row: Row
    first: Row
    last: Row
    share: float
    counted: Row


class L2(NamedTuple):
    """L2 of a GPU; what the run lacks is None."""

    parts: atlas.Partitions | None
    load: atlas.Latency | None
    one: Reach | None
    all: Reach | None
    beyond: Beyond | None

    @property
    def first_touch(self) -> float | None:
        """Mean cycles of a load from L2 whose line has no copy yet: half are near, half far."""
        parts = self.parts
        if not parts or parts.access != "a load":
            return None
        return (parts.near.value + parts.far.value) / 2


def used(row: Row) -> str:
    """A size of L2 as found: by its benchmark, or at least the last chain on the plateau."""
    if row.quantity == "size":
        return size(round(row.value))
    return f"≥{SPACE}{size(footprint(row))}"


def l2(run: Run) -> L2 | None:
    """L2 of the GPU of a run; None on a CPU, or without any row of it."""
    if run.context.backend != "cuda":
        return None
    load, alone = atlas.latencies(run).get("l2"), _walked(run, "one")
    one = _reach(alone, load.row) if load else None
    several = _reach(_walked(run, "several"), load.over) if load and load.over else None
    found = L2(atlas.partitions(run), load, one, several, _beyond(run, alone))
    return found if any(found) else None


def _walked(run: Run, cores: str) -> list[Row]:
    rows = (row for row in atlas.walks(run, cores) if row.text("space") == "global_cg")
    return sorted(rows, key=footprint)


def _reach(rows: Sequence[Row], level: Row) -> Reach | None:
    on = [at for at, row in enumerate(rows) if row.value <= FLAT * level.value]
    if not on or on[-1] + 1 >= len(rows):
        return None
    last, following = rows[on[-1]], rows[on[-1] + 1]
    return Reach(last, following) if footprint(following) <= FINE * footprint(last) else None


def _beyond(run: Run, walked: Sequence[Row]) -> Beyond | None:
    """Chains of one SM without a hit in the near half and without memory behind the far one."""
    _, low, high = atlas.windows(run)["dram"]
    cases = {case.rows[0].case: case for case in by_case(run.of(atlas.CHASE))}
    between, behind = list[tuple[Row, float, Row]](), list[float]()
    for row in walked:
        counts = (cases[row.case].of(name, "counted") for name in COUNTS)
        hits, far, read, loads = (count if count and count.valid else None for count in counts)
        if not read or not loads or not loads.value:
            continue
        if low <= footprint(row) <= high:
            behind.append(read.value / loads.value)
        elif hits and far and hits.value <= FEW[0] and far.value <= FEW[1]:
            between.append((row, read.value / loads.value, read))
    if not between or not behind:
        return None
    share = median(bytes_ for _, bytes_, _ in between) / median(behind)
    rows = [row for row, _, _ in between]
    counted = {row.case: read for row, _, read in between}
    row = atlas.middle(rows)
    found = Beyond(row, rows[0], rows[-1], share, counted[row.case])
    return found if HALF[0] < share < HALF[1] else None
