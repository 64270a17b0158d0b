"""What a run says of its chip: latencies, bandwidths, arithmetic, L2, transfers.

A figure may show a curve; here one valid row stands for each level, so that a sentence, a headline
and a table say the same. What a run lacks is simply not there.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from strata.model.cases import CLOCKS, by_case
from strata.model.names import LEVELS, ordered, rank
from strata.run import Row, Run, grouped

Place = TypeVar("Place", bound=Hashable)

KIB = 2**10

OUTSIDE = ("event_slope", "monotonic_slope")
"""The methods of rates in seconds: timers outside of the kernel."""

L1_BYTES_PER_CYCLE = 128
"""What L1 and shared memory of an SM of NVIDIA deliver a cycle (CUDA C++ Programming Guide)."""

RATES = ("flops_per_second", "operations_per_second")


class Best(NamedTuple):
    """The best rate of one level or kind of arithmetic, with what stands beside it in its case.

    `per_cycle` is in bytes a cycle of one SM or core; `share` is a ratio to the limit: the pins
    (dram), 128 B/clk/SM (l1, shared), lanes times clock (arithmetic).
    """

    row: Row
    per_cycle: Row | None
    share: Row | None


def middle(rows: Sequence[Row]) -> Row:
    """The row of the median value; of two in the middle the smaller. At least one row."""
    return sorted(rows, key=lambda row: row.value)[(len(rows) - 1) // 2]


def _best(rows: Iterable[Row], place: Callable[[Row], Place]) -> dict[Place, Row]:
    """The row of the highest value at each place, the first of equal ones."""
    groups = grouped(rows, place).items()
    return {at: max(here, key=lambda row: row.value) for at, here in groups}


def _valid(run: Run, benchmark: str) -> list[Row]:
    return [row for row in run.of(benchmark) if row.valid]


Windows = Mapping[str, tuple[str, float, float]]
"""Of each level the space that is walked, and the footprints that it alone serves, in bytes."""


def gpu_windows(l2: float) -> Windows:
    """Footprints with room on both sides, for a GPU with `l2` bytes of L2 (0: unknown)."""
    return {
        "l1": ("global_ca", 0, 16 * KIB),
        "shared": ("shared", 0, 16 * KIB),
        "l2": ("global_cg", 256 * KIB, l2 / 4),
        "dram": ("global_cg", 4 * l2, 16 * l2),
    }


def _windows(run: Run) -> Windows:
    """Up to half a cache, from twice the one below, memory from four times the last cache on."""
    told = (run.context.device.facts.get(f"{cache}_bytes") for cache in ("l1d", "l2", "l3"))
    l1, l2, l3 = (size if isinstance(size, int) else 0 for size in told)
    if run.context.backend == "cuda":
        return gpu_windows(l2)
    last = l3 or l2
    return {
        "l1": ("memory", 0, l1 / 2),
        "l2": ("memory", 2 * l1, l2 / 2),
        "l3": ("memory", 2 * l2, l3 / 4),
        "dram": ("memory", 2 * last, 16 * last),
    }


def inside(rows: Iterable[Row], windows: Windows) -> Mapping[str, list[Row]]:
    """The rows of `latency_vs_footprint`, walked by one core, that each level alone served."""
    walked = [row for row in rows if row.text("cores", "one") == "one" and row.count("footprint")]
    found = {
        level: [
            row
            for row in walked
            if row.text("space") == space and low <= int(row.params["footprint"]) <= high
        ]
        for level, (space, low, high) in windows.items()
    }
    return {level: here for level, here in found.items() if here}


def latencies(run: Run) -> Mapping[str, Row]:
    """The median row of cycles of a dependent load inside each level, nearest level first."""
    valid = _valid(run, "latency_vs_footprint")
    rows = (row for row in valid if row.quantity == "load_cycles" and row.method in CLOCKS)
    found = {level: middle(here) for level, here in inside(rows, _windows(run)).items()}
    return dict(sorted(found.items(), key=lambda item: item[1].value))


def bandwidths(run: Run) -> Mapping[str, Best]:
    """The best read of each level that `bandwidth` streamed, nearest level first."""
    rows = _valid(run, "bandwidth")
    reads = (r for r in rows if r.quantity == "bandwidth" and r.params.get("operation") == "read")
    best = _best(reads, lambda row: row.text("level"))
    cases = {case.rows[0].case: case for case in by_case(rows)}
    found = {}
    for level in ordered(best, LEVELS):
        # The clock in the kernel knows the cycles of an SM; events only what is left of a launch.
        per_cycle, share = (
            cases[best[level].case].row(name, *CLOCKS, *OUTSIDE)
            for name in ("bandwidth_per_sm", "share_of_limit")
        )
        found[level] = Best(best[level], per_cycle, share)
    return found


def ceilings(run: Run) -> Mapping[str, Best]:
    """The best rate of each kind of arithmetic that was timed, fastest first."""
    rows = [row for row in _valid(run, "ceilings") if row.provenance == "timed"]
    shares = {row.case: row for row in rows if row.quantity == "share_of_limit"}
    best = _best((r for r in rows if r.quantity in RATES), lambda row: row.text("arithmetic"))
    order = sorted(best.items(), key=lambda item: (-item[1].value, item[0]))
    return {kind: Best(row, None, shares.get(row.case)) for kind, row in order}


def neighbour(run: Run) -> Row | None:
    """A load from another SM's shared memory: the farthest block of the largest cluster."""
    loads = (
        row
        for row in _valid(run, "distributed_shared")
        if (row.quantity, row.method) == ("load_cycles", "clock64_slope") and row.count("distance")
    )
    return max(
        loads, key=lambda row: (row.count("cluster") or 0, row.count("distance") or 0), default=None
    )


class Partitions(NamedTuple):
    """How many parts L2 has, and cycles of an access to the own and to the other."""

    parts: Row
    near: Row
    far: Row
    access: str
    """What was timed: "a load", or what runs had before loads were."""


def partitions(run: Run) -> Partitions | None:
    """The parts of L2; None of one part."""
    rows = {row.quantity: row for row in _valid(run, "l2_partition")}
    count = rows.get("partitions")
    if not count or count.value < 2:
        return None
    for kind, access in (("_load", "a load"), ("", "an atomic exchange")):
        near, far = (rows.get(f"{side}{kind}_cycles") for side in ("near", "far"))
        if near and far:
            return Partitions(count, near, far, access)
    return None


def transfers(run: Run) -> Mapping[tuple[str, str], Row]:
    """The best bandwidth of whole copies by direction and host memory, as the wall clock saw it."""
    whole = (
        row
        for row in _valid(run, "transfers")
        if (row.quantity, row.method, row.text("pieces")) == ("bandwidth", "wall", "1")
    )
    best = _best(whole, lambda row: (row.text("direction"), row.text("memory")))
    directions, memories = ("to_device", "to_host", "both"), ("pinned", "mapped", "pageable")
    order = sorted(best, key=lambda key: (rank(key[0], directions), rank(key[1], memories)))
    return {key: best[key] for key in order}
