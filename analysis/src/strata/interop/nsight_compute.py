"""Import of Nsight Compute's CSV: `ncu --csv`, pages `raw` and `details`, versions 2020 to 2025.

A kernel with its grid and block is a case, each launch of it a sample. A metric in one of our
counter sets (`harness/counters/sets`) becomes a quantity by our name, so that it can be compared
with the counts of `strata run --counters`; its method is the metric itself, as there. Any other
metric is a quantity by its own name; on the details page, whose labels are not metrics, by section
and label. Values are in base units: B, s, Hz, B/s.

Everything is `counted`, including times, because nothing is timed under a profiler. `gpu_time` is
what the GPU itself counted (`gpu__time_duration.sum`), with caches flushed before and clocks as set
by ncu, so it is not a quantity of our runs. `strata.roofline.kernels.COMMAND` collects what a
roofline needs.

Numbers printed with too few digits are invalid. A number of another locale is refused: a decimal
comma, and a point where a whole number has its thousands. Of a metric with instances the total is
imported. What becomes no row and no fact is counted (`Imported.left_out`).
"""

import csv
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cache
from io import StringIO
from os import environ
from pathlib import Path
from subprocess import CalledProcessError, run
from typing import NamedTuple, NoReturn

from msgspec import Struct

from strata.interop._run_folder import UNKNOWN, Found, Imported, Json, name, word
from strata.run import METRIC, Measurement, Noise, RunError, grouped
from strata.run.files import resource

TOOL = "Nsight Compute"
SUITE = "ncu"
FIX = "write it again: LC_ALL=C ncu --csv --page raw --print-units base"

NUMBER = re.compile(r"-?([1-9]\d{0,2}(,\d{3})+|\d+)(\.\d+)?([eE][+-]?\d+)?", re.ASCII)
NUMBER_LIKE = re.compile(r"-?\d[\d.,' \u00a0\u2009\u202f]*", re.ASCII)
THOUSANDS = re.compile(r"-?[1-9]\d{0,2}\.\d{3}", re.ASCII)
"""A whole number with a point between its thousands, if it is one."""
INSTANCES = re.compile(r"(?P<total>[^(]*\d) \((?P<instances>.+)\)", re.ASCII)
"""A value as `--print-metric-instances values` prints it: `1,024 (512; 512)`."""
DIGITS = 280
"""Beyond so many before or behind the point, a number cannot be a count."""
COARSE, FINE = 0.05, 0.005
"""Half of the last digit printed, of the value: beyond COARSE, a number is not known; within FINE,
two profilers agree (tools/ncu_check.py)."""

ID, KERNEL, BLOCK, GRID = "ID", "Kernel Name", "Block Size", "Grid Size"
PROCESS_ID, PROCESS, HOST = "Process ID", "Process Name", "Host Name"
SIZES = {
    BLOCK: ("block", "launch__block_size", "launch_statistics.block_size"),
    GRID: ("grid", "launch__grid_size", "launch_statistics.grid_size"),
}
"""Our names for the shape of a launch, and the metrics that hold it on pages without the column."""
DEVICE, CAPABILITY = "Device", "CC"
SECTION, LABEL, UNIT, VALUE = "Section Name", "Metric Name", "Metric Unit", "Metric Value"

DEVICE_NAME = "device__attribute_display_name"
DEVICE_FACTS = {
    "device__attribute_multiprocessor_count": ("sm_count", 1),
    "device__attribute_clock_rate": ("core_clock_peak_hz", 1e3),
    "device__attribute_memory_clock_rate": ("memory_clock_peak_hz", 1e3),
    "device__attribute_global_memory_bus_width": ("memory_bus_bits", 1),
    "device__attribute_l2_cache_size": ("l2_bytes", 1),
}
"""Attributes of the raw page, our names for them, and what makes base units of them."""
PASSES = "profiler__replayer_passes"
LAUNCH = "launch__"
NO_METRIC = ("device__attribute_", LAUNCH, "profiler__", "nvlink__", "c2clink__", "numa__")
"""What describes device, launch or tool: facts, or nothing."""
WHOLE = (".sum", ".max", ".min")
"""Ends of metrics that are whole numbers where their unit is a count, B or ns."""

