"""The memory hierarchy of a device as a run has it: its levels, and what each of them is like.

Every number is a row of the run or a fact that the device told of itself; what the run lacks is
there too, as missing, with the reason.
"""

from collections.abc import Iterator, Mapping
from math import inf
from typing import Literal, NamedTuple

from strata.model import atlas
from strata.model.names import level_name
from strata.model.units import SPACE, number, quantity, size
from strata.run import Row, Run, one_line

Source = Literal["measured", "reported", "fact", "missing"]

WHAT = {
    "size": "size",
    "line": "line",
    "sector": "sector",
    "time": "latency",
    "cycles": "in cycles",
    "per_core": "by one core",
    "bandwidth": "bandwidth",
    "writing": "writing",
    "share": "of its limit",
    "reach": "TLB reach",
}
"""What is told of a level, and in which order: of reading, where it does not say writing."""
REGISTER = 4
"""Bytes of a register of a GPU."""
UNTOLD = "no benchmark measures it"
UNLIMITED = "no limit of it is known to the run"
LONGEST = 90
"""Letters of a reason; the table of rows has all of it."""


class Number(NamedTuple):
    """One number of a level; `what` is a key of `WHAT`, `value` is in bytes, seconds or a row's.

    `why` is how it follows from its `row`, or which fact it is. Of a missing one `text` is empty,
    `why` is the reason, and `row` the one that is not valid, if that is the reason.
    """

    what: str
    text: str
    value: float | None
    source: Source
    row: Row | None = None
    why: str = ""


class Level(NamedTuple):
    """One level: the innermost lie at a `depth` of 0; None is beside the device.

    `part_of` names the level that it is a part of, if it is one; `each` that every core has one.
    """

    name: str
    title: str
    depth: int | None
    numbers: Mapping[str, Number]
    part_of: str = ""
    each: bool = False

    def title_of(self, core: str) -> str:
        """The title, which says whether each core has one."""
        return f"{self.title} of each {core}" if self.each else self.title


class Hierarchy(NamedTuple):
    """The levels of the device of a run, nearest first."""

    run: Run
    levels: tuple[Level, ...]

    @property
    def core(self) -> str:
        """What a device has many of."""
        return "core" if self.run.context.backend == "host" else "SM"

    @property
    def device(self) -> str:
        """The name of the device."""
        return self.run.context.device.name

    def numbers(self, name: str) -> Mapping[str, Number]:
        """Those of a level; none where the device has no such level."""
        return next((level.numbers for level in self.levels if level.name == name), {})

    @property
    def measured(self) -> bool:
        """Whether any level of the device itself was."""
        own = (one for one in self.levels if one.depth is not None)
        return any(n.source == "measured" for one in own for n in one.numbers.values())


def hierarchy(run: Run) -> Hierarchy:
    """The levels of a GPU, of the memory beside it and of its peer; or of a CPU."""
    levels = _gpu(run) if run.context.backend == "cuda" else _cpu(run)
    return Hierarchy(run, tuple(levels))


def _level(
    name: str,
    title: str,
    depth: int | None,
    *numbers: Number,
    part_of: str = "",
    each: bool = False,
) -> Level:
    by_what = {one.what: one for one in numbers}
    kept = {what: by_what[what] for what in WHAT if what in by_what}
    return Level(name, title, depth, kept, part_of, each)


def _gpu(run: Run) -> Iterator[Level]:
    def fact(name: str, times: int = 1) -> Number:
        return _fact(run.context.device.facts.get(name), f"device.{name}", times)

    registers = fact("registers_per_sm", REGISTER)
    untold = (_missing(what, UNTOLD) for what in ("time", "bandwidth"))
    yield _level("registers", "Registers", 0, registers, *untold, each=True)
    l1 = (_geometry(run, "l1", what) for what in ("size", "line", "sector"))
    yield _level("l1", "L1 cache", 0, *l1, *_speed(run, "l1"), each=True)
    shared = fact("shared_bytes_per_sm")
    yield _level("shared", "Shared memory", 0, shared, *_speed(run, "shared"), each=True)
    # A GPU reports all of its L2, of which one SM finds the part that is near it.
    near, told = (_geometry(run, "l2", "size", of) for of in ("size", "reported"))
    whole = fact("l2_bytes") if told.source == "missing" else told
    lines = (_geometry(run, "l2", what) for what in ("line", "sector"))
    yield _level("l2", "L2 cache", 1, whole, *lines, *_speed(run, "l2"))
    yield from _parts(run, "l2", near)
    yield _level("dram", "DRAM", 2, fact("memory_bytes"), *_speed(run, "dram"), _reach(run))
    yield from _parts(run, "dram")
    memory, load = _memory(run), _Sought(atlas.CHASE, {"space": "mapped"})
    copies = {axes[0]: row for axes, row in atlas.transfers(run).items() if axes[1] == "pinned"}
    axes = {"to_host": {"memory": "pinned"}, "to_device": {"memory": "pinned"}}
    numbers = (
        *_loads(run, atlas.host_latency(run), load),
        *_copies(run, "transfers", copies, axes),
    )
    yield _level("host_memory", "Memory of the host", None, memory, *numbers)
    peer, load = atlas.peer(run), _Sought("peer_copy", {"by": "load"})
    copied = _copies(run, "peer_copy", peer.copies, {"write": {}, "read": {}})
    numbers = (*_loads(run, peer, load, "_uncached"), *copied)
    yield _level("peer", "Memory of a peer GPU", None, *numbers)


