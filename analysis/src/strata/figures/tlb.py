"""How much memory does the TLB cover, and what does a miss cost?"""

from collections.abc import Sequence
from itertools import cycle

from strata.figures import _chart as c
from strata.figures import _chase as chase
from strata.figures._chase import Point
from strata.figures._figure import Figure
from strata.model.cases import CaseRows
from strata.model.units import size
from strata.run import Run

ALLOCATIONS = {
    "malloc": "cudaMalloc",
    "vmm": "cuMemMap",
    "small_pages": f"pages of {size(4096)}",
    "huge_pages": f"pages of {size(2 << 20)}",
}


def curve(case: CaseRows) -> str:
    """The allocation of the memory, and the stride of the loads."""
    allocation = case.text("allocation")
    return f"{ALLOCATIONS.get(allocation, allocation)}, a load every {size(case.count('stride'))}"


def items(run: Run) -> Sequence[Point]:
    """The points of one curve per allocation and stride."""
    found = chase.points(run, "tlb", curve)
    return sorted(found, key=lambda point: (point.stride, point.curve, point.footprint))


def chart(points: Sequence[Point]) -> c.Chart:
    """The curves are flat as far as the TLB reaches."""
    curves = dict.fromkeys(point.curve for point in points)
    coloured = zip(curves, cycle(c.COLOURS), strict=False)
    looks = {name: (name.replace(", ", "\n"), colour) for name, colour in coloured}
    return chase.chart(points, looks, height=3.0)


def _caption(points: Sequence[Point]) -> str:
    what = (
        "Curves of one distance touch the same lines, so that caches respond alike: where "
        "they differ, translations do."
        if points[0].row.backend == "host"
        else "All loaded lines stay in L2: what grows is the time of address translation."
    )
    return (
        "Time of one dependent load against the footprint of the chain, one load per slot, in "
        f"random order. {what} Lines: medians; bands: range of the samples."
    )


TITLE = "Reach of the address translations"
FIGURE = Figure("tlb", TITLE, 6, items, chart, _caption, chase.COLUMNS, label=chase.label)
