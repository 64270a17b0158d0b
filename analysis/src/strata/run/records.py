"""Read a run folder into frozen records, or say in one line why it cannot be read.

`samples.jsonl` is the source: the rows of a run are derived from it, so a run that was cut off
anywhere stays readable. `measurements.csv` is read beside it, strictly, for `validate` to
compare. Either may be packed (`gzip`: `samples.jsonl.gz`), as recorded runs are. Nothing else in
the package reads a run folder; `results/schema` is its contract.
"""

import csv
import gc
import gzip
import json
import math
import re
import zlib
from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from io import TextIOWrapper
from pathlib import Path
from types import MappingProxyType
from typing import IO, TYPE_CHECKING, Any, Literal, NoReturn, Protocol, TypeVar, cast

import msgspec

from strata.run.schema import Benchmark, Declared, Rung, before
from strata.run.statistics import spread

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T", bound=str)

SCHEMA_VERSIONS = (1, 2)
"""Version 2 has counters: lines of kind `counts`, and `counters` in the context."""

CONTEXT_FILE = "context.json"
SAMPLES_FILE = "samples.jsonl"
MEASUREMENTS_FILE = "measurements.csv"

COLUMNS = (
    "run",
    "device",
    "backend",
    "suite",
    "benchmark",
    "case",
    "params",
    "quantity",
    "unit",
    "provenance",
    "method",
    "value",
    "ci_low",
    "ci_high",
    "minimum",
    "maximum",
    "samples",
    "valid",
    "reasons",
)

Backend = Literal["cuda", "host"]
Status = Literal["measured", "skipped", "failed"]
Verdict = Literal["passed", "failed", "unverified", "not_applicable"]
Provenance = Literal["timed", "counted", "modelled", "published", "reported"]
State = Literal["running", "complete", "interrupted", "aborted"]
Kind = Literal["case", "counts"]
CountersState = Literal["counted", "not_asked", "unavailable", "external"]

BACKENDS: tuple[Backend, ...] = ("cuda", "host")
STATUSES: tuple[Status, ...] = ("measured", "skipped", "failed")
VERDICTS: tuple[Verdict, ...] = ("passed", "failed", "unverified", "not_applicable")
PROVENANCES: tuple[Provenance, ...] = ("timed", "counted", "modelled", "published", "reported")
STATES: tuple[State, ...] = ("running", "complete", "interrupted", "aborted")
KINDS: Mapping[int, tuple[Kind, ...]] = {1: ("case",), 2: ("case", "counts")}
COUNTERS_STATES: tuple[CountersState, ...] = ("counted", "not_asked", "unavailable", "external")
COUNTABLE: tuple[Provenance, ...] = ("counted", "modelled")
"""What a line of kind `counts` may hold: under a profiler nothing is timed."""

# The patterns of results/schema; a test holds the two together.
NAME = re.compile(r"[a-z][a-z0-9_]*", re.ASCII)
METRIC = re.compile(r"[A-Za-z][A-Za-z0-9_.]*", re.ASCII)
QUANTITY: Mapping[int, re.Pattern[str]] = {1: NAME, 2: METRIC}
"""Quantities and methods: from version 2 on they may be a chip's own metrics, as it names them."""
WORD = re.compile(r"[A-Za-z0-9._+-]+", re.ASCII)
SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*", re.ASCII)
UTC = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z", re.ASCII)
COMMIT = re.compile(r"[0-9a-f]{40}|unknown", re.ASCII)
NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?", re.ASCII)
COUNT = re.compile(r"0|[1-9]\d*", re.ASCII)

RESUME = "resume the run (strata run --resume) or measure again"
REWRITE = "resume the run (strata run --resume): it writes the table anew from samples.jsonl"


class RunError(ValueError):
    """A run that cannot be used: where, what was found, what was expected, how to mend it.

    Its text is always one line, whatever the file holds.
    """

    def __init__(
        self, path: Path, line: int | None = None, *, found: str, expected: str, mend: str
    ) -> None:
        self.path = path
        self.line = line
        place = f"{path}:{line}" if line else f"{path}"
        super().__init__(one_line(f"{place}: found {found}; expected {expected}; to mend: {mend}"))


