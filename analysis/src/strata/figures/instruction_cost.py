"""What does each operation cost an SM: until its result is there, and when many are under way?

Beside it what Breitbart's Table 2.2 gives for the G80, in the same unit.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from strata.figures import AxesGrid, Figure, Grid, flat
from strata.figures._palette import INK, hollow_key, invalid_note, legend_above
from strata.model.units import SPACE, short, tick
from strata.reference import cite
from strata.run import Row

BENCHMARK = "instruction_cost"
WARP = 32

OPERATIONS: Mapping[str, tuple[str, float | None]] = {
    "fadd": ("add, fp32", 4),
    "fmul": ("multiply, fp32", 4),
    "ffma": ("multiply-add, fp32", 4),
    "fmin_fmax": ("min and max, fp32", 8),
    "iadd3": ("add, int32", 4),
    "bitwise": ("bitwise", 4),
    "shift": ("shift", None),
    "compare_select": ("compare and select", None),
    "imin_imax": ("min and max, int32", 8),
    "imad": ("multiply-add, int32", None),
    "dp4a": ("dot product of 4 bytes", None),
    "rcp_approx": ("reciprocal (and add)", 16),
    "rcp_ieee": ("reciprocal, rounded", None),
    "rsqrt_approx": ("reciprocal square root", 16),
    "sqrt_approx": ("square root", None),
    "sqrt_ieee": ("square root, rounded", None),
    "cos_approx": ("cosine", None),
    "exp2_approx": ("power of two", None),
    "dadd": ("add, fp64", None),
    "dmul": ("multiply, fp64", None),
    "dfma": ("multiply-add, fp64", None),
    "hfma2": ("2 multiply-adds, fp16", None),
    "bfma2": ("2 multiply-adds, bf16", None),
    "shuffle": ("shuffle", None),
    "compare_vote": ("compare and vote", None),
    "barrier": ("barrier", 4),
    "load_shared": ("load, shared", 4),
    "load_constant": ("load, constant (hit)", None),
    "load_l1": ("load, global (L1 hit)", None),
    "iadd": ("add, int32", None),
    "imul": ("multiply, int32", None),
    "ddiv": ("divide, fp64", None),
    "dsqrt": ("square root, fp64", None),
}
"""How an operation is called, and cycles of a warp on the G80: Breitbart 2008, Table 2.2 (twice 4
for a minimum and a maximum; at least 4 for shared memory; 4 and the waiting for a barrier)."""

ON_A_CPU = {"rcp_ieee": "divide, fp32", "sqrt_ieee": "square root, fp32", "shift": "rotate"}
"""Operations that a CPU has another word for."""
CYCLES = frozenset(
    {("operation_cycles", "clock64_slope"), ("operation_core_cycles", "over_dependent_adds")}
)
"""Quantity and method of what is drawn: of an SM, and of the core of a CPU."""

COLOUR = "#0072B2"
ROOM = 2 * SPACE
"""Before the names: letters are a little wider at the resolution of the stored image."""
G80_COLOUR = "#D55E00"


@dataclass(frozen=True, slots=True)
class OperationCost:
    """Cycles of one operation: of a chain on one warp, and of the best of the fuller shapes."""

    operation: str
    latency: Row | None
    full: Row | None

    @property
    def on_a_cpu(self) -> bool:
        """Of one core, and not of an SM and its warps."""
        return self.shown[0].backend == "host"

    @property
    def words(self) -> str:
        """How the operation is called."""
        usual = OPERATIONS[self.operation][0]
        return ON_A_CPU.get(self.operation, usual) if self.on_a_cpu else usual

    @property
    def g80(self) -> float | None:
        """Cycles for a warp on the G80, beside those of a warp."""
        return None if self.on_a_cpu else OPERATIONS.get(self.operation, ("", None))[1]

    @property
    def shown(self) -> tuple[Row, ...]:
        """The rows behind its marks."""
        return tuple(row for row in (self.latency, self.full) if row)


def _shape(row: Row) -> tuple[str | None, str | None]:
    return row.params.get("ilp"), row.params.get("warps_per_sm")


def prepare(rows: Sequence[Row]) -> Sequence[OperationCost]:
    """One item per operation, in the order of the list; a valid row beats invalid ones."""
    wanted = [
        row
        for row in rows
        if row.benchmark == BENCHMARK and (row.quantity, row.method) in CYCLES and row.value > 0
    ]
    names = [
        name for name in OPERATIONS if any(row.params.get("operation") == name for row in wanted)
    ]
    result = []
    for name in names:
        own = [row for row in wanted if row.params.get("operation") == name]
        latency = next((row for row in own if _shape(row) == ("1", "1")), None)
        shapes = [
            row
            for row in own
            if row.params.get("warps_per_sm") != "1"
            or (row.backend == "host" and row is not latency)
        ]
        full = min(shapes, key=lambda row: (not row.valid, row.value), default=None)
        if latency or full:
            result.append(OperationCost(name, latency, full))
    return result


def grid(costs: Sequence[OperationCost]) -> Grid:
    """Latency left, throughput right; a line for each operation."""
    return Grid(1, 2, width=8.4, height=1.1 + 0.225 * len(costs))


def draw(costs: Sequence[OperationCost], axes: AxesGrid) -> None:
    """A dot with its number for each operation, the first on top."""
    left, right = flat(axes)
    _dots([(place, cost.latency) for place, cost in enumerate(costs)], left)
    _dots([(place, cost.full) for place, cost in enumerate(costs)], right)
    published = [(cost.g80, place) for place, cost in enumerate(costs) if cost.g80]
    if published:
        right.plot(
            *zip(*published, strict=True), linestyle="none", marker="D", markersize=4.2,
            color=G80_COLOUR, markerfacecolor="white", markeredgewidth=1, label="_published",
        )  # fmt: skip
    for panel in (left, right):
        panel.set_ylim(len(costs) - 0.4, -0.6)
        panel.set_xscale("log")
        panel.grid(visible=True, axis="both", linewidth=0.4, color="#e4e4e4")
        panel.set_axisbelow(True)
        panel.xaxis.set_major_locator(LogLocator(10, subs=(1,)))
        panel.xaxis.set_minor_locator(NullLocator())
        panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: tick(value)))
    values = [x for cost in costs if cost.latency for x in _ends(cost.latency)]
    left.set_xlim(*_limits(values))
    values = [x for cost in costs if cost.full for x in _ends(cost.full)]
    right.set_xlim(*_limits([*values, *(x for x, _ in published)]))
    left.set_yticks(range(len(costs)), [ROOM + cost.words for cost in costs])
    right.set_yticks(range(len(costs)), [""] * len(costs))
    for panel in (left, right):
        panel.tick_params(axis="y", length=0)
    left.set_title("Latency")
    on_a_cpu = costs[0].on_a_cpu
    right.set_title("Many chains" if on_a_cpu else "Many warps")
    left.set_xlabel("cycles until the result is there")
    right.set_xlabel(
        "cycles of a core for an operation"
        if on_a_cpu
        else "cycles of an SM for a warp's operation"
    )
    handles: list[Artist] = [
        Line2D([], [], color=COLOUR, marker="o", linestyle="none", label="measured")
    ]
    if not on_a_cpu:
        handles.append(
            Line2D([], [], color=G80_COLOUR, marker="D", markerfacecolor="white",
                   linestyle="none", label="G80, published")
        )  # fmt: skip
    if any(not row.valid for cost in costs for row in cost.shown):
        handles.append(hollow_key())
    legend_above(left, handles)


def _ends(row: Row) -> tuple[float, float]:
    """Of what is drawn; a wild sample far below does not push the others aside."""
    return max(row.minimum, row.value / 2), max(row.value, row.maximum)


def _limits(values: Sequence[float]) -> tuple[float, float]:
    if not values:
        return 1, 10
    return min(values) / 1.6, max(values) * 3.2  # room for the number behind the last dot


def _dots(places: Sequence[tuple[int, Row | None]], panel: Axes) -> None:
    for valid in (True, False):
        here = [(row, place) for place, row in places if row and row.valid == valid]
        if not here:
            continue
        panel.hlines(
            [place for _, place in here], [row.minimum for row, _ in here],
            [row.maximum for row, _ in here], color=COLOUR, linewidth=1.2,
        )  # fmt: skip
        panel.plot(
            [row.value for row, _ in here], [place for _, place in here], linestyle="none",
            marker="o", markersize=4.4, color=COLOUR, markerfacecolor=COLOUR if valid else "white",
            markeredgewidth=0.8, label="_valid" if valid else "_invalid",
        )  # fmt: skip
        for row, place in here:
            panel.annotate(
                short(row.value), (_ends(row)[1], place), xytext=(6, 0),
                textcoords="offset points", va="center", fontsize=6.5, color=INK,
            )  # fmt: skip


def caption(costs: Sequence[OperationCost]) -> str:
    """What the columns are, where the published marks come from, and what does not count."""
    invalid = invalid_note(
        row.case.partition("/")[2] for cost in costs for row in cost.shown if not row.valid
    )
    if costs[0].on_a_cpu:
        return (
            "Left: one dependent chain of scalar instructions. Right: the best of several chains "
            "side by side, on one core. Cycles are the core's: a dependent addition of integers "
            "beside each measurement counts as one. Dots: medians; lines: range of the samples. "
            "Operations of two words are two instructions or more."
            f"{invalid}"
        )
    return (
        "Left: one warp, one dependent chain. Right: the best of the fuller shapes, every SM at "
        "work; 32 ÷ these cycles are operations of threads in a cycle. Dots: medians; lines: range "
        "of the samples. Diamonds: cycles per warp on the G80 (Breitbart 2008, Table 2.2) "
        f"{cite('breitbart2008structures')}, stated there for registers as 0, for cached constants "
        "as 0 or more, for device memory, which had no cache, as 400–600: not drawn. Operations of "
        "two words are two instructions."
        f"{invalid}"
    )


def cells(cost: OperationCost) -> tuple[object, ...]:
    """One line of the data file."""
    latency, full = cost.latency, cost.full
    return (
        cost.operation,
        latency.value if latency else "",
        full.value if full else "",
        (1 if cost.on_a_cpu else WARP) / full.value if full else "",
        full.params.get("ilp", "") if full else "",
        full.params.get("warps_per_sm", "") if full else "",
        cost.g80 or "",
        all(row.valid for row in cost.shown),
        source(cost).case,
    )


def source(cost: OperationCost) -> Row:
    """The row of the chain on one warp, or else of many."""
    return cost.shown[0]


FIGURE = Figure(
    name="instruction_cost",
    title="Cost of operations",
    order=90,
    prepare=prepare,
    grid=grid,
    draw=draw,
    caption=caption,
    columns=(
        "operation", "latency_cycles", "cycles_per_warp_operation", "thread_operations_per_cycle",
        "best_ilp", "best_warps_per_sm", "g80_cycles_per_warp", "valid", "case",
    ),
    cells=cells,
    source=source,
)  # fmt: skip
