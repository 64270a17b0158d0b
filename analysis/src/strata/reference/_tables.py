"""The published figures as records, each the schema of a table in `results/reference`."""

import re
from collections.abc import Callable
from functools import cache
from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from strata.reference._bibliography import source
from strata.reference._files import Record, Span, folder, read

_ABOVE_ZERO = Meta(description="a number above zero")
Rate = Annotated[Annotated[float, Meta(gt=0)], _ABOVE_ZERO]
Number = Annotated[Annotated[float, Meta(gt=0)] | None, _ABOVE_ZERO]
Count = Annotated[Annotated[int, Meta(ge=0)] | None, Meta(description="a whole number")]


class Origin(Struct, frozen=True, kw_only=True):
    """The origin of a row.

    `tier`: read in the source itself (A), in a transcription (B), in pasted output (C), or unknown.
    `doubt` is a short reason not to trust the row; blank: none. `text` names the source as in the
    table.
    """

    tier: Literal["A", "B", "C", ""] = ""
    doubt: str = ""
    key: str
    text: str = field(name="source")

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys in the bibliography, first the one for the statement of the row."""
        return tuple(self.key.split())

    def __post_init__(self) -> None:
        for key in self.keys:
            try:
                source(key)
            except KeyError as error:
                raise ValueError(f"the key '{key}', which is not in sources.bib") from error


class PlacedOrigin(Origin, frozen=True, kw_only=True):
    """The origin of a row, with the place in the source."""

    locator: str


class Published(Struct, frozen=True, kw_only=True):
    """A published number for a GPU."""

    gpu: str
    architecture: str
    origin: PlacedOrigin


class PublishedLatency(Published, frozen=True, kw_only=True):
    """A latency of one level; in `unit`, which need not be cycles."""

    level: Literal[
        "shared", "l1", "l1_5", "l2_near", "l2_far", "l2", "dram", "constant_l1", "constant_l15",
        "texture", "tlb_l1_miss", "tlb_l2_miss", "dsmem",
    ]  # fmt: skip
    metric: str
    value: Span
    unit: Literal["cycles", "ns", "cycles per warp"]
    method: str = ""


class PublishedBandwidth(Published, frozen=True, kw_only=True):
    """A bandwidth of one level, or an arithmetic rate (level `compute`); in `unit`."""

    level: Literal["shared", "l1", "l2", "dram", "constant_l1", "compute"]
    operation: str
    value: Rate
    unit: Literal["B/clk", "B/clk/SM", "GB/s", "GB/s/SM", "GiB/s", "TB/s", "GFLOP/s", "ops/clk/SM"]


class PublishedGeometry(Published, frozen=True, kw_only=True):
    """The sizes of a cache in bytes; for a TLB its reach and the page size of an entry."""

    level: Literal[
        "l1", "l2", "l2_segment", "constant_l1", "constant_l15", "texture", "tlb_l1", "tlb_l2",
        "tlb_l3",
    ]  # fmt: skip
    size_bytes: Span = Span()
    line_bytes: Count = None
    fetch_granularity_bytes: Count = None


class PublishedInstruction(Published, frozen=True, kw_only=True):
    """Cycles of an instruction, named as in the source; thread operations per clock and SM."""

    instruction: str
    latency_cycles: Span
    throughput: Number = field(name="throughput_per_clk_per_sm", default=None)


class PublishedRate(Published, frozen=True, kw_only=True):
    """Interactions per second of an all-pairs n-body code, N² for each step.

    `name` is the name in the source, if any; `label` is short enough for a figure; `bodies` are
    those of one system, None if unknown.
    """

    problem: Literal["single", "galaxies"]
    precision: Literal["fp32", "fp64"]
    implementation: str
    name: str = ""
    label: str
    bodies: Count = None
    rate: Rate = field(name="interactions_per_second")


class PublishedSearch(Published, frozen=True, kw_only=True):
    """A rate of a neighbour-search code: steps, agent steps or neighbours per second.

    `problem` is the most similar one here, `world` that of boids, blank if unknown.
    """

    problem: Literal["boids", "circles", "list"]
    implementation: str
    label: str
    world: Literal["fit", "50", "100", "200", ""] = ""
    agents: Annotated[int, Meta(gt=0)]
    quantity: Literal["steps_per_second", "agent_steps_per_second", "neighbours_per_second"]
    value: Rate

    @property
    def rate(self) -> float:
        """Agent steps per second, or neighbours per second if those are given."""
        return self.value * (self.agents if self.quantity == "steps_per_second" else 1)


class PublishedFstat(Published, frozen=True, kw_only=True):
    """What one version of a port of the F-statistic to a GPU took, by itself or of its CPU's time.

    Of several rows of one quantity and version the last is of the F-statistic alone.
    """

    implementation: str
    version: Annotated[int, Meta(gt=0)]
    quantity: Literal["seconds", "times_of_cpu", "memory_share", "copies_share"]
    value: Rate


class Gpu(Struct, frozen=True, kw_only=True):
    """The specification of a GPU by a data sheet, a white paper or the device; None: not found.

    Clocks in MHz, rates in GFLOP/s and GB/s (10⁹), memory in GB as the source counts them. The
    source includes the place.
    """

    gpu: str
    architecture: str
    compute_capability: str = ""
    year: Count = None
    sm_count: Count = None
    boost_mhz: Number = None
    fp32_gflops: Number = None
    mem_type: str = ""
    mem_gb: Span = Span()
    mem_bus_bits: Count = None
    dram_peak_gbs: Number = None
    l2_bytes: Count = None
    l1_shared_bytes_per_sm: Count = None
    origin: Origin


def _table(name: str, kind: type[Record]) -> Callable[[], tuple[Record, ...]]:
    """Returns the function for the rows of a table, read once. Raises `ReferenceTableError`."""
    return cache(lambda: tuple(read(folder() / name, kind)))


latencies = _table("latency.csv", PublishedLatency)
bandwidths = _table("bandwidth.csv", PublishedBandwidth)
geometries = _table("cache_geometry.csv", PublishedGeometry)
instructions = _table("instruction_latency.csv", PublishedInstruction)
nbody = _table("nbody.csv", PublishedRate)
neighbours = _table("neighbours.csv", PublishedSearch)
fstat = _table("fstat.csv", PublishedFstat)
gpus = _table("gpus.csv", Gpu)


def is_of(published: PublishedRate, device: str) -> bool:
    """Whether it describes the chip with the slug `device`: `H200` does, `H200 NVL` does not."""
    slug = re.sub(r"[^a-z0-9]+", "-", published.gpu.lower()).strip("-")
    return device == slug or device.endswith(f"-{slug}")