def _cpu(run: Run) -> Iterator[Level]:
    for depth, name in enumerate(("l1", "l2", "l3")):
        fact = f"{'l1d' if name == 'l1' else name}_bytes"
        found = _geometry(run, name, "size", "size", "reported")
        if found.source == "missing" and (told := run.context.device.facts.get(fact)):
            found = _fact(told, f"device.{fact}")
        title = "L1 data cache" if name == "l1" else f"{level_name(name)} cache"
        numbers = (found, _geometry(run, name, "line"), *_speed(run, name))
        yield _level(name, title, depth, *numbers, each=name != "l3")
    reach = _missing("reach", "on a CPU caches bend the curve of the TLB too")
    yield _level("dram", "Memory", 3, _memory(run), *_speed(run, "dram"), reach)


def _memory(run: Run) -> Number:
    return _fact(run.context.host.memory_bytes, "host.memory_bytes")


# --- the numbers of a level -----------------------------------------------------------------------


class _Sought(NamedTuple):
    """Cases that a row would be of: with these axes, of chains as long as the window."""

    benchmark: str
    axes: Mapping[str, str]
    window: tuple[float, float] = (0, inf)

    def fits(self, params: Mapping[str, str]) -> bool:
        """Whether a case is one; an axis that it does not have is no reason against it."""
        walked = params.get("footprint", "0")
        within = walked.isdecimal() and self.window[0] <= float(walked) <= self.window[1]
        return within and all(params.get(axis, value) == value for axis, value in self.axes.items())


def _speed(run: Run, level: str) -> Iterator[Number]:
    """Latency, and the best bandwidth: of each core, in all, and against the limit of the level."""
    space, low, high = atlas.windows(run)[level]
    load = _Sought(atlas.CHASE, {"space": space, "cores": "one"}, (low, high))
    yield from _loads(run, atlas.latencies(run).get(level), load)
    best = atlas.bandwidths(run).get(level)
    read = _Sought("bandwidth", {"level": level, "operation": "read"})
    yield _number(run, "per_core", best and best.per_cycle, read, "bandwidth_per_sm")
    yield (found := _number(run, "bandwidth", best and best.row, read, "bandwidth"))
    yield _found("share", best.share) if best and best.share else _unlimited(found)


def _loads(
    run: Run, one: atlas.Latency | atlas.Peer | None, sought: _Sought, kind: str = ""
) -> Iterator[Number]:
    cycles = one.row if isinstance(one, atlas.Latency) else one and one.cycles
    yield _number(run, "cycles", cycles, sought, f"load_cycles{kind}")
    yield _number(run, "time", one and one.time, sought, f"load_time{kind}")


def _copies(
    run: Run, benchmark: str, rows: Mapping[str, Row], directions: Mapping[str, Mapping[str, str]]
) -> Iterator[Number]:
    """Of whole copies the best of writing, and of reading, of which no limit is known."""
    for what, (direction, axes) in zip(("writing", "bandwidth"), directions.items(), strict=True):
        sought = _Sought(benchmark, {"direction": direction, **axes})
        yield (found := _number(run, what, rows.get(direction), sought, "bandwidth"))
    yield _unlimited(found)


def _unlimited(bandwidth: Number) -> Number:
    return _missing("share", bandwidth.why if bandwidth.source == "missing" else UNLIMITED)