def one_line(text: str) -> str:
    """`text` with every control character (line ends too) made visible."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


# --- the records ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Gate:
    """One check of one case, or the noise check of one measurement."""

    name: str
    verdict: Verdict
    detail: str


@dataclass(frozen=True, slots=True)
class Measurement:
    """The raw samples of one quantity of one case, in the order in which they were taken."""

    quantity: str
    unit: str
    provenance: Provenance
    method: str
    samples: tuple[float, ...]
    noise: Gate


@dataclass(frozen=True, slots=True)
class Case:
    """One benchmark at one point of its axes: a line of `samples.jsonl`.

    In a `Run`, what was timed and what was counted, merged.
    """

    id: str
    suite: str
    benchmark: str
    backend: Backend
    params: Mapping[str, str]
    status: Status
    reason: str
    started: str
    seconds: float
    facts: Mapping[str, Any]
    gates: tuple[Gate, ...]
    measurements: tuple[Measurement, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """One quantity of one case by one method: a row of `measurements.csv`.

    `value`, `ci_low`, `ci_high`, `minimum` and `maximum` are in `unit`; the interval is None with
    fewer than six samples. `taken` are the samples themselves, in the order of the record; a row
    that only the table has is without them, and two rows are compared without them.
    """

    run: str
    device: str
    backend: Backend
    suite: str
    benchmark: str
    case: str
    params: Mapping[str, str]
    quantity: str
    unit: str
    provenance: Provenance
    method: str
    value: float
    ci_low: float | None
    ci_high: float | None
    minimum: float
    maximum: float
    samples: int
    valid: bool
    reasons: str
    taken: tuple[float, ...] = field(default=(), compare=False, repr=False)

    def text(self, axis: str, default: str = "?") -> str:
        """The value of an axis, `default` where the case has no such axis."""
        return self.params.get(axis, default)

    def count(self, axis: str) -> int | None:
        """The value of an axis as a whole number; None where it is none."""
        value = self.params.get(axis, "")
        return int(value) if value.isdecimal() else None

    @property
    def key(self) -> tuple[str, str, str]:
        """(case, quantity, method): what identifies a row within a run."""
        return (self.case, self.quantity, self.method)


@dataclass(frozen=True, slots=True)
class Build:
    """The harness that measured: its source and how it was compiled."""

    version: str
    commit: str
    dirty: bool
    source_digest: str
    build_type: str
    compiler: str
    cuda_compiler: str | None
    flags: str
    cuda_architectures: str | None


@dataclass(frozen=True, slots=True)
class Device:
    """What was measured. `facts` hold whatever else the device said of itself."""

    slug: str
    name: str
    uuid: str | None
    facts: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class CpuCache:
    """One cache of the host CPU; sizes in bytes."""

    level: int
    type: str
    bytes: int
    line_bytes: int


@dataclass(frozen=True, slots=True)
class Host:
    """The machine around the device; memory in bytes. `facts` hold whatever else is known."""

    cpu: str
    cores: int
    os: str
    kernel: str
    memory_bytes: int
    caches: tuple[CpuCache, ...]
    facts: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Sweep:
    """What was to be measured: the plan and the case ids, in order.

    The text of its file, or in runs of earlier builds a digest of it.
    """

    name: str
    file: str
    text: str | None
    digest: str | None
    plan: Mapping[str, Any]
    cases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CountedQuantity:
    """A quantity that the chip counted: our name and the chip's, and what it means."""

    name: str
    metric: str
    unit: str
    meaning: str
    set: str


@dataclass(frozen=True, slots=True)
class Counters:
    """What was to be counted, whether it was, and if not, why and what mends it.

    `absent` names what the chip cannot count, one line each; `passes` is how often a piece of work
    ran to be counted once.
    """

    asked: tuple[str, ...]
    state: CountersState
    reason: str
    mend: str
    chip: str
    sets: tuple[str, ...]
    passes: int
    quantities: tuple[CountedQuantity, ...]
    absent: tuple[str, ...]
    counting_seconds: float
    timing_seconds: float


@dataclass(frozen=True, slots=True)
class Context:
    """What was measured, with what, under which conditions: `context.json`.

    `counters` is None in a run of schema version 1, which had none. `benchmarks` (by name) and
    `rungs` (in the order of the ladder) are what the harness says of itself; a run of an older one
    has those of `before.json`.
    """

    run: str
    build: Build
    started: str
    finished: str | None
    state: State
    command: tuple[str, ...]
    backend: Backend
    device: Device
    host: Host
    libraries: Mapping[str, Any]
    sweep: Sweep
    clocks_before: Mapping[str, Any]
    clocks_after: Mapping[str, Any]
    timer: Mapping[str, Any]
    counters: Counters | None
    benchmarks: Mapping[str, Benchmark]
    rungs: tuple[Rung, ...]


@dataclass(frozen=True, slots=True)
class Run:
    """One sweep on one device.

    `cases` and `rows` (one per measurement, derived from the samples) stand in the order of the
    sweep. `table` is `measurements.csv` as it lies in the folder, None when an unfinished run has
    none yet.
    """

    folder: Path
    context: Context
    cases: tuple[Case, ...]
    rows: tuple[Row, ...]
    table: tuple[Row, ...] | None
    _of: dict[str, tuple[Row, ...]] = field(default_factory=dict, init=False, compare=False)

    def of(self, benchmark: str) -> tuple[Row, ...]:
        """The rows of one benchmark, in their order."""
        if not self._of:
            found: dict[str, list[Row]] = {}
            for row in self.rows:
                found.setdefault(row.benchmark, []).append(row)
            self._of.update({name: tuple(rows) for name, rows in found.items()})
        return self._of.get(benchmark, ())


# --- what was timed and what was counted ----------------------------------------------------------


