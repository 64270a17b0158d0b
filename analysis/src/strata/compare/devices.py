"""Different devices side by side, in comparable units: cycles, bytes per cycle, shares.

Seconds and bytes per second show which device is faster; cycles and bytes per cycle and SM (CPU:
per core) show how it is built. Every number is the best valid row of its kind, and the data name
that row; a device without one is left blank. Cycles are those of an SM or of a core; a warning
names older runs of CPUs, which counted those of the time-stamp counter. Published values of the
same quantity in the same unit are shown beside the runs, with their sources; doubtful ones are left
out.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

import pandas as pd
from msgspec.structs import replace

from strata import reference
from strata.compare.changes import Better
from strata.compare.conditions import differences
from strata.ladder import rungs as ladder
from strata.ladder.best import best_cases
from strata.model import LEVELS, atlas, level_name, ordered
from strata.model.cases import CYCLE_CLOCKS, by_case
from strata.model.l2 import l2
from strata.model.layouts import layout_results
from strata.model.units import number
from strata.reference import Published, published
from strata.run import Row, Run, RunError, grouped

_TABLES = (reference.latencies, reference.bandwidths, reference.instructions)
Rows = Callable[[Run], Iterable[tuple[str, Row]]]
Mark = tuple[str, float, float, Published]
"""A label, the least and the greatest published value of it, and its source."""
Divisor = Callable[[Row], float]
CPU_CYCLES = (
    "Cycles of a CPU are those of its time-stamp counter; dependent instructions alone are in "
    "cycles of the core, where its clock was measured."
)
AS_PUBLISHED = "As published: from the least to the greatest that the sources say of these devices."


class Panel(NamedTuple):
    """A group of numbers in one unit.

    A number is the value of one of the `rows`, each with its label and its divisor; it is left out
    if the divisor is 0. Of several with one label the best is shown; with `common` only labels of
    two or more devices are. `theirs` are published values of what a run has.
    """

    name: str
    title: str
    unit: str
    better: Better
    rows: Rows
    divisor: Callable[[Run], Divisor] = lambda _: lambda _: 1.0
    known: tuple[str, ...] = ()
    common: bool = False
    theirs: Callable[[Run], Iterable[Mark]] = lambda _: ()


class Devices(NamedTuple):
    """Runs of devices side by side, by `names`; `warnings` are their other differences.

    The names of the runs come first, then those of published devices. `numbers` has the best value
    of each label on each device (its place in `names` is `at`), in the unit of its panel, with its
    `row`. A published number has no row, but the `low` and `high` of all published values for the
    device, and `cited`, their sources.
    """

    runs: tuple[Run, ...]
    names: tuple[str, ...]
    warnings: tuple[str, ...]
    numbers: pd.DataFrame


def side_by_side(runs: Sequence[Run], beside: Sequence[str] = ()) -> Devices:
    """Normalised numbers, one column per run and per published device of `beside`.

    Raises `RunError` if no two have a number in common, ValueError for an unknown device.
    """
    gpus = [published_as(name) for name in beside]
    columns = ["panel", "label", "at", "value", "row", "low", "high", "cited"]
    lines = [line for panel in PANELS for line in _filled(panel, runs, gpus)]
    numbers = pd.DataFrame(lines, columns=columns)
    if not numbers.duplicated(["panel", "label"]).any():
        found = f"no normalised number in common with {[runs[0].context.run, *beside][-1]}"
        expected, fix = "runs with benchmarks in common", "run the same sweep on both devices"
        raise RunError(runs[-1].folder, found=found, expected=expected, fix=fix)
    devices = [run.context.device.name for run in runs]
    names = [
        f"{name} ({run.context.run})" if devices.count(name) > 1 else name
        for name, run in zip(devices, runs, strict=True)
    ]
    names += [f"{name}, published" for name in beside]
    return Devices(tuple(runs), tuple(names), tuple(_warnings(*runs)), numbers)


def published_as(name: str) -> frozenset[str]:
    """The GPUs of the reference tables that `name` matches: `A100` matches `A100 PCIe 40GB`.

    Raises ValueError if it matches none.
    """
    gpus = {value.gpu for table in _TABLES for value in table()}
    whole = re.compile(rf"(?<!\w){re.escape(name.strip())}(?!\w)", re.IGNORECASE)
    found = {gpu for gpu in gpus if name.strip() and whole.search(gpu)}
    if not found:
        listed = ", ".join(sorted(gpus))
        raise ValueError(f"found no published device {name!r}; expected one of {listed}")
    return frozenset(found)


def _warnings(first: Run, *later: Run) -> Iterator[str]:
    ours = ("strata.", "sweep.", "state")
    for run in later:
        differ = [f"{found}" for found in differences(first, run) if found.name.startswith(ours)]
        if differ:
            names = f"{first.context.run} and {run.context.run}"
            yield f"conditions of {names} differ, {'; '.join(differ)}"
    for run in (first, *later):
        if any("tsc" in row.unit for row in run.rows):
            yield f"cycles of {run.context.run} are those of its time-stamp counter, not of a core"


def _filled(
    panel: Panel, runs: Sequence[Run], beside: Sequence[frozenset[str]]
) -> list[tuple[object, ...]]:
    """The lines of one panel in `Devices.numbers`."""
    found: list[dict[str, tuple[object, ...]]] = []
    best = min if panel.better == "lower" else max
    for run in runs:
        divisor = panel.divisor(run)
        values = ((label, row, divisor(row)) for label, row in panel.rows(run))
        of = grouped((value for value in values if value[2] > 0), itemgetter(0))
        numbers = {label: best(((row.value / by, row) for _, row, by in here), key=itemgetter(0))
                   for label, here in of.items()}  # fmt: skip
        found.append({label: (*number, None, None, "") for label, number in numbers.items()})
    theirs = next(filter(None, ([*panel.theirs(run)] for run in runs)), [])
    for gpus in beside:
        of_gpus = grouped((mark for mark in theirs if mark[3].gpu in gpus), itemgetter(0))
        found.append({label: _published(marks) for label, marks in of_gpus.items()})
    labels = [label for column in found for label in column]
    if panel.common:
        labels = [label for label in labels if labels.count(label) > 1]
    return [
        (panel.name, label, at, *column[label])
        for label in (ordered(labels, panel.known) if panel.known else dict.fromkeys(labels))
        for at, column in enumerate(found)
        if label in column
    ]


def _published(marks: Sequence[Mark]) -> tuple[object, ...]:
    """Published values of one quantity: the midpoint of the least and the greatest."""
    low, high = min(mark[1] for mark in marks), max(mark[2] for mark in marks)
    cited = reference.cite(*(mark[3].origin.keys[0] for mark in marks))
    return (low + high) / 2, None, low, high, cited


def _timed(benchmark: str, label: Callable[[Row], str], *quantities: str, **axes: str) -> Rows:
    """The valid timed rows with these axes: for each case the first quantity that it has."""

    def rows(run: Run) -> Iterator[tuple[str, Row]]:
        for case in by_case(run.of(benchmark)):
            if axes.items() <= case.params.items():
                found = (case.row(quantity, provenance="timed") for quantity in quantities)
                yield from [(label(row), row) for row in found if row and row.valid][:1]

    return rows


LOADS = {
    "shared": "shared", "constant_l1": "constant, L1", "l1": "L1", "constant_l15": "constant, L1.5",
    "l2": "L2", "l2_one": "L2, one SM", "l2_near": "L2, near part", "l2_far": "L2, far part",
    "first_touch": "L2, mean of first touches",
    "l3": "L3", "half_l2": "half L2, half DRAM", "dram": "DRAM",
}  # fmt: skip
"""What a load hits, nearest first: a chain in L2 as in L1, and single lines of one of its parts."""
ONE_SM = (
    "L2, one SM: depends on the SM that a run chose, so some cycles are no difference of devices; "
    "L2 is the median of the SMs."
)


def _loads(run: Run) -> Iterator[tuple[str, Row]]:
    """A dependent load from each level, in cycles; of L2 over all SMs, if that was measured."""
    gpu, found = atlas.own_latencies(run), atlas.latencies(run)
    cpu = {level_name(level): one.row for level, one in found.items()}
    one = _of_one_sm(run)
    named = (("l2_one" if level == "l2" and one else level, row) for level, row in gpu.items())
    yield from ((LOADS[level], row) for level, row in named)
    cache = l2(run)
    if cache and cache.parts and (mean := cache.first_touch):
        what = {"quantity": "first_touch_cycles", "method": "mean_of_near_and_far"}
        yield LOADS["first_touch"], replace(cache.parts.far, value=mean, **what)
    if cache and cache.beyond:
        yield LOADS["half_l2"], cache.beyond.row
    yield from ({} if gpu else cpu).items()


def _of_one_sm(run: Run) -> bool:
    """Whether the latency of L2 is that of the SM which the run chose."""
    load = atlas.latencies(run).get("l2")
    return run.context.backend == "cuda" and load is not None and not load.over


def _sizes(run: Run) -> Iterator[tuple[str, Row]]:
    """What loads find of each cache, and what is reported, each under its name."""
    gpu = run.context.backend == "cuda"
    for level in ("l1", "l2", "l3"):
        rows = atlas.geometry(run, f"{level}_size")
        seen = (
            f"{level_name(level)}, used by one SM" if gpu and level == "l2" else level_name(level)
        )
        by = "the driver" if gpu and level == "l2" else "the guide or system"
        named = (("size", seen), ("reported", f"{level_name(level)}, reported by {by}"))
        yield from ((name, rows[kind]) for kind, name in named if kind in rows)
        cache = l2(run) if level == "l2" else None
        if cache and cache.one and "size" not in rows:
            yield f"{seen}, ≥", cache.one.last
        if cache and cache.all:
            yield "L2, used by all SMs, ≥", cache.all.last
        if cache and cache.beyond:
            yield "half L2, half DRAM, from", cache.beyond.first
            yield "half L2, half DRAM, up to", cache.beyond.last


def _kib(_run: Run) -> Divisor:
    """KiB of a size, or of the chain that was walked."""
    return lambda row: (
        row.value * 1024 / (row.count("footprint") or 1) if row.quantity == "load_cycles" else 1024
    )


def _bandwidths(run: Run) -> Iterator[tuple[str, Row]]:
    """What each level gives at most, by whichever benchmark proves it."""
    yield from ((level_name(level), best.row) for level, best in atlas.bandwidths(run).items())


def _per_cycle(run: Run) -> Iterator[tuple[str, Row]]:
    """The same in bytes per cycle of each SM or core."""
    for level, best in atlas.bandwidths(run).items():
        yield level_name(level), best.per_cycle or best.row


def _load_times(run: Run) -> Iterator[tuple[str, Row]]:
    """The same by an outside timer, if there is one."""
    times = {one.row.key: one.time for one in atlas.latencies(run).values() if not one.over}
    yield from ((label, times.get(row.key) or row) for label, row in _loads(run))


def _nanoseconds(run: Run) -> Divisor:
    """Nanoseconds from cycles, by the clock under their case's load."""
    clocks = _clocks(run)
    return lambda row: 1e-9 if row.unit == "s" else clocks.get(row.case, 0.0) / 1e9


