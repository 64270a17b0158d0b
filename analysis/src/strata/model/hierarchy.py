"""The memory hierarchy of a device in a run: its levels and their properties.

Every number is a row of the run or a fact reported by the device. What the run lacks is present as
missing, with the reason.
"""

from collections.abc import Iterator, Mapping
from math import inf
from typing import Any, Literal, NamedTuple

from strata.model import atlas
from strata.model.cases import only_noisy
from strata.model.l2 import Reach, l2, used
from strata.model.names import level_name
from strata.model.units import SPACE, number, quantity, size
from strata.run import Row, Run, one_line

Source = Literal["measured", "reported", "fact", "missing"]

WHAT = {
    "size": "size",
    "one_sm": "used by one core",
    "all_sms": "used by all cores",
    "line": "line",
    "sector": "sector",
    "time": "latency",
    "cycles": "in cycles",
    "bandwidth": "bandwidth",
    "per_core": "of each core",
    "writing": "writing",
    "share": "of its limit",
    "first_touch": "mean, first touch",
    "half_l2": "half from L2",
    "half_first": "half L2, from",
    "half_last": "half L2, up to",
    "reach": "TLB reach",
}
"""The numbers of a level, in display order; of reading unless they name writing."""
REGISTER = 4
"""Bytes of a register of a GPU."""
UNMEASURED = "no benchmark measures it"
UNLIMITED = "no limit of it is known to the run"
BANKS = "it has banks, not lines"
LONGEST, MOST_OF_A_UNIT = 150, 9
"""Letters of a reason, and of a unit; the table of rows has all of them."""


class Number(NamedTuple):
    """One number of a level; `what` is a key of `WHAT`, `value` is in bytes, seconds or a row's.

    `why` is how it follows from its `row`, or which fact it is. For a missing one `text` is empty,
    `why` is the reason, `short` the same in a word for narrow cells (empty: nothing measures it),
    and `row` the invalid row, if that is the reason.
    """

    what: str
    text: str
    value: float | None
    source: Source
    row: Row | None = None
    why: str = ""
    short: str = ""


class Level(NamedTuple):
    """One level: the innermost have a `depth` of 0; None is beside the device.

    `part_of` names the level that contains it, if any; `each` means that every core has one.
    """

    name: str
    title: str
    depth: int | None
    numbers: Mapping[str, Number]
    part_of: str = ""
    each: bool = False

    def title_of(self, core: str) -> str:
        """The title, which states whether each core has one."""
        return f"{self.title} of each {core}" if self.each else self.title


class Hierarchy(NamedTuple):
    """The levels of the `device` of a run, nearest first: it has many SMs or cores (`core`).

    `measured`: whether any level of the device itself was.
    """

    run: Run
    levels: tuple[Level, ...]
    core: str
    device: str
    measured: bool

    def numbers(self, name: str) -> Mapping[str, Number]:
        """The numbers of a level; none if the device has no such level."""
        return next((level.numbers for level in self.levels if level.name == name), {})


def hierarchy(run: Run) -> Hierarchy:
    """The levels of a GPU, of host memory and of its peer; or of a CPU."""
    found, gpu = _Levels(run), run.context.backend == "cuda"
    levels = tuple(found.gpu() if gpu else found.cpu())
    own = (number for one in levels if one.depth is not None for number in one.numbers.values())
    measured = any(number.source == "measured" for number in own)
    return Hierarchy(run, levels, "SM" if gpu else "core", run.context.device.name, measured)


def _level(name: str, title: str, depth: int | None, *numbers: Number, **of: Any) -> Level:
    in_order = sorted(numbers, key=lambda number: [*WHAT].index(number.what))
    return Level(name, title, depth, {number.what: number for number in in_order}, **of)


class _Sought(NamedTuple):
    """The cases that a row is sought in: these axes, with chains as long as the window."""

    benchmark: str
    axes: Mapping[str, str] = {}
    window: tuple[float, float] = (0, inf)

    def fits(self, params: Mapping[str, str]) -> bool:
        """Whether a case matches; a missing axis is no mismatch."""
        walked = params.get("footprint", "0")
        within = walked.isdecimal() and self.window[0] <= float(walked) <= self.window[1]
        return within and all(params.get(axis, value) == value for axis, value in self.axes.items())


