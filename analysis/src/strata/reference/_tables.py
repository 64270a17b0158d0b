"""The published figures as records, a row of `results/reference/*.csv` each."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Protocol, TypeVar

from strata.reference._bibliography import Source, source
from strata.reference._files import Line, Span, folder, lines

Record = TypeVar("Record")

TIERS = ("A", "B", "C", "")
"""Read in the source itself, in a transcription, in output that somebody pasted; or not told."""
LATENCY_LEVELS = (
    "shared", "l1", "l1_5", "l2_near", "l2_far", "l2", "dram", "constant_l1", "constant_l15",
    "texture", "tlb_l1_miss", "tlb_l2_miss", "dsmem",
)  # fmt: skip
BANDWIDTH_LEVELS = ("shared", "l1", "l2", "dram", "constant_l1", "compute")
GEOMETRY_LEVELS = (
    "l1", "l2", "l2_segment", "constant_l1", "constant_l15", "texture", "tlb_l1", "tlb_l2",
    "tlb_l3",
)  # fmt: skip
LATENCY_UNITS = ("cycles", "ns", "cycles per warp")
BANDWIDTH_UNITS = (
    "B/clk", "B/clk/SM", "GB/s", "GB/s/SM", "GiB/s", "TB/s", "GFLOP/s", "ops/clk/SM",
)  # fmt: skip
PROBLEMS = ("single", "galaxies")
PRECISIONS = ("fp32", "fp64")
_FROM = ("tier", "doubt", "key", "source")


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a row comes from. `doubt` says in a few words why not to trust it; blank: no reason.

    `keys` are those of the bibliography, the first for what the row states. `text` names the source
    as the table does, `locator` the place in it (blank where `text` tells it).
    """

    keys: tuple[str, ...]
    tier: str
    doubt: str
    text: str
    locator: str


@dataclass(frozen=True, slots=True)
class PublishedLatency:
    """Somebody's latency of one level; in `unit`, which is not always cycles."""

    gpu: str
    architecture: str
    level: str
    metric: str
    value: Span
    unit: str
    method: str
    origin: Origin


@dataclass(frozen=True, slots=True)
class PublishedBandwidth:
    """Somebody's bandwidth of one level, or (level `compute`) rate of arithmetic; in `unit`."""

    gpu: str
    architecture: str
    level: str
    operation: str
    value: float
    unit: str
    origin: Origin


@dataclass(frozen=True, slots=True)
class PublishedGeometry:
    """Somebody's sizes of a cache in bytes; of a TLB its reach and the page of an entry."""

    gpu: str
    architecture: str
    level: str
    size_bytes: Span
    line_bytes: int | None
    fetch_granularity_bytes: int | None
    origin: Origin


@dataclass(frozen=True, slots=True)
class PublishedInstruction:
    """Somebody's latency of an instruction in cycles, and operations of threads per clock and SM.

    `instruction` is as the source calls it: SASS, PTX and what it became, or words.
    """

    gpu: str
    architecture: str
    instruction: str
    latency_cycles: Span
    throughput: float | None
    origin: Origin


@dataclass(frozen=True, slots=True)
class PublishedRate:
    """Somebody's interactions per second of an all-pairs n-body code, N² for each step.

    `name` is what the source calls the row, where it does; `label` is short enough for a figure;
    `bodies` are those of one system, None where not told.
    """

    gpu: str
    architecture: str
    problem: str
    precision: str
    implementation: str
    name: str
    label: str
    bodies: int | None
    rate: float
    origin: Origin

    @property
    def source(self) -> str:
        """The source as the table names it."""
        return self.origin.text

    @property
    def locator(self) -> str:
        """The place in the source."""
        return self.origin.locator