FRACTION = "are fractions of what is counted in whole numbers"
OF_INSTANCES = "are instances of a metric whose total is imported"
ESTIMATED = "are speedups that a rule estimates"

POWERS = {"": 0, "n": -9, "u": -6, "m": -3, "K": 3, "M": 6, "G": 9, "T": 12}
"""Of ten: ncu prints 32768 byte as 32.77 Kbyte."""
PHYSICAL = {"B", "s", "Hz", "%", "B/s"}
"""Units of which no two are alike."""
NAMES = {one: one for one in ("s", "B", "Hz", "sector", "request", "cycle", "branch")} | {
    "second": "s", "byte": "B", "bytes": "B", "hz": "Hz", "sectors": "sector", "branches": "branch",
    "requests": "request", "cycles": "cycle", "inst": "instruction", "insts": "instruction",
}  # fmt: skip
UNITS = {f"{p}{one}": (Decimal(10) ** POWERS[p], our) for one, our in NAMES.items() for p in POWERS}
"""ncu's units: what makes base units of them, and our name."""
NANOSECONDS = ("ns", "nsecond")
"""Base units of time."""


class Reading(NamedTuple):
    """A number in base units; `resolution` is half its last printed digit, 0 if exact."""

    value: float
    unit: str
    resolution: float


class _Launch(Struct, frozen=True):
    """One row of the raw page, or all rows of a launch on the details page (`cells`: the first)."""

    cells: Mapping[str, str]
    printed: dict[str, str] = {}  # by metric or section.label
    readings: dict[str, Reading] = {}  # only those that are numbers

    def read(self, printed: Mapping[str, tuple[str, str]]) -> Iterator[str]:
        """Store numbers and units by metric; why others are left out, one reason for each value.

        Raises ValueError for a number in another locale.
        """
        for metric, (text, unit) in printed.items():
            if not text.strip():
                continue
            if not METRIC.fullmatch(metric):
                yield "are in columns that are no metric"
                continue
            total = text
            if found := INSTANCES.fullmatch(text.strip()):
                total = found["total"]
                yield from [OF_INSTANCES] * len(found["instances"].split(";"))
            reading = reading_of(total, unit, metric)
            if metric in self.printed:  # sections of the details page repeat values
                if text != self.printed[metric]:
                    yield "differ from an earlier value of the same metric and launch"
                continue
            self.printed[metric] = text
            if reading and (impossible := _impossible(reading, metric, unit)):
                yield impossible
            elif reading:
                self.readings[metric] = reading
            elif metric != DEVICE_NAME:
                yield "are no numbers"

    def size(self, column: str) -> str:
        """Block or grid, from its column or the metric: `256x1x1`, `256`; empty if unknown."""
        if numbers := re.findall(r"\d+", self.cells.get(column, "")):
            return "x".join(numbers)
        found = (self.readings.get(metric) for metric in SIZES[column][1:])
        return next((f"{reading.value:.0f}" for reading in found if reading), "")


@cache
def known_metrics() -> Mapping[str, Mapping[str, str]]:
    """ncu_metrics.csv by metric: our name (of one or several), unit, meaning, set, ncu label."""
    table = csv.DictReader(StringIO(resource("strata.interop", "ncu_metrics.csv")))
    return {row["metric"]: row for row in table}


def raw_page(report: Path) -> str:
    """The raw page of a report, by ncu itself; raises `RunError` without ncu, or if it fails."""
    words = ["ncu", "--import", f"{report}", "--csv", "--page", "raw", "--print-units", "base"]
    by_hand = f"LC_ALL=C {' '.join(words)} > kernels.csv"
    plain = {**environ, "LC_ALL": "C"}
    try:
        made = run(words, capture_output=True, text=True, check=True, env=plain)  # noqa: S603
    except FileNotFoundError:
        _refuse(report, "a report of ncu, and no ncu here", "its CSV", fix=by_hand)
    except CalledProcessError as error:
        output = f"status {error.returncode}\n{error.stdout}{error.stderr}".strip()
        last = output.splitlines()[-1]
        _refuse(report, f"a report that ncu cannot read ({last})", "its CSV", fix=by_hand)
    return made.stdout


def is_table(text: str) -> bool:
    """Whether a line of `text` is the header of an ncu table."""
    return any(map(_is_header, text.splitlines()))


