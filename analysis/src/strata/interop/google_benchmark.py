"""Google Benchmark's JSON: export of runs, for its `compare.py`; and import.

Export, as Google Benchmark 1.7 writes it: a case is a benchmark, a sample a repetition; mean,
median, stddev and cv follow. `real_time` is the time of the case: `grid_time`, otherwise the first
quantity in seconds (as in `strata bench`), otherwise cycles by the clock that was measured with
them, which the label names; without any it is 0, with the label `no time`. All other quantities are
counters, `quantity:method`. `cpu_time` is 0: no run measures it, but the format requires it.
Skipped and failed cases, and cases without a valid row, are errors with their reason. Invalid rows
are left out. `losses` lists what the format cannot hold.

Import: what Google Benchmark times itself (`TIMED`) is `timed`; other counters are what their
author chose: `published`, unit unknown. A benchmark that was registered twice is two cases. What
`strata` itself exported returns with its cases, quantities and units.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Annotated, Any, NoReturn

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from strata.interop._run_folder import UNKNOWN, Found, Imported, Json, because, name, word
from strata.model.cases import CYCLE_CLOCKS, TIME_STAMPS
from strata.run import Row, Run, RunError, case_id, finite, grouped, schema
from strata.run.private import without_paths
from strata.run.statistics import spread
from strata.run.strict import WrongError, refusal, whole

TOOL, METHOD = "Google Benchmark", "google_benchmark"
PER_SECOND = {"ns": 1e9, "us": 1e6, "ms": 1e3, "s": 1.0}
TIMES = ("real_time", "cpu_time")
TIMED = {**dict.fromkeys(TIMES, "s"), "bytes_per_second": "B/s", "items_per_second": "1/s"}
"""What Google Benchmark times itself, and our unit."""
ROWS = "strata_quantities"
"""Key of the context: JSON of counter -> [unit, provenance], which the format has no place for."""
LABEL = re.compile(r"(?P<quantity>[\w.]+) by (?P<method>[\w.]+)", re.ASCII)
"""The words with which our export names the row that `real_time` is."""
NO_COUNTER = {
    "name", "run_name", "run_type", "family_index", "per_family_instance_index", "repetitions",
    "repetition_index", "threads", "iterations", "real_time", "cpu_time", "time_unit", "label",
    "aggregate_name", "aggregate_unit", "error_occurred", "error_message", "skipped",
    "skip_message", "cpu_coefficient", "real_coefficient", "big_o", "rms",
}  # fmt: skip
"""Members of an entry that are not counters."""
FITS = {"BigO": ("cpu_coefficient", "real_coefficient"), "RMS": ("rms",)}
"""Aggregates that describe several benchmarks, and their values."""
FLAGS = frozenset({"real_time", "process_time", "manual_time"})
"""Words at the end of a name for the clock that was read."""
NOISE = schema.Noise("unverified", "not checked against a bound")
FIX = "write it again with --benchmark_out=FILE --benchmark_out_format=json"

FIT = "are fits of complexity"
DERIVED = "are computed from values that are imported"
STATISTIC = "are statistics other than mean and median"
FAILED = "are of repetitions that failed"
NO_NUMBER = "are no numbers in each repetition"
NOT_MEASURED = "are CPU times, which no run of strata measures"


def _cv(samples: Sequence[float]) -> float:
    mean = fmean(samples)
    return stdev(samples) / mean if mean else 0.0  # JSON has no NaN


Time = tuple[Row | None, list[float], str]
AGGREGATES: dict[str, Callable[[Sequence[float]], float]] = {
    "mean": fmean, "median": median, "stddev": stdev, "cv": _cv,
}  # fmt: skip


# --- out ------------------------------------------------------------------------------------------


def encode(run: Run) -> bytes:
    """The file that Google Benchmark would write for `run`, one line per member; in nanoseconds."""
    entries: list[Json] = []
    units: dict[str, tuple[str, schema.Provenance]] = {}
    errors = 0
    for family, (case, rows, kept, (row, nanoseconds, label)) in enumerate(_cases(run)):
        head = {"family_index": family, "per_family_instance_index": 0, "run_name": case.id}
        if kept:
            counters = [one for one in kept if one is not row or one.unit != "s"]
            units |= {_counter(one): (one.unit, one.provenance) for one in counters}
            entries += _entries(head, nanoseconds, counters, label)
        else:
            single = {"repetitions": 1, "repetition_index": 0}
            entries.append(_entry(head, 0.0) | single | _error(case, rows))
            errors += 1
    data = {"context": _context(run, units, errors), "benchmarks": entries}
    return f"{json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)}\n".encode()


def losses(run: Run) -> str:
    """What the format cannot hold of a run, counted by reason; empty if it holds all values."""
    invalid = sum(not row.valid for row in run.rows)
    errors = alone = visits = 0
    for case, _, kept, (_, nanoseconds, _) in _cases(run):
        errors += case.status == "measured" and not kept
        whole = [row for row in kept if len(row.taken) <= len(nanoseconds)]
        alone += len(kept) - len(whole)
        visits += sum(spread(row.taken)[0] != row.value for row in whole)
    counts = (
        (invalid, "rows not exported, " + because({"are invalid": invalid})),
        (errors, "cases as errors, because no row of them is valid"),
        (alone, "rows with their value alone, because the time of their case has fewer samples"),
        (visits, "rows without the median of their visits, because the format has samples alone"),
    )
    totals = {"rows": len(run.rows), "cases": len(run.cases)}
    return "; ".join(f"{n:,} of {totals[what.split()[0]]:,} {what}" for n, what in counts if n)


def _cases(run: Run) -> Iterator[tuple[schema.Case, list[Row], list[Row], Time]]:
    """Each case with its rows, those that are exported, and its time: 0 for each sample if none."""
    rows = grouped(run.rows, lambda row: row.case)
    for case in run.cases:
        here = rows.get(case.id, [])
        kept = [row for row in here if row.valid]
        nothing = [0.0] * max((len(row.taken) for row in kept), default=1)
        yield case, here, kept, time_of(here) or (None, nothing, "no time")


def _error(case: schema.Case, rows: Sequence[Row]) -> Json:
    reason = case.reason or (f"INVALID {rows[0].reasons}" if rows else "no reason given")
    kind = "skipped", "skip_message"
    if case.status != "skipped":
        kind = "error_occurred", "error_message"
    return dict(zip(kind, (True, without_paths(reason)), strict=True))


def _counter(row: Row) -> str:
    return f"{row.quantity}:{row.method}"


def time_of(rows: Iterable[Row]) -> tuple[Row, list[float], str] | None:
    """The valid time of a case: its row, nanoseconds of its samples, and their meaning.

    None if there is none.
    """
    # Like seconds_of in harness/cli/bench_command.cpp.
    timed = [row for row in rows if row.provenance == "timed" and row.taken]
    seconds, hertz, clocked = [row for row in timed if row.unit == "s"], 1.0, ""
    found = min(seconds, key=lambda row: row.quantity != "grid_time", default=None)
    if not found:
        found = next((row for row in timed if row.unit in ("cycle", "tsc_cycle")), None)
        clock = next((row for row in timed if found and _counts(row, found.unit)), None)
        if not clock or not clock.valid:
            return None
        hertz, clocked = clock.value, f", by {clock.quantity}"
    if not found or not found.valid or hertz <= 0:
        return None
    nanoseconds = [PER_SECOND["ns"] * (sample / hertz) for sample in found.taken]
    return found, nanoseconds, f"{found.quantity} by {found.method}{clocked}"


def _counts(row: Row, cycle: str) -> bool:
    """Whether the row is the rate of the clock whose cycles have this unit."""
    if row.quantity not in CYCLE_CLOCKS or row.unit != "Hz":
        return False
    return (row.method == TIME_STAMPS) == (cycle == "tsc_cycle")


def _context(run: Run, units: Mapping[str, tuple[str, schema.Provenance]], errors: int) -> Json:
    context, build, device = run.context, run.context.build, run.context.device
    clock = context.host.facts.get("core_clock_hz") or device.facts.get("core_clock_hz")
    return {
        "date": context.started.replace("Z", "+00:00"),
        "host_name": UNKNOWN,
        "executable": without_paths(" ".join(context.command)),
        "num_cpus": context.host.cores,
        "mhz_per_cpu": round(clock / 1e6) if isinstance(clock, int | float) else 0,
        "cpu_scaling_enabled": False,
        "caches": [
            {"type": one.type.capitalize(), "level": one.level, "size": one.bytes, "num_sharing": 0}
            for one in context.host.caches
        ],
        "load_avg": [],
        "library_build_type": "debug" if build.build_type == "Debug" else "release",
        "device": device.name,
        "device_uuid": device.uuid or "",
        "strata_backend": context.backend,
        "strata_build_type": build.build_type,
        "strata_commit": build.commit,
        "strata_dirty": "true" if build.dirty else "false",
        "strata_left_out": losses(run) or "nothing",
        "strata_errors": f"{errors} of {len(run.cases)} cases: skipped, failed, or invalid",
        ROWS: json.dumps(dict(sorted(units.items()))),
        "strata_run": context.run,
        "strata_version": build.version,
    }


def _entry(head: Json, time: float, kind: str = "") -> Json:
    """One repetition, or the aggregate of this kind."""
    entry = {"name": head["run_name"] + f"_{kind}" * bool(kind), **head, "threads": 1}
    entry |= {"run_type": "aggregate" if kind else "iteration", "iterations": 1}
    return entry | {"real_time": time, "cpu_time": 0.0, "time_unit": "ns"}


def _entries(
    head: Json, nanoseconds: Sequence[float], counters: Sequence[Row], label: str
) -> Iterator[Json]:
    """A benchmark's repetitions, then their statistics."""
    head |= {"repetitions": (count := len(nanoseconds))}
    taken = {
        _counter(row): row.taken if len(row.taken) <= count else (row.value,) for row in counters
    }
    for place, time in enumerate(nanoseconds):
        numbers = {key: values[place] for key, values in taken.items() if place < len(values)}
        yield _entry(head, time) | {"repetition_index": place, **numbers, "label": label}
    # Google Benchmark writes no statistics for one repetition either.
    for kind, function in AGGREGATES.items() if count > 1 else ():
        own = {"aggregate_name": kind, "iterations": count}
        own["aggregate_unit"] = "percentage" if kind == "cv" else "time"
        numbers = {key: function(values) for key, values in taken.items() if len(values) > 1}
        yield _entry(head, function(nanoseconds), kind) | own | numbers | {"label": label}


