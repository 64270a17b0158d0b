"""The types of `context.json` and of a line of `samples.jsonl`.

`results/schema` documents them for people and other languages; a test compares the two.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, get_args

from msgspec import Meta, Struct, field

SCHEMA_VERSIONS = (1, 2, 3)
"""Version 2 has counters: lines of kind `counts`, and `counters` in the context; 3 has `trace`."""

Backend = Literal["cuda", "host"]
Verdict = Literal["passed", "failed", "unverified", "not_applicable"]
Provenance = Literal["timed", "counted", "modelled", "published", "reported"]

VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
COUNTABLE: tuple[Provenance, ...] = ("counted", "modelled")
"""What a line of kind `counts` may hold: under a profiler nothing is timed."""
TRACEABLE: tuple[Provenance, ...] = ("timed", *COUNTABLE)
"""What a line of kind `trace` may hold."""

NAME = re.compile(r"[a-z][a-z0-9_]*")
METRIC = re.compile(r"[A-Za-z][A-Za-z0-9_.]*")
"""Quantities and methods: from version 2 on they may be a chip's own metrics, as it names them."""
WORD = re.compile(r"[A-Za-z0-9._+-]+")
COMMIT = re.compile(r"[0-9a-f]{40}|unknown")

# The reader checks these against their patterns, each word once: there are too many for msgspec.
Name = Annotated[str, Meta(extra_json_schema={"pattern": f"^{NAME.pattern}$"})]
Metric = Annotated[str, Meta(extra_json_schema={"pattern": f"^{METRIC.pattern}$"})]
Word = Annotated[str, Meta(extra_json_schema={"pattern": f"^{WORD.pattern}$"})]

