"""CSV of Nsight Compute in: `ncu --csv`, pages `raw` and `details`, as of versions 2020 to 2025.

A kernel with its grid and block is a case, a launch of it a sample. A metric that a counter set of
ours knows (`harness/counters/sets`) is a quantity by our name, so that it stands beside what
`strata run --counters` counted; the metric itself is the method, as it is there. Any other metric
is a quantity by its own name, and of the details page, whose labels are no metrics, by section and
label. Values are in base units: B, s, Hz, B/s.

Everything is `counted`, the time too: under a profiler nothing is timed. `gpu_time` is what the GPU
itself counted (`gpu__time_duration.sum`), with caches flushed before and clocks as ncu had set
them, so it is no quantity of a run of ours. For a roofline ask ncu for

    ncu --csv --page raw --print-units base --metrics gpu__time_duration.sum,<those of the sets
    flops and memory>

Numbers that ncu printed with too few digits are invalid; a decimal comma is refused.
"""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

from strata.interop._run_folder import NO_COUNTERS, Found, Imported, name, word
from strata.run import METRIC, Measurement, Noise, RunError, Verdict

TOOL = "Nsight Compute"
SUITE = "ncu"
METRICS = Path(__file__).with_name("ncu_metrics.csv")
MEND = "write it again: LC_ALL=C ncu --csv --page raw --print-units base"

NUMBER = re.compile(r"-?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?([eE][+-]?\d+)?", re.ASCII)
NUMBER_LIKE = re.compile(r"-?\d[\d.,'\u00a0\u202f]*", re.ASCII)
COARSE = 0.05
"""Half of the last digit printed, of the value: beyond it, a number is not known."""
FINE = 0.005
"""Within it, two profilers agree (tools/ncu_check.py)."""

ID, KERNEL, BLOCK, GRID = "ID", "Kernel Name", "Block Size", "Grid Size"
DEVICE, CAPABILITY = "Device", "CC"
SECTION, LABEL, UNIT, VALUE = "Section Name", "Metric Name", "Metric Unit", "Metric Value"

DEVICE_NAME = "device__attribute_display_name"
DEVICE_FACTS: Mapping[str, tuple[str, float]] = {
    "device__attribute_multiprocessor_count": ("sm_count", 1),
    "device__attribute_clock_rate": ("core_clock_peak_hz", 1e3),
    "device__attribute_memory_clock_rate": ("memory_clock_peak_hz", 1e3),
    "device__attribute_global_memory_bus_width": ("memory_bus_bits", 1),
    "device__attribute_l2_cache_size": ("l2_bytes", 1),
}
"""Attributes of the raw page, our names for them, and what makes base units of them."""
PASSES = "profiler__replayer_passes"
NO_METRIC = ("device__attribute_", "launch__", "profiler__", "nvlink__", "c2clink__", "numa__")
"""What describes device, launch or tool: facts, or nothing."""
LAUNCH = "launch__"

LABELS: Mapping[str, str] = {
    "Duration": "gpu__time_duration.sum",
    "SM Frequency": "sm__cycles_elapsed.avg.per_second",
    "Achieved Occupancy": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "Achieved Active Warps Per SM": "sm__warps_active.avg.per_cycle_active",
    "Executed Instructions": "smsp__inst_executed.sum",
    "Issued Instructions": "smsp__inst_issued.sum",
    "Executed Ipc Active": "sm__inst_executed.avg.per_cycle_active",
    "Eligible Warps Per Scheduler": "smsp__warps_eligible.avg.per_cycle_active",
}
"""Labels of the details page whose metric we know (one report, both pages)."""

_TIME = {
    **dict.fromkeys(("ns", "nsecond"), Decimal("1e-9")),
    **dict.fromkeys(("us", "usecond"), Decimal("1e-6")),
    **dict.fromkeys(("ms", "msecond"), Decimal("1e-3")),
    **dict.fromkeys(("s", "second"), Decimal(1)),
}
_PREFIX = {"K": Decimal("1e3"), "M": Decimal("1e6"), "G": Decimal("1e9"), "T": Decimal("1e12")}
"""Of a thousand each: ncu prints 32768 byte as 32.77 Kbyte."""
_NAMES = {
    "byte": "B",
    "hz": "Hz",
    "inst": "instruction",
    "insts": "instruction",
    "bytes": "B",
    "sectors": "sector",
    "requests": "request",
    "cycles": "cycle",
    "branches": "branch",
}


