"""What does contention cost? Latency and rate of every atomic operation."""

from itertools import product

import pandas as pd
from matplotlib.figure import Figure

from strata.figures._plot import columns, figure, in_order, rows_of, worded
from strata.figures._style import in_column, listed, note, plain_log, points
from strata.model import ordered
from strata.model.cases import CLOCKS
from strata.model.units import short
from strata.run import Run

OPERATIONS = {
    "add_int": "add int32",
    "add_int64": "add int64",
    "add_float": "add float",
    "exch_int": "exchange",
    "cas_int": "compare & swap",
}
LABELS = {
    ("cuda", "atomic_latency"): "latency of a warp's operation (cycles)",
    ("cuda", "atomics_per_cycle"): "operations of lanes per SM and cycle",
    ("host", "atomic_latency"): "latency of a lone core's operation (cycles)",
    ("host", "atomics_per_cycle"): "operations per core and cycle",
}
NEAR, BESIDE, SAME = ("#009E73", "o"), ("#0072B2", "s"), ("#D55E00", "^")
TARGETS = {
    "cuda": {
        "disjoint": ("a word for each lane", NEAR),
        "warp": ("a word for each warp", BESIDE),
        "same": ("one word for all", SAME),
    },
    "host": {
        "disjoint": ("a line for each core", NEAR),
        "line": ("a word for each core, on shared lines", BESIDE),
        "same": ("one word for all", SAME),
    },
}
CAPTIONS = {
    "host": (
        "Atomic operations of a CPU. Left: latency of operations that each need the previous "
        "result, on one core without contention. Right: operations per cycle of a core while "
        "all cores work, each on a separate line, on separate words of shared lines, or all "
        "on one word. Cycles are those of the time-stamp counter. Operations that return "
        "nothing have no latency. Marks: medians; lines: range of the samples. Additions of "
        "floats are a compare-and-swap loop."
    ),
    "cuda": (
        "Atomic operations of a warp. Left: latency of operations that each need the previous "
        "result, in a warp that has the chip to itself. Right: lane operations per cycle of "
        "an SM, with 32 warps on every SM; one word for all is one per block in shared "
        "memory, one for the whole chip in global memory. Red returns nothing, so it has no "
        "latency. Marks: medians; lines: range of the samples. Additions of floats and of 64 "
        "bits in shared memory are a compare-and-swap loop."
    ),
}


def data(run: Run) -> pd.DataFrame:
    """Latencies and rates by the clock inside, by space and operation."""
    rows = rows_of(run, "atomics", space="", operation="", target="", returns="yes")
    backend = run.context.backend
    drawn = rows.quantity.isin(quantity for on, quantity in LABELS if on == backend)
    lines = rows[rows.method.isin(CLOCKS) & drawn & rows.target.isin(TARGETS[backend])]
    lines = in_order(
        lines, "space", "operation", "returns", "target", "quantity", returns=("yes", "no")
    )
    silent = ", no return" if backend == "host" else ", red"
    names = lines.assign(
        name=lines.operation.replace(OPERATIONS),
        returned=["" if returns == "yes" else silent for returns in lines.returns],
    )
    lines["_name"] = worded(names, "{name}{returned}")
    lines["_label"] = worded(lines, "{space}, {_name}, {target}")
    lines["_backend"] = backend
    return columns(
        lines, "space", "operation", "returns", "target", "quantity", median="value",
        low="minimum", high="maximum", unit="unit",
    )  # fmt: skip


def caption(data: pd.DataFrame) -> str:
    """The operations of a GPU or of a CPU."""
    return CAPTIONS[data["_backend"][0]]


@figure("atomics", "Atomic operations by contention", order=68, data=data, caption=caption)
def draw(data: pd.DataFrame, figure: Figure) -> None:
    """Spaces one below the other, latency beside rate; targets of an operation share a line."""
    backend = data["_backend"][0]
    targets = TARGETS[backend]
    by_operation = in_order(
        data, "operation", "_name", operation=ordered(data.operation, tuple(OPERATIONS))
    )
    names = [*by_operation["_name"].unique()]
    lanes = {target: 0.29 * (nth - 1) for nth, target in enumerate(targets)}
    data = data.assign(at=data["_name"].map(names.index) + data.target.map(lanes))
    shown = [*product(ordered(data.space, ("shared",)), sorted({*data.quantity}))]
    across = 1 if in_column(figure) else data.quantity.nunique()
    figure.set_figheight(0.8 + len(shown) / across * (0.6 + 0.45 * len(names)))
    rows = len(shown) // across
    panels = figure.subplots(rows, across, squeeze=False, sharex="col" if across > 1 else "none")
    for ax, (space, quantity) in zip(panels.flat, shown, strict=True):
        here = data[(data.space == space) & (data.quantity == quantity)]
        for target, (label, (colour, marker)) in targets.items():
            some = here[here.target == target]
            look = {"c": colour, "marker": marker, "ls": "", "label": label if len(some) else ""}
            points(ax, some, "median", "at", "x", **look)
        for x, y in zip(here["median"], here["at"], strict=True):
            note(ax, short(x), x, y)
        plain_log(ax, "x", (1,))
        ax.margins(x=0.2)
        listed(ax, names)
        ax.set_title("memory" if backend == "host" else f"{space} memory")
        ticks = here.unit.str.contains("tsc").any()
        ax.set_xlabel(LABELS[backend, quantity].replace("cycle", "TSC cycle" if ticks else "cycle"))
        if across > 1:
            ax.label_outer()