@dataclass(frozen=True, slots=True)
class Gpu:
    """What a data sheet, a white paper or the device itself says of a GPU; None: not found.

    Clocks in MHz, rates in GFLOP/s and GB/s (10⁹), memory in GB as the source counts them.
    """

    gpu: str
    architecture: str
    compute_capability: str
    year: int | None
    sm_count: int | None
    boost_mhz: float | None
    fp32_gflops: float | None
    mem_type: str
    mem_gb: Span
    mem_bus_bits: int | None
    dram_peak_gbs: float | None
    l2_bytes: int | None
    l1_shared_bytes_per_sm: int | None
    origin: Origin


class Published(Protocol):
    """What every row has."""

    @property
    def origin(self) -> Origin:
        """Where it comes from."""


def sources_of(row: Published) -> tuple[Source, ...]:
    """The sources of a row, the first for what it states."""
    return tuple(source(key) for key in row.origin.keys)


def source_of(row: Published) -> Source:
    """The source of what a row states."""
    return sources_of(row)[0]


def _origin(line: Line, locator: str) -> Origin:
    keys = tuple(line.word("key").split())
    for key in keys:
        try:
            source(key)
        except KeyError as error:
            raise line.bad(f"the key '{key}'", "a key of sources.csv") from error
    return Origin(
        keys=keys,
        tier=line.one_of("tier", TIERS),
        doubt=line.text("doubt"),
        text=line.word("source"),
        locator=locator,
    )


_Columns = tuple[str, ...]
_LATENCY: _Columns = (
    "gpu", "architecture", "level", "metric", "value", "unit", "method", *_FROM, "locator",
)  # fmt: skip
_BANDWIDTH: _Columns = (
    "gpu", "architecture", "level", "operation", "value", "unit", *_FROM, "locator",
)  # fmt: skip
_GEOMETRY: _Columns = (
    "gpu", "architecture", "level", "size_bytes", "line_bytes", "fetch_granularity_bytes", *_FROM,
    "locator",
)  # fmt: skip
_INSTRUCTION: _Columns = (
    "gpu", "architecture", "instruction", "latency_cycles", "throughput_per_clk_per_sm", *_FROM,
    "locator",
)  # fmt: skip
_RATE: _Columns = (
    "gpu", "architecture", "problem", "precision", "implementation", "name", "label", "bodies",
    "interactions_per_second", *_FROM, "locator",
)  # fmt: skip
_GPU: _Columns = (
    "gpu", "architecture", "compute_capability", "year", "sm_count", "boost_mhz", "fp32_gflops",
    "mem_type", "mem_gb", "mem_bus_bits", "dram_peak_gbs", "l2_bytes", "l1_shared_bytes_per_sm",
    *_FROM,
)  # fmt: skip


def _latency(line: Line) -> PublishedLatency:
    return PublishedLatency(
        gpu=line.word("gpu"),
        architecture=line.word("architecture"),
        level=line.one_of("level", LATENCY_LEVELS),
        metric=line.word("metric"),
        value=line.span("value", blank=False),
        unit=line.one_of("unit", LATENCY_UNITS),
        method=line.text("method"),
        origin=_origin(line, line.word("locator")),
    )


def _bandwidth(line: Line) -> PublishedBandwidth:
    return PublishedBandwidth(
        gpu=line.word("gpu"),
        architecture=line.word("architecture"),
        level=line.one_of("level", BANDWIDTH_LEVELS),
        operation=line.word("operation"),
        value=_rate_of(line, "value"),
        unit=line.one_of("unit", BANDWIDTH_UNITS),
        origin=_origin(line, line.word("locator")),
    )


def _geometry(line: Line) -> PublishedGeometry:
    return PublishedGeometry(
        gpu=line.word("gpu"),
        architecture=line.word("architecture"),
        level=line.one_of("level", GEOMETRY_LEVELS),
        size_bytes=line.span("size_bytes"),
        line_bytes=line.integer("line_bytes"),
        fetch_granularity_bytes=line.integer("fetch_granularity_bytes"),
        origin=_origin(line, line.word("locator")),
    )


