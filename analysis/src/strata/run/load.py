"""Read a run folder into frozen records, or raise an error of one line.

`samples.jsonl` is the source: the rows of a run are derived from it, so a run that was interrupted
at any point stays readable.
"""

import gc
import json
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from strata.run import files, index, schema
from strata.run.files import RunError
from strata.run.rows import Row, case_id, derive, is_table, table_rows
from strata.run.run import Run
from strata.run.schema import Case, Context, Gate, Line, Measurement, Noise
from strata.run.strict import DEEPEST, WrongError, refusal, strict, typed

G = TypeVar("G", Gate, Noise)

STEP = "step_seconds"
"""The fact of a timed case whose steps have phases."""

BEFORE = Path(__file__).with_name("before.json")
"""Descriptions of benchmarks and rungs, for the runs of harnesses that did not write it."""
BOUNDS: Mapping[str, float] = {
    name: bound["value"] for name, bound in json.loads(BEFORE.read_bytes())["bounds"].items()
}
"""Of gates, in runs that do not record them."""


def load_run(folder: Path) -> Run:
    """Read the run in `folder`; `measurements.csv` only on request (`Run.table`).

    Of a `measurements.csv` alone, its rows: what the other files would tell is unknown. Raises
    `RunError` if a file is missing, damaged, or of an unknown schema version. A torn last line of
    `samples.jsonl` is not damage: an interrupted run leaves one.
    """
    if is_table(folder):
        return _of_table(folder)
    _refuse_other_folders(folder)
    collecting = gc.isenabled()
    gc.disable()  # records have no cycles, and collecting garbage takes as long as reading them
    try:
        context, version = _context(folder / files.CONTEXT_FILE)
        latest = _latest(folder / files.SAMPLES_FILE, context, sealed=version >= _SEALED_SINCE)
        planned = {case: place for place, case in enumerate(context.sweep.cases)}
        whole = sorted(latest, key=lambda item: planned.get(item[0].id, len(planned)))
    finally:
        if collecting:
            gc.enable()
    rows = tuple(row for _, of_case in whole for row in of_case)
    return Run(folder, context, tuple(case for case, _ in whole), rows)


UNKNOWN_OF_TABLE = "device properties, clocks, build, gates, samples and skipped cases"
"""What a run lacks that was read from its table alone."""


def _of_table(path: Path) -> Run:
    """The run whose `measurements.csv` this is."""
    rows = table_rows(path)
    names = {(row.run, row.device) for row in rows}
    if len(names) != 1:
        found = f"rows of {len(names)} runs" if names else "a table without rows"
        raise RunError(path, found=found, expected="the rows of one run", fix="give its table")
    ((name, device),) = names
    first = {row.case: row for row in reversed(rows)}
    blank = json.loads(files.resource("strata.run", "blank.json")) | {"run": name}
    blank |= {"backend": "cuda" if any(row.backend == "cuda" for row in rows) else "host"}
    blank |= {"device": {"slug": device, "name": device, "uuid": None}}
    blank["sweep"] |= {"cases": [*reversed(first)]}
    if dated := re.search(r"-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z-", name):
        blank |= {"started": "{}-{}-{}T{}:{}:{}Z".format(*dated.groups()), "finished": None}
    try:
        context = _typed_context(blank)
    except ValueError as error:
        raise refusal(path, 2, error, files.REWRITE) from None
    cases = [
        Case(case, row.suite, row.benchmark, row.backend, row.params, "measured", "",
             context.started, 0.0, {}, ())
        for case, row in reversed(first.items())
    ]  # fmt: skip
    return Run(path, context, tuple(cases), rows)


def load_context(folder: Path) -> Context:
    """The context alone of the run in `folder`; raises `RunError` as `load_run` does."""
    _refuse_other_folders(folder)
    return _context(folder / files.CONTEXT_FILE)[0]