def merged(timed: Case, counted: Case) -> Case:
    """One record of a case that was timed and then counted.

    What was counted is added to what was timed; a gate that only counters can decide takes the
    place of the unverified one of its name, and a gate that failed in either phase stays failed.
    Where counting failed or was skipped, the timings stay as they are and the level gate, if
    unverified, says why. A case that was not timed stays as it is. The harness does the same
    (`merged` in harness/record/measurement.hpp).
    """
    if timed.status != "measured":
        return timed
    if counted.status != "measured":
        detail = f"level unverified: counting {counted.status}: {counted.reason}"
        return replace(
            timed,
            gates=tuple(
                replace(gate, detail=detail)
                if (gate.name, gate.verdict) == ("level", "unverified")
                else gate
                for gate in timed.gates
            ),
        )
    gates = list(timed.gates)
    for gate in counted.gates:
        names = [known.name for known in gates]
        if gate.name in names:
            place = names.index(gate.name)
            gates[place] = _stronger(gates[place], gate)
        else:
            gates.append(gate)
    return replace(
        timed,
        facts=MappingProxyType({**counted.facts, **timed.facts}),
        gates=tuple(gates),
        measurements=(*timed.measurements, *counted.measurements),
    )


def _stronger(timed: Gate, counted: Gate) -> Gate:
    """Which of two verdicts on one gate stands."""
    if timed.verdict == counted.verdict == "failed":
        return replace(timed, detail=f"{timed.detail}; {counted.detail}")
    if counted.verdict == "failed" or timed.verdict in ("unverified", "not_applicable"):
        return counted
    return timed


# --- derived rows ---------------------------------------------------------------------------------


def derive(context: Context, case: Case) -> Iterator[Row]:
    """The rows of one case, in the order of its measurements."""
    run, device = context.run, context.device.slug
    told = [_reason(gate) for gate in case.gates if gate.verdict in ("failed", "unverified")]
    sound = all(gate.verdict != "failed" for gate in case.gates)
    reasons = "; ".join(told)
    for measurement in case.measurements:
        valid, why, noise = sound, reasons, measurement.noise
        if noise.verdict in ("failed", "unverified"):
            valid = valid and noise.verdict != "failed"
            why = "; ".join([*told, _reason(noise)])
        samples = measurement.samples
        value, low, high, least, most = spread(samples)
        yield Row(
            run,
            device,
            case.backend,
            case.suite,
            case.benchmark,
            case.id,
            case.params,
            measurement.quantity,
            measurement.unit,
            measurement.provenance,
            measurement.method,
            value,
            low,
            high,
            least,
            most,
            len(samples),
            valid,
            why,
            samples,
        )


def _reason(gate: Gate) -> str:
    return f"{gate.name}: {gate.detail or gate.verdict}"


def params_text(params: Mapping[str, str], separator: str = ";") -> str:
    """`k=v` of every parameter, sorted by key, joined by `separator`."""
    return separator.join(f"{key}={params[key]}" for key in sorted(params))


def case_id(suite: str, benchmark: str, backend: str, params: Mapping[str, str]) -> str:
    """The canonical id of a case: suite/benchmark/backend/k=v/..."""
    words = [f"{key}={params[key]}" for key in sorted(params)]
    return "/".join([suite, benchmark, backend, *words])


def frame(run: Run) -> "pd.DataFrame":
    """The rows of a run as a pandas frame, with one column per parameter in place of `params`.

    A row a row of the run, in its order; numbers in the row's `unit`, parameters as text, None
    where a row has none. A parameter that is called as a column is (`method` of `async_copy`) has
    `param_` before its name.
    """
    import pandas as pd  # dear to import, and only wanted by people at a prompt

    columns: dict[str, list[Any]] = {
        name: [getattr(row, name) for row in run.rows] for name in COLUMNS if name != "params"
    }
    for axis in dict.fromkeys(axis for case in run.cases for axis in case.params):
        name = f"param_{axis}" if axis in COLUMNS else axis
        columns[name] = [row.params.get(axis) for row in run.rows]
    return pd.DataFrame(columns)


# --- reading --------------------------------------------------------------------------------------


def load_run(folder: Path) -> Run:
    """Read the run in `folder`.

    Raises `RunError` when a file is missing, damaged, or of a schema version that is not known. A
    torn last line of `samples.jsonl` is no damage: it is what an interrupted run leaves behind.
    """
    if not folder.is_dir():
        raise RunError(
            folder,
            found="a file" if folder.exists() else "nothing there",
            expected=f"a run folder ({CONTEXT_FILE}, {SAMPLES_FILE}, {MEASUREMENTS_FILE})",
            mend="name the folder that strata run printed",
        )
    with _without_collecting():
        context = _context(folder / CONTEXT_FILE)
        latest = _latest(folder / SAMPLES_FILE)
        planned = {case: place for place, case in enumerate(context.sweep.cases)}
        cases = sorted(latest.values(), key=lambda case: planned.get(case.id, len(planned)))
        rows = tuple(row for case in cases for row in derive(context, case))
        table_path = folder / MEASUREMENTS_FILE
        unfinished = context.state != "complete" and not (
            table_path.exists() or _packed(table_path).exists()
        )
        return Run(
            folder=folder,
            context=context,
            cases=tuple(cases),
            rows=rows,
            table=None if unfinished else tuple(_table(table_path, rows)),
        )


