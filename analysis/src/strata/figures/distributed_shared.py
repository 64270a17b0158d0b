"""What does it cost to read the shared memory of another SM of the cluster?"""

import pandas as pd
from matplotlib.figure import Figure

from strata.figures._plot import columns, figure, in_order, prose, rows_of, worded
from strata.figures._style import WIDTHS, panels, plain_log, series
from strata.model.units import number
from strata.run import Run

LABELS = {
    "load_cycles": "cycles of a dependent load",
    "bandwidth_per_sm": "bytes per SM and cycle",
}


def data(run: Run) -> pd.DataFrame:
    """Latencies, then bandwidths by warps, by the clock in the kernel; the own block first."""
    rows = rows_of(run, "distributed_shared", measure="", cluster=0, distance=0, warps=0)
    lines = rows[(rows.method == "clock64_slope") & rows.quantity.isin(LABELS)]
    lines = in_order(lines, "quantity", "warps", "distance", "cluster", quantity=LABELS)
    words = "{measure}, cluster of {cluster}, distance {distance}, warps {warps}"
    lines["_label"] = worded(lines, words)
    return columns(
        lines, "measure", "cluster", "distance", "warps", "quantity", "value", "unit",
        low="minimum", high="maximum",
    )  # fmt: skip


def caption(data: pd.DataFrame) -> str:
    valid = data[data.valid]
    own = valid[valid.distance == 0].groupby("quantity").value.max()
    others = valid[valid.distance > 0].groupby("quantity").value.agg(["min", "max"])
    both = own.index.intersection(others.index)
    return prose(
        "load_cycles" in both
        and "A load from another SM's shared memory takes "
        f"{number(others['min']['load_cycles'])} to {number(others['max']['load_cycles'])} "
        f"cycles, one from the SM's own {number(own['load_cycles'])}.",
        "bandwidth_per_sm" in both
        and f"An SM reads at most {number(others['max']['bandwidth_per_sm'])} bytes per cycle "
        f"from another's shared memory, and {number(own['bandwidth_per_sm'])} from its own.",
        "A block reads its own shared memory, or that of the block at the given distance in its "
        "cluster. Latency: a chain of dependent loads of one thread. Bandwidth: as many clusters "
        "as fit read at once, 16 bytes per lane. Marks: medians; lines: range of the samples.",
    )


@figure("distributed_shared", "Shared memory of another SM", order=9, data=data, caption=caption)
def draw(data: pd.DataFrame, figure: Figure) -> None:
    blocks = sorted({*data.distance})
    names = {0: "its own", 1: "next"}
    data = data.assign(block=data.distance.map(blocks.index))
    for ax, (quantity, warps), here in panels(figure, data, ["quantity", "warps"]):
        label = "cluster of {} blocks"
        series(ax, here, "cluster", WIDTHS, "block", "value", "y", label=label)
        ax.set_xticks(range(len(blocks)), [names.get(block, f"{block} on") for block in blocks])
        ax.set(xlabel="block that is read", ylabel=LABELS[quantity])
        if quantity == "load_cycles":
            ax.set(ylim=(0, 1.15 * here.high.max()), title="latency")
        else:
            plain_log(ax)
            ax.set_title(f"bandwidth, {warps} warp{'s' * (warps != 1)} a block")