class _Levels:
    def __init__(self, run: Run) -> None:
        self.run, self.windows, self.l2 = run, atlas.windows(run), l2(run)
        self.latencies, self.bandwidths = atlas.latencies(run), atlas.bandwidths(run)

    def gpu(self) -> Iterator[Level]:
        registers = self.fact("registers_per_sm", REGISTER), *_unmeasured("time", "bandwidth")
        yield _level("registers", "Registers", 0, *registers, each=True)
        l1 = (self.geometry("l1", what) for what in ("size", "line", "sector"))
        yield _level("l1", "L1 cache", 0, *l1, *self.speed("l1"), each=True)
        shared = self.fact("shared_bytes_per_sm"), *_unmeasured("line", "sector", why=BANKS)
        yield _level("shared", "Shared memory", 0, *shared, *self.speed("shared"), each=True)
        # A GPU reports its whole L2, of which an SM finds the half near it.
        reported = self.geometry("l2", "size", "reported")
        whole = self.fact("l2_bytes") if reported.source == "missing" else reported
        lines = (self.geometry("l2", what) for what in ("line", "sector"))
        loads = *self.speed("l2"), *self.first_touch()
        yield _level("l2", "L2 cache", 1, whole, *self.used(), *lines, *loads)
        yield from self.parts("l2", "load", 1, "{} part")
        dram = self.fact("memory_bytes"), *_unmeasured("line", "sector")
        speed = *self.speed("dram"), *self.half_l2(), self.reach()
        yield _level("dram", "DRAM", 2, *dram, *speed)
        yield from self.parts("dram", "dram", 2, "behind {} L2")
        load = atlas.latencies(self.run, "mapped").get("host_memory")
        loads = (*self.loads(load, _Sought(atlas.CHASE, {"space": "mapped"})),)
        best = {key[0]: row for key, row in atlas.transfers(self.run).items() if "pinned" in key}
        pinned = _Sought("transfers", {"memory": "pinned"})
        copies = self.copies(best, "to_host", "to_device", pinned)
        yield _level("host_memory", "Memory of the host", None, self.memory(), *loads, *copies)
        load, best_of_peer = atlas.peer(self.run)
        loads = (*self.loads(load, _Sought("peer_copy", {"by": "load"}), "_uncached"),)
        copies = self.copies(best_of_peer, "write", "read", _Sought("peer_copy"))
        yield _level("peer", "Memory of a peer GPU", None, *loads, *copies)

    def cpu(self) -> Iterator[Level]:
        for depth, name in enumerate(("l1", "l2", "l3")):
            found = self.geometry(name, "size", "size", "reported")
            fact = self.fact(f"{'l1d' if name == 'l1' else name}_bytes")
            size_of = fact if "missing" == found.source != fact.source else found
            numbers = size_of, self.geometry(name, "line"), *self.speed(name)
            title = "L1 data cache" if name == "l1" else f"{level_name(name)} cache"
            yield _level(name, title, depth, *numbers, each=name != "l3")
        reach = _missing("reach", "on a CPU caches bend the curve of the TLB too")
        yield _level("dram", "Memory", 3, self.memory(), *self.speed("dram"), reach)

    def fact(self, name: str, times: int = 1) -> Number:
        return _fact(self.run.context.device.facts.get(name), f"device.{name}", times)

    def memory(self) -> Number:
        return _fact(self.run.context.host.memory_bytes, "host.memory_bytes")

    def geometry(self, level: str, what: str, *kinds: str) -> Number:
        """The largest result of `cache_geometry` over all carve-outs, otherwise the reported one.

        With `kinds`, the first of those quantities.
        """
        sought = _Sought("cache_geometry", {"property": f"{level}_{what}"})
        rows = atlas.geometry(self.run, f"{level}_{what}")
        row = next((rows[kind] for kind in kinds or (what, "reported") if kind in rows), None)
        return self.number(what, row, sought, what)

    def speed(self, level: str) -> Iterator[Number]:
        """Latency, and the best bandwidth: per core, in total, and relative to the limit."""
        space, *window = self.windows[level]
        load = _Sought(atlas.CHASE, {"space": space, "cores": "one"}, (window[0], window[1]))
        one, best = self.latencies.get(level), self.bandwidths.get(level)
        if one and one.over:
            yield self.number("cycles", one.over, load, "load_cycles")
            yield _time(one.over, self.clock(one.over))
        else:
            yield from self.loads(one, load)
        read = _Sought("bandwidth", {"level": level, "operation": "read"})
        yield self.per_core(best, read)
        yield (found := self.number("bandwidth", best and best.row, read, "bandwidth"))
        yield _found("share", best.share) if best and best.share else _unlimited(found)

    def clock(self, row: Row) -> Row | None:
        rows = self.run.valid(row.benchmark, "core_clock")
        return next((one for one in rows if one.case == row.case), None)

    def per_core(self, best: atlas.Best | None, read: _Sought) -> Number:
        """Bytes per cycle and SM: of another benchmark by the clock of its case."""
        sms = self.run.context.device.sm_count
        clock = self.clock(best.row) if best and not best.per_cycle else None
        if not best or not clock or not sms or clock.value <= 0:
            return self.number("per_core", best and best.per_cycle, read, "bandwidth_per_sm")
        value, why = best.row.value / clock.value / sms, "rate ÷ SMs ÷ the clock in its case"
        text = f"{number(value)}{SPACE}B/cycle"
        return Number("per_core", text, value, "measured", best.row, why)

    def used(self) -> Iterator[Number]:
        """How much of L2 one SM and all SMs use."""
        one, reach = self.geometry("l2", "size", "size"), self.l2 and self.l2.one
        if one.source == "missing" and reach:
            one = _reached("size", reach)
        yield one._replace(what="one_sm")
        walk = _Sought(atlas.CHASE, {"space": "global_cg", "cores": "several"})
        reach = self.l2 and self.l2.all
        missing = self.number("all_sms", None, walk, "load_cycles")
        yield _reached("all_sms", reach) if reach else missing

    def first_touch(self) -> Iterator[Number]:
        """A load of a line that has no copy yet, on average."""
        if self.l2 and self.l2.parts and (mean := self.l2.first_touch):
            far, why = self.l2.parts.far, "the mean of a near and a far load"
            yield Number("first_touch", quantity(mean, far.unit), mean, "measured", far, why)

    def half_l2(self) -> Iterator[Number]:
        """A load of the chains that are half DRAM, half L2, where counters prove them."""
        if beyond := self.l2 and self.l2.beyond:
            why = f"memory serves {100 * beyond.share:.0f} % of the loads"
            yield _found("half_l2", beyond.row)._replace(why=why)
            yield _walked("half_first", beyond.first, "the shortest such chain")
            yield _walked("half_last", beyond.last, "the longest such chain")

    def loads(self, one: atlas.Latency | None, sought: _Sought, kind: str = "") -> Iterator[Number]:
        yield self.number("cycles", one and one.row, sought, f"load_cycles{kind}")
        yield self.number("time", one and one.time, sought, f"load_time{kind}")

    def copies(
        self, rows: Mapping[str, Row], write: str, read: str, sought: _Sought
    ) -> Iterator[Number]:
        """The best whole copies to and from it, without a known limit."""
        for what, direction in (("writing", write), ("bandwidth", read)):
            of = sought._replace(axes={**sought.axes, "direction": direction})
            yield (found := self.number(what, rows.get(direction), of, "bandwidth"))
        yield _unlimited(found)

    def parts(self, level: str, kind: str, depth: int, title: str) -> Iterator[Level]:
        """Near and far values, in L2 or the memory behind it; none for an undivided L2."""
        rows = {row.quantity: row for row in self.run.valid("l2_partition")}
        count, clock = rows.get("partitions"), rows.get("core_clock")
        for side in ("near", "far") if not count or count.value >= 2 else ():
            name = f"{side}_{kind}_cycles"
            cycles = self.number("cycles", row := rows.get(name), _Sought("l2_partition"), name)
            time = _time(row, clock) if row else cycles._replace(what="time")
            numbers = cycles, time, *_unmeasured("bandwidth")
            yield _level(f"{level}_{side}", title.format(side), depth, *numbers, part_of=level)

    def reach(self) -> Number:
        """The reach of the TLB, or a lower bound."""
        found, sought = atlas.tlb_reach(self.run), _Sought("tlb", {"allocation": "malloc"})
        if not found:
            return self.number("reach", None, sought, "load_cycles")
        text, why = size(found.bytes), "the longest chain before loads get slower"
        if found.row is found.last:
            text, why = f"≥{SPACE}{text}", "no knee: no longer chain could be walked"
        return Number("reach", text, found.bytes, "measured", found.row, why)

    def number(self, what: str, row: Row | None, sought: _Sought, name: str) -> Number:
        """A number from its row; missing without one, named like the quantity `name` there."""
        if row:
            return _found(what, row)
        run, benchmark, fits = self.run, sought.benchmark, sought.fits
        rows = (row for row in run.of(benchmark) if row.quantity == name and fits(row.params))
        if bad := next((row for row in rows if not row.valid), None):
            failed = "; ".join(one for one in bad.reasons.split("; ") if "unverified" not in one)
            why = f"{_text(what, bad.value, bad.unit)}, not valid: {failed or bad.reasons}"
            return _missing(what, why, "noisy" if only_noisy(bad) else "invalid", bad)
        cases = [case for case in run.cases if case.benchmark == benchmark]
        here = [case for case in cases if fits(case.params)]
        left = [case for case in here or cases if case.status != "measured"]
        if left and (here or len(left) == len(cases)):
            return _missing(what, f"{left[0].status}: {left[0].reason}", left[0].status)
        if any(f"/{benchmark}/" in case for case in run.pending):
            return _missing(what, "the run has not come to it", "pending")
        if here:
            return _missing(what, f"{benchmark} has no such row", "no row")
        why = "has no such case here" if cases else "is not in this sweep"
        return _missing(what, f"{benchmark} {why}", f"not in {run.context.sweep.name}")