@contextmanager
def _without_collecting() -> Iterator[None]:
    """No garbage collection meanwhile: records hold no cycles, and there may be a million of them.

    Each walk over them all takes as long as reading a good part of them.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _packed(path: Path) -> Path:
    return path.with_name(path.name + ".gz")


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    """A file of the run folder, or its packed form where that is what is there; read bit by bit."""
    packed = _packed(path)
    if packed.exists():
        if path.exists():
            raise RunError(
                packed,
                found=f"{path.name} beside it",
                expected="one of the two",
                mend="remove the one that is out of date",
            )
        try:
            with gzip.open(packed, "rb") as file:
                yield cast("IO[bytes]", file)
        except (OSError, EOFError, zlib.error) as error:
            raise RunError(
                packed, found=f"{error}", expected="a whole gzip file", mend="fetch it again"
            ) from None
        return
    try:
        with path.open("rb") as file:
            yield file
    except OSError as error:
        found = "no such file" if isinstance(error, FileNotFoundError) else f"{error.strerror}"
        raise RunError(
            path, found=found, expected="a readable file of the run folder", mend=RESUME
        ) from None


def _read(path: Path) -> bytes:
    """The bytes of a file of the run folder."""
    with _opened(path) as file:
        return file.read()


def _decode(path: Path, line: int | None, raw: bytes, mend: str) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        if line is None:
            line = raw.count(b"\n", 0, error.start) + 1
        raise RunError(
            path, line, found=f"byte 0x{raw[error.start]:02x}", expected="UTF-8 text", mend=mend
        ) from None


class _NotFiniteError(ValueError):
    """A JSON number that JSON does not have."""


def _refuse_constant(text: str) -> NoReturn:
    raise _NotFiniteError(text)


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        seen = {key for key in result if sum(key == other for other, _ in pairs) > 1}
        raise ValueError(f"the key {min(seen)!r} twice in one object")
    return result


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, object_pairs_hook=_refuse_duplicates)
"""Made once: `json.loads` would make one for each line."""


def _parse(path: Path, line: int | None, text: str, mend: str) -> Any:
    """Strict JSON: no NaN, no Infinity, no key twice."""
    try:
        return _DECODER.decode(text)
    except _NotFiniteError as error:
        raise RunError(
            path, line, found=f"{error}", expected="finite numbers only", mend=mend
        ) from None
    except json.JSONDecodeError as error:
        raise RunError(
            path,
            line or error.lineno,
            found=f"broken JSON ({error.msg} at column {error.colno})",
            expected="one whole JSON object",
            mend=mend,
        ) from None
    except (ValueError, RecursionError) as error:
        raise RunError(
            path, line, found=f"{error}", expected="one whole JSON object", mend=mend
        ) from None


class _Fields:
    """The members of a JSON object, taken out with a check each; every refusal names its place."""

    __slots__ = ("_data", "_line", "_mend", "_path", "_where")

    def __init__(self, data: Any, path: Path, line: int | None, mend: str, where: str = "") -> None:
        self._path, self._line, self._mend, self._where = path, line, mend, where
        if not isinstance(data, dict):
            self.refuse(_shown(data), f"an object as {where}" if where else "a JSON object")
        self._data: dict[str, Any] = data

    def refuse(self, found: str, expected: str) -> NoReturn:
        raise RunError(self._path, self._line, found=found, expected=expected, mend=self._mend)

    def _name(self, key: str) -> str:
        return f"{self._where}.{key}" if self._where else key

    def _wrong(self, key: str, expected: str) -> NoReturn:
        self.refuse(_shown(self._data[key]), f"{expected} as {self._name(key)}")

    def _take(self, key: str) -> Any:
        if key not in self._data:
            self.refuse(f"no {self._name(key)}", f"{self._name(key)} to be there")
        return self._data[key]

    def text(self, key: str, pattern: re.Pattern[str] | None = None) -> str:
        value = self._take(key)
        if not isinstance(value, str):
            self._wrong(key, "text")
        if pattern and not pattern.fullmatch(value):
            self._wrong(key, f"text like {pattern.pattern}")
        return value

    def text_or_none(self, key: str, pattern: re.Pattern[str] | None = None) -> str | None:
        return None if self._take(key) is None else self.text(key, pattern)

    def choice(self, key: str, choices: Collection[T]) -> T:
        value = self._take(key)
        for choice in choices:
            if value == choice:
                return choice
        self._wrong(key, " or ".join(choices))

    def flag(self, key: str) -> bool:
        value = self._take(key)
        if not isinstance(value, bool):
            self._wrong(key, "true or false")
        return value

    def count(self, key: str) -> int:
        value = self._take(key)
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            self._wrong(key, "a whole number, 0 or more")
        return value

    def number(self, key: str) -> float:
        value = finite(self._take(key))
        if value is None or value < 0:
            self._wrong(key, "a finite number, 0 or more")
        return value

    def mapping(self, key: str) -> Mapping[str, Any]:
        value = self._take(key)
        if not isinstance(value, dict):
            self._wrong(key, "an object")
        return MappingProxyType(value)

    def mapping_or_none(self, key: str) -> Mapping[str, Any] | None:
        return None if self._take(key) is None else self.mapping(key)

    def items(self, key: str) -> list[Any]:
        value = self._take(key)
        if not isinstance(value, list):
            self._wrong(key, "an array")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        values = self.items(key)
        if not all(isinstance(value, str) for value in values):
            self._wrong(key, "an array of text")
        return tuple(values)

    def objects(self, key: str) -> "Iterator[_Fields]":
        for place in range(len(self.items(key))):
            yield self.item(key, place)

    def item(self, key: str, place: int) -> "_Fields":
        where = f"{self._name(key)}[{place}]"
        return _Fields(self.items(key)[place], self._path, self._line, self._mend, where)

    def object(self, key: str) -> "_Fields":
        return _Fields(self._take(key), self._path, self._line, self._mend, self._name(key))

    def samples(self, key: str) -> tuple[float, ...]:
        values = self.items(key)
        result = tuple(map(finite, values))
        if not result:
            self._wrong(key, "at least one sample")
        for place, (value, raw) in enumerate(zip(result, values, strict=True)):
            if value is None:
                self.refuse(_shown(raw), f"a finite number as {self._name(key)}[{place}]")
        return tuple(value for value in result if value is not None)

    def others(self, *known: str) -> Mapping[str, Any]:
        return MappingProxyType({k: v for k, v in self._data.items() if k not in known})

    def has(self, key: str) -> bool:
        return key in self._data


def finite(value: object) -> float | None:
    """A number of a JSON file as it is; None for what is none, true and false, NaN and infinity."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else text[:77] + "..."