def _refuse_other_folders(folder: Path) -> None:
    """Raises `RunError` for anything but a folder, and for a folder of run folders."""
    if not folder.is_dir():
        found = "a file" if folder.exists() else "nothing there"
        expected = (
            f"a run folder ({files.CONTEXT_FILE}, {files.SAMPLES_FILE}, {files.MEASUREMENTS_FILE})"
        )
        fix = "give the folder that strata run printed"
        if near := get_close_matches(f"{folder}", index.recorded(), 1):
            fix += f", or the recorded run {near[0]}"
        raise RunError(folder, found=found, expected=expected, fix=fix)
    if files.is_run(folder) or (folder / files.SAMPLES_FILE).exists():
        return
    try:
        runs = sorted(one.name for one in folder.iterdir() if one.is_dir() and files.is_run(one))
    except OSError:
        return  # reading the context raises the error
    if runs:
        found = f"a folder of {len(runs)} run{'s' * (len(runs) > 1)}"
        fix = f"give one of them, such as {folder / runs[-1]}"
        raise RunError(folder, found=found, expected="one run folder", fix=fix)


# --- samples.jsonl --------------------------------------------------------------------------------


Record = dict[str, Line]
"""The lines of a case by kind, and by visit for the later ones."""


def _latest(path: Path, context: Context, *, sealed: bool) -> Iterator[tuple[Case, Sequence[Row]]]:
    """The last record of each case, with the last counts and trace after it, and its rows.

    A case that is measured again has none until it is counted again; counts and traces of a case
    that no earlier line measured are ignored. A torn last line, without a line end, is left out.
    """
    records: dict[str, Record] = {}
    for line in _lines(path, records, sealed=sealed):
        record = records.get(line.id, {})
        if line.kind != "case":
            record |= {line.kind: line} if record else {}
            continue
        for kind in LATER:
            record.pop(kind, None)
        if line.visit == 1:
            records[line.id] = {"case": line}
        elif line.status == "measured" and record:
            record.setdefault(f"{line.visit}", line)
    for record in records.values():
        timed, counted, trace = (record.pop(kind, None) for kind in ("case", "counts", "trace"))
        if timed:
            again = tuple(record.values())
            line = revisited(timed, again)
            line = merged(line, counted) if counted else line
            yield derive(context, traced(line, trace) if trace else line, again)


def _lines(path: Path, records: Mapping[str, Record], *, sealed: bool) -> Iterator[Line]:
    known = _Known()
    with files.opened(path) as file:
        for number, raw in enumerate(files.lines(file, path), start=1):
            if not raw.endswith(b"\n"):
                break
            try:
                line = known.line(_line(raw, sealed=sealed))
                _check(line, records.get(line.id, {}))
            except (ValueError, RecursionError) as error:
                raise refusal(path, number, error, f"delete that line and {files.RESUME}") from None
            yield line


_LINE = msgspec.json.Decoder(Line)
_TEXTS = len(Line.__struct_fields__) - 1 + 8
"""The keys of a line, without that of later visits, and those of its members that are text."""


def _line(raw: bytes, *, sealed: bool) -> Line:
    """A line as a typed record; if it is not clearly right, a slow path names the error.

    The decoder accepts repeated keys, and lines with unknown keys: then the line has more quotes
    than the keys and texts of the record need.
    """
    raw = _unsealed(raw, sealed=sealed)
    try:
        line = _LINE.decode(raw)
        texts = _TEXTS + (line.visit > 1) + 2 * len(line.params) + _texts(line.facts)
        texts += 6 * len(line.gates) + 14 * len(line.measurements)
        if raw.count(b'"') == 2 * texts:
            return line
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    data = strict(raw)
    if data.get("status") in ("skipped", "failed"):
        data = {"facts": {}, "gates": [], "measurements": [], **data}
    return typed(data, Line)


_SEAL = b',"crc32":"'
_SEALED = len(_SEAL) + 8 + len(b'"}\n')
_SEALED_SINCE = 3
"""The version since which every line of a run has a checksum."""


def _unsealed(raw: bytes, *, sealed: bool) -> bytes:
    """A line without its checksum, which must match; lines of older runs may have none."""
    text, seal = raw[:-_SEALED], raw[-_SEALED:]
    if not seal.startswith(_SEAL):
        if sealed:
            raise WrongError("a line without checksum", "crc32 as its last field")
        return raw
    if seal[len(_SEAL) : -3] != b"%08x" % zlib.crc32(text):
        raise WrongError("a line that does not match its checksum", "an unmodified line")
    return text + b"}\n"


