"""Little's law: what the bytes in flight and the latency of a level allow of its bandwidth.

Little (1961), `L = λW`: bytes in flight are bandwidth times latency. The latency is that of a
single dependent load out of the level, unloaded, so no number of loads can pass the line; under
load a request waits for others, and the bandwidth stays below it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from strata.run import Row
from strata.run.statistics import median

KIB = 1024
CHASE = "latency_vs_footprint"
STREAM = "bandwidth"
CLOSE = 0.02
"""How far the number of cores may be from a whole one."""


@dataclass(frozen=True, slots=True)
class Latency:
    """The unloaded latency of a level in seconds; `row` is the median of the loads behind it."""

    level: str
    seconds: float
    row: Row


def latencies(rows: Sequence[Row]) -> Mapping[str, Latency]:
    """Level -> latency, of what `latency_vs_footprint` walked well inside it, on a GPU.

    Inside: shared memory and L1 up to 16 KiB; L2, past L1, from 256 KiB to a quarter of what the
    driver says that L2 holds; device memory from 4 to 16 times that. Levels without a valid walk
    that a timer outside timed, or a run that does not know its L2, are left out.
    """
    walked = [
        row
        for row in rows
        if (row.benchmark, row.quantity, row.unit) == (CHASE, "load_time", "s")
        and row.backend == "cuda"
        and row.valid
        and row.params.get("cores", "one") == "one"
        and row.params.get("footprint", "").isdecimal()
    ]
    l2 = _l2(rows)
    windows = {"shared": ("shared", 0.0, 16.0 * KIB), "l1": ("global_ca", 0.0, 16.0 * KIB)}
    if l2 is not None:
        windows["l2"] = ("global_cg", 256.0 * KIB, l2 / 4)
        windows["dram"] = ("global_cg", 4 * l2, 16 * l2)
    found = {}
    for level, (space, low, high) in windows.items():
        here = sorted(
            (
                row
                for row in walked
                if row.params.get("space") == space and low <= int(row.params["footprint"]) <= high
            ),
            key=lambda row: row.value,
        )
        if here:
            seconds = median([row.value for row in here])
            found[level] = Latency(level, seconds, here[(len(here) - 1) // 2])
    return found


def _l2(rows: Sequence[Row]) -> float | None:
    """Bytes of L2, as the driver says: a footprint over its share of it."""
    sizes = [
        int(row.params["footprint"]) / row.value
        for row in rows
        if (row.benchmark, row.quantity) == (CHASE, "footprint_over_l2")
        and row.value > 0
        and row.params.get("footprint", "").isdecimal()
    ]
    return median(sizes) if sizes else None


def cores(rows: Sequence[Row]) -> int | None:
    """How many SMs streamed: bandwidth over bytes a cycle of one SM and its clock; None unknown.

    The three are rows of one case of `bandwidth`; the median over all cases must be close to a
    whole number.
    """
    by_case: dict[str, dict[str, float]] = {}
    for row in rows:
        if row.benchmark == STREAM and row.backend == "cuda" and row.value > 0:
            outside = row.quantity != "bandwidth_per_sm" or row.method == "event_slope"
            if outside:
                by_case.setdefault(row.case, {})[row.quantity] = row.value
    counts = [
        one["bandwidth"] / one["bandwidth_per_sm"] / one["core_clock"]
        for one in by_case.values()
        if {"bandwidth", "bandwidth_per_sm", "core_clock"} <= one.keys()
    ]
    if not counts:
        return None
    count = median(counts)
    whole = round(count)
    return whole if whole and abs(count / whole - 1) <= CLOSE else None


def allowed(bytes_in_flight: float, latency: Latency) -> float:
    """The bandwidth in B/s that `bytes_in_flight` on the whole chip can have at the most."""
    return bytes_in_flight / latency.seconds


def needed(bandwidth: float, latency: Latency) -> float:
    """The bytes that must be in flight on the whole chip for `bandwidth` in B/s, at the least."""
    return bandwidth * latency.seconds
