"""The rules: counts between levels agree, rates are within limits, rows are what names promise.

A rule is a function of a case and its rows that yields what breaks it; `RULES` lists them.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from strata.model.atlas import L1_BYTES_PER_CYCLE
from strata.model.cases import TIME_STAMPS
from strata.model.counted import SECTOR_BYTES, SHARES
from strata.run import BOUNDS, Case, Row, Run

BOUND = BOUNDS["level"]
"""Of the sectors that L1 missed, and of a share: as the level gate of the harness has it."""
STRAY_BYTES = 64 * 1024
"""What others read from memory while work is counted (`stray_bytes` in harness/measure)."""
FROM_MEMORY = 0.75
"""Of the bytes that misses of L2 fetch: if the far half of L2 answers some, memory gives half."""
MERGED = "l2_sectors_per_missed_sector"
"""Quantity of cases of which requests are answered as one."""
_NET = re.compile(r"requests and (\d+) sectors counted")
"""The detail of the model gate about the sectors of the work alone."""

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
"""In base units: bounds of whatever is measured, counted or computed."""
POWER_OF_TWO = 0.5
"""Its mantissa."""


class Broken(NamedTuple):
    """What breaks a rule: the whole case, or its rows with these `keys`.

    With `is_note` the rows stay valid with a note of what they are; the case has an unverified
    gate.
    """

    rule: str
    detail: str
    keys: frozenset[tuple[str, str, str]] | None = None
    is_note: bool = False


def broken(rule: str, detail: str, *rows: Row, is_note: bool = False) -> Broken:
    """Only these `rows` break it."""
    return Broken(rule, detail, frozenset(row.key for row in rows), is_note)


class Around:
    """The run of a case: properties of the device and of other cases, computed once."""

    def __init__(self, run: Run) -> None:
        self.device, self._run = run.context.device, run
        self.build, self.started = run.context.build, run.context.started
        self.limit_slack = run.context.bounds["limit"].value
        counters = run.context.counters
        known = (*(one.name for one in counters.quantities), *counters.absent) if counters else ()
        self.tells_far_l2 = any("l2_fabric_miss_sectors" in name for name in known)
        """Whether the level gate knew far hits of L2: then `dram_share` is of what L2 fetched."""

    @cached_property
    def one_way(self) -> Mapping[tuple[str, str], Mapping[str, float]]:
        """Valid bandwidths of one-way copies between GPUs: (by, method) -> bytes -> best."""
        found: dict[tuple[str, str], dict[str, float]] = {}
        for row in self._run.valid("peer_copy", "bandwidth"):
            if row.text("direction") != "both":
                sizes = found.setdefault((row.text("by"), row.method), {})
                sizes[row.text("bytes")] = max(row.value, sizes.get(row.text("bytes"), 0.0))
        return found


class Here:
    """A case and its rows, at least one of them valid."""

    def __init__(self, around: Around, case: Case, rows: Sequence[Row]) -> None:
        self.around, self.case, self.rows = around, case, rows
        # The first of the rows of a quantity: those by a core clock or counted come first.
        self.first = {row.quantity: row for row in reversed(rows)}
        self.verdicts = {gate.name: gate.verdict for gate in reversed(case.gates)}
        level = self.verdicts.get("level", "")
        self.level = "" if level == "not_applicable" else level
        """The verdict of the level gate; empty where the case claims no level."""
        self.place = case.params.get("residency") or case.params.get("level", "")
        """The place of the data according to the case."""

    def value(self, quantity: str) -> float | None:
        """The value of the first row of a quantity."""
        row = self.first.get(quantity)
        return row.value if row else None

    @property
    def sms(self) -> int | None:
        """The number of working SMs: all, or those requested by the case; None if unknown."""
        return 1 if self.case.params.get("cores") == "one" else self.around.device.sm_count

    @property
    def clock_spread(self) -> float:
        """Highest over lowest clock of the case, minus one; 0 if it was not sampled."""
        clock = self.first.get("core_clock")
        return clock.maximum / clock.minimum - 1 if clock and clock.minimum > 0 else 0.0


# --- counts ---------------------------------------------------------------------------------------


def flow(here: Here) -> Iterator[Broken]:
    """What L1 missed reached L2, each sector once.

    L2 merges requests of several SMs for one sector that are close in time: then the SMs received
    more than L2 served. The counts include the launch's own loads (`overhead`); whether those
    reached L2 is not recorded, so the rule assumes what favours the case.
    """
    names = ("l1_load_sectors", "l1_load_hit_sectors", "l2_load_sectors")
    requested, hit, reached = map(here.value, names)
    if not here.level or requested is None or hit is None or reached is None:
        return
    own, missed = _net_sectors(here, requested), requested - hit
    if here.value(MERGED) is not None or own is None or requested - own >= missed:
        return
    overhead = requested - own
    if missed - overhead <= BOUND * own:
        return  # L1 served them
    least = (reached - overhead) / missed
    most = reached / (missed - overhead)
    if most < 1 - BOUND or least > 1 + BOUND:
        detail = f"{100 * reached / missed:.1f} % of what missed L1 reached L2"
        yield Broken("flow", f"{detail} (bound {100 * BOUND:g} %)")


def _net_sectors(here: Here, requested: float) -> float | None:
    """Sectors requested from L1 minus those of an empty launch; None if the run lacks them."""
    overhead = here.case.facts.get("overhead_sectors")
    if isinstance(overhead, int):
        return requested - overhead
    details = (gate.detail for gate in here.case.gates if gate.name == "model")
    net = next(filter(None, map(_NET.search, details)), None)
    return float(net[1]) if net else None


def far_l2(here: Here) -> Iterator[Broken]:
    """Loads that memory served, by the level gate: it delivered what L2 fetched for them.

    The far half of a divided L2 also serves loads, and counts as a miss of the near one. If the
    data fit in L2 as a whole, bytes read by others must not hide the missing ones. A newer harness
    counts what came from behind the far half, and judges that itself.
    """
    missed, share = here.value("l2_missed_sectors_per_load"), here.value("dram_share")
    if here.around.tells_far_l2 or here.level != "passed" or not missed or share is None:
        return
    requested, in_l2 = here.value("l2_load_sectors"), (here.value("footprint_over_l2") or 2) <= 1
    stray = STRAY_BYTES / (requested * SECTOR_BYTES) if in_l2 and requested else 0
    if missed >= 0.5 and share - stray < FROM_MEMORY * missed:
        detail = f"memory delivered {100 * share / missed:.0f} % of the bytes that L2 fetched"
        perhaps = ", perhaps to others" if share >= FROM_MEMORY * missed else ""
        yield Broken("level", f"{detail}{perhaps}: the far half of L2 may have delivered the rest")


def shares(here: Here) -> Iterator[Broken]:
    """A counted share is between 0 and its prediction, or 1, within its own uncertainty.

    Memory delivers as many bytes as L2 fetches for its missed sectors, and others read some.
    """
    for name in (*SHARES, "dram_far_share"):
        row = here.first.get(name)
        if row is None or row.provenance != "counted" or not row.valid:
            continue
        most, uncertain = _most(here, name), BOUND
        if name == "dram_share" and (requested := here.value("l2_load_sectors")):
            uncertain += STRAY_BYTES / (requested * SECTOR_BYTES)
        if not -uncertain <= row.value <= most + uncertain:
            detail = f"{row.value:.4g} is outside 0 to {most:.4g} by more than {uncertain:.2g}"
            yield broken("share", detail, row)


def _most(here: Here, quantity: str) -> float:
    """The maximum of a share: its prediction, or for memory bytes what L2 fetches on misses."""
    if quantity == "dram_share" and not here.around.tells_far_l2:
        per_load = here.value("l2_missed_sectors_per_load")
        if per_load is not None:
            return per_load
        requested, missed = here.value("l2_load_sectors"), here.value("l2_load_miss_sectors")
        return missed / requested if requested and missed is not None else 1.0
    predicted = (r.value for r in here.rows if (r.quantity, r.provenance) == (quantity, "modelled"))
    return next(predicted, 1.0)


# --- rates ----------------------------------------------------------------------------------------


def magnitudes(here: Here) -> Iterator[Broken]:
    """No property of a device has such a magnitude; computing with it would be meaningless."""
    for row in here.rows:
        ends = [abs(one) for one in (row.minimum, row.maximum, row.value) if one]
        if row.valid and ends and not LEAST_NUMBER <= min(ends) <= max(ends) <= MOST_NUMBER:
            detail = f"numbers beyond {LEAST_NUMBER:g} or {MOST_NUMBER:g}"
            yield broken("magnitude", detail, row)


def little(here: Here) -> Iterator[Broken]:
    """Rate times latency is the number in flight (Little 1961), here of warps waiting for a read.

    The law holds for the mean. If some warps are served first, the median of all is not the
    latency. A warp alone on its SM waits for no other, and those of near SMs finish before the rate
    does: then it suffices that the law holds for the slowest. Rows stay valid with a note of what
    they are, as those of a newer harness do.
    """
    median, rate = here.first.get("warp_read_cycles"), here.value("reads_per_second")
    clock, warps = here.value("core_clock"), here.rows[0].count("warps_per_sm")
    if here.case.backend != "cuda" or "little" in here.verdicts:
        return
    if not (median and rate and clock and warps and here.sms):
        return
    cycles_between = clock * LANES * warps * here.sms / rate
    slowest = here.value("warp_read_cycles_slowest") if warps == 1 else None
    found = [cycles / cycles_between for cycles in (median.value, slowest) if cycles is not None]
    if all(abs(one - 1) > LITTLE_BOUND for one in found):
        share = f"{100 * found[0]:.1f} % of those in flight (bound {100 * LITTLE_BOUND:g} %)"
        detail = f"a median over served warps: times the rate it is {share}"
        rows = [row for row in here.rows if row.quantity in ("warp_read_cycles", "warp_read_time")]
        yield broken("little", detail, *rows, is_note=True)


def limits(here: Here) -> Iterator[Broken]:
    """No rate exceeds the device limit by more than its interval, clock and timer allow."""
    for row in here.rows if here.case.backend == "cuda" else ():
        if row.quantity not in LIMITED or not row.valid or row.provenance != "timed":
            continue
        if limit := _limit(here, row.quantity):
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


def _limit(here: Here, name: str) -> float | None:
    near, clock = here.place in ("l1", "shared"), here.value("core_clock")
    match name:
        case "share_of_limit":
            return 1.0
        case "warp_access_cycles":
            return here.value("wavefronts_per_access")
        case "operation_throughput":
            return ISSUED_PER_CYCLE
        case "flops_per_second":
            wanted = (name, "lanes_times_clock")
            return next((r.value for r in here.rows if (r.quantity, r.method) == wanted), None)
        case _ if near and name in _CYCLE:
            return L1_BYTES_PER_CYCLE
        case _ if near and name in _BYTES:
            return L1_BYTES_PER_CYCLE * here.sms * clock if clock and here.sms else None
        case _ if here.place == "dram" and name in _BYTES:
            pins = here.around.device.facts.get("dram_bytes_per_second_theoretical")
            return pins if isinstance(pins, float) and pins > 0 else None
    return None


def overlap(here: Here) -> Iterator[Broken]:
    """Simultaneous copies in both directions by copy engine exceed one direction, if they overlap.

    Checked for copies whose time is dominated by their bytes, not by their start.
    """
    params, both = here.case.params, here.first.get("bandwidth")
    by_both = (params.get("direction"), params.get("by")) == ("both", "copy_engine")
    if here.case.benchmark != "peer_copy" or not by_both or not both:
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


# --- names ----------------------------------------------------------------------------------------


def names(here: Here) -> Iterator[Broken]:
    """`sector_bandwidth` from device memory is what was requested; caches may have served part."""
    row, moved = here.first.get("sector_bandwidth"), here.value("memory_bytes_per_used_byte")
    useful = here.value("useful_bandwidth")
    if here.place != "dram" or row is None or moved is None or not useful:
        return
    if row.value > (1 + MOVED_BOUND) * moved * useful:
        detail = f"sectors requested, not moved: memory moved {moved * useful:.4g} {row.unit}"
        yield broken("name", detail, row)


class Old(NamedTuple):
    """Rows of a benchmark, or of any, how to recognise those of earlier builds, what these are.

    By what a run records, never by its numbers: a fact or a method of later builds, its launch
    shape, or its start. With `is_note` they stay valid with a note: right numbers of something else
    than expected.
    """

    benchmark: str
    params: Mapping[str, str]
    quantities: tuple[str, ...]
    is_old: Callable[[Here, Row], bool]
    detail: str
    is_note: bool = True


ADDRESSES = "addresses_in_registers"
"""A fact of `async_copy` whose timed loops compute no address again and load before they store."""
EIGHT_LOADS = 16384
"""Bytes of a tile that have eight loads for each thread; smaller ones are as declared."""


def _recomputes_addresses(here: Here, _: Row) -> bool:
    """Builds from 1e4793b on, until they record that they do not.

    One recorded run of an older build is from a later time.
    """
    build = here.around.build.commit
    is_older = here.around.started < "2026-11-26T12:01:43Z" or build.startswith("6b25fb5")
    return ADDRESSES not in here.case.facts and not is_older


def _has_turnover(here: Here, row: Row) -> bool:
    """More blocks than are resident: each read one piece of memory and ended."""
    blocks, resident = here.case.facts.get("blocks"), row.count("blocks_per_sm")
    return bool(here.sms and resident and isinstance(blocks, int) and blocks > here.sms * resident)


def _omits_wait(here: Here, row: Row) -> bool:
    """By the clocks of warps, where rate and latency contradict Little's law."""
    breaks = here.verdicts.get("little") == "unverified" or any(little(here))
    return breaks and row.method == "clock64_mean"


