"""What does it cost to copy a tile into shared memory, with each method?"""

from collections.abc import Sequence
from dataclasses import replace
from operator import methodcaller

from strata.figures import _chart as c
from strata.figures._figure import Figure, attributes, params
from strata.model.units import size
from strata.run import Row, Run

RESIDENCIES = {"l2": "from L2", "dram": "from DRAM", "shared": "from another block"}
MEASURES = {
    "latency": ("tile_latency", "latency of a tile (cycles)"),
    "bandwidth": ("bandwidth_per_sm", "bytes per cycle and SM"),
}
LOOKS = {
    "registers": ("through registers", c.Look(colour="#666666", marker="o")),
    "cp_async_4": ("cp.async, 4 bytes", c.Look(colour="#E69F00", marker="v")),
    "cp_async_8": ("cp.async, 8 bytes", c.Look(colour="#D55E00", marker="^")),
    "cp_async_16": ("cp.async, 16 bytes", c.Look(colour="#0072B2", marker="s")),
    "bulk": ("cp.async.bulk", c.Look(colour="#009E73", marker="D")),
    "tensor": ("cp.async.bulk.tensor", c.Look(colour="#56B4E9", marker="P")),
    "distributed": ("ld.shared::cluster", c.Look(colour="#CC79A7", marker="X")),
}
LINES = {"4": "--", "8": ":"}
"""Of clusters that have more blocks than two."""


def items(run: Run) -> Sequence[Row]:
    """Every case, by the clock inside the kernel."""

    def rank(row: Row) -> tuple[object, ...]:
        place = (row.text("measure") != "latency", row.text("residency"))
        ways = list(LOOKS).index(row.text("method"))
        return *place, ways, row.count("cluster"), row.count("bytes")

    clocked = [row for row in run.of("async_copy") if row.method == "clock64_slope"]
    return sorted((r for r in clocked if r.quantity == MEASURES[r.text("measure")][0]), key=rank)


def chart(rows: Sequence[Row]) -> c.Chart:
    """Latency above bandwidth; one column per source of tiles."""
    several = len({row.text("cluster") for row in rows if row.text("method") == "distributed"}) > 1
    looks = {}
    for row in rows:
        label, look = LOOKS[row.text("method")]
        if several and row.text("method") == "distributed":
            label += f", {row.text('cluster')} blocks"
        looks[_line(row)] = (label, replace(look, line=LINES.get(row.text("cluster"), "-")))

    def panel(measure: str, residency: str, here: Sequence[Row]) -> c.Panel:
        lines = c.by_look(here, _line, looks, lambda row: c.mark(_size(row), row), spread="band")
        places = c.bytes_axis("bytes of a tile", [_size(row) for row in rows])
        values = c.Axis(
            MEASURES[measure][1], "log" if measure == "latency" else "linear", zero=True
        )
        return c.Panel(lines, places, values, RESIDENCIES[residency])

    by = (methodcaller("text", "measure"), methodcaller("text", "residency"))
    panels = c.facets(rows, *by, panel, rows=tuple(MEASURES), columns=tuple(RESIDENCIES))
    width, height = 2.2 + 2.4 * len(panels[0]), 0.4 + 2.4 * len(panels)
    return c.Chart(panels, width, height, "beside", share="row")


def _line(row: Row) -> str:
    return f"{row.text('method')} {row.text('cluster')}"


def _size(row: Row) -> int:
    return row.count("bytes") or 0


def _label(row: Row) -> str:
    where = f"{row.text('measure')} {RESIDENCIES[row.text('residency')]}"
    return f"{where}, {row.text('method')}, {size(_size(row))}"


FIGURE = Figure(
    "async_copy", "Copies into shared memory", 95, items, chart,
    lambda _: (
        "Copying a tile into shared memory (medians; bands: range of the samples). Latency: "
        "one block, one tile after the other, from the request until all threads may read it. "
        "Bytes per cycle: a block on every SM, four tiles in flight."
    ),
    columns=params("residency", "measure", "method", "bytes", "cluster")
    | attributes("unit", "value", low="minimum", high="maximum"),
    label=_label,
)  # fmt: skip
