"""What does it cost to copy a tile into shared memory, with each method?"""

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from strata.figures._plot import columns, figure, in_order, rows_of, worded
from strata.figures._style import bytes_axis, grid, parts, plain_log, series
from strata.model.units import size
from strata.run import Run

RESIDENCIES = {"l2": "from L2", "dram": "from DRAM", "shared": "from another block"}
QUANTITIES = {"latency": "tile_latency", "bandwidth": "bandwidth_per_sm"}
LABELS = {"latency": "latency of a tile (cycles)", "bandwidth": "bytes per cycle and SM"}
LOOKS = {
    "registers": ("through registers", "#666666", "o"),
    "cp_async_4": ("cp.async, 4 bytes", "#E69F00", "v"),
    "cp_async_8": ("cp.async, 8 bytes", "#D55E00", "^"),
    "cp_async_16": ("cp.async, 16 bytes", "#0072B2", "s"),
    "bulk": ("cp.async.bulk", "#009E73", "D"),
    "tensor": ("cp.async.bulk.tensor", "#56B4E9", "P"),
    "distributed": ("ld.shared::cluster", "#CC79A7", "X"),
}
LINES = {4: "--", 8: ":"}
"""Of clusters that have more blocks than two."""


def data(run: Run) -> pd.DataFrame:
    """Every case, by the clock inside the kernel."""
    rows = rows_of(run, "async_copy", measure="", residency="", param_method="", cluster=1, bytes=0)
    timed = (rows.method == "clock64_slope") & (rows.quantity == rows.measure.map(QUANTITIES))
    order: Any = {"measure": QUANTITIES, "param_method": LOOKS}
    lines = in_order(
        rows[timed], "measure", "residency", "param_method", "cluster", "bytes", **order
    )
    shown = lines.assign(place=lines.residency.map(RESIDENCIES), size=[*map(size, lines.bytes)])
    lines["_label"] = worded(shown, "{measure} {place}, {param_method}, {size}")
    return columns(
        lines, "residency", "measure", method="param_method", bytes="bytes", cluster="cluster",
        unit="unit", value="value", low="minimum", high="maximum",
    )  # fmt: skip


@figure(
    "async_copy", "Copies into shared memory", order=95, data=data,
    caption="Copying a tile into shared memory (medians; bands: range of the samples). Latency: "
    "one block, one tile after the other, from the request until all threads may read it. "
    "Bytes per cycle: a block on every SM, four tiles in flight.",
)  # fmt: skip
def draw(data: pd.DataFrame, figure: Figure) -> None:
    several = len({*data.cluster[data.method == "distributed"]}) > 1
    places = in_order(data, "measure", "residency", measure=QUANTITIES, residency=RESIDENCIES)
    found = parts(places, ["measure", "residency"])
    panels = grid(figure, len(found), 2.3, data.residency.nunique())
    first = dict(zip((measure for (measure, _), _ in found[::-1]), panels[::-1], strict=True))
    for ax, ((measure, place), here) in zip(panels, found, strict=True):
        if ax is not first[measure]:
            ax.sharey(first[measure])
        for cluster, part in parts(here, "cluster"):
            label = f"{{}}, {cluster} blocks" if several and cluster > 1 else "{}"
            ls, axes = LINES.get(cluster, "-"), ("bytes", "value")
            series(ax, part, "method", LOOKS, *axes, "band", label=label, ls=ls)
        bytes_axis(ax, "bytes of a tile")
        ax.set(title=RESIDENCIES[place], ylabel=LABELS[measure])
    for measure, ax in first.items():
        if measure == "latency":
            plain_log(ax)
        else:
            ax.set_ylim(bottom=0)
