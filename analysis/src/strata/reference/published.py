"""A run's own numbers beside those that others published, in units in which they can be compared.

Pure: rows and `strata.reference` in, marks out. What cannot be compared honestly is left out: times
without a clock, rates without a number of SMs or without the pins', other instructions. A level
that the run has no valid row of is left out as well.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from strata import reference
from strata.reference import (
    Published,
    PublishedBandwidth,
    PublishedInstruction,
    PublishedLatency,
)
from strata.run import Row

GENERATIONS = (
    "Tesla", "Fermi", "Kepler", "Maxwell", "Pascal", "Volta", "Turing", "Ampere", "Ada", "Hopper",
    "Blackwell", "CDNA", "CDNA2", "CDNA3", "RDNA2",
)  # fmt: skip
"""From the oldest to the newest, NVIDIA's first: the order of every figure."""

GIB = 1.073741824
"""GiB/s in GB/s."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A published number, or (`published` None) the run's own, at its place in a figure.

    `low` and `high` are the ends of a published range or of the samples; equal for a single number.
    `own` is the run's row of the same panel.
    """

    panel: str
    gpu: str
    generation: str
    value: float
    low: float
    high: float
    published: Published | None
    own: Row

    @property
    def doubt(self) -> str:
        """Why not to trust it; blank without a reason."""
        return self.published.origin.doubt if self.published else ""

    @property
    def citation(self) -> str:
        """`[12]`; blank for the run's own."""
        return reference.cite(self.published.origin.keys[0]) if self.published else ""


def _own_mark(panel: str, row: Row, scale: float = 1) -> Mark:
    low, high = row.minimum * scale, row.maximum * scale
    return Mark(panel, row.device, "", row.value * scale, low, high, None, row)


def _ordered(marks: Iterable[Mark], panels: Sequence[str]) -> tuple[Mark, ...]:
    """The run's own first, then by generation; GPUs and sources in the order of their table."""
    return tuple(
        sorted(
            marks,
            key=lambda mark: (
                panels.index(mark.panel),
                GENERATIONS.index(mark.generation) if mark.published else -1,
            ),
        )
    )


# --- latency --------------------------------------------------------------------------------------

CHASE = "latency_vs_footprint"
KIB = 1024
LATENCIES: Mapping[str, tuple[str, ...]] = {
    "shared": ("shared",),
    "l1": ("l1",),
    "l2": ("l2", "l2_near"),
    "l2_far": ("l2_far",),
    "dram": ("dram",),
    "constant_l1": ("constant_l1",),
    "constant_l15": ("constant_l15",),
}
"""Panels, and the published levels that stand in each: one L2, or the near part of one of two."""

_OTHER_METRICS = (
    "load_latency_mean",  # beside its median
    "load_latency_tlb_miss",
    "constant_broadcast_latency",
    "load_latency, 32-way bank conflict",
    "load_latency, uniform path (ULDC)",
    '"TLB latency" as printed (what is measured is not stated)',
    "constant load that misses both constant caches",
    "store_latency",
)
"""What is no dependent load that hits, or stands there twice."""


def _share(rows: Iterable[Row]) -> Mapping[str, float]:
    """Footprint over the L2, by case."""
    return {
        row.case: row.value
        for row in rows
        if row.benchmark == CHASE and row.quantity == "footprint_over_l2"
    }


def own_latencies(rows: Sequence[Row]) -> Mapping[str, Row]:
    """The valid row that stands for each panel of `LATENCIES`, cycles of a dependent load.

    Of the chase by one warp: the largest footprint of at most 16 KiB for shared memory and L1,
    1 KiB for the constant cache, 24 KiB for the one behind it (of more than 8), an eighth of the
    L2 for that; the smallest of four times the L2 or more for DRAM. The far part of the L2 from
    `l2_partition`, which alone tells it from the near one. Nothing of a run on a CPU.
    """
    shares = _share(rows)
    chase = [
        row
        for row in rows
        if (row.benchmark, row.quantity, row.backend) == (CHASE, "load_cycles", "cuda")
        and row.method == "clock64_slope"
        and row.params.get("cores") == "one"
        and row.valid
    ]

    def footprint(row: Row) -> int:
        text = row.params.get("footprint", "")
        return int(text) if text.isdecimal() else 0

    def of(space: str, fits: Callable[[Row], bool]) -> list[Row]:
        found = [row for row in chase if row.params.get("space") == space and fits(row)]
        return sorted(found, key=lambda row: (footprint(row), row.case))

    sought = {
        "shared": of("shared", lambda row: footprint(row) <= 16 * KIB)[-1:],
        "l1": of("global_ca", lambda row: footprint(row) <= 16 * KIB)[-1:],
        "l2": of("global_cg", lambda row: shares.get(row.case, 1) <= 1 / 8)[-1:],
        "l2_far": [
            row
            for row in rows
            if (row.benchmark, row.quantity, row.backend) == ("l2_partition", "far_cycles", "cuda")
            and row.valid
        ][:1],
        "dram": of("global_cg", lambda row: shares.get(row.case, 0) >= 4)[:1],
        "constant_l1": of("constant", lambda row: footprint(row) <= KIB)[-1:],
        "constant_l15": of("constant", lambda row: 8 * KIB < footprint(row) <= 24 * KIB)[-1:],
    }
    return {panel: found[0] for panel, found in sought.items() if found}