Utc = Annotated[
    str, Meta(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?Z\Z")
]
Count = Annotated[int, Meta(ge=0)]
Amount = Annotated[float, Meta(ge=0)]


# --- samples.jsonl --------------------------------------------------------------------------------


class Gate(Struct, frozen=True, gc=False):
    """One check of one case."""

    name: Name = field(name="gate")
    verdict: Verdict
    detail: str


class Noise(Struct, frozen=True, gc=False):
    """The noise check of one measurement."""

    name: ClassVar[str] = "noise"
    verdict: Verdict
    detail: str


class Measurement(Struct, frozen=True, gc=False):
    """The raw samples of one quantity of one case, in the order taken."""

    quantity: Metric
    unit: str
    provenance: Provenance
    method: Metric
    samples: Annotated[tuple[float, ...], Meta(min_length=1)]
    noise: Noise


class Case(Struct, frozen=True, gc=False):
    """One benchmark at one point of its axes, timed and counted; the numbers are in the rows."""

    id: str = field(name="case")
    suite: Name
    benchmark: Name
    backend: Backend
    params: Mapping[Name, Word]
    status: Literal["measured", "skipped", "failed"]
    reason: str
    started: Utc
    seconds: Amount
    facts: Mapping[str, Any]
    gates: tuple[Gate, ...]


class Line(Case, frozen=True, gc=False, kw_only=True):
    """A line of `samples.jsonl`; `visit` is the ordinal of its case's timing in the run."""

    schema_version: Literal[1, 2, 3]
    kind: Literal["case", "counts", "trace"]
    measurements: tuple[Measurement, ...]
    visit: Annotated[int, Meta(ge=1)] = 1


# --- context.json ---------------------------------------------------------------------------------


class Build(Struct, frozen=True, gc=False):
    """The measuring harness: its source and how it was compiled."""

    version: str
    commit: Annotated[str, Meta(pattern=rf"^({COMMIT.pattern})\Z")]
    dirty: bool
    source_digest: str
    build_type: str
    compiler: str
    cuda_compiler: str | None
    flags: str
    cuda_architectures: str | None


class Device(Struct, frozen=True, gc=False):
    """The measured device. `facts` hold whatever else it reported."""

    slug: Annotated[str, Meta(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*\Z")]
    name: str
    uuid: str | None
    facts: Mapping[str, Any]

    @property
    def sm_count(self) -> int | None:
        """Streaming multiprocessors of a GPU; None if the device lacks it."""
        value = self.facts.get("sm_count")
        return value if isinstance(value, int) and value > 0 else None


class CpuCache(Struct, frozen=True, gc=False):
    """One cache of the host CPU; sizes in bytes."""

    level: Count
    type: str
    bytes: Count
    line_bytes: Count


class Host(Struct, frozen=True, gc=False):
    """The machine around the device; memory in bytes. `facts` hold whatever else is known."""

    cpu: str
    cores: Count
    os: str
    kernel: str
    memory_bytes: Count
    caches: tuple[CpuCache, ...]
    facts: Mapping[str, Any]


class Sweep(Struct, frozen=True, gc=False):
    """The planned measurements: the plan and the case ids, in order.

    With the text of its file, or in runs of earlier builds a digest of it. `dropped`: what it names
    and the device cannot run, with the reasons.
    """

    name: str
    file: str
    plan: Mapping[str, Any]
    cases: tuple[str, ...]
    text: str | None = None
    digest: str | None = None
    dropped: tuple[str, ...] | None = None


class Clocks(Struct, frozen=True, gc=False):
    """Clocks, power and temperature around the run; `after` is None before its end."""

    before: Mapping[str, Any]
    after: Mapping[str, Any] | None


class Bound(Struct, frozen=True, gc=False):
    """The bound of a gate, and the evidence or reason for its value."""

    value: float
    evidence: str


class CountedQuantity(Struct, frozen=True, gc=False):
    """A counted quantity: our name and the chip's, and its meaning."""

    name: str
    metric: str
    unit: str
    meaning: str
    set: str


class Counters(Struct, frozen=True, gc=False):
    """The planned counts, whether they were taken, and if not, the reason and the remedy.

    `absent` names what the chip cannot count; `passes` is how often work was repeated to be counted
    once.
    """

    asked: tuple[str, ...]
    state: Literal["counted", "not_asked", "unavailable", "external"]
    reason: str
    mend: str
    chip: str
    sets: tuple[str, ...]
    passes: Count
    quantities: tuple[CountedQuantity, ...]
    absent: tuple[str, ...]
    counting_seconds: Amount
    timing_seconds: Amount


class Axis(Struct, frozen=True, gc=False):
    """One parameter of a benchmark: either `choices`, or an integer in a range."""

    name: str
    meaning: str
    defaults: tuple[str, ...]
    choices: tuple[str, ...] | None = None
    minimum: int | None = None
    maximum: int | None = None


class Quantity(Struct, frozen=True, gc=False):
    """One quantity of a benchmark, and its meaning."""

    name: str
    meaning: str


class Benchmark(Struct, frozen=True, gc=False):
    """The declaration of a benchmark."""

    suite: str
    question: str
    axes: tuple[Axis, ...]
    quantities: tuple[Quantity, ...]


class Story(Struct, frozen=True, gc=False):
    """The story of a rung of any ladder: the rung `before` it, its change."""

    name: str
    backend: Backend
    before: str
    question: str
    change: str
    source: str
    expectation: str


class Rung(Story, frozen=True, gc=False):
    """One rung of the n-body ladder, with its summation.

    Numbers are 0 if they are not meaningful: `issue_slots` (instructions that a warp issues per
    interaction), `bodies_of_block`, `threads_of_read`, `vector_operations` (per interaction).
    """

    sum: Literal["running", "blocks", "halves"]
    approximate: bool
    issue_slots: Amount = 0.0
    bodies_of_block: Count = 0
    launch_for_each_system: bool = False
    threads_of_read: Count = 0
    vector_operations: Amount = 0.0
    layouts: tuple[str, ...] = ()


class Context(Struct, frozen=True, gc=False):
    """What was measured, with what, under which conditions: `context.json`.

    `counters` is None in a run of schema version 1, which had none. `benchmarks` (by name) and
    `rungs` (of the n-body ladder, in order) are declared by the harness; a run of an older one uses
    those of `before.json`. `ladders` are the stories of the other ladders, by suite. `bounds` are
    those of the gates, by name.
    """

    run: Annotated[str, Meta(pattern=rf"^{WORD.pattern}\Z")]
    build: Build = field(name="strata")
    started: Utc
    finished: Utc | None
    state: Literal["running", "complete", "interrupted", "aborted"]
    command: tuple[str, ...]
    backend: Backend
    device: Device
    host: Host
    libraries: Mapping[str, Any]
    sweep: Sweep
    clocks: Clocks | None
    timer: Mapping[str, Any]
    counters: Counters | None
    benchmarks: Mapping[str, Benchmark]
    rungs: tuple[Rung, ...]
    ladders: Mapping[str, tuple[Story, ...]]
    bounds: Mapping[str, Bound]

    @property
    def clocks_before(self) -> Mapping[str, Any]:
        """The values read before the run; empty if none could be read."""
        return self.clocks.before if self.clocks else {}

    @property
    def clocks_after(self) -> Mapping[str, Any]:
        """The values read after the run; empty if none could be read, or before its end."""
        return (self.clocks and self.clocks.after) or {}
