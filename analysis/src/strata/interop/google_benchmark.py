"""Google Benchmark's JSON: a run out of ours, its `compare.py` accepts two; and theirs in.

Out: a case is a benchmark, a sample a repetition; then mean, median, stddev and cv over them, as
Google Benchmark 1.7 writes them (`src/json_reporter.cc`, `src/statistics.cc`). Its `real_time` is
the time of the case: `grid_time`, else the first quantity in seconds (as `strata bench` has it),
else cycles by the clock that was measured beside them; the label says which. The other timed
quantities are user counters, `quantity:method`. `cpu_time` is 0: no run of ours measures it, and
the format demands it. What did not pass its gates is left out, since the format has no word for it.

In: `real_time` and `cpu_time` in seconds, provenance `timed`; rates that Google Benchmark computes
from its own time (`bytes_per_second`, `items_per_second`) likewise; other counters are whatever
their author says they are: `published`, unit unknown. What `strata` itself wrote comes back with
its cases, quantities and units.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Any, NoReturn

from strata.interop._run_folder import UNKNOWN, Found, Imported, name, word
from strata.run import (
    COMMIT,
    METRIC,
    NAME,
    WORD,
    Backend,
    CpuCache,
    Gate,
    Measurement,
    Noise,
    Provenance,
    Row,
    Run,
    RunError,
    case_id,
    finite,
)

TOOL = "Google Benchmark"
METHOD = "google_benchmark"
PER_SECOND = {"ns": 1e9, "us": 1e6, "ms": 1e3, "s": 1.0}
"""How many of a time unit are a second."""
CYCLES = ("cycle", "tsc_cycle")
ROWS = "strata_quantities"
"""Key of the context: JSON of counter -> [unit, provenance], which the format has no place for."""

LABEL = re.compile(r"(?P<quantity>[\w.]+) by (?P<method>[\w.]+)", re.ASCII)
"""How our export says which of our rows `real_time` is."""

RATES = {"bytes_per_second": "B/s", "items_per_second": "1/s"}
NO_COUNTER = frozenset(
    {
        "name", "run_name", "run_type", "family_index", "per_family_instance_index", "repetitions",
        "repetition_index", "threads", "iterations", "real_time", "cpu_time", "time_unit", "label",
        "aggregate_name", "aggregate_unit", "error_occurred", "error_message", "skipped",
        "skip_message", "cpu_coefficient", "real_coefficient", "big_o", "rms",
        "allocs_per_iter", "max_bytes_used", "total_allocated_bytes", "net_heap_growth",
    }
)  # fmt: skip
"""What an entry has that is no counter of its author (`allocs_per_iter` on: its memory manager)."""
FLAGS = frozenset({"real_time", "process_time", "manual_time"})
"""Words at the end of a name that say which clock was read."""
MEND = "write it again with --benchmark_out=FILE --benchmark_out_format=json"


# --- out ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Timed:
    """The time of a case: seconds of each sample, and where they are from."""

    row: Row
    seconds: tuple[float, ...]
    label: str


def time_of(rows: Sequence[Row]) -> Timed | None:
    """What stands for the time of a case, None where nothing valid does; `rows` are of one case."""
    timed = [row for row in rows if row.provenance == "timed" and row.taken]
    seconds = [row for row in timed if row.unit == "s"]
    # As seconds_of in harness/cli/bench_command.cpp.
    chosen = next((row for row in seconds if row.quantity == "grid_time"), None)
    chosen = chosen or next(iter(seconds), None)
    if chosen is not None:
        label = f"{chosen.quantity} by {chosen.method}"
        return Timed(chosen, chosen.taken, label) if chosen.valid else None
    clock = next((r for r in timed if (r.quantity, r.unit) == ("core_clock", "Hz")), None)
    cycles = next((row for row in timed if row.unit in CYCLES), None)
    if cycles is None or clock is None or not (cycles.valid and clock.valid and clock.value > 0):
        return None
    return Timed(
        cycles,
        tuple(sample / clock.value for sample in cycles.taken),
        f"{cycles.quantity} by {cycles.method}, by core_clock",
    )


def document(run: Run) -> dict[str, Any]:
    """What Google Benchmark would have written of `run`; times in nanoseconds."""
    cases: dict[str, list[Row]] = {case.id: [] for case in run.cases}
    for row in run.rows:
        cases[row.case].append(row)
    entries: list[dict[str, Any]] = []
    units: dict[str, tuple[str, Provenance]] = {}
    family = 0
    for rows in cases.values():
        time = time_of(rows)
        if time is None:
            continue
        kept = [row for row in rows if row.valid and row.provenance == "timed" and row.taken]
        counters = [row for row in kept if row is not time.row or row.unit != "s"]
        units |= {_counter(row): (row.unit, row.provenance) for row in counters}
        entries += _entries(rows[0].case, family, time, counters)
        family += 1
    left_out = len(cases) - family
    return {"context": _context(run, units, left_out), "benchmarks": entries}


def encode(run: Run) -> bytes:
    """`document(run)` as the bytes of a file, a line an entry's member as Google Benchmark does."""
    text = json.dumps(document(run), indent=2, ensure_ascii=False, allow_nan=False)
    return f"{text}\n".encode()