# --- in -------------------------------------------------------------------------------------------

Units = Mapping[str, tuple[str, schema.Provenance]]
"""Unit and provenance of the counters that our own export wrote."""


class _Cache(Struct):
    level: schema.Count = 0
    type: str = UNKNOWN
    size: schema.Count = 0


class _Host(Struct):
    num_cpus: schema.Count = 0
    caches: list[_Cache] = []


class _Entry(Struct):
    """A repetition or an aggregate; `numbers`: times in seconds, None for what is not finite."""

    name: str
    numbers: dict[str, float | None]
    family_index: int | None = None
    per_family_instance_index: int | None = None
    repetition_index: int | None = None
    run_name: str = ""
    run_type: str = ""
    aggregate_name: str = ""
    threads: schema.Count = 0
    time_unit: str = "ns"
    label: str = ""
    error_occurred: bool = False
    error_message: str = ""
    skipped: bool = False
    skip_message: str = ""

    @property
    def values(self) -> dict[str, float | None]:
        """Its times and counters."""
        numbers = self.numbers.items()
        return {key: number for key, number in numbers if key not in NO_COUNTER or key in TIMES}


class _File(Struct):
    context: dict[str, Any]
    benchmarks: Annotated[list[dict[str, Any]], Meta(min_length=1)]