def _is_header(line: str) -> bool:
    return line.startswith('"') and '"Kernel Name"' in line and ('"ID"' in line or LABEL in line)


def _scale(unit: str) -> tuple[Decimal, str]:
    """The factor from ncu's `unit` to base units, and our name for the unit."""
    top, _, below = unit.partition("/")
    (scale, top), (under, below) = (UNITS.get(part, (Decimal(1), part)) for part in (top, below))
    whole = f"{top or '1'}/{below}".rstrip("/")
    return scale / under, "Hz" if whole == "cycle/s" else whole


def reading_of(text: str, unit: str, metric: str) -> Reading | None:
    """An ncu number in base units, None for other text; ValueError for another locale."""
    bare = text.strip()
    if not NUMBER.fullmatch(bare):
        if NUMBER_LIKE.fullmatch(bare):
            raise ValueError(f"{bare} as {metric}")
        return None
    scale, spelt = _scale(unit)
    thousands = THOUSANDS.fullmatch(bare) and _is_whole(metric, unit)
    # Below 1000: shares, rates of one unit per cycle, and what ncu scaled (117.344 us).
    scaled = scale != 1 and "/" not in unit and unit not in NANOSECONDS
    small = spelt == "%" or ".avg.per_cycle" in metric or scaled
    if thousands or (small and "," in bare and "." not in bare):
        raise ValueError(f"{bare} {unit}".rstrip() + f" as {metric}")
    number = Decimal(bare.replace(",", ""))
    if not number.is_finite() or abs(number.adjusted()) > DIGITS:
        return None
    # An integer in a unit scaled by ncu has also lost digits.
    rounded = scale > 1 or not bare.lstrip("-").replace(",", "").isdecimal()
    half = Decimal(5).scaleb(int(number.as_tuple().exponent) - 1) * scale if rounded else 0
    return Reading(float(scale * number), spelt, float(half))


def _impossible(reading: Reading, metric: str, unit: str) -> str | None:
    """Why no profiler can have measured it: a negative time, or half an instruction in a sum."""
    if reading.unit == "s" and reading.value < 0:
        return "are negative times"
    counted = metric.endswith(WHOLE) and reading.unit not in PHYSICAL and _is_whole(metric, unit)
    return FRACTION if counted and reading.value % 1 else None


def _is_whole(metric: str, unit: str) -> bool:
    """Whether ncu counts the metric in whole numbers of the unit, which it has not scaled."""
    scale, spelt = _scale(unit)
    if unit not in NANOSECONDS and (scale != 1 or (spelt in PHYSICAL and spelt != "B")):
        return False
    counted = metric.endswith(WHOLE) or metric.startswith(NO_METRIC)
    return counted or ("__" not in metric and bool(unit) and "/" not in unit)


def _refuse(
    file: Path, found: str, expected: str, line: int | None = None, fix: str = FIX
) -> NoReturn:
    raise RunError(file, line, found=found, expected=expected, fix=fix)


def decode(text: str, file: Path) -> Imported:
    """Parses the table in `text`, among lines of ncu and of the program; raises `RunError`."""
    left_out = Counter[str]()
    launches = _launches(text.splitlines(), file, left_out)
    keys = {HOST: "host", DEVICE: "device", CAPABILITY: "compute capability"}
    for key, words in (keys | {DEVICE_NAME: "device's name"}).items():
        values = {one.printed.get(key) or one.cells.get(key, "") for one in launches}
        if len(values) > 1:
            found = f"more than one {words}: {', '.join(sorted(values))}"
            of_device = "let ncu profile one of them (--devices)"
            fix = "import one file for each host" if key == HOST else of_device
            _refuse(file, found, "the launches of one device", fix=fix)
    first = launches[0]
    device, capability = first.printed.get(DEVICE_NAME) or UNKNOWN, first.cells.get(CAPABILITY)
    facts: Json = {"compute_capability": capability} if capability else {}
    for attribute, (fact, scale) in DEVICE_FACTS.items():
        if attribute in first.readings:
            number = scale * first.readings[attribute].value
            facts[fact] = number if fact.endswith("_hz") else round(number)
    metrics = [metric for launch in launches for metric in launch.readings]
    described = {DEVICE_NAME, PASSES, *DEVICE_FACTS}
    left_out["describe the device or the profiler"] += sum(
        one.startswith(NO_METRIC) and not one.startswith(LAUNCH) and one not in described
        for one in metrics
    )
    # The counters in the form of a run's context.
    passes = [one.readings[PASSES].value for one in launches if PASSES in one.readings]
    known, columns = known_metrics(), ("name", "metric", "unit", "meaning", "set")
    counted = [{key: known[one][key] for key in columns} for one in sorted({*metrics} & {*known})]
    counters: Json = {"asked": [SUITE], "state": "counted", "chip": f"{device}, by {TOOL}"}
    counters |= {"passes": round(max(passes, default=0)), "quantities": counted}
    context = {"device": facts, "counters": counters}
    return Imported(TOOL, "cuda", _cases(launches), context, device, left_out=+left_out)