def _instruction(line: Line) -> PublishedInstruction:
    return PublishedInstruction(
        gpu=line.word("gpu"),
        architecture=line.word("architecture"),
        instruction=line.word("instruction"),
        latency_cycles=line.span("latency_cycles", blank=False),
        throughput=line.number("throughput_per_clk_per_sm"),
        origin=_origin(line, line.word("locator")),
    )


def _rate(line: Line) -> PublishedRate:
    return PublishedRate(
        gpu=line.word("gpu"),
        architecture=line.word("architecture"),
        problem=line.one_of("problem", PROBLEMS),
        precision=line.one_of("precision", PRECISIONS),
        implementation=line.word("implementation"),
        name=line.text("name"),
        label=line.word("label"),
        bodies=line.integer("bodies"),
        rate=_rate_of(line, "interactions_per_second"),
        origin=_origin(line, line.word("locator")),
    )


def _gpu(line: Line) -> Gpu:
    return Gpu(
        gpu=line.word("gpu"),
        architecture=line.word("architecture"),
        compute_capability=line.text("compute_capability"),
        year=line.integer("year"),
        sm_count=line.integer("sm_count"),
        boost_mhz=line.number("boost_mhz"),
        fp32_gflops=line.number("fp32_gflops"),
        mem_type=line.text("mem_type"),
        mem_gb=line.span("mem_gb"),
        mem_bus_bits=line.integer("mem_bus_bits"),
        dram_peak_gbs=line.number("dram_peak_gbs"),
        l2_bytes=line.integer("l2_bytes"),
        l1_shared_bytes_per_sm=line.integer("l1_shared_bytes_per_sm"),
        origin=_origin(line, ""),
    )


def _rate_of(line: Line, name: str) -> float:
    found = line.number(name)
    if not found:
        raise line.bad(f"'{line.text(name)}' under {name}", "a number above zero")
    return found


def _read(path: Path, columns: _Columns, record: Callable[[Line], Record]) -> tuple[Record, ...]:
    return tuple(record(line) for line in lines(path, columns))


def read_latencies(path: Path) -> tuple[PublishedLatency, ...]:
    """The rows of a file with the columns of `latency.csv`. Raises `ReferenceTableError`."""
    return _read(path, _LATENCY, _latency)


@cache
def latencies() -> tuple[PublishedLatency, ...]:
    """Every published latency, in the order of its file. Raises `ReferenceTableError`."""
    return read_latencies(folder() / "latency.csv")


@cache
def bandwidths() -> tuple[PublishedBandwidth, ...]:
    """Every published bandwidth, in the order of its file. Raises `ReferenceTableError`."""
    return _read(folder() / "bandwidth.csv", _BANDWIDTH, _bandwidth)


@cache
def geometries() -> tuple[PublishedGeometry, ...]:
    """Every published size of a cache or TLB, in order. Raises `ReferenceTableError`."""
    return _read(folder() / "cache_geometry.csv", _GEOMETRY, _geometry)


@cache
def instructions() -> tuple[PublishedInstruction, ...]:
    """Every published cost of an instruction, in order. Raises `ReferenceTableError`."""
    return _read(folder() / "instruction_latency.csv", _INSTRUCTION, _instruction)


@cache
def nbody() -> tuple[PublishedRate, ...]:
    """Every published rate of n-body, in the order of its file. Raises `ReferenceTableError`."""
    return _read(folder() / "nbody.csv", _RATE, _rate)


@cache
def gpus() -> tuple[Gpu, ...]:
    """Every GPU whose data were found, in the order of its file. Raises `ReferenceTableError`."""
    return _read(folder() / "gpus.csv", _GPU, _gpu)


def is_of(published: PublishedRate, device: str) -> bool:
    """Whether it is of the chip with the slug `device`: `H200` is, `H200 NVL` is not."""
    slug = re.sub(r"[^a-z0-9]+", "-", published.gpu.lower()).strip("-")
    return device == slug or device.endswith(f"-{slug}")
