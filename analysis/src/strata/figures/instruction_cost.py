"""What does each operation cost an SM: latency of its result, and rate with many in flight?

Beside it, Table 2.2 of Breitbart for the G80, in the same unit.
"""

from collections.abc import Mapping, Sequence

from strata.figures import _chart as c
from strata.figures._figure import Figure, attributes, prose
from strata.model.units import short
from strata.reference import cite
from strata.run import Row, Run

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
CYCLES = {"operation_cycles": "clock64_slope", "operation_core_cycles": "over_dependent_adds"}
"""Quantity and method of what is drawn: of an SM, and of the core of a CPU."""


class Cost:
    """Cycles of one operation: in a chain on one warp, and at the best of the fuller shapes."""

    def __init__(self, operation: str, rows: Sequence[Row]) -> None:
        self.operation = operation
        self.words, g80 = OPERATIONS[operation]
        host = rows[0].backend == "host"
        self.words = ON_A_CPU.get(operation, self.words) if host else self.words
        self.g80 = None if host else g80
        alone = [row for row in rows if (row.text("ilp"), row.text("warps_per_sm")) == ("1", "1")]
        self.latency = alone[0] if alone else None
        others = [row for row in rows if row.text("ilp" if host else "warps_per_sm") != "1"]
        self.full = min(others, key=lambda row: (not row.valid, row.value), default=None)
        self.shown = [row for row in (self.latency, self.full) if row]
        self.valid = all(row.valid for row in self.shown)
        self.per_cycle = (1 if host else WARP) / self.full.value if self.full else None

    @property
    def row(self) -> Row:
        """The most informative row."""
        return self.shown[0]


def items(run: Run) -> Sequence[Cost]:
    """One item per operation, in the order of the list; a valid row beats invalid ones."""
    rows = [row for row in run.of("instruction_cost") if CYCLES.get(row.quantity) == row.method]
    by_name = c.grouped([row for row in rows if row.value > 0], lambda row: row.text("operation"))
    costs = [Cost(name, by_name[name]) for name in OPERATIONS if name in by_name]
    return [cost for cost in costs if cost.shown]


def chart(costs: Sequence[Cost]) -> c.Chart:
    """Latency left, rate right: a dot with its number per operation, the first at the top.

    Without a rate, as of a CPU in a quick run, latency alone.
    """
    host = costs[0].row.backend == "host"
    look = c.Look("#0072B2", "o", size=4.4)
    g80 = c.Look("#D55E00", "D", size=4.2, hollow=True)
    names = c.names_axis([cost.words for cost in costs], grid=True)
    told = "{:g} cycles per warp on the G80; Breitbart 2008, Table 2.2".format
    published = [c.Mark(at, one.g80, told=told(one.g80)) for at, one in enumerate(costs) if one.g80]

    def panel(attribute: str, title: str, label: str, theirs: Sequence[c.Mark] = ()) -> c.Panel:
        found = [(place, getattr(cost, attribute)) for place, cost in enumerate(costs)]
        marks = [c.mark(place, row, words=short(row.value)) for place, row in found if row]
        layers = (
            c.Series(marks, look, "measured", "bar", order=3),
            c.Series(theirs, g80, "" if host else "G80, published"),
        )
        return c.Panel(layers, names, c.Axis(label, "log"), title, sideways=True)

    shapes = ("Many warps", "cycles of an SM for a warp's operation")
    if host:
        shapes = ("Many chains", "cycles of a core for an operation")
    drawn = [panel("latency", "Latency", "cycles until the result is there")]
    if published or _has_full(costs):
        drawn.append(panel("full", *shapes, published))
    return c.Chart([drawn], 4.2 * len(drawn), 1.1 + 0.225 * len(costs))


def _has_full(costs: Sequence[Cost]) -> bool:
    return any(cost.full for cost in costs)


def _caption(costs: Sequence[Cost]) -> str:
    if costs[0].row.backend == "host":
        return prose(
            "Left: one dependent chain of scalar instructions. Right: the best of several chains "
            "side by side, on one core."
            if _has_full(costs)
            else "One dependent chain of scalar instructions, on one core.",
            "Cycles are the core's: a dependent addition of integers beside each measurement "
            "counts as one. Dots: medians; lines: range of the samples. Operations of two words "
            "are two instructions or more.",
        )
    return (
        "Left: one warp, one dependent chain. Right: the best of the fuller shapes, every SM at "
        "work; 32 ÷ these cycles are operations of threads in a cycle. Dots: medians; lines: range "
        "of the samples. Diamonds: cycles per warp on the G80 (Breitbart 2008, Table 2.2) "
        f"{cite('breitbart2008structures')}, stated there for registers as 0, for cached constants "
        "as 0 or more, for device memory, which had no cache, as 400–600: not drawn. Operations of "
        "two words are two instructions, and their latency is that of both."
    )


FIGURE = Figure(
    "instruction_cost", "Cost of operations", 70, items, chart, _caption,
    attributes("operation", latency_cycles="latency", cycles_per_warp_operation="full")
    | attributes(thread_operations_per_cycle="per_cycle")
    | {"best_ilp": lambda cost: cost.full and cost.full.text("ilp", "")}
    | {"best_warps_per_sm": lambda cost: cost.full and cost.full.text("warps_per_sm", "")}
    | attributes(g80_cycles_per_warp="g80"),
    label=lambda cost: "; ".join(row.case.partition("/")[2] for row in cost.shown if not row.valid),
)  # fmt: skip