def _cells(line: str, file: Path, number: int) -> list[str]:
    try:
        return next(csv.reader([line], strict=True))
    except csv.Error as error:
        _refuse(file, f"a truncated row ({error})", "a complete row of CSV", number)


def _rows(lines: Sequence[str], file: Path) -> Iterator[tuple[int, int, dict[str, str]]]:
    """The rows after the header, with their line numbers and the line of their table's header."""
    start = table = next(number for number, line in enumerate(lines, 1) if _is_header(line))
    if lines[start - 1].partition('"')[2].partition('"')[2].startswith(";"):
        _refuse(file, "columns separated by semicolons", "commas, as ncu writes them", start)
    header = _cells(lines[start - 1], file, start)
    for column in {ID, KERNEL} - {*header}:
        fix = "write it without --print-summary"
        _refuse(file, f"no column {column!r}", "one row per launch", start, fix)
    # Rows of the details page end after the value if no rule follows.
    least = header.index(VALUE) + 1 if VALUE in header else len(header)
    for number, line in enumerate(lines[start:], start + 1):
        cells = _cells(line, file, number) if line.startswith('"') else []
        if _is_header(line):
            if cells != header:
                found, fix = "a second table with other columns", "import one file for each table"
                _refuse(file, found, f"the columns of line {start}", number, fix)
            table = number
        elif cells:
            if not least <= len(cells) <= len(header):
                wanted = f"{len(header)}, as the header has"
                _refuse(file, f"a row of {len(cells)} fields", wanted, number)
            yield number, table, dict(zip(header, cells, strict=False))


def _launches(lines: Sequence[str], file: Path, left_out: Counter[str]) -> list[_Launch]:
    """The launches of either page, at least one.

    On the raw page a row is a launch and a column a metric; the row after the header has the units.
    On the details page a row is a metric, or a rule, which has advice and no metric; processes, and
    tables one after the other, each number their launches from 0.
    """
    launches: dict[tuple[object, ...], _Launch] = {}
    units: Mapping[str, str] = {}
    for number, table, cells in _rows(lines, file):
        launch: tuple[object, ...] = (number,)
        if LABEL in cells:
            left_out.update([ESTIMATED] if cells.get("Estimated Speedup") else [])
            if not cells[LABEL]:
                continue
            printed = {_metric(cells): (cells[VALUE], cells.get(UNIT, ""))}
            launch = (table, *(cells.get(name) for name in (HOST, PROCESS, PROCESS_ID)), cells[ID])
            if not cells[ID].isdecimal():
                _refuse(file, f"the launch {cells[ID]!r}", "an integer", number)
        elif cells[ID]:
            metrics = [one for one in cells if "__" in one or _is_metric(one, units.get(one, ""))]
            if metrics and not units:
                _refuse(file, "no row of units", "units below the header", number)
            printed = {metric: (cells[metric], units[metric]) for metric in metrics}
        else:
            units = cells
            continue
        try:
            left_out.update(launches.setdefault(launch, _Launch(cells)).read(printed))
        except ValueError as error:
            _refuse(file, f"{error}", "numbers like 1,234.5, with a decimal point", number)
    if not launches:
        _refuse(file, "a table without a launch", "at least one kernel")
    return [*launches.values()]


def _is_metric(column: str, unit: str) -> bool:
    """Whether a column without `__` is one: `thread_inst_executed`, or anything with a unit."""
    return bool(unit) or (column[:1].islower() and bool(METRIC.fullmatch(column)))