def decode(text: str, file: Path) -> Imported:
    """Parses `text`, the content of `file`; raises `RunError` if it is damaged."""

    def refuse(found: str, expected: str) -> NoReturn:
        raise RunError(file, found=found, expected=expected, fix=FIX)

    try:
        data = msgspec.convert(whole(text, json.JSONDecoder()), _File)  # which may hold NaN
        members = [
            one | {"numbers": {key: finite(one[key]) for key in one}} for one in data.benchmarks
        ]
        entries = msgspec.convert(members, list[_Entry])
        known = {key: words for key, words in data.context.items() if isinstance(words, str)}
        units = msgspec.json.decode(known.get(ROWS, "{}"), type=Units)
        machine = msgspec.convert(data.context, _Host)
    except (json.JSONDecodeError, WrongError) as error:
        raise refusal(file, None, error, FIX) from error
    except ValueError as error:
        found = f"{error}".replace("`$[", "`benchmarks[").replace("`$.", "`")
        refuse(f"JSON that cannot be used ({found})", "Google Benchmark's JSON")
    for entry in entries:
        if (unit := entry.time_unit) not in PER_SECOND:
            refuse(f"the time unit {unit!r} of {entry.name}", f"one of {', '.join(PER_SECOND)}")
        for key in TIMES:
            if (time := entry.numbers.get(key)) is not None:
                entry.numbers[key] = time / PER_SECOND[unit]
    left_out = Counter[str]()
    groups = _groups(entries, left_out)
    if not groups:
        refuse("fits of complexity alone", "benchmarks")
    own = [_own(group[0].run_name) for group in groups]
    backends: set[schema.Backend] = {one[0] if one else "host" for one in own}
    if len(backends) > 1:
        refuse("benchmarks of the GPU and of the CPU", "those of one of the two")
    version, commit = known.get("strata_version", ""), known.get("strata_commit", "")
    cases = [_case(group, units if version else None, left_out) for group in groups]
    build_type = known.get("strata_build_type") or known.get("library_build_type")
    build = {"version": version or UNKNOWN, "build_type": build_type or UNKNOWN}
    build["commit"] = commit if schema.COMMIT.fullmatch(commit) else UNKNOWN
    others = ("host_name", "mhz_per_cpu", "cpu_scaling_enabled", "load_avg", "executable")
    host: Json = {key: data.context[key] for key in others if key in data.context}
    host["cores"] = machine.num_cpus
    host["caches"] = [schema.CpuCache(c.level, c.type.lower(), c.size, 0) for c in machine.caches]
    context: dict[str, Json] = {
        "strata": build | {"dirty": known.get("strata_dirty") == "true"},
        "device": {"uuid": known.get("device_uuid") or None},
        "host": host,
    }
    device, started = known.get("device") or UNKNOWN, _utc(known.get("date"))
    return Imported(TOOL, backends.pop(), cases, context, device, started, left_out)