def _their_loads(run: Run) -> Iterator[Mark]:
    own = atlas.own_latencies(run)
    one = {"l2": LOADS["l2_one"]} if _of_one_sm(run) else {}
    return _published_marks(published.latency_marks(own, tuple(own)), LOADS | one)


def _their_bandwidths(run: Run) -> Iterator[Mark]:
    named = {level: level_name(level) for level in ("shared", "l1", "l2")}
    return _published_marks(published.bandwidth_marks(run.rows, tuple(named)), named)


def _published_marks(marks: Iterable[published.Mark], named: Mapping[str, str]) -> Iterator[Mark]:
    for one in marks:
        if one.published and not one.doubt:
            yield named[one.panel], one.low, one.high, one.published


def _their_instructions(run: Run) -> Iterator[Mark]:
    for one in published.instructions(run.rows):
        for other in one.others:
            if other.latency_cycles.bounds and not other.origin.doubt:
                yield one.own.text("operation"), *other.latency_cycles.bounds, other


def units_of(run: Run) -> int:
    """The number of SMs of a GPU or cores of a CPU; 0 if the run does not record it."""
    counts = (run.context.device.facts.get(name) for name in ("sm_count", "cores"))
    cores = run.context.host.cores if run.context.backend == "host" else 0
    return next((units for units in counts if isinstance(units, int) and units > 0), cores)


