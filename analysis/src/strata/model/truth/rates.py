"""Rules for times: Little's law, physical limits, names that promise too much, odd lines."""

import math
from collections.abc import Iterator

from strata.model.atlas import L1_BYTES_PER_CYCLE
from strata.model.cases import TIME_STAMPS
from strata.model.truth.here import Broken, Here, broken
from strata.run import BOUNDS, Row

LITTLE_BOUND = BOUNDS["little"]
LANES = 32
ISSUED_PER_CYCLE = 128
"""Operations of lanes that the four schedulers of an SM issue a cycle at the most."""

MOVED_BOUND = 0.01

OVERLAP = 1.2
"""Both ways at once over one way: less, and one direction waits for the other."""
LARGE = 0.9
"""Of the best bandwidth of one way: what a copy reaches whose time is that of its bytes."""

LEAST_NUMBER, MOST_NUMBER = 1e-30, 1e30
"""In base units: between them lies whatever is measured, counted or computed."""


def little(here: Here) -> Iterator[Broken]:
    """Rate times latency is the number in flight (Little 1961), here of warps waiting for a read.

    The law holds for the mean. If some warps are served first, the median of all is not the
    latency. A warp alone on its SM waits for no other, and those of near SMs finish before the rate
    does: then it suffices that the law holds for the slowest. Rows stay valid with a note of what
    they are, as those of a newer harness do.
    """
    if any(gate.name == "little" for gate in here.case.gates):
        return
    median, rate = here.first.get("warp_read_cycles"), here.value("reads_per_second")
    clock, warps = here.value("core_clock"), here.rows[0].count("warps_per_sm")
    if here.case.backend != "cuda" or not (median and rate and clock and warps and here.sms):
        return
    cycles_between = clock * LANES * warps * here.sms / rate
    slowest = here.value("warp_read_cycles_slowest") if warps == 1 else None
    found = [cycles / cycles_between for cycles in (median.value, slowest) if cycles is not None]
    if all(abs(one - 1) > LITTLE_BOUND for one in found):
        share = f"{100 * found[0]:.1f} % of those in flight (bound {100 * LITTLE_BOUND:g} %)"
        detail = f"a median over served warps: times the rate it is {share}"
        rows = [row for row in here.rows if row.quantity in ("warp_read_cycles", "warp_read_time")]
        yield broken("little", detail, *rows, says=True)


def magnitudes(here: Here) -> Iterator[Broken]:
    """No property of a device has such a magnitude; computing with it would be meaningless."""
    for row in here.rows:
        ends = [abs(one) for one in (row.minimum, row.maximum, row.value) if one]
        if row.valid and ends and not LEAST_NUMBER <= min(ends) <= max(ends) <= MOST_NUMBER:
            detail = f"numbers beyond {LEAST_NUMBER:g} or {MOST_NUMBER:g}"
            yield broken("magnitude", detail, row)


def limits(here: Here) -> Iterator[Broken]:
    """No rate exceeds the device limit by more than its interval, clock and timer allow."""
    if here.case.backend != "cuda" or LIMITED.isdisjoint(here.first):
        return
    for row in here.rows:
        if row.quantity not in LIMITED or not row.valid or row.provenance != "timed":
            continue
        if limit := _limit(here, row):
            low, high = row.interval
            least = row.quantity in LEAST
            beyond = limit / high if least else low / limit
            if beyond > 1 + here.clock_spread + here.around.limit_slack:
                side = "below" if least else "above"
                detail = f"{row.value:.5g} {row.unit} is {side} the limit of {limit:.5g}"
                yield broken("limit", f"{detail} by more than its interval and the clock's", row)


LEAST = ("warp_access_cycles",)
"""Quantities that the limit bounds from below."""
_BYTES = ("bandwidth", "useful_bandwidth")
_CYCLE = ("bandwidth_per_sm", "useful_bandwidth_per_sm")
LIMITED = frozenset(
    (*LEAST, *_BYTES, *_CYCLE, "share_of_limit", "operation_throughput", "flops_per_second")
)
"""Quantities of which a limit is known, somewhere."""


def _limit(here: Here, row: Row) -> float | None:
    place, name = here.place, row.quantity
    if name == "share_of_limit":
        return 1.0
    if name == "warp_access_cycles":
        return here.value("wavefronts_per_access")
    if name == "operation_throughput":
        return ISSUED_PER_CYCLE
    if name == "flops_per_second":
        rows = (r.value for r in here.rows if (r.quantity, r.method) == (name, "lanes_times_clock"))
        return next(rows, None)
    if place in ("l1", "shared") and name in _CYCLE:
        return L1_BYTES_PER_CYCLE
    if place in ("l1", "shared") and name in _BYTES:
        clock = here.value("core_clock")
        return L1_BYTES_PER_CYCLE * here.sms * clock if clock and here.sms else None
    if place == "dram" and name in _BYTES:
        pins = here.around.device.facts.get("dram_bytes_per_second_theoretical")
        return pins if isinstance(pins, float) and pins > 0 else None
    return None


def names(here: Here) -> Iterator[Broken]:
    """`sector_bandwidth` from device memory is what was requested; caches may have served part."""
    row, moved = here.first.get("sector_bandwidth"), here.value("memory_bytes_per_used_byte")
    useful = here.value("useful_bandwidth")
    if here.place != "dram" or row is None or moved is None or not useful:
        return
    if row.value > (1 + MOVED_BOUND) * moved * useful:
        detail = f"sectors requested, not moved: memory moved {moved * useful:.4g} {row.unit}"
        yield broken("name", detail, row)


def time_stamps(here: Here) -> Iterator[Broken]:
    """A CPU's time-stamp counter has its own rate, whatever the clock of its cores.

    Runs up to 3eaf1c4 have it as `core_clock`, later ones as `tsc_frequency`.
    """
    if any(gate.name == "name" for gate in here.case.gates):
        return
    wanted = ("core_clock", TIME_STAMPS)
    if found := [row for row in here.rows if (row.quantity, row.method) == wanted]:
        detail = "the rate of the time-stamp counter, not the clock of a core"
        yield broken("name", detail, *found, says=True)


def overlap(here: Here) -> Iterator[Broken]:
    """Simultaneous copies in both directions by copy engine exceed one direction, if they overlap.

    Checked for copies whose time is dominated by their bytes, not by their start.
    """
    params = here.case.params
    if here.case.benchmark != "peer_copy" or params.get("direction") != "both":
        return
    if params.get("by") != "copy_engine" or not (both := here.first.get("bandwidth")):
        return
    sizes = here.around.one_way.get(("copy_engine", both.method), {})
    one_way, best = sizes.get(params.get("bytes", ""), 0.0), max(sizes.values(), default=0.0)
    if one_way >= LARGE * best > 0 and both.value < OVERLAP * one_way:
        detail = f"both directions move {both.value / one_way:.2f} times one direction"
        yield Broken("overlap", f"{detail} (bound {OVERLAP:g}): one after the other")


def lines(here: Here) -> Iterator[Broken]:
    """Lines of caches and their sectors are powers of two: addresses are divided by their bits.

    A change point one step late is as repeatable as one in its place.
    """
    if here.case.benchmark != "cache_geometry":
        return
    for name in ("line", "sector"):
        row = here.first.get(name)
        if row and row.valid and math.frexp(row.value)[0] != POWER_OF_TWO:
            yield broken("line", f"a {name} of {row.value:g} {row.unit} is no power of two", row)


POWER_OF_TWO = 0.5  # its mantissa

RULES = (magnitudes, little, limits, names, time_stamps, overlap, lines)
