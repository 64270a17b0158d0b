"""How much memory do the kept address translations cover, and what does a miss cost?"""

from collections.abc import Sequence
from dataclasses import replace

from strata.figures import _chart as c
from strata.figures import _chase as chase
from strata.figures._chase import Point
from strata.figures._figure import Figure
from strata.model.units import size
from strata.run import Run

ALLOCATIONS = {
    "malloc": "cudaMalloc",
    "vmm": "cuMemMap",
    "small_pages": f"pages of {size(4096)}",
    "huge_pages": f"pages of {size(2 << 20)}",
}


def items(run: Run) -> Sequence[Point]:
    """The points of a curve for each allocation and stride."""
    named = [
        replace(
            point,
            curve=f"{ALLOCATIONS.get(point.curve, point.curve)}, a load every {size(point.stride)}",
        )
        for point in chase.points(run, "tlb", "allocation")
    ]
    return sorted(named, key=lambda point: (point.stride, point.curve, point.footprint))


def chart(points: Sequence[Point]) -> c.Chart:
    """Flat as far as the translations reach."""
    curves = dict.fromkeys(point.curve for point in points)
    looks = {
        curve: (curve.replace(", ", "\n"), c.COLOURS[place % len(c.COLOURS)])
        for place, curve in enumerate(curves)
    }
    return chase.chart(points, looks, height=3.0)


def caption(points: Sequence[Point]) -> str:
    """What is loaded, and from where."""
    what = (
        "Curves of one distance touch the same lines, so that caches answer alike: where they "
        "part, translations do."
        if points[0].row.backend == "host"
        else "All lines that are loaded stay in L2: what grows is the time to find out where a "
        "page is."
    )
    return (
        "Time of one dependent load against the bytes that the chain spans, one load in each slot, "
        f"in random order. {what} Lines: medians; bands: range of the samples."
    )


FIGURE = Figure(
    name="tlb",
    title="Reach of the address translations",
    order=6,
    items=items,
    chart=chart,
    caption=caption,
    columns=chase.COLUMNS,
    invalid=lambda point: "" if point.row.valid else point.words,
)
