"""Little's law: the bandwidth that the bytes in flight and the latency of a level allow.

Little (1961), `L = λW`: bytes in flight are bandwidth times latency. The latency is that of a
single dependent load from the level, without load, so no number of loads can exceed the line; under
load a request waits for others, and the bandwidth stays below it.
"""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import NamedTuple

from strata.model import atlas
from strata.model.cases import by_case
from strata.run import Row, Run

CLOSE = 0.02
"""How far the number of cores may be from a whole one."""


class Latency(NamedTuple):
    """The unloaded latency of a level in seconds, and its row."""

    level: str
    seconds: float
    row: Row


def latencies(run: Run) -> Mapping[str, Latency]:
    """Level -> latency of a GPU, as in `atlas.latencies`, by an outside timer."""
    found = atlas.latencies(run).items() if run.context.backend == "cuda" else ()
    return {
        level: Latency(level, one.time.value, one.time)
        for level, one in found
        if one.time and one.time.unit == "s"
    }


def cores(rows: Sequence[Row]) -> int | None:
    """The number of SMs that streamed, from bandwidth, bytes per cycle of one SM, and clock.

    None if unknown: the median over the cases of `bandwidth` must be close to an integer.
    """
    counts = []
    for case in by_case(
        row for row in rows if (row.benchmark, row.backend) == ("bandwidth", "cuda")
    ):
        of_all, clock = case.row("bandwidth"), case.row("core_clock")
        of_one = case.row("bandwidth_per_sm", "event_slope")
        if of_all and of_one and clock and min(of_one.value, clock.value) > 0:
            counts.append(of_all.value / of_one.value / clock.value)
    count = median(counts) if counts else 0
    whole = round(count)
    return whole if whole and abs(count / whole - 1) <= CLOSE else None
