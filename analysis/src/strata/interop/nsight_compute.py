"""Import of Nsight Compute's CSV: `ncu --csv`, pages `raw` and `details`, versions 2020 to 2025.

A kernel with its grid and block is a case, each launch of it a sample. A metric in one of our
counter sets (`harness/counters/sets`) becomes a quantity by our name, so that it can be compared
with the counts of `strata run --counters`; its method is the metric itself, as there. Any other
metric is a quantity by its own name; on the details page, whose labels are not metrics, by section
and label. Values are in base units: B, s, Hz, B/s.

Everything is `counted`, including times, because nothing is timed under a profiler. `gpu_time` is
what the GPU itself counted (`gpu__time_duration.sum`), with caches flushed before and clocks as set
by ncu, so it is not a quantity of our runs. For a roofline, call ncu with

    ncu --csv --page raw --print-units base --metrics gpu__time_duration.sum,<those of the sets
    flops and memory>

Numbers printed with too few digits are invalid; a decimal comma is refused.
"""

import csv
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cache
from io import StringIO
from pathlib import Path
from typing import NamedTuple, NoReturn

from msgspec import Struct

from strata.interop._run_folder import UNKNOWN, Found, Imported, Json, name, word
from strata.run import METRIC, Measurement, Noise, RunError, grouped
from strata.run.files import resource

TOOL = "Nsight Compute"
SUITE = "ncu"
MEND = "write it again: LC_ALL=C ncu --csv --page raw --print-units base"

NUMBER = re.compile(r"-?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?([eE][+-]?\d+)?", re.ASCII)
NUMBER_LIKE = re.compile(r"-?\d[\d.,'\u00a0\u202f]*", re.ASCII)
COARSE = 0.05
"""Half of the last digit printed, of the value: beyond it, a number is not known."""
FINE = 0.005
"""Within it, two profilers agree (tools/ncu_check.py)."""

DIGITS = 280
"""Beyond so many before or behind the point, a number is none that a machine counted."""

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
PHYSICAL = {"B", "s", "Hz", "%", "B/s"}
"""Units of which no two are alike."""

_POWERS = {"n": -9, "u": -6, "m": -3, "K": 3, "M": 6, "G": 9, "T": 12}
"""Of a thousand each: ncu prints 32768 byte as 32.77 Kbyte."""
_NAMES = {f"{one}s": one for one in ("sector", "request", "cycle")} | {"branches": "branch"}
_NAMES |= {"second": "s", "byte": "B", "bytes": "B", "hz": "Hz"}
_NAMES |= dict.fromkeys(("inst", "insts"), "instruction")


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

    def read(self, printed: Mapping[str, tuple[str, str]]) -> None:
        """Store numbers and units by metric; raises ValueError for a number in another locale."""
        for metric in filter(METRIC.fullmatch, printed):
            self.printed[metric], unit = printed[metric]
            if reading := reading_of(self.printed[metric], unit, metric):
                self.readings[metric] = reading


@cache
def known_metrics() -> Mapping[str, Mapping[str, str]]:
    """ncu_metrics.csv by metric: our name (of one or several), unit, meaning, set, ncu label."""
    table = csv.DictReader(StringIO(resource("strata.interop", "ncu_metrics.csv")))
    return {row["metric"]: row for row in table}


def is_table(text: str) -> bool:
    """Whether a line of `text` is the header of an ncu table."""
    return any(map(_is_header, text.splitlines()))


def _is_header(line: str) -> bool:
    return line.startswith('"') and '"Kernel Name"' in line and ('"ID"' in line or LABEL in line)


def scale_of(unit: str) -> tuple[Decimal, str]:
    """The factor from ncu's `unit` to base units, and our name for the unit."""
    (scale, top), (under, below) = map(_part, unit.partition("/")[::2])
    whole = f"{top or '1'}/{below}".rstrip("/")
    return scale / under, "Hz" if whole == "cycle/s" else whole


def _part(unit: str) -> tuple[Decimal, str]:
    rest = unit[1:]
    if unit[:1] in _POWERS and (rest in _NAMES or rest in _NAMES.values()):
        return Decimal(10) ** _POWERS[unit[0]], _NAMES.get(rest, rest)
    return Decimal(1), _NAMES.get(unit, unit)


def reading_of(text: str, unit: str, metric: str) -> Reading | None:
    """An ncu number in base units, None if it is none; ValueError for another locale."""
    bare = text.strip()
    if not NUMBER.fullmatch(bare):
        if NUMBER_LIKE.fullmatch(bare):
            raise ValueError(f"{bare} as {metric}")
        return None
    scale, spelt = scale_of(unit)
    number = Decimal(bare.replace(",", ""))
    if not number.is_finite() or abs(number.adjusted()) > DIGITS:
        return None
    # An integer in a unit scaled by ncu has also lost digits.
    rounded = scale > 1 or not bare.lstrip("-").replace(",", "").isdecimal()
    half = Decimal(5).scaleb(int(number.as_tuple().exponent) - 1) * scale if rounded else 0
    return Reading(float(scale * number), spelt, float(half))


def _refuse(
    file: Path, found: str, expected: str, line: int | None = None, mend: str = MEND
) -> NoReturn:
    raise RunError(file, line, found=found, expected=expected, mend=mend)


