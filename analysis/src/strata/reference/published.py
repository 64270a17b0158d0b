"""A run's own numbers beside published ones, in comparable units.

Pure functions: rows and `strata.reference` in, marks out. Numbers that cannot be compared honestly
are left out: times without a clock, rates without a number of SMs or pins, other instructions. A
level without a valid row in the run is left out as well.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from strata import reference
from strata.reference import Published
from strata.run import Row

GENERATIONS = (
    "Tesla", "Fermi", "Kepler", "Maxwell", "Pascal", "Volta", "Turing", "Ampere", "Ada", "Hopper",
    "Blackwell", "CDNA", "CDNA2", "CDNA3", "RDNA2",
)  # fmt: skip
"""From the oldest to the newest, NVIDIA's first: the order of every figure."""
Theirs = Iterable[tuple[str, Published, tuple[float, float]]]


class Mark(NamedTuple):
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
        """The reason not to trust it; blank for none."""
        return self.published.origin.doubt if self.published else ""

    @property
    def citation(self) -> str:
        """`[12]`; blank for the run's own."""
        return reference.cite(self.published.origin.keys[0]) if self.published else ""


def _marks(panels: Sequence[str], own: Mapping[str, Row], theirs: Theirs) -> tuple[Mark, ...]:
    """The marks of `panels` in the run: its own first, then by generation, in table order."""
    marks = []
    for panel, row in own.items():
        scale = 100 if row.quantity == "share_of_limit" else 1
        value, low, high = (scale * number for number in (row.value, row.minimum, row.maximum))
        marks.append(Mark(panel, row.device, "", value, low, high, None, row))
    for panel, one, (low, high) in theirs:
        if panel in own:
            middle = (low + high) / 2
            marks.append(Mark(panel, one.gpu, one.architecture, middle, low, high, one, own[panel]))
    order = ("", *GENERATIONS)
    marks.sort(key=lambda mark: order.index(mark.generation))
    return tuple(mark for panel in panels for mark in marks if mark.panel == panel)


def _measured(rows: Iterable[Row], benchmark: str, quantity: str, method: str = "") -> list[Row]:
    """The valid rows of one quantity by one method, or by any; none for a run on a CPU."""
    here = (row for row in rows if row.benchmark == benchmark and row.quantity == quantity)
    found = (row for row in here if row.backend == "cuda" and row.valid)
    return [row for row in found if method in ("", row.method)]


CHASE = "latency_vs_footprint"
KIB = 1024
_PLACES = ("shared", "l1", "l2", "l2_far", "dram", "constant_l1", "constant_l15")
LATENCIES: dict[str, tuple[str, ...]] = {one: (one,) for one in _PLACES} | {"l2": ("l2", "l2_near")}
"""Panels, and the published levels in each: one L2, or the near part of one of two."""

_OTHER_METRICS = (
    "load_latency_mean",  # next to its median
    "load_latency_tlb_miss",
    "constant_broadcast_latency",
    "load_latency, 32-way bank conflict",
    "load_latency, uniform path (ULDC)",
    '"TLB latency" as printed (what is measured is not stated)',
    "constant load that misses both constant caches",
    "store_latency",
)
"""Values that are not of dependent loads that hit, or that are listed twice."""


def latency_marks(own: Mapping[str, Row], panels: Sequence[str]) -> tuple[Mark, ...]:
    """Latencies in cycles, for the panels of `LATENCIES` with a row of the run: `own`."""
    theirs = (
        (panel, one, one.value.bounds)
        for one in reference.latencies()
        for panel, levels in LATENCIES.items()
        if one.level in levels
        and one.unit == "cycles"
        and one.metric not in _OTHER_METRICS
        and one.value.bounds is not None
    )
    return _marks(panels, own, theirs)


BANDWIDTHS = ("shared", "l1", "l2", "dram_read", "dram_copy")
"""Bytes a clock and SM, and per cent of what the memory's pins carry."""

_OPERATIONS = {
    "dram_read": ("read", "read (1 load stream)", "read, blocks spread over the data set", "load"),
    "dram_copy": ("copy", "scale (1 load, 1 store)", "BabelStream Copy"),
}
"""What others call the operations of DRAM."""
_PINS = {
    "A100 40GB": "A100 SXM4 40GB",
    "K80 (one GPU, ECC off)": "K80 (one GPU, GK210)",
    "K80 (one GPU, ECC on)": "K80 (one GPU, GK210)",
    "V100": "Tesla V100 PCIe",  # as many as on the SXM2
    "V100 PCIe": "Tesla V100 PCIe",
}
"""Names in gpus.csv of GPUs that are called otherwise there."""
_NO_PINS = "Quadro RTX 6000"
"""Its memory ran slower than the pins are listed for (state P2: 624 of 672 GB/s)."""
_DRAM_UNITS = {"GB/s": 1.0, "TB/s": 1000.0, "GiB/s": 1.073741824}
"""In GB/s."""
_THE_VENDORS = "jia2018volta"
"""Its GiB/s may be the vendors' GB/s."""


