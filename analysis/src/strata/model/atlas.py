"""A run's results for its chip: latencies, bandwidths, arithmetic, L2, transfers.

A figure may show a curve; here one valid row represents each level, so that sentences, headlines
and tables agree. What a run lacks is simply missing.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from math import inf
from statistics import median
from typing import NamedTuple, TypeVar

from strata.model import plateaus
from strata.model.cases import CLOCKS, CaseRows, by_case, only_noisy
from strata.model.names import LEVELS, level_name, ordered, rank
from strata.run import Row, Run, grouped

Place = TypeVar("Place", bound=Hashable)

KIB = 2**10

OUTSIDE = ("event_slope", "monotonic_slope")
"""The methods of rates in seconds: timers outside of the kernel."""

L1_BYTES_PER_CYCLE = 128
"""What L1 and shared memory of an SM of NVIDIA deliver a cycle (CUDA C++ Programming Guide)."""

RATES = ("flops_per_second", "operations_per_second")


class Best(NamedTuple):
    """The best rate of one level or kind of arithmetic, with related values of its case.

    `per_cycle` is in bytes per cycle of one SM or core; `share` is relative to the limit: the pins
    (dram), 128 B/clk/SM (l1, shared), lanes times clock (arithmetic). `noisy` is a higher rate that
    only the noise gate rejected: it is the upper end of the interval of the best.
    """

    row: Row
    per_cycle: Row | None
    share: Row | None
    noisy: Row | None = None

    @property
    def operation(self) -> str:
        """What was done with each byte: read, write, copy, triad, update."""
        return self.row.text("operation", "read")

    @property
    def source(self) -> str:
        """The benchmark of a bandwidth, if it is not the one that measures bandwidths."""
        return self.row.benchmark if self.row.benchmark in (*READERS, COPIES) else ""


def middle(rows: Sequence[Row]) -> Row:
    """The row of the median value; the smaller of two in the middle. At least one row."""
    return sorted(rows, key=lambda row: row.value)[(len(rows) - 1) // 2]


def _best(
    rows: Iterable[Row], place: Callable[[Row], Place], beyond: frozenset[str] = frozenset()
) -> dict[Place, Row]:
    """The row of the highest value at each place, the first of equal ones.

    A case `beyond` its limit represents a place only if all are.
    """
    groups = grouped(rows, place).items()
    return {at: max(here, key=lambda r: (r.case not in beyond, r.value)) for at, here in groups}


def beyond_limit(rows: Iterable[Row]) -> frozenset[str]:
    """Cases whose rate exceeds the limit of the device, if within their own interval."""
    return frozenset(r.case for r in rows if r.quantity == "share_of_limit" and r.value > 1)


def _noisy(
    best: Mapping[Place, Row], rows: Iterable[Row], place: Callable[[Row], Place]
) -> dict[Place, Row]:
    """The highest row at each place that only the noise gate rejected, if it exceeds the best."""
    found = _best(filter(only_noisy, rows), place)
    return {at: row for at, row in found.items() if at in best and row.value > best[at].value}


class Latency(NamedTuple):
    """A dependent load from one level: the row of the median case, and related values.

    `time` is the median of the same cases in seconds, by an outside timer, which is noisier: it may
    be from another case. `first` and `last` are the rows of the smallest and the largest footprint
    of the median. `over` is the same median over all SMs, each with one load in flight: the latency
    of L2 depends on the SM, and that of one SM is no property of the chip.
    """

    row: Row
    time: Row | None
    first: Row
    last: Row
    over: Row | None = None

    @property
    def shown(self) -> Row:
        """The row that represents the level."""
        return self.over or self.row


Windows = Mapping[str, tuple[str, float, float]]
"""Of each level the space that is walked, and the footprints that it alone serves, in bytes."""

CHASE = "latency_vs_footprint"
BEYOND = 16
"""Footprints of main memory over the last cache, where no knee of the TLB bounds them."""


def windows(run: Run) -> Windows:
    """Footprint windows with a margin: for GPU DRAM from twice the L2 to the knee of the TLB."""
    if run.context.backend == "cuda":
        l2, reach = _l2_bytes(run), tlb_reach(run)
        last = reach.bytes if reach else BEYOND * l2
        return {
            "l1": ("global_ca", 0, 16 * KIB),
            "shared": ("shared", 0, 16 * KIB),
            "l2": ("global_cg", 256 * KIB, l2 / 4),
            "dram": ("global_cg", 2 * l2, last if l2 else 0),
        }
    facts = (run.context.device.facts.get(f"{cache}_bytes") for cache in ("l1d", "l2", "l3"))
    l1, l2, l3 = (size if isinstance(size, int) else 0 for size in facts)
    last = l3 or l2
    return {
        "l1": ("memory", 0, l1 / 2),
        "l2": ("memory", 2 * l1, l2 / 2),
        "l3": ("memory", 2 * l2, max(l3 / 4, min(4 * l2, l3 / 2))),
        "dram": ("memory", 2 * last, BEYOND * last),
    }


def _l2_bytes(run: Run) -> float:
    over = (row for row in run.of(CHASE) if row.quantity == "footprint_over_l2")
    found = [footprint(row) / row.value for row in over if row.value]
    fact = run.context.device.facts.get("l2_bytes")
    return median(found) if found else fact if isinstance(fact, int) else 0


def geometry(run: Run, sought: str) -> Mapping[str, Row]:
    """The largest valid row of each quantity of one property of `cache_geometry`."""
    rows = run.valid("cache_geometry", property=sought)
    return {row.quantity: row for row in sorted(rows, key=lambda row: row.value)}


def footprint(row: Row) -> int:
    """The bytes that a chain walks; 0 if unknown."""
    return row.count("footprint") or 0


class Reach(NamedTuple):
    """The reach of the TLB.

    `row` is the last load of the first plateau, of a chain of so many `bytes`; `last` that of the
    longest chain, the same row if no chain was long enough for a knee.
    """

    row: Row
    last: Row
    bytes: int


def tlb_reach(run: Run) -> Reach | None:
    """The first plateau of `tlb` on a GPU; None without one.

    On a CPU caches bend the same curve, so there is none.
    """
    rows = run.valid("tlb", "load_cycles", *CLOCKS, allocation="malloc")
    walked = {footprint(row): row for row in sorted(rows, key=footprint) if footprint(row)}
    chains = [*walked.values()]
    found = plateaus.find([*map(float, walked)], [row.value for row in chains])
    row = chains[found[0].stop] if found else None
    return Reach(row, chains[-1], footprint(row)) if row else None


def latencies(run: Run, space: str = "") -> Mapping[str, Latency]:
    """The median case of a dependent load by one core for each level, nearest level first.

    With `space`, loads of that space, for the levels that it reaches like other loads; for
    "mapped", a GPU's loads from host memory.
    """
    alone, everywhere = walks(run), walks(run, "several")
    times = {row.case: row for row in run.valid(CHASE, "load_time")}
    levels = {"host_memory": ("mapped", 0.0, inf)} if space == "mapped" else windows(run)
    found = {}
    for level, (usual, low, high) in levels.items():
        alike = space.partition("_")[0] == usual.partition("_")[0]
        walked = space if alike and (level, space) != ("l1", "global_cg") else usual
        here, over = (
            [r for r in rows if r.text("space") == walked and low <= footprint(r) <= high]
            for rows in (alone, everywhere if level == "l2" else [])
        )
        if here and space in ("", walked):
            seconds = [times[row.case] for row in here if row.case in times]
            ends = min(here, key=footprint), max(here, key=footprint)
            time, of_all = (middle(rows) if rows else None for rows in (seconds, over))
            found[level] = Latency(middle(here), time, *ends, of_all)
    return dict(sorted(found.items(), key=lambda item: item[1].row.value))


def walks(run: Run, cores: str = "one") -> list[Row]:
    """The valid cycles of a dependent load of each chain, by the clock of its core."""
    rows = run.valid(CHASE, "load_cycles", *CLOCKS)
    return [row for row in rows if row.text("cores", "one") == cores and footprint(row)]


def served(run: Run) -> Callable[[Row], str]:
    """The level that serves a row of the chase, `past L2` at its knee; empty for other rows."""
    reaches = windows(run)
    walked = {space.partition("_")[0] for space, _, _ in reaches.values()} - {"shared"}

    def level(row: Row) -> str:
        space, found = row.text("space"), ""
        if row.benchmark == CHASE and space.partition("_")[0] in walked:
            for name, (_, low, high) in reaches.items():
                if (
                    name != "shared"
                    and (name, space) != ("l1", "global_cg")
                    and low <= footprint(row)
                ):
                    found = name if footprint(row) <= high else f"past {level_name(name)}"
        return found

    return level


def constants(run: Run) -> Mapping[str, Row]:
    """Cycles of a constant from the SM's cache and from the next one.

    The largest footprint of at most 1 KiB, and of 24 KiB if it exceeds 8.
    """
    rows = run.valid(CHASE, "load_cycles", "clock64_slope", space="constant", cores="one")
    found: dict[str, Row] = {}
    for row in sorted(rows, key=lambda row: (footprint(row), row.case)):
        if footprint(row) <= KIB:
            found["constant_l1"] = row
        elif 8 * KIB < footprint(row) <= 24 * KIB:
            found["constant_l15"] = row
    return found


def own_latencies(run: Run) -> Mapping[str, Row]:
    """The row for each panel of published latencies; none for a run on a CPU."""
    if run.context.backend != "cuda":
        return {}
    found = {level: one.shown for level, one in latencies(run).items()} | dict(constants(run))
    if (parts := partitions(run)) and parts.access == "a load":
        found |= {"l2_near": parts.near, "l2_far": parts.far}
    return {level: row for level, row in found.items() if row.backend == "cuda"}


PEAK, STREAM = "peak_bandwidth", "bandwidth"
STREAMS = (PEAK, STREAM)
"""The benchmarks of bandwidths: the first searches for the best shape, the other lists shapes."""

READERS = {"stride_gather": "useful_bandwidth", "layout_read": "useful_bandwidth"}
"""Other benchmarks that read each byte once, and their rates: no level gives less than these."""

COPIES, PAST_L1 = "async_copy", ("bulk", "tensor")
"""Methods of that benchmark that cannot hit L1: all of their bytes pass through L2."""

SPILL = 0.01
"""Of the loads of a proven rate at most this share was served by another level."""


def bandwidths(run: Run, operation: str = "read") -> Mapping[str, Best]:
    """What each level gives at most in one operation, nearest level first.

    The best shape of `peak_bandwidth`; without it the best shape of `bandwidth`, or the read rate
    of another benchmark that is proven and higher beyond both intervals.
    """
    streams = [row for name in STREAMS for row in run.of(name) if _is_rate(row, operation)]
    listed = [row for row in streams if row.benchmark == STREAM]
    beyond = beyond_limit(row for name in STREAMS for row in run.valid(name))
    best = _best((row for row in listed if row.valid), _level, beyond)
    noisy = _noisy(best, listed, _level)
    if operation == "read":
        for level, row in _best(_proven(run), _level).items():
            if level in best and row.interval[0] > best[level].interval[1]:
                best[level] = row
                if level in noisy and noisy[level].value <= row.value:
                    del noisy[level]
    peaks = _best((row for row in streams if row.valid and row.benchmark == PEAK), _level, beyond)
    best |= peaks
    found = {}
    for level in ordered(best, LEVELS):
        row = best[level]
        case = CaseRows(tuple(one for one in run.of(row.benchmark) if one.case == row.case))
        # The kernel's clock times the cycles of an SM; events include the start of a launch.
        per_cycle, share = (
            beside if beside and beside.valid else None
            for name in ("bandwidth_per_sm", "share_of_limit")
            for beside in [case.row(name, *CLOCKS, *OUTSIDE)]
        )
        found[level] = Best(row, per_cycle, share, None if level in peaks else noisy.get(level))
    return found


def _is_rate(row: Row, operation: str) -> bool:
    return row.quantity == "bandwidth" and row.params.get("operation") == operation


def _level(row: Row) -> str:
    return row.text("level", row.text("residency"))


def _proven(run: Run) -> Iterator[Row]:
    """Read rates of other benchmarks whose level is proven, by counters or by how they copy."""
    nearer = {"l2": ("l1_hit_share", "l2_hit_share"), "dram": ("l2_hit_share", "dram_share")}
    for benchmark, quantity in READERS.items():
        for case in by_case(run.of(benchmark)):
            row = case.timed(quantity)
            shares = [case.of(name, "counted") for name in nearer.get(_level(case.rows[0]), ())]
            values = [share.value for share in shares if share and share.valid]
            proven = len(values) == 2 and values[0] <= SPILL and values[1] >= 1 - SPILL
            if row and row.valid and proven:
                yield row
    copies = run.valid(COPIES, "bandwidth", cluster="1")
    yield from (r for r in copies if r.text("method") in PAST_L1 and _level(r) == "l2")


def ceilings(run: Run) -> Mapping[str, Best]:
    """The best rate of each timed kind of arithmetic, fastest first."""
    rows = [row for row in run.of("ceilings") if row.provenance == "timed"]
    valid = [row for row in rows if row.valid]
    shares = {row.case: row for row in valid if row.quantity == "share_of_limit"}
    rates = [row for row in rows if row.quantity in RATES]
    best = _best((row for row in rates if row.valid), _arithmetic, beyond_limit(valid))
    noisy = _noisy(best, rates, _arithmetic)
    order = sorted(best.items(), key=lambda item: (-item[1].value, item[0]))
    return {kind: Best(row, None, shares.get(row.case), noisy.get(kind)) for kind, row in order}


def _arithmetic(row: Row) -> str:
    return row.text("arithmetic")


def neighbour(run: Run) -> Row | None:
    """A load from the shared memory of another SM: the farthest block of the largest cluster."""
    rows = run.valid("distributed_shared", "load_cycles", "clock64_slope")
    loads = [row for row in rows if row.count("distance")]
    return max(
        loads, key=lambda row: (row.count("cluster") or 0, row.count("distance")), default=None
    )


class Partitions(NamedTuple):
    """The number of parts of L2, and cycles of an access to the own part and to the other."""

    parts: Row
    near: Row
    far: Row
    access: str
    """The timed access: "a load", or that of runs before loads were timed."""
    memory: tuple[Row, Row] | None = None
    """Cycles of a load from memory attached to the own part, and to the other."""


def partitions(run: Run) -> Partitions | None:
    """The parts of L2; None if it has one part."""
    rows = {row.quantity: row for row in run.valid("l2_partition")}

    def both(kind: str) -> tuple[Row, Row] | None:
        near, far = (rows.get(f"{side}{kind}_cycles") for side in ("near", "far"))
        return (near, far) if near and far else None

    count = rows.get("partitions")
    if count and count.value >= 2:
        for kind, access in (("_load", "a load"), ("", "an atomic exchange")):
            if timed := both(kind):
                return Partitions(count, *timed, access, both("_dram"))
    return None


def transfers(run: Run) -> Mapping[tuple[str, str], Row]:
    """The best bandwidth of whole copies by direction and host memory, by wall clock."""
    whole = run.valid("transfers", "bandwidth", "wall", pieces="1")
    best = _best(whole, lambda row: (row.text("direction"), row.text("memory")))
    directions, memories = ("to_device", "to_host", "both"), ("pinned", "mapped", "pageable")
    order = sorted(best, key=lambda key: (rank(key[0], directions), rank(key[1], memories)))
    return {key: best[key] for key in order}


def peer(run: Run) -> tuple[Latency | None, Mapping[str, Row]]:
    """A load from the memory of another GPU, and the best bandwidth of copies by direction."""
    load = CaseRows(tuple(run.valid("peer_copy", by="load")))
    row, time = load.row("load_cycles_uncached", *CLOCKS), load.row("load_time_uncached")
    best = _best(run.valid("peer_copy", "bandwidth", "wall"), lambda row: row.text("direction"))
    return Latency(row, time, row, row) if row else None, best