def _metric(cells: Mapping[str, str]) -> str:
    """The metric of a row of the details page, or section and label if it is unknown."""
    label = cells[LABEL]
    if "__" in label:
        return label
    known = (metric for metric, row in known_metrics().items() if row["label"] == label)
    return next(known, f"{name(cells.get(SECTION, ''))}.{name(label)}")


def kernel_words(signature: str) -> tuple[str, str]:
    """Name and template arguments of `void a::triad<float, 4>(const T1 *)`: `a::triad`, `<…>`."""
    text = signature.replace("(anonymous namespace)", "anonymous").replace("<unnamed>", "anonymous")
    hidden, found = text, 1
    while found:  # text in <> is hidden, from the inside out
        hidden, found = re.subn(r"<[^<>]*>", lambda inner: "\0" * len(inner[0]), hidden)
    head = hidden.partition("(")[0].rstrip()
    end = len(head)
    begin = end - len(re.split(r" (?!\0)", head)[-1])
    bare, opening, arguments = text[begin:end].partition("<")
    return bare or text[begin:end] or signature, opening + arguments


def _cases(launches: Sequence[_Launch]) -> list[Found]:
    """Cases: launches of one kernel of one program with one grid and block are its samples.

    Launches of unknown shape are a case each: their values may be of different work.
    """
    programs = len({one.cells.get(PROCESS) for one in launches})

    def alike(launch: _Launch) -> tuple[str, tuple[tuple[str, str], ...]]:
        shape = [(SIZES[column][0], launch.size(column)) for column in SIZES]
        params = [(axis, size) for axis, size in shape if size]
        unknown = "" if params else f"{id(launch)}"
        params = params or [("launch", word(launch.cells[ID]))]
        if programs > 1:
            params.append(("process", word(launch.cells.get(PROCESS, ""))))
        return launch.cells[KERNEL] + unknown, tuple(params)

    groups = grouped(launches, alike)
    return [_case(dict(params), group) for (_, params), group in groups.items()]


def _case(params: dict[str, str], group: Sequence[_Launch]) -> Found:
    kernel = group[0].cells[KERNEL]
    bare, arguments = kernel_words(kernel)
    params |= {"template": word(arguments)} if arguments else {}
    counted: list[Measurement] = []
    facts: Json = {"launches": len(group)}
    processes = len({(one.cells.get(PROCESS_ID), one.cells.get(PROCESS)) for one in group})
    facts |= {"processes": processes} if processes > 1 else {}
    for metric in dict.fromkeys(metric for launch in group for metric in launch.readings):
        found = [launch.readings.get(metric) for launch in group]
        readings = [reading for reading in found if reading]
        if metric.startswith(LAUNCH) and len(set(found)) == 1:
            value = readings[0].value
            facts[metric] = int(value) if value.is_integer() else value
        elif metric.startswith(LAUNCH) or not metric.startswith(NO_METRIC):
            counted.append(_measurement(metric, readings))
    reason = "" if counted else "ncu reported no number for it"
    return Found(kernel, SUITE, name(bare), params, counted=counted, facts=facts, reason=reason)


def _measurement(metric: str, readings: Sequence[Reading]) -> Measurement:
    """A quantity by our name if there is one and the number needs no conversion to it."""
    quantity, unit = metric, readings[0].unit
    known = known_metrics().get(metric)
    # ncu's names of counts vary ("warp" for instructions), those of physical units do not.
    if known and (unit == known["unit"] or not {unit, known["unit"]} & PHYSICAL):
        quantity, unit = known["name"], known["unit"]
    samples = tuple(reading.value for reading in readings)
    return Measurement(quantity, unit, "counted", metric, samples, _noise(readings))


def _noise(readings: Sequence[Reading]) -> Noise:
    """Whether ncu printed enough digits."""
    coarse = [one for one in readings if one.resolution]
    shares = (one.resolution / abs(one.value) if one.value else math.inf for one in coarse)
    worst = max(shares, default=0)
    if worst == 0:
        return Noise("not_applicable", "")
    if worst > COARSE:
        return Noise("failed", f"printed with too few digits (bound {100 * COARSE:g} %)")
    rounded = f"rounded when printed, by at most {100 * worst:.2g} %"
    return Noise("passed" if worst <= FINE else "unverified", rounded)