def _version(fields: _Fields, path: Path, line: int | None) -> int:
    version = fields.count("schema_version")
    if version not in SCHEMA_VERSIONS:
        raise RunError(
            path,
            line,
            found=f"schema version {version}",
            expected=f"schema version {' or '.join(map(str, SCHEMA_VERSIONS))}",
            mend=f"read it with the strata that knows version {version}",
        )
    return version


def _context(path: Path) -> Context:
    mend = "measure again; a context cannot be written afterwards"
    data = _parse(path, None, _decode(path, None, _read(path), mend), mend)
    fields = _Fields(data, path, None, mend)
    version = _version(fields, path, None)
    build, device = fields.object("strata"), fields.object("device")
    host, sweep = fields.object("host"), fields.object("sweep")
    clocks = None if fields.mapping_or_none("clocks") is None else fields.object("clocks")
    nothing: Mapping[str, Any] = MappingProxyType({})
    try:
        declared = msgspec.convert(data, Declared)
    except msgspec.ValidationError as error:
        fields.refuse(f"{error}", "benchmarks and rungs as results/schema has them")
    return Context(
        run=fields.text("run", WORD),
        build=Build(
            version=build.text("version"),
            commit=build.text("commit", COMMIT),
            dirty=build.flag("dirty"),
            source_digest=build.text("source_digest"),
            build_type=build.text("build_type"),
            compiler=build.text("compiler"),
            cuda_compiler=build.text_or_none("cuda_compiler"),
            flags=build.text("flags"),
            cuda_architectures=build.text_or_none("cuda_architectures"),
        ),
        started=fields.text("started", UTC),
        finished=fields.text_or_none("finished", UTC),
        state=fields.choice("state", STATES),
        command=fields.texts("command"),
        backend=fields.choice("backend", BACKENDS),
        device=Device(
            slug=device.text("slug", SLUG),
            name=device.text("name"),
            uuid=device.text_or_none("uuid"),
            facts=device.others("slug", "name", "uuid"),
        ),
        host=Host(
            cpu=host.text("cpu"),
            cores=host.count("cores"),
            os=host.text("os"),
            kernel=host.text("kernel"),
            memory_bytes=host.count("memory_bytes"),
            caches=tuple(
                CpuCache(
                    level=cache.count("level"),
                    type=cache.text("type"),
                    bytes=cache.count("bytes"),
                    line_bytes=cache.count("line_bytes"),
                )
                for cache in host.objects("caches")
            ),
            facts=host.others("cpu", "cores", "os", "kernel", "memory_bytes", "caches"),
        ),
        libraries=fields.mapping("libraries"),
        sweep=Sweep(
            name=sweep.text("name"),
            file=sweep.text("file"),
            text=sweep.text("text") if sweep.has("text") else None,
            digest=None if sweep.has("text") else sweep.text("digest"),
            plan=sweep.mapping("plan"),
            cases=sweep.texts("cases"),
        ),
        clocks_before=clocks.mapping("before") if clocks else nothing,
        clocks_after=clocks.mapping_or_none("after") or nothing if clocks else nothing,
        timer=fields.mapping("timer"),
        counters=_counters(fields.object("counters")) if version > 1 else None,
        benchmarks=declared.benchmarks or before().benchmarks or {},
        rungs=declared.rungs or before().rungs or (),
    )