def _latency_mark(panel: str, one: PublishedLatency, own: Row) -> Mark | None:
    bounds = one.value.bounds
    if one.unit != "cycles" or one.metric in _OTHER_METRICS or bounds is None:
        return None
    low, high = bounds
    return Mark(panel, one.gpu, one.architecture, (low + high) / 2, low, high, one, own)


def latency_marks(rows: Sequence[Row], panels: Sequence[str]) -> tuple[Mark, ...]:
    """Latencies in cycles, of every panel that the run has a row of."""
    own = own_latencies(rows)
    marks = []
    for panel in panels:
        if panel not in own:
            continue
        theirs = (
            _latency_mark(panel, one, own[panel])
            for one in reference.latencies()
            if one.level in LATENCIES[panel]
        )
        marks += [_own_mark(panel, own[panel]), *(mark for mark in theirs if mark)]
    return _ordered(marks, panels)


# --- bandwidth ------------------------------------------------------------------------------------

BANDWIDTHS = ("shared", "l1", "l2", "dram_read", "dram_copy")
"""Bytes a clock and SM, and per cent of what the memory's pins carry."""

_READS = frozenset(
    {"read", "read (1 load stream)", "read, blocks spread over the data set", "load"}
)
_COPIES = frozenset({"copy", "scale (1 load, 1 store)", "BabelStream Copy"})
_PINS = {
    "A100 40GB": "A100 SXM4 40GB",
    "K80 (one GPU, ECC off)": "K80 (one GPU, GK210)",
    "K80 (one GPU, ECC on)": "K80 (one GPU, GK210)",
    "V100": "Tesla V100 PCIe",  # as many as those of the SXM2
    "V100 PCIe": "Tesla V100 PCIe",
}
"""Names in gpus.csv of GPUs that are called otherwise there."""
_NO_PINS = frozenset({"Quadro RTX 6000"})
"""Its memory ran slower than the pins are listed for (state P2: 624 of 672 GB/s)."""
_DRAM_UNITS = {"GB/s": 1.0, "TB/s": 1000.0, "GiB/s": GIB}
_THE_VENDORS = "jia2018volta"
"""Its GiB/s may be the vendors' GB/s."""


def _listed(gpu: str) -> reference.Gpu | None:
    name = _PINS.get(gpu, gpu)
    return next((one for one in reference.gpus() if one.gpu == name), None)


def _per_clock(one: PublishedBandwidth) -> float | None:
    """Bytes a clock and SM."""
    if one.unit == "B/clk/SM":
        return one.value
    if one.unit == "ops/clk/SM" and one.operation.startswith("32-bit"):
        return 4 * one.value
    gpu = _listed(one.gpu)
    if one.unit == "B/clk" and gpu and gpu.sm_count:
        return one.value / gpu.sm_count
    return None


def _of_the_pins(one: PublishedBandwidth) -> float | None:
    """Per cent of the peak in gpus.csv."""
    gpu = _listed(one.gpu)
    if one.unit not in _DRAM_UNITS or one.gpu in _NO_PINS or _THE_VENDORS in one.origin.keys:
        return None
    if gpu is None or gpu.dram_peak_gbs is None:
        return None
    return 100 * one.value * _DRAM_UNITS[one.unit] / gpu.dram_peak_gbs


def _bandwidth(panel: str, one: PublishedBandwidth) -> float | None:
    if panel == "dram_read":
        return _of_the_pins(one) if one.level == "dram" and one.operation in _READS else None
    if panel == "dram_copy":
        return _of_the_pins(one) if one.level == "dram" and one.operation in _COPIES else None
    return _per_clock(one) if one.level == panel else None


def own_bandwidths(rows: Sequence[Row]) -> Mapping[str, Row]:
    """The best valid row of each panel of `BANDWIDTHS`, in B/cycle and SM or as share of the pins.

    Reads, and copies of DRAM; nothing of a run on a CPU.
    """
    mine = [
        row
        for row in rows
        if (row.benchmark, row.backend) == ("bandwidth", "cuda")
        and row.method == "event_slope"
        and row.valid
    ]
    result = {}
    for panel in BANDWIDTHS:
        level, _, operation = panel.partition("_")
        found = [
            row
            for row in mine
            if row.quantity == ("share_of_limit" if operation else "bandwidth_per_sm")
            and row.params.get("level") == level
            and row.params.get("operation") == (operation or "read")
        ]
        if found:
            result[panel] = max(found, key=lambda row: (row.value, row.case))
    return result