@dataclass(frozen=True, slots=True)
class Reading:
    """A number in base units; `resolution` is half of its last digit printed, 0 where exact."""

    value: float
    resolution: float


@dataclass(slots=True)
class _Launch:
    """One row of the raw page, or all rows of a launch of the details page."""

    kernel: str
    block: str
    grid: str
    device: str
    capability: str
    readings: dict[str, tuple[Reading, str]]  # metric or section.label -> reading and unit
    said: dict[str, str]  # whatever was printed, by metric


@dataclass(frozen=True, slots=True)
class Known:
    """A metric that we have a name for."""

    quantity: str
    unit: str
    set: str
    meaning: str


@cache
def known_metrics() -> Mapping[str, Known]:
    """Metric -> our name for it, from the table beside this file; one quantity may have several."""
    with METRICS.open(encoding="utf-8", newline="") as file:
        return {
            row["metric"]: Known(row["quantity"], row["unit"], row["set"], row["meaning"])
            for row in csv.DictReader(file)
        }


def is_table(text: str) -> bool:
    """Whether a line of `text` is the header of a table of ncu's."""
    return any(_is_header(line) for line in text.splitlines() if '"Kernel Name"' in line)


def _is_header(line: str) -> bool:
    return line.startswith('"') and '"Kernel Name"' in line and ('"ID"' in line or LABEL in line)


def scale_of(unit: str) -> tuple[Decimal, str]:
    """What makes base units of a number in ncu's `unit`, and our name for the unit."""
    top, slash, below = unit.partition("/")
    scale, spelt = _part(top)
    if not slash:
        return scale, spelt or "1"
    under, spelt_below = _part(below)
    whole = f"{spelt or '1'}/{spelt_below}"
    return scale / under, "Hz" if whole == "cycle/s" else whole


def _part(unit: str) -> tuple[Decimal, str]:
    if unit in _TIME:
        return _TIME[unit], "s"
    rest = unit[1:]
    if unit[:1] in _PREFIX and (rest in _NAMES or rest in _NAMES.values()):
        return _PREFIX[unit[0]], _NAMES.get(rest, rest)
    return Decimal(1), _NAMES.get(unit, unit)


def reading_of(text: str, unit: str) -> tuple[Reading, str] | None:
    """A number as ncu prints it, in base units, and that unit; None of what is no number.

    Raises ValueError for a number with another decimal sign than a point.
    """
    bare = text.strip()
    if not NUMBER.fullmatch(bare):
        if NUMBER_LIKE.fullmatch(bare):
            raise ValueError(bare)
        return None
    scale, spelt = scale_of(unit)
    number = Decimal(bare.replace(",", ""))
    exponent = number.as_tuple().exponent
    # A whole number in a unit that ncu scaled lost its digits too.
    rounded = scale > 1 or not bare.lstrip("-").replace(",", "").isdecimal()
    half = Decimal(5).scaleb(int(exponent) - 1) * scale if rounded else Decimal(0)
    return Reading(float(scale * number), float(half)), spelt


# --- the two pages --------------------------------------------------------------------------------


def decode(text: str, file: Path) -> Imported:
    """What the table in `text`, which lies in `file`, says; raises `RunError` where it is damaged.

    Lines of ncu itself (`==PROF== …`) and of the program may stand before and after the table.
    """
    lines = text.splitlines()
    start = next((n for n, line in enumerate(lines) if _is_header(line)), None)
    if start is None:
        _refuse(file, "no header with a kernel's name", "the CSV of ncu --csv")
    header = _cells(lines[start], file, start + 1)
    for column in (ID, KERNEL):
        if column not in header:
            _refuse(
                file, f"no column {column!r}", "a row a launch", start + 1,
                mend="write it without --print-summary",
            )  # fmt: skip
    rows = _rows(lines, start + 1, header, file)
    launches = _details(rows, file) if LABEL in header else _raw(rows, file)
    if not launches:
        _refuse(file, "a table without a launch", "at least one kernel", start + 1)
    for column, values in (
        ("device", sorted({one.device for one in launches})),
        ("compute capability", sorted({one.capability for one in launches})),
        ("device's name", sorted({one.said.get(DEVICE_NAME, "") for one in launches})),
    ):
        if len(values) > 1:
            found = f"more than one {column}: {', '.join(values)}"
            mend = "let ncu profile one of them (--devices)"
            _refuse(file, found, "the launches of one device", mend=mend)
    first = launches[0]
    device = first.said.get(DEVICE_NAME) or "unknown"
    cases = _cases(launches)
    facts: dict[str, Any] = {"compute_capability": first.capability} if first.capability else {}
    for attribute, (fact, scale) in DEVICE_FACTS.items():
        found_fact = first.readings.get(attribute)
        if found_fact is not None:
            number = scale * found_fact[0].value
            facts[fact] = number if fact.endswith("_hz") else round(number)
    return Imported(
        tool=TOOL,
        file=file,
        text=text,
        backend="cuda",
        cases=cases,
        device=device,
        device_facts=facts,
        counters=_counters(launches, device),
    )