def _comparable(one: Published) -> tuple[str, float] | None:
    """Its panel, and its value in the unit of the panel; None if it cannot be compared."""
    gpu = {gpu.gpu: gpu for gpu in reference.gpus()}.get(_PINS.get(one.gpu, one.gpu))
    if one.level != "dram":
        if one.unit == "B/clk/SM":
            return one.level, one.value
        if one.unit == "ops/clk/SM" and one.operation.startswith("32-bit"):
            return one.level, 4 * one.value
        if one.unit == "B/clk" and gpu and gpu.sm_count:
            return one.level, one.value / gpu.sm_count
        return None
    panel = next((name for name, known in _OPERATIONS.items() if one.operation in known), None)
    if one.unit not in _DRAM_UNITS or one.gpu == _NO_PINS or _THE_VENDORS in one.origin.keys:
        return None
    if panel is None or gpu is None or gpu.dram_peak_gbs is None:
        return None
    return panel, 100 * one.value * _DRAM_UNITS[one.unit] / gpu.dram_peak_gbs


def own_bandwidths(rows: Sequence[Row]) -> Mapping[str, Row]:
    """The best valid row of each panel: reads, and copies of DRAM; none for a run on a CPU."""
    best = {}
    for panel in BANDWIDTHS:
        level, _, operation = panel.partition("_")
        quantity = "share_of_limit" if operation else "bandwidth_per_sm"
        rates = _measured(rows, "bandwidth", quantity, "event_slope")
        wanted = (level, operation or "read")
        found = [row for row in rates if (row.text("level"), row.text("operation")) == wanted]
        if found:
            best[panel] = max(found, key=lambda row: (row.value, row.case))
    return best


def bandwidth_marks(rows: Sequence[Row], panels: Sequence[str] = BANDWIDTHS) -> tuple[Mark, ...]:
    """Bandwidths in B/clk/SM and per cent of the pins, for panels with a row of the run."""
    theirs = (
        (found[0], one, (found[1], found[1]))
        for one in reference.bandwidths()
        if (found := _comparable(one))
    )
    return _marks(panels, own_bandwidths(rows), theirs)


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
its name, and what others call the same. `tests/ptx/contracts/instruction_cost.py` defines ours;
Jia's MUFU, which may be any function, and the emulated IMAD of Pascal are excluded."""
_EMULATED = "emulated"
_ISSUE_COST = "breitbart2008structures"
"""Its cycles are those of issuing a warp, and no latency."""


class Compared(NamedTuple):
    """An instruction: the run's own latency in cycles, and published ones, by GPU and source."""

    name: str
    own: Row
    others: tuple[Published, ...]


def own_cost(rows: Iterable[Row], operation: str, *, chain: bool) -> Row | None:
    """Valid cycles of a chain on one warp, or the best of full SMs per warp; None for a CPU."""
    costs = _measured(rows, COST, "operation_cycles", "clock64_slope")
    mine = [row for row in costs if row.text("operation") == operation and row.value > 0]
    if chain:
        alone = (row for row in mine if (row.text("ilp"), row.text("warps_per_sm")) == ("1", "1"))
        return next(alone, None)
    full = (row for row in mine if row.text("warps_per_sm") != "1")
    return min(full, key=lambda row: (row.value, row.case), default=None)


def instructions(rows: Sequence[Row]) -> tuple[Compared, ...]:
    """Instructions measured by the run and by others, in the order of `INSTRUCTIONS`."""
    mine = [row for row in rows if row.benchmark == COST]
    known = [
        one
        for one in reference.instructions()
        if one.latency_cycles.value is not None
        and _EMULATED not in one.origin.locator
        and _ISSUE_COST not in one.origin.keys
    ]
    result = []
    for operation, (name, theirs) in INSTRUCTIONS.items():
        own = own_cost(mine, operation, chain=True)
        others = tuple(one for one in known if one.instruction in theirs)
        if own and others:
            result.append(Compared(name, own, others))
    return tuple(result)
