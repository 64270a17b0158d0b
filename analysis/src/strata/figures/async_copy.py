"""What does it cost to copy a tile into shared memory, with each method?"""

from itertools import product

import pandas as pd
from matplotlib.figure import Figure

from strata.figures._plot import columns, figure, in_order, rows_of, worded
from strata.figures._style import bytes_axis, in_column, parts, plain_log, points
from strata.model import ordered
from strata.model.units import size
from strata.run import Run

RESIDENCIES = {"l2": "from L2", "dram": "from DRAM", "shared": "from another block"}
MEASURES = {
    "latency": ("tile_latency", "latency of a tile (cycles)"),
    "bandwidth": ("bandwidth_per_sm", "bytes per cycle and SM"),
}
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
    quantity = rows.measure.map({measure: name for measure, (name, _) in MEASURES.items()})
    lines = rows[(rows.method == "clock64_slope") & (rows.quantity == quantity)]
    lines = in_order(
        lines, "measure", "residency", "param_method", "cluster", "bytes",
        measure=MEASURES, param_method=LOOKS,
    )  # fmt: skip
    shown = lines.assign(place=lines.residency.map(RESIDENCIES), size=[*map(size, lines.bytes)])
    lines["_label"] = worded(shown, "{measure} {place}, {param_method}, {size}")
    return columns(
        lines, "residency", "measure", method="param_method", bytes="bytes", cluster="cluster",
        unit="unit", value="value", low="minimum", high="maximum",
    )  # fmt: skip


def caption(_: pd.DataFrame) -> str:
    """The two measures."""
    return (
        "Copying a tile into shared memory (medians; bands: range of the samples). Latency: "
        "one block, one tile after the other, from the request until all threads may read it. "
        "Bytes per cycle: a block on every SM, four tiles in flight."
    )


@figure("async_copy", "Copies into shared memory", order=95, data=data, caption=caption)
def draw(data: pd.DataFrame, figure: Figure) -> None:
    """Latency above bandwidth; one column per source of tiles."""
    several = len({*data.cluster[data.method == "distributed"]}) > 1
    measures = ordered(data.measure, tuple(MEASURES))
    places = ordered(data.residency, tuple(RESIDENCIES))
    shown = [*product(measures, places)]
    across = 1 if in_column(figure) else len(places)
    figure.set_figheight(0.9 + 2.3 * len(shown) / across)
    panels = figure.subplots(len(shown) // across, across, squeeze=False, sharey="row")
    for ax, (measure, place) in zip(panels.flat, shown, strict=True):
        here = data[(data.measure == measure) & (data.residency == place)]
        for (method, cluster), part in parts(here, ["method", "cluster"]):
            label, colour, marker = LOOKS[method]
            label += f", {cluster} blocks" if several and method == "distributed" else ""
            look = {"color": colour, "marker": marker, "ls": LINES.get(cluster, "-")}
            points(ax, part, "bytes", "value", "band", label=label, **look)
        bytes_axis(ax, "bytes of a tile")
        if measure == "latency":
            plain_log(ax)
        else:
            ax.set_ylim(bottom=0)
        title = RESIDENCIES[place]
        ax.set_title(title if across > 1 and place != places[0] else f"{measure} {title}")
        ax.set_ylabel(MEASURES[measure][1])
        ax.label_outer(remove_inner_ticks=False)
        ax.tick_params(labelbottom=True)