OLD = (
    # Runs up to 3eaf1c4 have it as `core_clock`, later ones as `tsc_frequency`.
    Old("", {}, ("core_clock",), lambda _, row: row.method == TIME_STAMPS,
        "the rate of the time-stamp counter, not the clock of a core"),
    Old("async_copy", {"method": "bulk", "measure": "latency"}, ("tile_latency",),
        _recomputes_addresses, "the loop computes the tile's addresses again for each copy",
        is_note=False),
    Old("async_copy", {"method": "registers", "measure": "bandwidth"},
        ("tile_cycles", "bandwidth", "bandwidth_per_sm"),
        lambda here, row: ADDRESSES not in here.case.facts
        and (row.count("bytes") or 0) >= EIGHT_LOADS,
        "a thread stores after two or four loads, not after eight"),
    Old("atomics", {"space": "global"}, ("atomic_latency",),
        lambda here, _: "latency_places" not in here.case.facts,
        "of one word, which may be in the near or the far part of L2"),
    Old("bandwidth", {"level": "dram"}, ("bandwidth", "bandwidth_per_sm", "share_of_limit"),
        _has_turnover, "the start and end of blocks is timed, too"),
    Old("layout_read", {"residency": "l1"}, ("warp_read_cycles", "warp_read_time"),
        _omits_wait, "warps' own clocks, which leave out the wait of those served later",
        is_note=False),
)  # fmt: skip


def earlier_builds(here: Here) -> Iterator[Broken]:
    """Rows of `OLD` that are not what their name promises, unless the case has its note already."""
    case = here.case
    known = ("", case.benchmark if case.backend == "cuda" else "")
    for old in OLD if "name" not in here.verdicts else ():
        if old.benchmark in known and old.params.items() <= case.params.items():
            rows = [r for r in here.rows if r.valid and r.quantity in old.quantities]
            if found := [row for row in rows if old.is_old(here, row)]:
                yield broken("name", old.detail, *found, is_note=old.is_note)


RULES = (
    flow, far_l2, shares, magnitudes, little, limits, names, overlap, lines, earlier_builds,
)  # fmt: skip
