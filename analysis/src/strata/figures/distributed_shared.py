"""What does it cost to read the shared memory of another SM of the cluster?"""

from collections.abc import Sequence

from strata.figures import _chart as c
from strata.figures._figure import Figure, attributes, params, prose
from strata.model.units import number
from strata.run import Row, Run

LABELS = {
    "load_cycles": "cycles of a load that needs the last one",
    "bandwidth_per_sm": "bytes that an SM reads in a cycle",
}
OWN = c.Look(c.GREY, "D", "--", 4.2)
APART = 1.05
"""From one distance's mark to the next at the same size: marks would lie on each other."""


def items(run: Run) -> Sequence[Row]:
    """Latencies, then bandwidths by warps, by the clock in the kernel; the own block first."""

    def place(row: Row) -> tuple[object, ...]:
        axes = [row.count(axis) or 0 for axis in ("warps", "distance", "cluster")]
        return list(LABELS).index(row.quantity), *axes

    clocked = [row for row in run.of("distributed_shared") if row.method == "clock64_slope"]
    return sorted((row for row in clocked if row.quantity in LABELS), key=place)


def distance(row: Row) -> int:
    """The distance in the cluster to the block that is read; 0 is the own block."""
    return row.count("distance") or 0


def chart(rows: Sequence[Row]) -> c.Chart:
    """Latency, and the bandwidth of each number of warps, by the size of the cluster."""
    distances = sorted(set(map(distance, rows)))
    looks = {one: (f"{one} blocks on", c.look_of(c.WIDTH_LOOK, one)) for one in distances}
    looks |= {0: ("its own", OWN), 1: ("of the next block", c.look_of(c.WIDTH_LOOK, 1))}
    sizes = sorted({row.count("cluster") or 0 for row in rows})
    clusters = c.Axis("blocks of a cluster", "log2", ticks=sizes)

    def marked(row: Row) -> c.Mark:
        shift = APART ** (distances.index(distance(row)) - (len(distances) - 1) / 2)
        return c.mark((row.count("cluster") or 0) * shift, row)

    def panel(here: Sequence[Row]) -> c.Panel:
        layers = c.by_look(here, distance, looks, marked, spread="bar")
        label, warps = LABELS[here[0].quantity], here[0].text("warps")
        if here[0].quantity == "load_cycles":
            ends = (0, 1.15 * max(row.maximum for row in here))
            return c.Panel(layers, clusters, c.Axis(label, limits=ends), "latency")
        title = f"bandwidth, {warps} warp{'s' * (warps != '1')} a block"
        return c.Panel(layers, clusters, c.Axis(label, "log"), title)

    by_panel = c.grouped(rows, lambda row: (row.quantity, row.text("warps")))
    panels = c.wrapped([panel(here) for here in by_panel.values()], min(2, len(by_panel)))
    width, height = 0.8 + 3.2 * len(panels[0]), 0.9 + 2.3 * len(panels)
    return c.Chart(panels, width, height, legend_columns=3, share="all")


def _caption(rows: Sequence[Row]) -> str:
    def found(quantity: str, *, own: bool) -> list[float]:
        here = [row for row in rows if row.valid and row.quantity == quantity]
        return [row.value for row in here if (distance(row) == 0) == own]

    near, far = (found("load_cycles", own=own) for own in (True, False))
    own, others = (found("bandwidth_per_sm", own=own) for own in (True, False))
    return prose(
        near
        and far
        and f"A load from another SM's shared memory takes {number(min(far))} to "
        f"{number(max(far))} cycles, one from the SM's own {number(max(near))}.",
        own
        and others
        and f"An SM reads at most {number(max(others))} bytes per cycle from another's shared "
        f"memory, and {number(max(own))} from its own.",
        "The blocks of a cluster run on one SM each. A block reads its own shared memory, or "
        "that of the block at the given distance in its cluster. Latency: one thread follows "
        "a chain of dependent loads; its own memory is read by the same instruction. "
        "Bandwidth: as many clusters as fit read at once, 16 bytes per lane. Marks: medians; "
        "lines through them: range of the samples. Marks of one cluster size are side by "
        "side. The GPU chooses the SMs of a cluster.",
    )


FIGURE = Figure(
    "distributed_shared", "Shared memory of another SM", 9, items, chart, _caption,
    params("measure", "cluster", "distance", "warps")
    | attributes("quantity", "value", "unit", low="minimum", high="maximum"),
    label=lambda row: (
        f"{row.text('measure')}, cluster of {row.text('cluster')}, distance "
        f"{row.text('distance')}, warps {row.text('warps')}"
    ),
)  # fmt: skip