def _counter(row: Row) -> str:
    return f"{row.quantity}:{row.method}"


def _context(
    run: Run, units: Mapping[str, tuple[str, Provenance]], left_out: int
) -> dict[str, Any]:
    context = run.context
    clock = context.host.facts.get("core_clock_hz") or context.device.facts.get("core_clock_hz")
    return {
        "date": context.started.replace("Z", "+00:00"),
        "host_name": UNKNOWN,
        "executable": " ".join(context.command),
        "num_cpus": context.host.cores,
        "mhz_per_cpu": round(clock / 1e6) if isinstance(clock, int | float) else 0,
        "cpu_scaling_enabled": False,
        "caches": [
            {
                "type": cache.type.capitalize(),
                "level": cache.level,
                "size": cache.bytes,
                "num_sharing": 0,
            }
            for cache in context.host.caches
        ],
        "load_avg": [],
        "library_build_type": "debug" if context.build.build_type == "Debug" else "release",
        "device": context.device.name,
        "device_uuid": context.device.uuid or "",
        "strata_backend": context.backend,
        "strata_build_type": context.build.build_type,
        "strata_commit": context.build.commit,
        "strata_dirty": "true" if context.build.dirty else "false",
        "strata_left_out": f"{left_out} of {len(run.cases)} cases: not valid, or without a time",
        ROWS: json.dumps({counter: list(units[counter]) for counter in sorted(units)}),
        "strata_run": context.run,
        "strata_version": context.build.version,
    }


def _entries(
    case: str, family: int, time: Timed, counters: Sequence[Row]
) -> Iterator[dict[str, Any]]:
    nanoseconds = [PER_SECOND["ns"] * second for second in time.seconds]
    count = len(nanoseconds)
    head: dict[str, Any] = {
        "family_index": family,
        "per_family_instance_index": 0,
        "run_name": case,
    }
    for place, real in enumerate(nanoseconds):
        yield {
            "name": case,
            **head,
            "run_type": "iteration",
            "repetitions": count,
            "repetition_index": place,
            "threads": 1,
            "iterations": 1,
            "real_time": real,
            "cpu_time": 0.0,
            "time_unit": "ns",
            **{_counter(row): row.taken[place] for row in counters if len(row.taken) == count},
            "label": time.label,
        }
    if count < 2:  # one repetition has no statistics there either
        return
    for aggregate, function in AGGREGATES.items():
        yield {
            "name": f"{case}_{aggregate}",
            **head,
            "run_type": "aggregate",
            "repetitions": count,
            "threads": 1,
            "aggregate_name": aggregate,
            "aggregate_unit": "percentage" if aggregate == "cv" else "time",
            "iterations": count,
            "real_time": function(nanoseconds),
            "cpu_time": 0.0,
            "time_unit": "ns",
            **{_counter(row): function(row.taken) for row in counters if len(row.taken) > 1},
            "label": time.label,
        }