def _groups(entries: Sequence[_Entry], left_out: Counter[str]) -> list[list[_Entry]]:
    """The entries of each benchmark, with `run_name` and `run_type` set; fits are left out.

    A benchmark that was registered twice is two: its families differ, or a repetition comes again.
    """
    names = {entry.name for entry in entries}
    repeated = Counter[object]()
    groups: dict[object, list[_Entry]] = {}
    for one in entries:
        if not (one.run_type or one.run_name):  # before version 1.5: the name and a suffix
            title, _, kind = one.name.rpartition("_")
            known = title in names or {f"{title}_mean", f"{title}_stddev"} <= names
            if known and kind in (*AGGREGATES, *FITS):
                one.run_name, one.run_type, one.aggregate_name = title, "aggregate", kind
        one.run_name = one.run_name or one.name
        if fits := FITS.get(one.aggregate_name):
            left_out.update([FIT] * sum(one.numbers.get(key) is not None for key in fits))
            continue
        key = (one.run_name, one.family_index, one.per_family_instance_index)
        which = one.aggregate_name or one.repetition_index
        place = repeated[key, which] if which is not None else 0
        repeated[key, which] += 1
        groups.setdefault((key, place), []).append(one)
    return [*groups.values()]


def _utc(date: Any) -> str | None:
    """A date with its time zone as UTC; None without one, which could be a day off."""
    try:
        when = datetime.fromisoformat(date)
        return f"{when.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}" if when.tzinfo else None
    except (TypeError, ValueError, OverflowError):
        return None


def _own(title: str) -> tuple[schema.Backend, Found] | None:
    """The backend and the case of one of our ids; None for other names."""
    words = [part for part in title.split("/") if part not in FLAGS and ":" not in part]
    if len(words) < 3 or words[2] not in ("cuda", "host"):
        return None
    suite, benchmark, backend, *pairs = words
    params = dict(pair.partition("=")[::2] for pair in pairs)
    named = all(map(schema.NAME.fullmatch, (suite, benchmark, *params)))
    sound = named and all(map(schema.WORD.fullmatch, params.values()))
    if not sound or case_id(suite, benchmark, backend, params) != "/".join(words):
        return None
    return "cuda" if backend == "cuda" else "host", Found(title, suite, benchmark, params)


def _theirs(title: str) -> Found:
    """A case from its name: `BM_copy<float>/64/threads:2/real_time`."""
    first, *parts = title.split("/")
    kind = re.search(r"<.*>", first)
    params = {"type": word(kind[0])} if kind else {}
    place = 0
    for part in parts:
        key, colon, value = part.partition(":")
        if part in FLAGS:
            params["clock"] = word("+".join(filter(None, (params.get("clock"), part))))
        elif colon and name(key) not in params:
            params[name(key)] = word(value)
        else:
            params[f"arg{place}"] = word(part)
            place += 1
    return Found(title, METHOD, name(re.sub(r"<.*>", "", first)), params)