def _parts(run: Run, level: str, *near: Number) -> Iterator[Level]:
    """The part of L2 near an SM and the far one, or memory behind them; none of an undivided L2."""
    rows = {row.quantity: row for row in run.of("l2_partition") if row.valid}
    count, clock = rows.get("partitions"), rows.get("core_clock")
    if count and count.value < 2:
        return
    depth, kind, title = (1, "load", "{} part") if level == "l2" else (2, "dram", "behind {} L2")
    for side, known in (("near", near), ("far", ())):
        row = rows.get(f"{side}_{kind}_cycles")
        sought = _Sought("l2_partition", {})
        cycles = _number(run, "cycles", row, sought, f"{side}_{kind}_cycles")
        time = cycles._replace(what="time")
        if row and clock and clock.value > 0:
            seconds, how = row.value / clock.value, "cycles ÷ the clock of the SMs in this case"
            text = f"≈{SPACE}{quantity(seconds, 's')}"
            time = Number("time", text, seconds, "measured", row, how)
        elif row:
            time = _missing("time", "its case has no valid clock")
        yield _level(
            f"{level}_{side}", title.format(side), depth, *known, cycles, time, part_of=level
        )


def _reach(run: Run) -> Number:
    found = atlas.tlb_reach(run)
    if not found:
        return _number(run, "reach", None, _Sought("tlb", {"allocation": "malloc"}), "load_cycles")
    text, why = size(found.bytes), "the longest chain before loads get slower"
    if found.row is found.last:
        text, why = f"≥{SPACE}{text}", "no knee: no longer chain could be walked"
    return Number("reach", text, found.bytes, "measured", found.row, why)


def _geometry(run: Run, level: str, what: str, *kinds: str) -> Number:
    """What `cache_geometry` found with the whole cache for data, else what was reported.

    With `kinds`, the first of those quantities.
    """
    sought = _Sought("cache_geometry", {"property": f"{level}_{what}", "carveout": "0"})
    found = (row for row in run.of(sought.benchmark) if row.valid and sought.fits(row.params))
    rows = {row.quantity: row for row in found}
    row = next((rows[kind] for kind in kinds or (what, "reported") if kind in rows), None)
    return _number(run, what, row, sought, what)


# --- a number from where it comes -----------------------------------------------------------------


def _found(what: str, row: Row) -> Number:
    source: Source = "reported" if row.quantity == "reported" else "measured"
    return Number(what, _text(what, row.value, row.unit), row.value, source, row, row.method)


def _text(what: str, value: float, unit: str) -> str:
    if what in ("size", "line", "sector"):
        return size(round(value))
    if what == "share":
        return f"{100 * value:.1f}{SPACE}%"
    if what == "per_core":
        return f"{number(value)}{SPACE}B/{'TSC ' if 'tsc' in unit else ''}cycle"
    return quantity(value, unit)


def _fact(value: object, name: str, times: int = 1) -> Number:
    if not isinstance(value, int) or not 0 < value < 2**62:
        return _missing("size", "the device does not tell it")
    return Number("size", size(times * value), float(times * value), "fact", None, name)


def _missing(what: str, why: str, row: Row | None = None) -> Number:
    said = one_line(why.replace(SPACE, " "))
    said = said if len(said) <= LONGEST else f"{said[:LONGEST]}…"
    return Number(what, "", None, "missing", row, said)


def _number(run: Run, what: str, row: Row | None, sought: _Sought, name: str) -> Number:
    """A number from its row; without one missing, as the quantity `name` of those cases tells."""
    if row:
        return _found(what, row)
    benchmark, fits = sought.benchmark, sought.fits
    rows = (row for row in run.of(benchmark) if row.quantity == name and fits(row.params))
    if invalid := next((row for row in rows if not row.valid), None):
        failed = "; ".join(one for one in invalid.reasons.split("; ") if "unverified" not in one)
        found = _text(what, invalid.value, invalid.unit)
        return _missing(what, f"{found}, not valid: {failed or invalid.reasons}", invalid)
    cases = [case for case in run.cases if case.benchmark == benchmark]
    here = [case for case in cases if fits(case.params)]
    none = all(case.status != "measured" for case in cases)
    if left := next((one for one in here or cases * none if one.status != "measured"), None):
        return _missing(what, f"{left.status}: {left.reason}")
    if any(f"/{benchmark}/" in case for case in run.pending):
        return _missing(what, "the run has not come to it")
    why = "no such row" if here else "no such case here" if cases else ""
    return _missing(what, f"{benchmark} has {why}" if why else f"{benchmark} is not in this sweep")