def _clocks(run: Run) -> Mapping[str, float]:
    """The clock under the load of each case, if it was measured."""
    found = (row for row in run.rows[::-1] if row.quantity in CYCLE_CLOCKS and row.valid)
    return {row.case: row.value for row in found}


def _cycles(run: Run) -> Divisor:
    """The clock under load times the working SMs or cores: of all GPUs, or of one if serial."""
    clocks, units = _clocks(run), units_of(run)
    return lambda row: (
        clocks.get(row.case, 0.0) * (1 if row.benchmark == "serial" else ladder.gpus(row) * units)
    )


def _ceiling(run: Run) -> Divisor:
    """One percent of the best read bandwidth of the level of a row's data."""
    ceilings = {level: best.row.value for level, best in atlas.bandwidths(run).items()}
    return lambda row: ceilings.get(row.text("residency"), 0.0) / 100


def _of_bytes(run: Run) -> Divisor:
    """None for bytes per cycle; for bytes per second the clock times the working SMs or cores."""
    cycles = _cycles(run)
    return lambda row: cycles(row) if row.unit == "B/s" else 1.0


def _warp_reads(run: Run) -> Iterator[tuple[str, Row]]:
    """A warp-read of each layout and level, as `summary` reports it: by the same `cores`."""
    for one in layout_results(run.of("layout_read")):
        if one.latency and one.fields == "all":
            yield level_name(one.level), one.latency.cycles


