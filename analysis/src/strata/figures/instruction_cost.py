"""What does each operation cost an SM: latency of its result, and rate with many in flight?

Beside it, Table 2.2 of Breitbart for the G80, in the same unit.
"""

from collections.abc import Mapping, Sequence

import pandas as pd
from matplotlib.figure import Figure

from strata.figures._figure import Columns, attributes, prose
from strata.figures._plot import figure, table
from strata.figures._style import hover, marks, plain_log, points
from strata.model.units import short
from strata.reference import cite
from strata.run import Row, Run, grouped

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


def _label(cost: Cost) -> str:
    return "; ".join(row.case.partition("/")[2] for row in cost.shown if not row.valid)


COLUMNS: Columns = {
    **attributes("operation", latency_cycles="latency", cycles_per_warp_operation="full"),
    **attributes(thread_operations_per_cycle="per_cycle"),
    "best_ilp": lambda cost: cost.full and cost.full.text("ilp", ""),
    "best_warps_per_sm": lambda cost: cost.full and cost.full.text("warps_per_sm", ""),
    **attributes(g80_cycles_per_warp="g80", valid="valid", case="row.case"),
    **attributes(_latency="latency", _full="full", _words="words"),
}


def data(run: Run) -> pd.DataFrame:
    """One item per operation, in the order of the list; a valid row beats invalid ones."""
    rows = [row for row in run.of("instruction_cost") if CYCLES.get(row.quantity) == row.method]
    by_name = grouped([row for row in rows if row.value > 0], lambda row: row.text("operation"))
    costs = [Cost(name, by_name[name]) for name in OPERATIONS if name in by_name]
    return table([cost for cost in costs if cost.shown], COLUMNS, label=_label)


def caption(data: pd.DataFrame) -> str:
    """The shapes of launches, and what the marks are."""
    if data["_row"][0].backend == "host":
        return prose(
            "Left: one dependent chain of scalar instructions. Right: the best of several chains "
            "side by side, on one core."
            if data["_full"].notna().any()
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


@figure("instruction_cost", "Cost of operations", order=70, data=data, caption=caption)
def draw(data: pd.DataFrame, figure: Figure) -> None:
    """Latency left, rate right: a dot with its number per operation, the first at the top.

    Without a rate, as of a CPU in a quick run, latency alone.
    """
    host = data["_row"][0].backend == "host"
    theirs = data.g80_cycles_per_warp.dropna()
    rate = "cycles of a core for an operation" if host else "cycles of an SM for a warp's operation"
    drawn = [("_latency", "Latency", "cycles until the result is there")]
    if len(theirs) or data["_full"].notna().any():
        drawn.append(("_full", "Many chains" if host else "Many warps", rate))
    figure.set_figheight(1.0 + 0.2 * len(data))
    panels = figure.subplots(1, len(drawn), squeeze=False, sharey=True)[0]
    for ax, (name, title, label) in zip(panels, drawn, strict=True):
        rows = data[name].dropna()
        shown = marks(rows, rows.index)
        points(ax, shown, "value", "at", ls="", marker="o", c="#0072B2", label="measured", zorder=3)
        valid = rows[[row.valid for row in rows]]
        ends = [row.minimum for row in valid], [row.maximum for row in valid]
        ax.hlines(valid.index, *ends, color="#0072B2", lw=1)
        # Published values of the same operation are to the right of a rate.
        side, anchor = (-6, "right") if name == "_full" and len(theirs) else (6, "left")
        for x, y in zip(shown.value, shown["at"], strict=True):
            ax.annotate(
                short(x), (x, y), (side, 0), textcoords="offset points", ha=anchor, va="center",

            )  # fmt: skip
        if name == "_full" and len(theirs):
            look = {"mfc": "white", "ms": 4.2, "label": "G80, published"}
            (diamonds,) = ax.plot(theirs, theirs.index, "D", c="#D55E00", **look)
            words = "{:g} cycles per warp on the G80; Breitbart 2008, Table 2.2"
            hover(diamonds, map(words.format, theirs))
        plain_log(ax, "x")
        ax.margins(x=0.12)
        ax.set(xlabel=label, title=title, ylim=(len(data) - 0.4, -0.6))
        ax.grid(axis="x")
    panels[0].set_yticks(range(len(data)), [*data["_words"]])
