"""Little's law: what the bytes in flight and the latency of a level allow of its bandwidth.

Little (1961), `L = λW`: bytes in flight are bandwidth times latency. The latency is that of a
single dependent load out of the level, unloaded, so no number of loads can pass the line; under
load a request waits for others, and the bandwidth stays below it.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from strata.model.atlas import gpu_windows, inside, middle
from strata.run import Row
from strata.run.statistics import median

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

    The driver's size of L2 is a footprint over its share of it. Timed by a timer outside.
    """
    walks = [row for row in rows if row.benchmark == "latency_vs_footprint"]
    l2 = [
        footprint / row.value
        for row in walks
        if row.quantity == "footprint_over_l2"
        and row.value > 0
        and (footprint := row.count("footprint")) is not None
    ]
    timed = [
        row
        for row in walks
        if (row.quantity, row.unit, row.backend) == ("load_time", "s", "cuda") and row.valid
    ]
    return {
        level: Latency(level, median([row.value for row in here]), middle(here))
        for level, here in inside(timed, gpu_windows(median(l2) if l2 else 0)).items()
    }


def cores(rows: Sequence[Row]) -> int | None:
    """How many SMs streamed: bandwidth over bytes a cycle of one SM and its clock; None unknown.

    The median over the cases of `bandwidth` must be close to a whole number.
    """
    by_case: dict[str, dict[str, float]] = defaultdict(dict)
    for row in rows:
        inside_the_kernel = row.quantity == "bandwidth_per_sm" and row.method != "event_slope"
        if (row.benchmark, row.backend) == ("bandwidth", "cuda") and not inside_the_kernel:
            by_case[row.case][row.quantity] = row.value
    counts = [
        one["bandwidth"] / one["bandwidth_per_sm"] / one["core_clock"]
        for one in by_case.values()
        if all(one.get(name, 0) > 0 for name in ("bandwidth", "bandwidth_per_sm", "core_clock"))
    ]
    count = median(counts) if counts else 0
    whole = round(count)
    return whole if whole and abs(count / whole - 1) <= CLOSE else None


def allowed(bytes_in_flight: float, latency: Latency) -> float:
    """The bandwidth in B/s that `bytes_in_flight` on the whole chip can have at the most."""
    return bytes_in_flight / latency.seconds