def _counters(fields: _Fields) -> Counters:
    return Counters(
        asked=fields.texts("asked"),
        state=fields.choice("state", COUNTERS_STATES),
        reason=fields.text("reason"),
        mend=fields.text("mend"),
        chip=fields.text("chip"),
        sets=fields.texts("sets"),
        passes=fields.count("passes"),
        quantities=tuple(
            CountedQuantity(
                name=quantity.text("name"),
                metric=quantity.text("metric"),
                unit=quantity.text("unit"),
                meaning=quantity.text("meaning"),
                set=quantity.text("set"),
            )
            for quantity in fields.objects("quantities")
        ),
        absent=fields.texts("absent"),
        counting_seconds=fields.number("counting_seconds"),
        timing_seconds=fields.number("timing_seconds"),
    )


class _Known:
    """What has been checked before in this file: a run says the same words again and again.

    Whatever is not in here takes the way through `_Fields`, which checks it and names its place;
    what passed is remembered and shared.
    """

    __slots__ = ("gates", "heads", "params", "words")

    def __init__(self) -> None:
        self.heads: dict[tuple[Any, ...], Measurement] = {}
        """By version, quantity, unit, provenance and method: a measurement that has them."""
        self.gates: dict[tuple[Any, ...], Gate] = {}
        self.params: set[tuple[Any, Any]] = set()
        self.words: dict[str, str] = {}


def _latest(path: Path) -> dict[str, Case]:
    """The last record of each case, with what was counted after it.

    A line of counts belongs to the last line of its case that stands before it, so that a case
    which is measured again has none until it is counted again; the last counts win, and counts of
    a case that no line before them measured are ignored.
    """
    timed: dict[str, Case] = {}
    whole: dict[str, Case] = {}
    for kind, case, fields in _cases(path):
        if kind == "case":
            timed[case.id] = whole[case.id] = case
        elif case.id in timed:
            whole[case.id] = merged(timed[case.id], case)
            _check_keys(whole[case.id], fields)
    return whole


def _cases(path: Path) -> "Iterator[tuple[Kind, Case, _Fields]]":
    """Every whole line in file order; a torn last line, which has no line end, is left out."""
    mend = "delete that line and " + RESUME
    known = _Known()
    with _opened(path) as file:
        for number, raw in enumerate(file, start=1):
            if not raw.endswith(b"\n"):
                return
            data = _parse(path, number, _decode(path, number, raw, mend), mend)
            fields = _Fields(data, path, number, mend)
            version = _version(fields, path, number)
            kind = fields.choice("kind", KINDS[version])
            yield kind, _case(fields, kind, version, known), fields


def _case(fields: _Fields, kind: Kind, version: int, known: _Known) -> Case:
    status = fields.choice("status", STATUSES)
    params = fields.mapping("params")
    for key, value in params.items():
        if type(value) is str and (key, value) in known.params:
            continue
        if not NAME.fullmatch(key) or not isinstance(value, str) or not WORD.fullmatch(value):
            fields.refuse(f"{key}={_shown(value)}", "words as params")
        known.params.add((key, value))
    measured = status == "measured"
    words = known.words
    suite, benchmark = fields.text("suite", NAME), fields.text("benchmark", NAME)
    case = Case(
        id=fields.text("case"),
        suite=words.setdefault(suite, suite),
        benchmark=words.setdefault(benchmark, benchmark),
        backend=fields.choice("backend", BACKENDS),
        params=MappingProxyType({k: words.setdefault(v, v) for k, v in params.items()}),
        status=status,
        reason=fields.text("reason"),
        started=fields.text("started", UTC),
        seconds=fields.number("seconds"),
        facts=fields.mapping("facts") if measured or fields.has("facts") else MappingProxyType({}),
        gates=_gates(fields, known) if measured or fields.has("gates") else (),
        measurements=_measurements(fields, version, known)
        if measured or fields.has("measurements")
        else (),
    )
    if case.measurements and not measured:
        fields.refuse(f"measurements of a {status} case", "measurements of measured cases only")
    if not measured and not case.reason:
        fields.refuse(f"a {status} case without a reason", "a reason")
    canonical = case_id(case.suite, case.benchmark, case.backend, case.params)
    if case.id != canonical:
        fields.refuse(f"case {case.id}", f"{canonical}, as its parameters say")
    _check_keys(case, fields)
    if kind == "counts":
        timed = [m.quantity for m in case.measurements if m.provenance not in COUNTABLE]
        if timed:
            fields.refuse(f"{timed[0]} in a line of counts", f"{' or '.join(COUNTABLE)} quantities")
    return case


