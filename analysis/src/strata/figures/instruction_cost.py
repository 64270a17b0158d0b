"""What does each operation cost an SM: latency of its result, and rate with many in flight?

Beside it, Table 2.2 of Breitbart for the G80, in the same unit.
"""

import pandas as pd
from matplotlib.figure import Figure

from strata.figures._plot import figure, rows_of
from strata.figures._style import in_column, listed, lists, marks, note, plain_log, points, theirs
from strata.model.units import short
from strata.reference import cite
from strata.run import Run

WARP = 32
OPERATIONS: dict[str, tuple[str, float | None]] = {
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
    "fdiv": ("divide, fp32", None),
    "udiv": ("divide, int32", None),
    "iadd64": ("2 adds, int64", None),
    "imad64": ("multiply-add, int64", None),
    "int_to_float": ("int32 to fp32 (and xor)", None),
    "float_to_int": ("fp32 to int32 (and xor)", None),
    "popc_xor": ("count ones (and xor)", None),
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


def data(run: Run) -> pd.DataFrame:
    """One line per operation, in the order of the list; a valid row beats invalid ones.

    The latency is of a chain on one warp, the rate of the best of the fuller shapes.
    """
    rows = rows_of(run, "instruction_cost", operation="", ilp=0, warps_per_sm=0)
    known = rows.operation.isin(OPERATIONS) & (rows.quantity.map(CYCLES) == rows.method)
    rows = rows[known & (rows.value > 0)]
    host = run.context.backend == "host"
    alone = rows[(rows.ilp == 1) & (rows.warps_per_sm == 1)].drop_duplicates("operation")
    others = rows[(rows.ilp if host else rows.warps_per_sm) != 1]
    fastest = others.sort_values(["valid", "value"], ascending=[False, True], kind="stable")
    alone, full = (
        found.set_index("operation").reindex([*OPERATIONS])
        for found in (alone, fastest.drop_duplicates("operation"))
    )
    names = ON_A_CPU if host else {}
    invalid = [
        "; ".join(row.case.partition("/")[2] for row in pair if pd.notna(row) and not row.valid)
        for pair in zip(alone["_row"], full["_row"], strict=True)
    ]
    lines = pd.DataFrame(
        {
            "operation": alone.index, "latency_cycles": alone.value,
            "cycles_per_warp_operation": full.value,
            "thread_operations_per_cycle": (1 if host else WARP) / full.value,
            "best_ilp": full.ilp.astype("Int64"),
            "best_warps_per_sm": full.warps_per_sm.astype("Int64"),
            "g80_cycles_per_warp": [None if host else g80 for _, g80 in OPERATIONS.values()],
            "valid": [not label for label in invalid], "case": alone.case.fillna(full.case),
            "_row": alone["_row"].fillna(full["_row"]), "_latency": alone["_row"],
            "_full": full["_row"], "_label": invalid,
            "_words": [names.get(name, words) for name, (words, _) in OPERATIONS.items()],
        }
    )  # fmt: skip
    return lines[lines["_row"].notna()].reset_index(drop=True)


def caption(data: pd.DataFrame) -> str:
    marks = "Dots: medians; lines: range of the samples. Operations of two words are two "
    marks += "instructions, and their latency is that of both."
    if data["_row"][0].backend == "host":
        return (
            "Latency: one dependent chain of scalar instructions, on one core; many chains: the "
            "best of several side by side. Cycles are the core's: a dependent addition of integers "
            f"beside each measurement counts as one. {marks}"
        )
    return (
        "Latency: one warp, one dependent chain; many warps: the best of the fuller shapes, every "
        "SM at work; 32 ÷ these cycles are operations of threads in a cycle. Diamonds: cycles per "
        f"warp on the G80 (Breitbart 2008, Table 2.2) {cite('breitbart2008structures')}. {marks}"
    )


@figure("instruction_cost", "Cost of operations", order=70, data=data, caption=caption)
def draw(data: pd.DataFrame, figure: Figure) -> None:
    """Latency left, rate right: a dot with its number per operation, the first at the top.

    Without a rate, as of a CPU in a quick run, latency alone.
    """
    host = data["_row"][0].backend == "host"
    g80 = data.g80_cycles_per_warp.dropna()
    rate = (
        "cycles of a core\nfor an operation" if host else "cycles of an SM\nfor a warp's operation"
    )
    drawn = [("_latency", "Latency", "cycles until the result is there")]
    if len(g80) or data["_full"].notna().any():
        drawn.append(("_full", "Many chains" if host else "Many warps", rate))
    panels = lists(figure, [len(data)] * len(drawn), 0.2)
    for ax, (name, title, label) in zip(panels, drawn, strict=True):
        rows = data[name].dropna()
        shown = marks(rows, rows.index)
        look = {"marker": "o", "c": "#0072B2", "label": "measured", "zorder": 3, "ls": ""}
        points(ax, shown, "value", "at", "x", **look)
        published = name == "_full" and len(g80)
        for x, y in zip(shown.value, shown["at"], strict=True):
            note(ax, short(x), x, y, (-6 if published else 6, 0))  # published ones are to the right
        if published:
            words = "{:g} cycles per warp on the G80; Breitbart 2008, Table 2.2"
            theirs(ax, g80, g80.index, map(words.format, g80), label="G80, published")
        plain_log(ax, "x")
        room = (4 if in_column(ax) else 2.2) if published else 1
        ax.set_xlim(ax.get_xlim()[0] / room, 1.4 * ax.get_xlim()[1])
        ax.set(xlabel=label, title=title)
        listed(ax, data["_words"])