def _deviation(samples: Sequence[float]) -> float:
    """Sample standard deviation; 0 of one sample, as Google Benchmark has it."""
    return stdev(samples) if len(samples) > 1 else 0.0


def _variation(samples: Sequence[float]) -> float:
    """Standard deviation over mean; 0 where the mean is, since NaN is no JSON."""
    mean = fmean(samples)
    return _deviation(samples) / mean if mean else 0.0


AGGREGATES: Mapping[str, Callable[[Sequence[float]], float]] = {
    "mean": fmean,
    "median": median,
    "stddev": _deviation,
    "cv": _variation,
}


# --- in -------------------------------------------------------------------------------------------


def decode(text: str, file: Path) -> Imported:
    """What `text`, which lies in `file`, says; raises `RunError` where it is damaged."""
    data = _parsed(text, file)
    context = data.get("context")
    entries = data.get("benchmarks")
    if not isinstance(context, dict) or not isinstance(entries, list):
        _refuse(file, "no object `context` with a list `benchmarks`", "Google Benchmark's JSON")
    for place, entry in enumerate(entries):
        if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
            _refuse(file, f"benchmarks[{place}] without a name", "an object with a name")
    if not entries:
        _refuse(file, "no benchmark", "at least one benchmark")
    ours = isinstance(context.get("strata_version"), str)
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for entry in entries:
        groups.setdefault(_run_name(entry), []).append(entry)
    units = _units(context, file)
    cases = [_case(title, group, file, units, ours=ours) for title, group in groups.items()]
    backends = {_backend(title) for title in groups}
    if len(backends) > 1:
        _refuse(file, "benchmarks of the GPU and of the CPU", "those of one of the two")
    commit = context.get("strata_commit")
    return Imported(
        tool=TOOL,
        file=file,
        text=text,
        backend=backends.pop(),
        cases=cases,
        device=_text(context, "device"),
        uuid=_text(context, "device_uuid", "") or None,
        started=_utc(context.get("date")),
        version=_text(context, "strata_version"),
        commit=commit if isinstance(commit, str) and COMMIT.fullmatch(commit) else UNKNOWN,
        dirty=context.get("strata_dirty") == "true",
        build_type=_text(
            context, "strata_build_type", _text(context, "library_build_type", UNKNOWN)
        ),
        cores=_whole(context.get("num_cpus")),
        caches=tuple(_caches(context.get("caches"))),
        host_facts={
            key: context[key]
            for key in ("host_name", "mhz_per_cpu", "cpu_scaling_enabled", "load_avg", "executable")
            if key in context
        },
    )


def _refuse(file: Path, found: str, expected: str, line: int | None = None) -> NoReturn:
    raise RunError(file, line, found=found, expected=expected, mend=MEND)


def _parsed(text: str, file: Path) -> dict[str, Any]:
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        found = f"broken JSON ({error.msg} at column {error.colno})"
        _refuse(file, found, "one whole JSON object", error.lineno)
    except (ValueError, RecursionError) as error:
        _refuse(file, f"JSON that cannot be read ({error})", "one whole JSON object")
    if not isinstance(data, dict):
        _refuse(file, "JSON that is no object", "one JSON object")
    return data


def _text(context: Mapping[str, Any], key: str, otherwise: str = UNKNOWN) -> str:
    value = context.get(key)
    return value if isinstance(value, str) and value else otherwise