def _check_keys(case: Case, fields: _Fields) -> None:
    keys = {(one.quantity, one.method) for one in case.measurements}
    if len(keys) == len(case.measurements):
        return
    for one in case.measurements:
        if (one.quantity, one.method) not in keys:
            fields.refuse(
                f"{one.quantity} by {one.method} twice", "each quantity and method once a case"
            )
        keys.remove((one.quantity, one.method))


def _gates(fields: _Fields, known: _Known) -> tuple[Gate, ...]:
    """The gates of a line, in its order."""
    gates: list[Gate] = []
    for place, item in enumerate(fields.items("gates")):
        try:
            gate = known.gates[item["gate"], item["verdict"], item["detail"]]
        except (KeyError, TypeError):
            checked = fields.item("gates", place)
            gate = _gate(checked, checked.text("gate", NAME))
            known.gates[gate.name, gate.verdict, gate.detail] = gate
        gates.append(gate)
    return tuple(gates)


def _gate(fields: _Fields, name: str) -> Gate:
    return Gate(name=name, verdict=fields.choice("verdict", VERDICTS), detail=fields.text("detail"))


def _measurements(fields: _Fields, version: int, known: _Known) -> tuple[Measurement, ...]:
    """The measurements of a line, in its order."""
    measurements: list[Measurement] = []
    for place, item in enumerate(fields.items("measurements")):
        try:
            noise = item["noise"]
            gate = known.gates["noise", noise["verdict"], noise["detail"]]
            head = known.heads[
                version, item["quantity"], item["unit"], item["provenance"], item["method"]
            ]
            samples = _plain_samples(item["samples"])
        except (KeyError, TypeError, OverflowError):
            samples = None
        if samples is None:
            one = _measurement(fields.item("measurements", place), QUANTITY[version])
            known.gates.setdefault(("noise", one.noise.verdict, one.noise.detail), one.noise)
            known.heads.setdefault(
                (version, one.quantity, one.unit, one.provenance, one.method), one
            )
        else:
            one = Measurement(head.quantity, head.unit, head.provenance, head.method, samples, gate)
        measurements.append(one)
    return tuple(measurements)


def _plain_samples(values: Any) -> tuple[float, ...] | None:
    """Samples that are numbers, at least one, and finite at a glance; else None: look closer."""
    if type(values) is not list or not values:
        return None
    kinds = set(map(type, values))
    if kinds == {float}:
        samples = tuple(values)
    elif kinds <= {int, float}:
        samples = tuple(map(float, values))
    else:
        return None
    return samples if math.isfinite(sum(samples)) else None


def _measurement(fields: _Fields, names: re.Pattern[str]) -> Measurement:
    return Measurement(
        quantity=fields.text("quantity", names),
        unit=fields.text("unit"),
        provenance=fields.choice("provenance", PROVENANCES),
        method=fields.text("method", names),
        samples=fields.samples("samples"),
        noise=_gate(fields.object("noise"), "noise"),
    )


# --- the table ------------------------------------------------------------------------------------


class _Expected:
    """The rows that the samples give, to be met in the table one after the other.

    A row of the table that says what the samples give is not read twice: most are of this kind, and
    so a table of a million rows is compared in seconds. All others are read with every check.
    """

    __slots__ = ("_next", "_params", "_places", "_rows", "_shared", "_texts")

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = rows
        self._next = 0
        self._params: object = None
        self._shared: list[str] = []
        self._places: dict[tuple[str, str, str], int] | None = None

    def same(self, cells: Sequence[str]) -> Row | None:
        """The next row if the cells of a line say exactly that, else None."""
        place = self._next
        if place >= len(self._rows) or len(cells) != len(COLUMNS):
            return None
        row = self._rows[place]
        if row.params is not self._params:
            self._params = row.params
            self._shared = [
                row.run, row.device, row.backend, row.suite, row.benchmark, row.case,
                params_text(row.params),
            ]  # fmt: skip
        if not (
            cells[7] == row.quantity
            and cells[9] == row.provenance
            and cells[10] == row.method
            and cells[8] == row.unit
            and cells[17] == ("true" if row.valid else "false")
            and cells[18] == row.reasons
            and cells[:7] == self._shared
            and _NUMBERS.fullmatch(";".join(cells[11:17]))
            and float(cells[11]) == row.value
            and float(cells[14]) == row.minimum
            and float(cells[15]) == row.maximum
            and int(cells[16]) == row.samples
            and (float(cells[12]) if cells[12] else None) == row.ci_low
            and (float(cells[13]) if cells[13] else None) == row.ci_high
        ):
            return None
        self._next = place + 1
        return row

    def met(self, row: Row) -> None:
        """A row that was read with every check: what is expected after it follows its own place."""
        if self._places is None:
            self._places = {one.key: place for place, one in enumerate(self._rows)}
        self._next = self._places.get(row.key, self._next - 1) + 1


_NUMBERS = re.compile(
    r"{n};({n})?;({n})?;{n};{n};({c})".format(n=f"(?:{NUMBER.pattern})", c=COUNT.pattern), re.ASCII
)
"""Value, interval, range and count of a row, as `NUMBER` and `COUNT` have them."""