def _texts(value: object, depth: int = 0) -> int:
    """The number of strings in a JSON value, including keys; RecursionError if it is deep."""
    match value:
        case _ if depth > DEEPEST:
            raise RecursionError
        case dict():
            return len(value) + sum([_texts(one, depth + 1) for one in value.values()])
        case list():
            return sum([_texts(one, depth + 1) for one in value])
        case _:
            return int(isinstance(value, str))


class _Words(dict[str, str]):
    """Each word once, checked against the pattern at first use."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        super().__init__()
        self._pattern = pattern

    def __missing__(self, word: str) -> str:
        if not self._pattern.fullmatch(word):
            raise WrongError(repr(word), f"text like {self._pattern.pattern}")
        return self.setdefault(word, word)


class _Known:
    """Repeated content of a run, stored once: a million rows would not fit otherwise."""

    def __init__(self) -> None:
        patterns = (schema.NAME, schema.METRIC, schema.WORD)
        self._names, self._metrics, self._values = map(_Words, patterns)
        self._same: dict[Any, Any] = {}

    def line(self, line: Line) -> Line:
        """A line with checked words; in version 1 metrics were names."""
        names, values, same = self._names, self._values, self._same.setdefault
        metrics = self._metrics if line.schema_version > 1 else names
        measurements = []
        for one in line.measurements:
            quantity, method = metrics[one.quantity], metrics[one.method]
            unit, noise = same(one.unit, one.unit), same(one.noise, one.noise)
            measurements.append(
                Measurement(quantity, unit, one.provenance, method, one.samples, noise)
            )
        params = {names[key]: values[value] for key, value in line.params.items()}
        gates = tuple([same(gate, gate) for gate in line.gates if names[gate.name]])
        words = {"suite": names[line.suite], "benchmark": names[line.benchmark], "params": params}
        return replace(line, **words, gates=gates, measurements=tuple(measurements))


LATER: Mapping[str, tuple[int, str, Sequence[schema.Provenance]]] = {
    "counts": (2, "case", schema.COUNTABLE), "trace": (3, "case or counts", schema.TRACEABLE),
}  # fmt: skip
"""Of the lines that follow a case: the version since which there are any, what a kind was before,
and what they may hold."""


def _check(line: Line, record: Record) -> None:
    """Raises errors that concern several members of a line, or other lines of its case."""
    if line.status != "measured":
        if line.measurements:
            raise WrongError(f"measurements of a {line.status} case", "none")
        if not line.reason:
            raise WrongError(f"a {line.status} case without a reason", "a reason")
    if line.id != (own := case_id(line.suite, line.benchmark, line.backend, line.params)):
        raise WrongError(f"case {line.id}", f"{own}, as its parameters require")
    others: list[Line] = []
    if line.kind != "case":
        _check_later(line)
        others = [record[kind] for kind in ("case", *LATER) if kind in record and kind != line.kind]
    both = chain(*(other.measurements for other in others), line.measurements)
    keys = Counter([(one.quantity, one.method) for one in both])
    for (quantity, method), times in keys.items():
        if times > 1:
            expected = "each quantity and method once per case"
            raise WrongError(f"{quantity} by {method} twice", expected)


def _check_later(line: Line) -> None:
    since, known, allowed = LATER[line.kind]
    if line.schema_version < since:
        raise WrongError(f'"{line.kind}"', f"{known} as kind")
    if line.visit > 1:
        raise WrongError(f"visit {line.visit} of {line.kind}", "a visit of kind case")
    for one in line.measurements:
        if one.provenance not in allowed:
            expected = f"{' or '.join(allowed)} quantities"
            raise WrongError(f"{one.quantity} in a line of {line.kind}", expected)


def revisited(timed: Line, again: Sequence[Line]) -> Line:
    """The record of a case with the gates of its later visits: a failure stays a failure.

    The samples of later visits are not included. The harness does the same (`revisited` in
    harness/record/measurement.hpp).
    """
    for line in again if timed.status == "measured" else ():
        gates = list(timed.gates)
        for place, gate in enumerate(line.gates):
            if gate.verdict != "failed":
                continue
            if place >= len(gates) or gates[place].name != gate.name:
                gates.append(gate)
            elif gates[place].verdict != "failed":
                gates[place] = _on_visit(gate, line)
        failed = {
            (one.quantity, one.method): _on_visit(one.noise, line)
            for one in line.measurements
            if one.noise.verdict == "failed"
        }
        measurements = []
        for one in timed.measurements:
            sound = one.provenance == "timed" and one.noise.verdict != "failed"
            noise = failed.get((one.quantity, one.method), one.noise) if sound else one.noise
            measurements.append(replace(one, noise=noise))
        parts = {"gates": tuple(gates), "measurements": tuple(measurements)}
        timed = replace(timed, seconds=timed.seconds + line.seconds, **parts)
    return timed


def _on_visit(gate: G, line: Line) -> G:
    return replace(gate, detail=f"visit {line.visit}: {gate.detail}")


def merged(timed: Line, counted: Line) -> Line:
    """One record of a case that was timed and then counted.

    A gate that only counters can decide replaces the unverified one of its name, and a gate that
    failed in either phase stays failed. If counting failed or was skipped, the timings are
    unchanged and the level gate, if unverified, has the reason. A case that was not timed is
    unchanged. The harness does the same (`merged` in harness/record/measurement.hpp).
    """
    if timed.status != "measured":
        return timed
    if counted.status != "measured":
        detail = f"level unverified: counting {counted.status}: {counted.reason}"
        undecided = Gate("level", "unverified", detail)
        open_ = ("level", "unverified")
        gates = [undecided if (one.name, one.verdict) == open_ else one for one in timed.gates]
        return replace(timed, gates=tuple(gates))
    gates, facts = list(timed.gates), {**counted.facts, **timed.facts}
    for gate in counted.gates:
        place = next((n for n, known in enumerate(gates) if known.name == gate.name), None)
        if place is None:
            gates.append(gate)
        else:
            gates[place] = _stronger(gates[place], gate)
    both = (*timed.measurements, *counted.measurements)
    return replace(timed, facts=facts, gates=tuple(gates), measurements=both)


def traced(case: Line, trace: Line) -> Line:
    """One record of a case that was then traced: its rows, and the gates and facts of both.

    Gates of a trace judge only its own rows: a failed one becomes their failed noise. The harness
    does the same (`with_trace` in harness/record/measurement.hpp).
    """
    if case.status != "measured":
        return case
    if trace.status != "measured":
        open_ = Gate("phases", "unverified", f"tracing {trace.status}: {trace.reason}")
        return replace(case, gates=(*case.gates, open_))
    failed = [f"{gate.name}: {gate.detail}" for gate in trace.gates if gate.verdict == "failed"]
    rows = trace.measurements
    if failed:
        rows = tuple(replace(one, noise=Noise("failed", "; ".join(failed))) for one in rows)
    gates = (*case.gates, *(gate for gate in trace.gates if gate.verdict != "failed"))
    facts = {**trace.facts, **case.facts}
    return replace(case, facts=facts, gates=gates, measurements=(*case.measurements, *rows))


def _stronger(timed: Gate, counted: Gate) -> Gate:
    if timed.verdict == counted.verdict == "failed":
        return replace(timed, detail=f"{timed.detail}; {counted.detail}")
    if counted.verdict == "failed" or timed.verdict in ("unverified", "not_applicable"):
        return counted
    return timed


# --- context.json ---------------------------------------------------------------------------------


def _typed_context(data: dict[str, Any]) -> Context:
    """The context as a typed record, with what older harnesses did not write."""
    data = {**json.loads(BEFORE.read_bytes()), **data}
    if data["schema_version"] == 1:
        data["counters"] = None
    elif data.get("counters", {}) is None:
        raise WrongError("null", "an object as counters")
    for name, record in (("device", schema.Device), ("host", schema.Host)):
        if isinstance(part := data.get(name), dict):
            others = part.keys() - set(record.__struct_fields__)
            data[name] = part | {"facts": {key: part[key] for key in part if key in others}}
    return typed(data, Context)


def _context(path: Path) -> tuple[Context, int]:
    with files.opened(path) as file:
        raw = files.at_once(file, path, files.MOST_OF_LINE)
    try:
        data = strict(raw)
        context = _typed_context(data)
        if not context.run.strip("."):
            raise WrongError(context.run, "a valid run name")
        if context.sweep.text is None and context.sweep.digest is None:
            raise WrongError("no sweep.digest", "sweep.digest, or sweep.text")
    except (ValueError, RecursionError) as error:
        fix = "measure again; a context cannot be restored afterwards"
        raise refusal(path, None, error, fix) from None
    return context, data["schema_version"]
