"""How much memory does the TLB cover, and what does a miss cost?"""

import pandas as pd
from matplotlib.axes import Axes

from strata.figures import _chase as chase
from strata.figures._plot import figure, table
from strata.figures._style import bytes_axis, plain_log, points
from strata.model.cases import CaseRows
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


def curve(case: CaseRows) -> str:
    """The allocation of the memory, and the stride of the loads."""
    allocation = case.text("allocation")
    return f"{ALLOCATIONS.get(allocation, allocation)}, a load every {size(case.count('stride'))}"


def data(run: Run) -> pd.DataFrame:
    """The points of one curve per allocation and stride."""
    found = chase.points(run, "tlb", curve)
    found.sort(key=lambda point: (point.stride, point.curve, point.footprint))
    return table(found, chase.COLUMNS, label=chase.label)


def caption(data: pd.DataFrame) -> str:
    """The measured time, and what grows."""
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
    """The curves are flat as far as the TLB reaches."""
    for place, (name, part) in enumerate(data.groupby("curve", sort=False)):
        look = {"color": f"C{place}", "marker": "o", "ms": 2}
        points(ax, part, "footprint_bytes", "load_cycles", label=name, **look)
        ax.fill_between(
            part.footprint_bytes, part.low, part.high, color=look["color"], alpha=0.2, lw=0
        )
    bytes_axis(ax, "footprint of the chain")
    words = f"{unit_name(data.unit.iloc[0])} per load"
    if data.load_cycles.max() > FAR * data.load_cycles.min():
        plain_log(ax)
        words += " (logarithmic)"
    else:
        ax.set_ylim(0, 1.08 * data.load_cycles.max())
    ax.set_ylabel(words)