def decode(text: str, file: Path) -> Imported:
    """Parses the table in `text`, among lines of ncu and of the program; raises `RunError`."""
    launches = _launches(text.splitlines(), file)
    keys = {DEVICE: "device", CAPABILITY: "compute capability", DEVICE_NAME: "device's name"}
    for key, words in keys.items():
        values = {one.printed.get(key) or one.cells.get(key, "") for one in launches}
        if len(values) > 1:
            found = f"more than one {words}: {', '.join(sorted(values))}"
            mend = "let ncu profile one of them (--devices)"
            _refuse(file, found, "the launches of one device", mend=mend)
    first = launches[0]
    device = first.printed.get(DEVICE_NAME) or UNKNOWN
    capability = first.cells.get(CAPABILITY)
    facts: Json = {"compute_capability": capability} if capability else {}
    for attribute, (fact, scale) in DEVICE_FACTS.items():
        if attribute in first.readings:
            number = scale * first.readings[attribute].value
            facts[fact] = number if fact.endswith("_hz") else round(number)
    context = {"device": facts, "counters": _counters(launches, device)}
    return Imported(TOOL, "cuda", _cases(launches), context, device)


def _cells(line: str, file: Path, number: int) -> list[str]:
    try:
        return next(csv.reader([line], strict=True))
    except csv.Error as error:
        _refuse(file, f"a truncated row ({error})", "a complete row of CSV", number)


def _rows(lines: Sequence[str], file: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows after the header, with their line numbers."""
    start = next(number for number, line in enumerate(lines, 1) if _is_header(line))
    header = _cells(lines[start - 1], file, start)
    for column in (ID, KERNEL):
        if column not in header:
            mend = "write it without --print-summary"
            _refuse(file, f"no column {column!r}", "one row per launch", start, mend)
    # Rows of the details page end after the value if no rule follows.
    least = header.index(VALUE) + 1 if VALUE in header else len(header)
    for number, line in enumerate(lines[start:], start + 1):
        if line.startswith('"') and line != lines[start - 1]:
            cells, wanted = _cells(line, file, number), f"{len(header)}, as the header has"
            if not least <= len(cells) <= len(header):
                _refuse(file, f"a row of {len(cells)} fields", wanted, number)
            yield number, dict(zip(header, cells, strict=False))


def _launches(lines: Sequence[str], file: Path) -> list[_Launch]:
    """The launches of either page, at least one.

    On the raw page a row is a launch and a column a metric; the row after the header has the units.
    On the details page a row is a metric, or a rule, which has advice and no metric.
    """
    launches: dict[str, _Launch] = {}
    units: Mapping[str, str] = {}
    for number, cells in _rows(lines, file):
        if LABEL in cells:
            if not cells[LABEL]:
                continue
            launch, printed = cells[ID], {_metric(cells): (cells[VALUE], cells.get(UNIT, ""))}
            if not launch.isdecimal():
                _refuse(file, f"the launch {launch!r}", "an integer", number)
        elif cells[ID]:
            launch = f"line {number}"
            metrics = [metric for metric in cells if "__" in metric]
            if metrics and not units:
                _refuse(file, "no row of units", "units below the header", number)
            printed = {metric: (cells[metric], units[metric]) for metric in metrics}
        else:
            units = cells
            continue
        try:
            launches.setdefault(launch, _Launch(cells)).read(printed)
        except ValueError as error:
            _refuse(file, f"{error}", "numbers like 1,234.5, with a decimal point", number)
    if not launches:
        _refuse(file, "a table without a launch", "at least one kernel")
    return [*launches.values()]


def _metric(cells: Mapping[str, str]) -> str:
    """The metric of a row of the details page, or section and label if it is unknown."""
    label = cells[LABEL]
    if "__" in label:
        return label
    known = (metric for metric, told in known_metrics().items() if told["label"] == label)
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
    """Cases: launches of one kernel with one grid and block are samples of one case."""
    columns = (KERNEL, BLOCK, GRID)
    alike = grouped(launches, lambda one: tuple(one.cells.get(name, "") for name in columns))
    return [_case(kernel, block, grid, group) for (kernel, block, grid), group in alike.items()]


def _case(kernel: str, block: str, grid: str, group: Sequence[_Launch]) -> Found:
    bare, arguments = kernel_words(kernel)
    sizes = {"block": re.findall(r"\d+", block), "grid": re.findall(r"\d+", grid)}
    params = {axis: "x".join(size) for axis, size in sizes.items() if size}
    params |= {"template": word(arguments)} if arguments else {}
    counted: list[Measurement] = []
    facts: Json = {"launches": len(group)}
    for metric in dict.fromkeys(metric for launch in group for metric in launch.readings):
        found = [launch.readings.get(metric) for launch in group]
        readings = [reading for reading in found if reading]
        if metric.startswith(LAUNCH) and len(set(found)) == 1:
            value = readings[0].value
            facts[metric] = int(value) if value.is_integer() else value
        if not metric.startswith(NO_METRIC):
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
    told = f"rounded when printed, by at most {100 * worst:.2g} %"
    return Noise("passed" if worst <= FINE else "unverified", told)


def _counters(launches: Sequence[_Launch], device: str) -> Json:
    """The counters in the form of a run's context."""
    known = known_metrics()
    metrics = {metric for launch in launches for metric in launch.readings}
    passes = [launch.readings[PASSES].value for launch in launches if PASSES in launch.readings]
    told = ("name", "metric", "unit", "meaning", "set")
    counted = [{key: known[one][key] for key in told} for one in sorted(metrics & known.keys())]
    return {
        "asked": [SUITE], "state": "counted", "chip": f"{device}, by {TOOL}",
        "passes": round(max(passes, default=0)), "quantities": counted,
    }  # fmt: skip
