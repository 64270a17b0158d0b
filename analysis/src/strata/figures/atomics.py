"""What does contention cost? Latency and rate of every atomic operation."""

from collections.abc import Mapping
from itertools import product

import pandas as pd
from matplotlib.figure import Figure

from strata.figures._figure import Columns, attributes, params
from strata.figures._plot import figure, table
from strata.figures._style import plain_log, points
from strata.model import ordered
from strata.model.cases import CLOCKS
from strata.model.names import rank
from strata.model.units import short
from strata.run import Row, Run

OPERATIONS: Mapping[str, str] = {
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
COLUMNS: Columns = {
    **params("space", "operation", "returns", "target"),
    **attributes(quantity="quantity", median="value", low="minimum", high="maximum", unit="unit"),
}


def data(run: Run) -> pd.DataFrame:
    """Latencies and rates by the clock inside, by space and operation."""

    def place(row: Row) -> tuple[object, ...]:
        silent = row.text("returns", "yes") != "yes"
        return *map(row.text, ("space", "operation")), silent, row.text("target"), row.quantity

    clocked = [row for row in run.of("atomics") if row.method in CLOCKS]
    known = [row for row in clocked if (row.backend, row.quantity) in LABELS]
    rows = sorted((row for row in known if row.text("target") in TARGETS[row.backend]), key=place)
    return table(rows, COLUMNS, row=lambda row: row, label=_label)


def _line(row: Row) -> str:
    """The name of the line of a mark."""
    name = OPERATIONS.get(row.text("operation"), row.text("operation"))
    silent = ", no return" if row.backend == "host" else ", red"
    return name if row.text("returns", "yes") == "yes" else name + silent


def _rank(row: Row) -> tuple[object, str]:
    return rank(row.text("operation"), tuple(OPERATIONS)), _line(row)


def _label(row: Row) -> str:
    return f"{row.text('space')}, {_line(row)}, {row.text('target')}"


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


def caption(data: pd.DataFrame) -> str:
    """The operations of a GPU or of a CPU."""
    return CAPTIONS[data["_row"][0].backend]


@figure("atomics", "Atomic operations by contention", order=68, data=data, caption=caption)
def draw(data: pd.DataFrame, figure: Figure) -> None:
    """Spaces one below the other, latency beside rate; targets of an operation share a line."""
    backend, targets = data["_row"][0].backend, TARGETS[data["_row"][0].backend]
    names = [*dict.fromkeys(map(_line, sorted(data["_row"], key=_rank)))]
    lanes = {target: 0.29 * (nth - 1) for nth, target in enumerate(targets)}
    data = data.assign(at=data["_row"].map(_line).map(names.index) + data.target.map(lanes))
    spaces, quantities = ordered(data.space, ("shared",)), sorted({*data.quantity})
    figure.set_figheight(0.8 + len(spaces) * (0.6 + 0.45 * len(names)))
    panels = figure.subplots(len(spaces), len(quantities), squeeze=False, sharex="col")
    for ax, (space, quantity) in zip(panels.flat, product(spaces, quantities), strict=True):
        here = data[(data.space == space) & (data.quantity == quantity)]
        for target, (label, (colour, marker)) in targets.items():
            some = here[here.target == target]
            if len(some):
                points(ax, some, "median", "at", c=colour, marker=marker, ls="", label=label)
                ax.hlines(some["at"], some.low, some.high, color=colour, lw=0.9)
        for x, y in zip(here["median"], here["at"], strict=True):
            ax.annotate(short(x), (x, y), (6, 0), textcoords="offset points", va="center")
        plain_log(ax, "x", (1,))
        ax.margins(x=0.2)
        ax.set(yticks=range(len(names)), yticklabels=names, ylim=(len(names) - 0.5, -0.5))
        ax.grid(axis="x")
        ax.set_title("memory" if backend == "host" else f"{space} memory")
        ticks = data.unit[data.quantity == quantity].str.contains("tsc").any()
        cycles = "TSC cycle" if ticks else "cycle"
        ax.set_xlabel(LABELS[backend, quantity].replace("cycle", cycles))
        ax.label_outer()
