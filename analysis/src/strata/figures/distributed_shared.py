"""What does it cost to read the shared memory of another SM of the cluster?"""

import pandas as pd
from matplotlib.figure import Figure

from strata.figures._figure import Columns, attributes, params, prose
from strata.figures._plot import figure, table
from strata.figures._style import WIDTHS, plain_log, points
from strata.model.units import number
from strata.run import Row, Run

LABELS = {
    "load_cycles": "cycles of a dependent load",
    "bandwidth_per_sm": "bytes per SM and cycle",
}
COLUMNS: Columns = {
    **params("measure", "cluster", "distance", "warps"),
    **attributes("quantity", "value", "unit", low="minimum", high="maximum"),
}


def data(run: Run) -> pd.DataFrame:
    """Latencies, then bandwidths by warps, by the clock in the kernel; the own block first."""

    def place(row: Row) -> tuple[object, ...]:
        axes = [row.count(axis) or 0 for axis in ("warps", "distance", "cluster")]
        return list(LABELS).index(row.quantity), *axes

    clocked = [row for row in run.of("distributed_shared") if row.method == "clock64_slope"]
    rows = sorted((row for row in clocked if row.quantity in LABELS), key=place)
    return table(rows, COLUMNS, row=lambda row: row, label=_label)


def distance(row: Row) -> int:
    """The distance in the cluster to the block that is read; 0 is the own block."""
    return row.count("distance") or 0


def _label(row: Row) -> str:
    where = f"{row.text('measure')}, cluster of {row.text('cluster')}"
    return f"{where}, distance {row.text('distance')}, warps {row.text('warps')}"


def caption(data: pd.DataFrame) -> str:
    """What another block costs, and how it was measured."""
    rows = [*data["_row"]]

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
        "lines through them: range of the samples. The GPU chooses the SMs of a cluster.",
    )


@figure(
    "distributed_shared", "Shared memory of another SM", order=9, data=data, caption=caption
)  # fmt: skip
def draw(data: pd.DataFrame, figure: Figure) -> None:
    """Latency, and the bandwidth of each number of warps, by the block that is read."""
    blocks = sorted({*map(distance, data["_row"])})
    names = {0: "its own", 1: "next"}
    data = data.assign(block=data["_row"].map(distance).map(blocks.index))
    wanted = list(dict.fromkeys(zip(data.quantity, data.warps, strict=True)))
    columns = min(2, len(wanted))
    rows = -(-len(wanted) // columns)
    figure.set_figheight(0.8 + 2.4 * rows)
    panels = figure.subplots(rows, columns, squeeze=False)
    for ax in panels.flat[len(wanted) :]:
        ax.remove()
    for ax, (quantity, warps) in zip(panels.flat, wanted, strict=False):
        here = data[(data.quantity == quantity) & (data.warps == warps)]
        for cluster, part in here.groupby("cluster", sort=False):
            colour, marker = WIDTHS.get(int(f"{cluster}"), ("#666666", "X"))
            look = {"color": colour, "marker": marker, "label": f"cluster of {cluster} blocks"}
            points(ax, part.sort_values("block"), "block", "value", **look)
            ax.vlines(part.block, part.low, part.high, color=colour, lw=0.9)
        ax.set_xticks(range(len(blocks)), [names.get(one, f"{one} on") for one in blocks])
        ax.set(xlabel="block that is read", ylabel=LABELS[quantity])
        if quantity == "load_cycles":
            ax.set(ylim=(0, 1.15 * here.high.max()), title="latency")
        else:
            plain_log(ax)
            ax.set_title(f"bandwidth, {warps} warp{'s' * (warps != '1')} a block")
