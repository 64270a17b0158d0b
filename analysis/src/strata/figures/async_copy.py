"""What does it cost to copy a tile into shared memory, with each method?"""

from itertools import product

import pandas as pd
from matplotlib.figure import Figure

from strata.figures._figure import Columns, attributes, params
from strata.figures._plot import figure, table
from strata.figures._style import bytes_axis, plain_log, points
from strata.model import ordered
from strata.model.units import size
from strata.run import Row, Run

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
LINES = {"4": "--", "8": ":"}
"""Of clusters that have more blocks than two."""
COLUMNS: Columns = {
    **params("residency", "measure", "method", "bytes", "cluster"),
    **attributes("unit", "value", low="minimum", high="maximum"),
    "_bytes": lambda row: row.count("bytes") or 0,
}


def data(run: Run) -> pd.DataFrame:
    """Every case, by the clock inside the kernel."""

    def rank(row: Row) -> tuple[object, ...]:
        place = (row.text("measure") != "latency", row.text("residency"))
        ways = list(LOOKS).index(row.text("method"))
        return *place, ways, row.count("cluster"), row.count("bytes")

    clocked = [row for row in run.of("async_copy") if row.method == "clock64_slope"]
    rows = sorted((r for r in clocked if r.quantity == MEASURES[r.text("measure")][0]), key=rank)
    return table(rows, COLUMNS, row=lambda row: row, label=_label)


def _label(row: Row) -> str:
    where = f"{row.text('measure')} {RESIDENCIES[row.text('residency')]}"
    return f"{where}, {row.text('method')}, {size(row.count('bytes') or 0)}"


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
    figure.set_figheight(0.9 + 2.3 * len(measures))
    panels = figure.subplots(len(measures), len(places), squeeze=False, sharey="row")
    for (row, measure), (column, place) in product(enumerate(measures), enumerate(places)):
        ax, here = panels[row, column], data[(data.measure == measure) & (data.residency == place)]
        for (method, cluster), part in here.groupby(["method", "cluster"], sort=False):
            label, colour, marker = LOOKS[f"{method}"]
            label += f", {cluster} blocks" if several and method == "distributed" else ""
            look = {"color": colour, "marker": marker, "ls": LINES.get(f"{cluster}", "-")}
            points(ax, part, "_bytes", "value", label=label, **look)
            ax.fill_between(part["_bytes"], part.low, part.high, color=colour, alpha=0.2, lw=0)
        bytes_axis(ax, "bytes of a tile")
        if measure == "latency":
            plain_log(ax)
        else:
            ax.set_ylim(bottom=0)
        ax.set_title(RESIDENCIES[place] if column else f"{measure} {RESIDENCIES[place]}")
        ax.set_ylabel(MEASURES[measure][1])
        ax.label_outer(remove_inner_ticks=False)
        ax.tick_params(labelbottom=True)
