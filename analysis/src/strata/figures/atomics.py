"""What does contention cost? Latency and rate of every atomic operation."""

from collections.abc import Mapping, Sequence
from operator import attrgetter, methodcaller

from strata.figures import _chart as c
from strata.figures._figure import Figure, attributes, params
from strata.model.cases import CLOCKS
from strata.model.names import rank
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
NEAR, BESIDE, SAME = (
    c.Look(colour=colour, marker=marker, size=4.2)
    for colour, marker in (("#009E73", "o"), ("#0072B2", "s"), ("#D55E00", "^"))
)
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


def items(run: Run) -> Sequence[Row]:
    """Latencies and rates by the clock inside, by space and operation."""

    def place(row: Row) -> tuple[object, ...]:
        silent = row.text("returns", "yes") != "yes"
        return *map(row.text, ("space", "operation")), silent, row.text("target"), row.quantity

    clocked = [row for row in run.of("atomics") if row.method in CLOCKS]
    known = [row for row in clocked if (row.backend, row.quantity) in LABELS]
    return sorted((row for row in known if row.text("target") in TARGETS[row.backend]), key=place)


def _line(row: Row) -> str:
    """The name of the line of a mark."""
    name = OPERATIONS.get(row.text("operation"), row.text("operation"))
    silent = ", no return" if row.backend == "host" else ", red"
    return name if row.text("returns", "yes") == "yes" else name + silent


def chart(rows: Sequence[Row]) -> c.Chart:
    """Spaces one below the other, latency beside rate; targets of an operation share a line."""
    backend = rows[0].backend
    by_operation = sorted(rows, key=lambda row: rank(row.text("operation"), tuple(OPERATIONS)))
    lines, looks = list(dict.fromkeys(map(_line, by_operation))), TARGETS[backend]
    places = c.names_axis(lines, grid=True)

    def mark(row: Row) -> c.Mark:
        nth = list(looks).index(row.text("target"))
        return c.mark(lines.index(_line(row)) + 0.22 * (nth - 1), row)

    def panel(space: str, quantity: str, here: Sequence[Row]) -> c.Panel:
        title = "memory" if backend == "host" else f"{space} memory"
        title = title if quantity == "atomic_latency" else ""
        layers = c.by_look(here, lambda row: row.text("target"), looks, mark, spread="bar")
        label = LABELS[backend, quantity]
        if "tsc" in here[0].unit:
            label = label.replace("cycle", "TSC cycle")
        values = c.Axis(label, "log")
        return c.Panel(layers, places, values, title, sideways=True, blank="not timed")

    by = (methodcaller("text", "space"), attrgetter("quantity"))
    panels = c.facets(rows, *by, panel, rows=("shared",))
    height = 1.0 + len(panels) * (0.6 + 0.24 * len(lines))
    return c.Chart(panels, 7.6, height, share="column")


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
FIGURE = Figure(
    "atomics", "Atomic operations by contention", 68, items, chart,
    lambda rows: CAPTIONS[rows[0].backend],
    params("space", "operation", "returns", "target")
    | attributes(quantity="quantity", median="value", low="minimum", high="maximum", unit="unit"),
    label=lambda row: f"{row.text('space')}, {_line(row)}, {row.text('target')}",
)  # fmt: skip