def _atomics(*, one: bool) -> Rows:
    """Atomic additions to one address or line of memory, or to others.

    The device serialises the former: SMs or cores do not share this work.
    """
    found = _timed("atomics", _target, "atomic_rate", operation="add_int")

    def serial(row: Row) -> bool:
        return row.text("target") in ("same", "line") and row.text("space") != "shared"

    return lambda run: ((label, row) for label, row in found(run) if serial(row) == one)


def _device_cycles(run: Run) -> Divisor:
    """The clock under the load of the case."""
    clocks = _clocks(run)
    return lambda row: clocks.get(row.case, 0.0)


def _target(row: Row) -> str:
    words = {"same": "one address", "line": "one line", "warp": "one address a warp"}
    target = row.text("target")
    return f"{row.text('space')}, {words.get(target, target)}"


def _named(axis: str) -> Callable[[Row], str]:
    return lambda row: level_name(row.text(axis))


_residency = _named("residency")
_LEVEL_NAMES = tuple(level_name(level) for level in LEVELS)

PANELS = (
    Panel(
        "load", "A dependent load", "cycles", "lower", _loads,
        known=tuple(LOADS.values()), theirs=_their_loads,
    ),
    Panel(
        "load_time", "A dependent load, in time", "ns", "lower", _load_times, _nanoseconds,
        known=tuple(LOADS.values()),
    ),
    Panel(
        "bandwidth", "Read bandwidth", "B/cycle/SM or core", "higher", _per_cycle, _of_bytes,
        known=_LEVEL_NAMES, theirs=_their_bandwidths,
    ),
    Panel(
        "bandwidth_all", "Read bandwidth, in all", "GB/s", "higher", _bandwidths,
        lambda _: lambda _: 1e9, known=_LEVEL_NAMES,
    ),
    Panel(
        "latency", "A warp reads 32 particles, cheapest layout, alone", "cycles", "lower",
        _warp_reads, known=_LEVEL_NAMES,
    ),
    Panel(
        "atomics_serial", "Serialised atomics", "1/cycle", "higher",
        _atomics(one=True), _device_cycles,
    ),
    Panel(
        "sizes", "Caches", "KiB", "higher", _sizes, _kib,
    ),
    Panel(
        "arithmetic", "Arithmetic", "FLOP/cycle/SM or core", "higher",
        _timed("ceilings", lambda row: row.text("arithmetic"), "flops_per_second"), _cycles,
    ),
    Panel(
        "of_ceiling", "Useful bandwidth of layouts", "% of the device's own read bandwidth",
        "higher",
        _timed(
            "layout_read", lambda row: f"{row.text('layout')}, {_residency(row)}",
            "useful_bandwidth", fields="all",
        ),
        _ceiling, common=True,
    ),
    Panel(
        "atomics", "Atomic additions", "1/cycle/SM or core", "higher",
        _atomics(one=False), _cycles,
    ),
    Panel(
        "interactions", "The n-body ladder", "interactions/cycle/SM or core", "higher",
        lambda run: (
            (ladder.rung_name(best.row.benchmark), best.row)
            for best in best_cases(run)
            if best.row.valid
        ),
        _cycles,
    ),
    # Older runs of CPUs have the first in cycles of the core, the second in those of the counter.
    Panel(
        "instructions", "Dependent instructions", "cycles", "lower",
        _timed(
            "instruction_cost", lambda row: row.text("operation"), "operation_core_cycles",
            "operation_cycles", ilp="1", warps_per_sm="1",
        ),
        common=True, theirs=_their_instructions,
    ),
)  # fmt: skip


def panels(found: Devices) -> Iterator[tuple[Panel, pd.DataFrame]]:
    """Each panel that has a number, with its numbers."""
    for panel in PANELS:
        numbers = found.numbers[found.numbers.panel == panel.name]
        if len(numbers):
            yield panel, numbers


def notes(found: Devices) -> tuple[str, ...]:
    """What cycles and published values are, in one; then the sources, each with its number."""
    remarks = [CPU_CYCLES] if any(run.context.backend == "host" for run in found.runs) else []
    remarks += [ONE_SM] if (found.numbers.label == LOADS["l2_one"]).any() else []
    cited = {int(n) for sources in found.numbers.cited for n in re.findall(r"\d+", sources)}
    listed = [
        f"[{entry.number}] {entry.text}"
        for entry in reference.bibliography()
        if entry.number in cited
    ]
    remarks += [AS_PUBLISHED] if listed else []
    return (" ".join(remarks), *listed) if remarks else ()


def cell(line: Any) -> str:
    """A number, or from the least to the greatest that is published, with the sources."""
    if line.row is not None:
        return number(line.value)
    ends = "–".join(dict.fromkeys(map(number, (line.low, line.high))))
    return f"{ends} {line.cited}"
