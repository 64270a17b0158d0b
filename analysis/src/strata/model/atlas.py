"""What a run says of its chip: one row each for latencies, bandwidths, arithmetic, L2, transfers.

Only valid rows. A figure may show a curve; here each level is the one row that stands for it, so
that a sentence, a headline and a table say the same. What a run lacks is simply not there.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from strata.model import LEVELS, ordered
from strata.run import Row, Run

KIB, MIB = 2**10, 2**20

INSIDE = ("clock64_slope", "tsc_slope")
"""The methods that read a clock on the core that loads."""
OUTSIDE = ("event_slope", "monotonic_slope")
"""The methods of rates in seconds: timers outside of the kernel."""

L1_BYTES_PER_CYCLE = 128
"""What L1 and shared memory of an SM of NVIDIA deliver a cycle (CUDA C++ Programming Guide)."""

RATES = ("flops_per_second", "operations_per_second")


@dataclass(frozen=True, slots=True)
class Latency:
    """A dependent load out of one level, in cycles of `row`; `footprint` is in bytes.

    `row` is the one of the middle cycles among the valid rows whose footprint is of a size that
    the level serves every load of.
    """

    level: str
    row: Row
    footprint: int


@dataclass(frozen=True, slots=True)
class Bandwidth:
    """The best read of one level, in B/s, with what stands beside it in its case.

    `per_cycle` is in bytes a cycle of one SM or core; `share` is of the pins (dram) or of
    128 B/clk/SM (l1, shared), as the harness computed it: a ratio.
    """

    level: str
    row: Row
    per_cycle: Row | None
    share: Row | None


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The best rate of one kind of arithmetic, in FLOP/s or operation/s; `share` of its limit."""

    kind: str
    row: Row
    share: Row | None


@dataclass(frozen=True, slots=True)
class Partitions:
    """How L2 is cut: `count` parts; cycles of a load from the own part and from the other."""

    count: Row
    near: Row
    far: Row


@dataclass(frozen=True, slots=True)
class Transfer:
    """The best bandwidth of copies in one direction from one kind of host memory, in B/s."""

    direction: str
    memory: str
    row: Row


def median_row(rows: Sequence[Row]) -> Row:
    """The row of the middle value; of two in the middle the smaller. At least one row."""
    return sorted(rows, key=lambda row: row.value)[(len(rows) - 1) // 2]


def _of(rows: Iterable[Row], benchmark: str) -> list[Row]:
    return [row for row in rows if row.valid and row.benchmark == benchmark]


def _bytes(row: Row, axis: str) -> int:
    word = row.params.get(axis, "")
    return int(word) if word.isdecimal() else 0


def _windows(run: Run) -> Mapping[str, tuple[str, int, int]]:
    """Of each level the space that is walked, and the footprints that it alone serves, in bytes.

    From what the device says of its sizes, with room on both sides: up to half a cache, from twice
    the one below, main memory from four times the last cache on.
    """
    facts = run.context.device.facts

    def size(name: str) -> int:
        value = facts.get(name, 0)
        return value if isinstance(value, int) else 0

    if run.context.backend == "cuda":
        l2 = size("l2_bytes")
        return {
            "l1": ("global_ca", 0, 16 * KIB),
            "shared": ("shared", 0, 16 * KIB),
            "l2": ("global_cg", 256 * KIB, l2 // 4),
            "dram": ("global_cg", 4 * l2 or MIB**2, 16 * l2),
        }
    l1, l2, l3 = size("l1d_bytes"), size("l2_bytes"), size("l3_bytes")
    last = l3 or l2
    return {
        "l1": ("memory", 0, l1 // 2),
        "l2": ("memory", 2 * l1, l2 // 2),
        "l3": ("memory", 2 * l2, l3 // 4),
        "dram": ("memory", 2 * last or MIB**2, 16 * last),
    }


def latencies(run: Run) -> tuple[Latency, ...]:
    """A dependent load out of each level that `latency_vs_footprint` walked, nearest first."""
    chases = [
        row
        for row in _of(run.rows, "latency_vs_footprint")
        if row.quantity == "load_cycles"
        and row.method in INSIDE
        and row.params.get("cores", "one") == "one"
    ]
    result = []
    for level, (space, low, high) in _windows(run).items():
        here = [
            row
            for row in chases
            if row.params.get("space") == space and low <= _bytes(row, "footprint") <= high
        ]
        if here:
            row = median_row(here)
            result.append(Latency(level, row, _bytes(row, "footprint")))
    return tuple(sorted(result, key=lambda one: one.row.value))


def bandwidths(run: Run) -> tuple[Bandwidth, ...]:
    """The best read of each level that `bandwidth` streamed, nearest level first."""
    rows = _of(run.rows, "bandwidth")
    # The clock in the kernel knows the cycles of an SM; events only what is left of a launch.
    beside = {(row.case, row.quantity): row for row in rows if row.method in OUTSIDE}
    beside |= {(row.case, row.quantity): row for row in rows if row.method in INSIDE}
    best: dict[str, Row] = {}
    for row in rows:
        if row.quantity == "bandwidth" and row.params.get("operation") == "read":
            level = row.params.get("level", "?")
            if level not in best or row.value > best[level].value:
                best[level] = row
    return tuple(
        Bandwidth(
            level,
            best[level],
            beside.get((best[level].case, "bandwidth_per_sm")),
            beside.get((best[level].case, "share_of_limit")),
        )
        for level in ordered(best, LEVELS)
    )


def ceilings(run: Run) -> tuple[Ceiling, ...]:
    """The best rate of each kind of arithmetic that was timed, fastest first."""
    rows = [row for row in _of(run.rows, "ceilings") if row.provenance == "timed"]
    shares = {row.case: row for row in rows if row.quantity == "share_of_limit"}
    best: dict[str, Row] = {}
    for row in rows:
        kind = row.params.get("arithmetic", "?")
        if row.quantity in RATES and (kind not in best or row.value > best[kind].value):
            best[kind] = row
    found = [Ceiling(kind, row, shares.get(row.case)) for kind, row in best.items()]
    return tuple(sorted(found, key=lambda one: (-one.row.value, one.kind)))


def partitions(run: Run) -> Partitions | None:
    """How L2 is cut; None where it was not measured, or is in one piece."""
    rows = {row.quantity: row for row in _of(run.rows, "l2_partition")}
    count, near, far = (rows.get(name) for name in ("partitions", "near_cycles", "far_cycles"))
    if count is None or near is None or far is None or count.value < 2:
        return None
    return Partitions(count, near, far)


def transfers(run: Run) -> tuple[Transfer, ...]:
    """The best bandwidth of whole copies by direction and host memory, as the wall clock saw it."""
    best: dict[tuple[str, str], Row] = {}
    for row in _of(run.rows, "transfers"):
        if row.quantity != "bandwidth" or row.method != "wall" or row.params.get("pieces") != "1":
            continue
        place = (row.params.get("direction", "?"), row.params.get("memory", "?"))
        if place not in best or row.value > best[place].value:
            best[place] = row
    directions, memories = ("to_device", "to_host", "both"), ("pinned", "mapped", "pageable")
    return tuple(
        Transfer(direction, memory, best[direction, memory])
        for direction in ordered((place[0] for place in best), directions)
        for memory in ordered((place[1] for place in best), memories)
        if (direction, memory) in best
    )