def bandwidth_marks(rows: Sequence[Row]) -> tuple[Mark, ...]:
    """Bandwidths in B/clk/SM and per cent of the pins, of every panel that the run has a row of."""
    marks = []
    for panel, own in own_bandwidths(rows).items():
        marks.append(_own_mark(panel, own, 100 if panel.startswith("dram") else 1))
        for one in reference.bandwidths():
            value = _bandwidth(panel, one)
            if value is not None:
                marks.append(Mark(panel, one.gpu, one.architecture, value, value, value, one, own))
    return _ordered(marks, BANDWIDTHS)


# --- instructions ---------------------------------------------------------------------------------

COST = "instruction_cost"
INSTRUCTIONS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "fadd": ("FADD", ("FADD", "add.f32 -> FADD")),
    "fmul": ("FMUL", ("FMUL", "mul.rn.f32 -> FMUL")),
    "ffma": ("FFMA", ("FFMA", "fma.rn.f32 -> FFMA", "FP32 mad (dependent)")),
    "iadd3": ("IADD3", ("IADD3",)),
    "bitwise": ("LOP3", ("LOP3", "and.b32 -> LOP3.LUT")),
    "shift": ("SHF", ("SHF",)),
    "imad": ("IMAD", ("IMAD",)),
    "rcp_ieee": ("rcp.rn.f32 (a program)", ("rcp.rn.f32 -> [multiple insts including MUFU.RCP]",)),
    "rsqrt_approx": ("MUFU.RSQ", ("MUFU.RSQ",)),
    "sqrt_ieee": (
        "sqrt.rn.f32 (a program)",
        ("sqrt.rn.f32 -> [multiple insts including MUFU.RSQ]",),
    ),
    "exp2_approx": ("MUFU.EX2", ("MUFU.EX2",)),
    "dadd": ("DADD", ("DADD", "add.rn.f64 -> DADD")),
    "dmul": ("DMUL", ("DMUL", "mul.rn.f64 -> DMUL")),
    "dfma": ("DFMA", ("DFMA", "fma.rn.f64 -> DFMA", "DFMA (FP64)")),
    "hfma2": ("HFMA2", ("HFMA2",)),
    "shuffle": ("SHFL.IDX", ("SHFL.IDX",)),
}
"""Operations of `instruction_cost` that are one instruction (or one of PTX, which is a program),
its name, and what others call the same. `tests/ptx/contracts/instruction_cost.py` says what ours
are; Jia's MUFU, which may be any function, and the emulated IMAD of Pascal are none of them."""
_EMULATED = "emulated"
_ISSUE_COST = "breitbart2008structures"
"""Its cycles are those of issuing a warp, and no latency."""


@dataclass(frozen=True, slots=True)
class Compared:
    """An instruction: the run's own latency in cycles, and others', by GPU and source."""

    name: str
    own: Row
    others: tuple[PublishedInstruction, ...]


def own_cost(rows: Iterable[Row], operation: str, *, chain: bool) -> Row | None:
    """Cycles of an operation: of a chain on one warp, or the best of full SMs, for a warp's.

    A valid row, or None; nothing of a run on a CPU.
    """
    mine = [
        row
        for row in rows
        if (row.benchmark, row.quantity) == (COST, "operation_cycles")
        and row.method == "clock64_slope"
        and row.backend == "cuda"
        and row.params.get("operation") == operation
        and row.valid
        and row.value > 0
    ]
    alone = ("1", "1")
    shape = [(row, (row.params.get("ilp"), row.params.get("warps_per_sm"))) for row in mine]
    if chain:
        return next((row for row, where in shape if where == alone), None)
    full = [row for row, (_, warps) in shape if warps != "1"]
    return min(full, key=lambda row: (row.value, row.case), default=None)


def instructions(rows: Sequence[Row]) -> tuple[Compared, ...]:
    """Instructions that the run and others measured, in the order of `INSTRUCTIONS`."""
    mine = [row for row in rows if row.benchmark == COST]
    result = []
    for operation, (name, theirs) in INSTRUCTIONS.items():
        own = own_cost(mine, operation, chain=True)
        others = tuple(
            one
            for one in reference.instructions()
            if one.instruction in theirs
            and one.latency_cycles.value is not None
            and _EMULATED not in one.origin.locator
            and _ISSUE_COST not in one.origin.keys
        )
        if own and others:
            result.append(Compared(name, own, others))
    return tuple(result)
