"""What does contention cost? Latency and rate of every atomic operation."""

import pandas as pd
from matplotlib.figure import Figure

from strata.figures._plot import columns, figure, in_order, rows_of, worded
from strata.figures._style import beside_marks, grid, listed, parts, plain_log, series
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
        "disjoint": ("a word for each lane", *NEAR),
        "warp": ("a word for each warp", *BESIDE),
        "same": ("one word for all", *SAME),
    },
    "host": {
        "disjoint": ("a line for each core", *NEAR),
        "line": ("a word for each core, on shared lines", *BESIDE),
        "same": ("one word for all", *SAME),
    },
}
CAPTIONS = {
    "host": (
        "Atomic operations of a CPU: latency of operations that each need the previous result, on "
        "one core without contention; operations per cycle (of the time-stamp counter) while all "
        "cores work. Marks: medians; lines: range of the samples. Additions of floats are a "
        "compare-and-swap loop."
    ),
    "cuda": (
        "Atomic operations of a warp: latency of operations that each need the previous result, in "
        "a warp that has the chip to itself; lane operations per cycle with 32 warps on every SM. "
        "One word for all is one per block in shared memory, one for the whole chip in global "
        "memory. Red returns nothing, so it has no latency. Marks: medians; lines: range of the "
        "samples. Additions of floats and of 64 bits in shared memory are a compare-and-swap loop."
    ),
}


def data(run: Run) -> pd.DataFrame:
    """Latencies and rates by the clock inside, by space and operation."""
    rows = rows_of(run, "atomics", space="", operation="", target="", returns="yes")
    backend = run.context.backend
    drawn = rows.quantity.isin(quantity for on, quantity in LABELS if on == backend)
    lines = rows[rows.method.isin(CLOCKS) & drawn & rows.target.isin(TARGETS[backend])]
    by = "space", "operation", "returns", "target", "quantity"
    lines = in_order(lines, *by, returns=("yes", "no"))
    silent = {"yes": "", "no": ", no return" if backend == "host" else ", red"}
    lines["_name"] = lines.operation.replace(OPERATIONS) + lines.returns.map(silent)
    lines["_label"] = worded(lines, "{space}, {_name}, {target}")
    lines["_backend"] = backend
    return columns(lines, *by, median="value", low="minimum", high="maximum", unit="unit")


def caption(data: pd.DataFrame) -> str:
    return CAPTIONS[data["_backend"][0]]


@figure("atomics", "Atomic operations by contention", order=68, data=data, caption=caption)
def draw(data: pd.DataFrame, figure: Figure) -> None:
    backend = data["_backend"][0]
    order = {"operation": ordered(data.operation, (*OPERATIONS,)), "space": ("shared", "global")}
    names = [*in_order(data, "operation", "_name", **order)["_name"].unique()]
    lanes = {target: 0.29 * (nth - 1) for nth, target in enumerate(TARGETS[backend])}
    data = data.assign(at=data["_name"].map(names.index) + data.target.map(lanes))
    found = parts(in_order(data, "space", "quantity", **order), ["space", "quantity"])
    panels = grid(figure, len(found), 0.6 + 0.45 * len(names))
    for ax, ((space, quantity), here) in zip(panels, found, strict=True):
        series(ax, here, "target", TARGETS[backend], "median", "at", "x", ls="")
        beside_marks(ax, here["median"].map(short), here["median"], here["at"])
        plain_log(ax, "x", (1,))
        ax.margins(x=0.2)
        listed(ax, names)
        ax.set_title("memory" if backend == "host" else f"{space} memory")
        ticks = here.unit.str.contains("tsc").any()
        ax.set_xlabel(LABELS[backend, quantity].replace("cycle", "TSC cycle" if ticks else "cycle"))