def _case(group: Sequence[_Entry], units: Units | None, left_out: Counter[str]) -> Found:
    """A benchmark as a case; `units` are None unless our own export wrote it."""
    title = group[0].run_name
    own = _own(title) if units is not None else None
    found = own[1] if own else _theirs(title)
    aggregates = {one.aggregate_name: one for one in group if one.run_type == "aggregate"}
    samples = [one for one in group if one.run_type != "aggregate"]
    wrong = [one for one in samples if one.error_occurred or one.skipped]
    good = [one for one in samples if one not in wrong]
    left_out.update(FAILED for one in wrong for value in one.values.values() if value)
    reason = next((one.error_message or one.skip_message for one in wrong), "")
    if wrong and not good:
        skipped = wrong[0].skipped or reason.startswith("skipped")
        return replace(found, reason=reason or "no reason given", skipped=skipped)
    some = f"{len(wrong)} of {len(samples)} failed: {reason}"
    gates = [schema.Gate("repetitions", "failed", some)] if wrong else []
    labels = sorted({one.label for one in good} - {""})
    invalid = [label for label in labels if label.startswith("INVALID") and units is not None]
    gates += [schema.Gate("label", "failed", label) for label in invalid[:1]]
    measurements = [*_measurements(good, aggregates, units or {}, left_out)]
    if not measurements:
        return replace(found, reason="it has no finite time")
    facts: Json = {"label": "; ".join(labels)} if labels else {}
    threads = {one.threads for one in good} - {0}
    facts |= {"threads": threads.pop()} if len(threads) == 1 else {}
    return replace(found, measurements=measurements, gates=gates, facts=facts)


def _measurements(
    good: Sequence[_Entry], aggregates: Mapping[str, _Entry], units: Units, left_out: Counter[str]
) -> Iterator[schema.Measurement]:
    """The repetitions, otherwise the mean and the median, if only they were kept."""
    kept = [kind for kind in ("median", "mean") if kind in aggregates]
    sources = [(METHOD, good)] if good else []
    sources += [(f"{METHOD}_{kind}", [aggregates[kind]]) for kind in kept]
    known = {key for entry in good for key in entry.numbers}
    taken: set[tuple[str, str]] = set()
    for method, entries in sources:
        for key in dict.fromkeys(key for entry in entries for key in entry.values):
            samples = [entry.numbers[key] for entry in entries if key in entry.numbers]
            if entries is not good and key in known:
                left_out.update([DERIVED] * len(samples))
                continue
            made = _quantity(key, method, samples, units, entries[0].label)
            if isinstance(made, str):
                left_out.update([made] * sum(number != 0 for number in samples))
                continue
            quantity, number = made.quantity, 1
            while (quantity, made.method) in taken:  # names that become the same
                number += 1
                quantity = f"{made.quantity}_{number}"
            taken.add((quantity, made.method))
            yield replace(made, quantity=quantity)
    for kind in aggregates.keys() - set(kept):
        left_out.update([DERIVED if good else STATISTIC] * len(aggregates[kind].values))


def _quantity(
    key: str, method: str, samples: Sequence[float | None], units: Units, label: str
) -> schema.Measurement | str:
    """A time, named by `label` in our own export, or a counter: ours, a rate, or its author's.

    Otherwise the reason why not.
    """
    numbers = tuple(number for number in samples if number is not None)
    own, _, by = key.partition(":")
    if key in TIMES and any(number < 0 for number in numbers):
        return "are negative times"
    what: tuple[str, str, schema.Provenance, str]
    if key in TIMES and units:
        ours = LABEL.fullmatch(label)
        if key == "cpu_time" or not ours:
            return DERIVED if key == "real_time" else NOT_MEASURED
        what = ours["quantity"], "s", "timed", ours["method"]
    elif schema.METRIC.fullmatch(own) and schema.METRIC.fullmatch(by):
        what = own, *units.get(key, (UNKNOWN, "published")), by
    elif key in TIMED:
        what = key, TIMED[key], "timed", method
    else:
        what = key if schema.METRIC.fullmatch(key) else name(key), UNKNOWN, "published", method
    return schema.Measurement(*what, numbers, NOISE) if len(numbers) == len(samples) else NO_NUMBER