def _refuse(
    file: Path, found: str, expected: str, line: int | None = None, mend: str = MEND
) -> NoReturn:
    raise RunError(file, line, found=found, expected=expected, mend=mend)


def _cells(line: str, file: Path, number: int) -> list[str]:
    try:
        return next(csv.reader([line], strict=True))
    except csv.Error as error:
        _refuse(file, f"a row that was cut off ({error})", "a whole row of CSV", number)


_Row = tuple[int, dict[str, str]]


def _rows(lines: Sequence[str], start: int, header: Sequence[str], file: Path) -> Iterator[_Row]:
    """The rows below the header, with the numbers of their lines."""
    # Rows of the details page end after the value where no rule follows.
    least = header.index(VALUE) + 1 if VALUE in header else len(header)
    for number, line in enumerate(lines[start:], start=start + 1):
        if not line.startswith('"') or line == lines[start - 1]:
            continue
        cells = _cells(line, file, number)
        if not least <= len(cells) <= len(header):
            found = f"a row of {len(cells)} fields"
            _refuse(file, found, f"{len(header)}, as the header has", number)
        yield number, dict(zip(header, cells, strict=False))


def _launch(cells: Mapping[str, str]) -> _Launch:
    return _Launch(
        kernel=cells[KERNEL],
        block=cells.get(BLOCK, ""),
        grid=cells.get(GRID, ""),
        device=cells.get(DEVICE, ""),
        capability=cells.get(CAPABILITY, ""),
        readings={},
        said={},
    )


def _read(launch: _Launch, metric: str, printed: tuple[str, str], file: Path, line: int) -> None:
    """Keep what was printed, number and unit, by its metric."""
    launch.said[metric] = printed[0]
    try:
        reading = reading_of(*printed)
    except ValueError as error:
        found = f"{error} as {metric}"
        _refuse(file, found, "numbers like 1,234.5, with a point", line)
    if reading is not None:
        launch.readings[metric] = reading


def _raw(rows: Iterable[_Row], file: Path) -> list[_Launch]:
    """A launch a row, a column a metric; the row below the header has the units."""
    units: Mapping[str, str] = {}
    launches = []
    for line, cells in rows:
        if not cells[ID]:
            units = cells
            continue
        launch = _launch(cells)
        for metric, text in cells.items():
            if "__" in metric and METRIC.fullmatch(metric):
                if not units:
                    _refuse(file, "no row of units", "units below the header", line)
                _read(launch, metric, (text, units[metric]), file, line)
        launches.append(launch)
    return launches


def _details(rows: Iterable[_Row], file: Path) -> list[_Launch]:
    """A row a metric; rows of rules, which have advice and no metric, are passed over."""
    launches: dict[str, _Launch] = {}
    for line, cells in rows:
        label = cells[LABEL]
        if not label:
            continue
        if not cells[ID].isdecimal():
            _refuse(file, f"the launch {cells[ID]!r}", "a whole number", line)
        launch = launches.setdefault(cells[ID], _launch(cells))
        if "__" in label:
            metric = label
        else:
            metric = LABELS.get(label) or f"{name(cells.get(SECTION, ''))}.{name(label)}"
        if METRIC.fullmatch(metric):
            _read(launch, metric, (cells[VALUE], cells.get(UNIT, "")), file, line)
    return list(launches.values())


# --- cases ----------------------------------------------------------------------------------------