def _whole(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0


def _caches(value: object) -> Iterator[CpuCache]:
    for cache in value if isinstance(value, list) else ():
        if isinstance(cache, dict):
            yield CpuCache(
                level=_whole(cache.get("level")),
                type=f"{cache.get('type', UNKNOWN)}".lower(),
                bytes=_whole(cache.get("size")),
                line_bytes=0,  # the format has none
            )


def _utc(value: object) -> str | None:
    """A date with its zone as UTC; None without one, which could be a day off."""
    try:
        when = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    if when is None or when.tzinfo is None:
        return None
    return when.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _units(context: Mapping[str, Any], file: Path) -> dict[str, tuple[str, Provenance]]:
    """Unit and provenance of the counters that our own export wrote."""
    text = context.get(ROWS)
    if not isinstance(text, str):
        return {}
    try:
        known = json.loads(text)
        return {
            counter: (unit, provenance)
            for counter, (unit, provenance) in known.items()
            if isinstance(unit, str) and provenance in {"timed", "counted", "modelled"}
        }
    except (ValueError, TypeError, AttributeError):
        _refuse(file, f"a context whose {ROWS} is broken", "what strata export wrote")


def _run_name(entry: Mapping[str, Any]) -> str:
    """What repetitions and aggregates of one benchmark have in common."""
    title = entry.get("run_name")
    if isinstance(title, str):
        return title
    # Before version 1.5 an aggregate had its benchmark's name and a word more.
    return re.sub(r"_(mean|median|stddev|cv|BigO|RMS)$", "", f"{entry['name']}")


def _own(title: str) -> tuple[str, str, str, dict[str, str]] | None:
    """Suite, benchmark, backend and parameters of a case of ours, None of anything else."""
    words = [part for part in title.split("/") if part not in FLAGS and ":" not in part]
    if len(words) < 3 or words[2] not in {"cuda", "host"}:
        return None
    pairs = [part.partition("=") for part in words[3:]]
    params = {key: value for key, _, value in pairs}
    sound = all(NAME.fullmatch(key) and WORD.fullmatch(value) for key, value in params.items())
    if not sound or not NAME.fullmatch(words[0]) or not NAME.fullmatch(words[1]):
        return None
    if case_id(words[0], words[1], words[2], params) != "/".join(words):
        return None
    return words[0], words[1], words[2], params


def _backend(title: str) -> Backend:
    own = _own(title)
    return "cuda" if own and own[2] == "cuda" else "host"


def _case(
    title: str,
    group: Sequence[Mapping[str, Any]],
    file: Path,
    units: Mapping[str, tuple[str, Provenance]],
    *,
    ours: bool,
) -> Found:
    found = _named(title, ours=ours)
    samples = [entry for entry in group if entry.get("run_type") != "aggregate"]
    wrong = [entry for entry in samples if entry.get("error_occurred") or entry.get("skipped")]
    good = [entry for entry in samples if entry not in wrong]
    said = next((f"{w.get('error_message') or w.get('skip_message') or ''}" for w in wrong), "")
    if wrong and not good:
        skipped = bool(wrong[0].get("skipped")) or said.startswith("skipped")
        return replace(found, reason=said or "it does not say why", skipped=skipped)
    gates = []
    if wrong:
        detail = f"{len(wrong)} of {len(samples)} failed: {said}"
        gates.append(Gate("repetitions", "failed", detail))
    labels = sorted({label for e in good if isinstance(label := e.get("label"), str) and label})
    invalid = next((label for label in labels if ours and label.startswith("INVALID")), None)
    if invalid is not None:
        gates.append(Gate("label", "failed", invalid))
    measurements = tuple(_measurements(good, group, file, units, ours=ours))
    if not measurements:
        return replace(found, reason="it has no finite time")
    facts: dict[str, Any] = {"label": "; ".join(labels)} if labels else {}
    threads = {_whole(entry.get("threads")) for entry in good} - {0}
    if len(threads) == 1:
        facts["threads"] = threads.pop()
    return replace(found, measurements=measurements, gates=tuple(gates), facts=facts)


def _named(title: str, *, ours: bool) -> Found:
    """A case by its name: `BM_copy<float>/64/threads:2/real_time`, or an id of ours."""
    own = _own(title) if ours else None
    if own is not None:
        return Found(name=title, suite=own[0], benchmark=own[1], params=own[3])
    first, *parts = title.split("/")
    params: dict[str, str] = {}
    kind = re.search(r"<.*>", first)
    if kind:
        params["type"] = word(kind[0])
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
    return Found(
        name=title, suite=METHOD, benchmark=name(re.sub(r"<.*>", "", first)), params=params
    )


def _measurements(
    good: Sequence[Mapping[str, Any]],
    group: Sequence[Mapping[str, Any]],
    file: Path,
    units: Mapping[str, tuple[str, Provenance]],
    *,
    ours: bool,
) -> Iterator[Measurement]:
    """Repetitions where there are, else the mean and the median that were all that was kept."""
    aggregates = {
        f"{entry.get('aggregate_name')}": entry
        for entry in group
        if entry.get("run_type") == "aggregate"
    }
    if good:
        sources = [(METHOD, good)]
    else:
        sources = [
            (f"{METHOD}_{kind}", [aggregates[kind]])
            for kind in ("median", "mean")
            if kind in aggregates
        ]
    for method, entries in sources:
        yield from _times(entries, method, file, units, ours=ours)
        present = Counter(key for entry in entries for key in entry if key not in NO_COUNTER)
        for key in present:
            samples = [number for e in entries if (number := finite(e.get(key))) is not None]
            if samples and len(samples) == present[key]:
                yield _author(key, method, samples, units)
    if good and "median" in aggregates:
        middle = aggregates["median"]
        for key in middle:
            number = finite(middle[key])
            if key not in NO_COUNTER and key not in good[0] and number is not None:
                yield _author(key, f"{METHOD}_median", [number], units)


def _times(
    entries: Sequence[Mapping[str, Any]],
    method: str,
    file: Path,
    units: Mapping[str, tuple[str, Provenance]],
    *,
    ours: bool,
) -> Iterator[Measurement]:
    """Real time and time of the CPU, in seconds; of our own export what the label names."""
    label = f"{entries[0].get('label', '')}"
    for key in ("real_time", "cpu_time"):
        seconds = [_seconds(entry, key, file) for entry in entries]
        times = [second for second in seconds if second is not None]
        if len(times) < len(seconds):
            continue
        if not (ours and units):
            yield _one(key, "s", "timed", method, times)
        elif key == "real_time" and (said := LABEL.fullmatch(label)):
            yield _one(said["quantity"], "s", "timed", said["method"], times)
        # Cycles by a clock stand among the counters, and nobody measured the time of the CPU.


def _author(
    key: str, method: str, samples: Sequence[float], units: Mapping[str, tuple[str, Provenance]]
) -> Measurement:
    """A counter: ours by its own name and method, Google Benchmark's rates, or its author's."""
    quantity, _, by = key.partition(":")
    if key in units and METRIC.fullmatch(quantity) and METRIC.fullmatch(by):
        unit, provenance = units[key]
        return _one(quantity, unit, provenance, by, samples)
    if key in RATES:
        return _one(key, RATES[key], "timed", method, samples)
    if by and METRIC.fullmatch(quantity) and METRIC.fullmatch(by):
        return _one(quantity, UNKNOWN, "published", by, samples)
    spelt = key if METRIC.fullmatch(key) else name(key)
    return _one(spelt, UNKNOWN, "published", method, samples)


def _one(
    quantity: str, unit: str, provenance: Provenance, method: str, samples: Sequence[float]
) -> Measurement:
    return Measurement(
        quantity=quantity,
        unit=unit,
        provenance=provenance,
        method=method,
        samples=tuple(samples),
        noise=Noise("unverified", "not held against a bound"),
    )


def _seconds(entry: Mapping[str, Any], key: str, file: Path) -> float | None:
    value = finite(entry.get(key))
    unit = entry.get("time_unit", "ns")
    if not isinstance(unit, str) or unit not in PER_SECOND:
        known = ", ".join(PER_SECOND)
        _refuse(file, f"the time unit {unit!r} of {entry['name']}", f"one of {known}")
    return None if value is None else value / PER_SECOND[unit]
