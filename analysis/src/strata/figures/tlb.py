"""How much memory does the TLB cover, and what does a miss cost?"""

import pandas as pd
from matplotlib.axes import Axes

from strata.figures import _chase as chase
from strata.figures._plot import figure
from strata.figures._style import bytes_axis, parts, plain_log, points
from strata.model.units import size, unit_name
from strata.run import Run

ALLOCATIONS = {
    "malloc": "cudaMalloc",
    "vmm": "cuMemMap",
    "small_pages": f"pages of {size(4096)}",
    "huge_pages": f"pages of {size(2 << 20)}",
}
FAR = 8
"""A wider range of cycles gets a logarithmic axis; otherwise the axis begins at 0."""


def data(run: Run) -> pd.DataFrame:
    """The points of one curve per allocation and stride."""
    rows = chase.rows(run, "tlb", "allocation")
    names = zip(rows.allocation, rows.stride, strict=True)
    rows["curve"] = [f"{ALLOCATIONS.get(of, of)}, a load every {size(at)}" for of, at in names]
    return chase.shown(chase.lines(rows).sort_values("stride", kind="stable"))


def caption(data: pd.DataFrame) -> str:
    what = (
        "Curves of one distance touch the same lines, so that caches respond alike: where "
        "they differ, translations do."
        if data["_row"][0].backend == "host"
        else "All loaded lines stay in L2: what grows is the time of address translation."
    )
    return (
        "Time of one dependent load against the footprint of the chain, one load per slot, in "
        f"random order. {what} Lines: medians; bands: range of the samples."
    )


@figure("tlb", "Reach of the address translations", order=6, data=data, caption=caption)
def draw(data: pd.DataFrame, ax: Axes) -> None:
    for place, (name, part) in enumerate(parts(data, "curve")):
        look = {"color": f"C{place}", "marker": "o", "ms": 2, "label": name}
        points(ax, part, "footprint_bytes", "load_cycles", "band", **look)
    bytes_axis(ax, "footprint of the chain")
    words = f"{unit_name(data.unit.iloc[0])} per load"
    if data.load_cycles.max() > FAR * data.load_cycles.min():
        plain_log(ax)
        words += " (logarithmic)"
    else:
        ax.set_ylim(0, 1.08 * data.load_cycles.max())
    ax.set_ylabel(words)