def kernel_words(signature: str) -> tuple[str, str]:
    """Name and template arguments of `void a::triad<float, 4>(const T1 *)`: `a::triad`, `<…>`."""
    text = signature.replace("(anonymous namespace)", "anonymous").replace("<unnamed>", "anonymous")
    depth, end, begin, opened = 0, len(text), 0, None
    for place, character in enumerate(text):
        if character == "<":
            opened = place if depth == 0 and opened is None else opened
            depth += 1
        elif character == ">" and depth:
            depth -= 1
        elif character == "(" and depth == 0:
            end = place
            break
        elif (
            character == " "
            and depth == 0
            and place + 1 < len(text)
            and text[place + 1] not in "<("
        ):
            begin, opened = place + 1, None
    head = text[begin:end].strip()
    bare, _, arguments = head.partition("<")
    return bare or head or signature, f"<{arguments}" if arguments else ""


def _cases(launches: Sequence[_Launch]) -> list[Found]:
    """Launches of one kernel with one grid and block are the samples of one case."""
    groups: dict[tuple[str, str, str], list[_Launch]] = {}
    for launch in launches:
        groups.setdefault((launch.kernel, launch.grid, launch.block), []).append(launch)
    return [_case(kernel, grid, block, group) for (kernel, grid, block), group in groups.items()]


def _case(kernel: str, grid: str, block: str, group: Sequence[_Launch]) -> Found:
    bare, arguments = kernel_words(kernel)
    params = {
        axis: "x".join(re.findall(r"\d+", text))
        for axis, text in (("block", block), ("grid", grid))
        if re.search(r"\d", text)
    }
    if arguments:
        params["template"] = word(arguments)
    metrics = list(dict.fromkeys(metric for launch in group for metric in launch.readings))
    counted: list[Measurement] = []
    taken: set[tuple[str, str]] = set()
    for metric in metrics:
        if metric.startswith(NO_METRIC):
            continue
        readings = [launch.readings[metric] for launch in group if metric in launch.readings]
        one = _measurement(metric, readings)
        if (one.quantity, one.method) not in taken:
            taken.add((one.quantity, one.method))
            counted.append(one)
    facts: dict[str, Any] = {
        metric: round(value) if value == round(value) else value
        for metric in metrics
        if metric.startswith(LAUNCH) and len({launch.readings.get(metric) for launch in group}) == 1
        for value in (group[0].readings[metric][0].value,)
    }
    return Found(
        name=kernel,
        suite=SUITE,
        benchmark=name(bare),
        params=params,
        counted=tuple(counted),
        facts={"launches": len(group), **facts},
        reason="" if counted else "ncu gave no number for it",
    )


def _measurement(metric: str, readings: Sequence[tuple[Reading, str]]) -> Measurement:
    known = known_metrics().get(metric)
    unit = readings[0][1]
    ours = known is not None and _alike(unit, known.unit)
    return Measurement(
        quantity=known.quantity if known is not None and ours else metric,
        unit=known.unit if known is not None and ours else unit,
        provenance="counted",
        method=metric,
        samples=tuple(reading.value for reading, _ in readings),
        noise=_noise([reading for reading, _ in readings]),
    )


def _alike(theirs: str, ours: str) -> bool:
    """Whether a number needs no conversion: ncu has called a warp an instruction, not a byte."""
    physical = {"B", "s", "Hz", "%", "B/s"}
    return theirs == ours or not ({theirs, ours} & physical)


def _noise(readings: Sequence[Reading]) -> Noise:
    """Whether the digits that ncu printed say enough."""
    worst = max(
        (
            reading.resolution / abs(reading.value) if reading.value else float("inf")
            for reading in readings
            if reading.resolution > 0
        ),
        default=0.0,
    )
    if worst == 0:
        return Noise("not_applicable", "")
    if worst > COARSE:
        return Noise("failed", f"printed with too few digits (bound {100 * COARSE:g} %)")
    verdict: Verdict = "passed" if worst <= FINE else "unverified"
    return Noise(verdict, f"rounded when printed, by {100 * worst:.2g} % at the most")


def _counters(launches: Sequence[_Launch], device: str) -> dict[str, Any]:
    """What was counted, as the context of a run says it."""
    known = known_metrics()
    metrics = sorted({metric for launch in launches for metric in launch.readings} & set(known))
    passes = [launch.readings[PASSES][0].value for launch in launches if PASSES in launch.readings]
    return {
        **NO_COUNTERS,
        "asked": [SUITE],
        "state": "counted",
        "chip": f"{device}, by {TOOL}",
        "sets": [],
        "passes": round(max(passes, default=0)),
        "quantities": [
            {
                "name": known[metric].quantity,
                "metric": metric,
                "unit": known[metric].unit,
                "meaning": known[metric].meaning,
                "set": known[metric].set,
            }
            for metric in metrics
        ],
    }