def _table(path: Path, expected: Sequence[Row]) -> Iterator[Row]:
    """The rows of `measurements.csv`, checked one by one.

    A row that says what the samples give is the row of the samples itself.
    """
    with _opened(path) as file:
        text = TextIOWrapper(file, encoding="utf-8", newline="")
        reader = csv.reader(text, strict=True)
        try:
            yield from _table_rows(path, reader, _Expected(expected))
        except UnicodeDecodeError:
            _decode(path, None, _read(path), REWRITE)  # says where
            raise
        finally:
            text.detach()


class _Lines(Protocol):
    """What `csv.reader` gives."""

    @property
    def line_num(self) -> int: ...
    def __iter__(self) -> Iterator[list[str]]: ...
    def __next__(self) -> list[str]: ...


def _table_rows(path: Path, reader: "_Lines", expected: _Expected) -> Iterator[Row]:
    def refuse(found: str, expected: str) -> NoReturn:
        raise RunError(path, reader.line_num, found=found, expected=expected, mend=REWRITE)

    met: list[Row] = []
    lines = array("Q")
    seen: dict[tuple[str, str, str], int] | None = None
    try:
        _check_header(next(reader, []), refuse)
        for cells in reader:
            row = expected.same(cells)
            if row is None:
                if len(cells) != len(COLUMNS):
                    refuse(f"{len(cells)} fields", f"{len(COLUMNS)} fields")
                row = _row(dict(zip(COLUMNS, cells, strict=True)), refuse)
                expected.met(row)
                if seen is None:
                    seen = {one.key: line for one, line in zip(met, lines, strict=True)}
            if seen is not None:
                if row.key in seen:
                    refuse(
                        f"{row.quantity} by {row.method} of {row.case} again (first in line "
                        f"{seen[row.key]})",
                        "each case, quantity and method once",
                    )
                seen[row.key] = reader.line_num
            else:
                met.append(row)
                lines.append(reader.line_num)
            yield row
    except csv.Error as error:
        refuse(f"broken CSV ({error})", "RFC 4180")


class _Refusal(Protocol):
    def __call__(self, found: str, expected: str) -> NoReturn: ...


def _check_header(header: Sequence[str], refuse: _Refusal) -> None:
    if header and header[0].startswith("\ufeff"):
        refuse("a byte order mark, as some spreadsheets write it", "UTF-8 text without one")
    for mark, name in ((";", "';'"), ("\t", "a tab")):
        if len(header) == 1 and mark in header[0]:
            refuse(f"{name} between the columns, as some spreadsheets write them", "','")
    missing = [name for name in COLUMNS if name not in header]
    unknown = [name for name in header if name not in COLUMNS]
    if missing:
        refuse(f"no column {', '.join(missing)}", f"the columns {', '.join(COLUMNS)}")
    if unknown:
        refuse(f"unknown column {', '.join(unknown)}", f"the columns {', '.join(COLUMNS)}")
    if tuple(header) != COLUMNS:
        refuse(f"the columns in the order {', '.join(header)}", f"the order {', '.join(COLUMNS)}")


def _row(cells: Mapping[str, str], refuse: _Refusal) -> Row:
    def matching(name: str, pattern: re.Pattern[str], expected: str) -> str:
        if not pattern.fullmatch(cells[name]):
            refuse(f"{cells[name]!r} as {name}", expected)
        return cells[name]

    def number(name: str) -> float:
        value = float(matching(name, NUMBER, "a finite number with a '.' decimal"))
        if not math.isfinite(value):
            refuse(f"{cells[name]!r} as {name}", "a finite number with a '.' decimal")
        return value

    def number_or_none(name: str) -> float | None:
        return number(name) if cells[name] else None

    def choice(name: str, choices: Collection[T]) -> T:
        for word in choices:
            if cells[name] == word:
                return word
        refuse(f"{cells[name]!r} as {name}", " or ".join(choices))

    pairs = [pair.partition("=") for pair in cells["params"].split(";") if pair]
    params = {key: value for key, _, value in pairs}
    if params_text(params) != cells["params"]:
        refuse(f"{cells['params']!r} as params", "k=v;k=v sorted by key")
    return Row(
        run=cells["run"],
        device=cells["device"],
        backend=choice("backend", BACKENDS),
        suite=cells["suite"],
        benchmark=cells["benchmark"],
        case=cells["case"],
        params=MappingProxyType(params),
        quantity=cells["quantity"],
        unit=cells["unit"],
        provenance=choice("provenance", PROVENANCES),
        method=cells["method"],
        value=number("value"),
        ci_low=number_or_none("ci_low"),
        ci_high=number_or_none("ci_high"),
        minimum=number("minimum"),
        maximum=number("maximum"),
        samples=int(matching("samples", COUNT, "a whole number")),
        valid=choice("valid", ("true", "false")) == "true",
        reasons=cells["reasons"],
    )