def _found(what: str, row: Row) -> Number:
    source: Source = "reported" if row.quantity == "reported" else "measured"
    return Number(what, _text(what, row.value, row.unit), row.value, source, row, row.method)


def _text(what: str, value: float, unit: str) -> str:
    if what in ("size", "one_sm", "all_sms", "line", "sector"):
        return size(round(value))
    if what == "share":
        return f"{100 * value:.1f}{SPACE}%"
    if what == "per_core":
        return f"{number(value)}{SPACE}B/{'TSC ' if 'tsc' in unit else ''}cycle"
    return quantity(value, one_line(unit)[:MOST_OF_A_UNIT])


def _fact(value: object, name: str, times: int = 1) -> Number:
    if not isinstance(value, int) or not 0 < value < 2**62:
        return _missing("size", "the device does not tell it")
    return Number("size", size(times * value), float(times * value), "fact", None, name)


def _missing(what: str, why: str, short: str = "", row: Row | None = None) -> Number:
    reason = one_line(why.replace(SPACE, " "))
    if len(reason) > LONGEST:
        cut = reason[:LONGEST]
        reason = f"{cut.rpartition(' ')[0] or cut} …"
    return Number(what, "", None, "missing", row, reason, one_line(short))


def _unmeasured(*names: str, why: str = UNMEASURED) -> tuple[Number, ...]:
    return tuple(_missing(what, why) for what in names)


def _unlimited(bandwidth: Number) -> Number:
    if bandwidth.source == "missing":
        return _missing("share", bandwidth.why, bandwidth.short)
    return _missing("share", UNLIMITED)


def _time(row: Row, clock: Row | None) -> Number:
    if not clock or clock.value <= 0:
        return _missing("time", "its case has no valid clock", "no clock")
    seconds, how = row.value / clock.value, "cycles ÷ the clock of the SMs in its case"
    return Number("time", f"≈{SPACE}{quantity(seconds, 's')}", seconds, "measured", row, how)


def _walked(what: str, row: Row, why: str) -> Number:
    bytes_ = atlas.footprint(row)
    return Number(what, size(bytes_), float(bytes_), "measured", row, why)


def _reached(what: str, reach: Reach) -> Number:
    why = f"the last chain at the latency of L2; {size(atlas.footprint(reach.next))} no longer fit"
    return _walked(what, reach.last, why)._replace(text=used(reach.last))
