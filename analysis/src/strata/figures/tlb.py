"""How much memory do the kept address translations cover, and what does a miss cost?

One load in each slot, all of them from L2: only translations differ along the curve.
"""

from collections.abc import Sequence
from dataclasses import replace

from strata.figures import AxesGrid, Figure, Grid, _chase, flat
from strata.figures._chase import Point
from strata.model.units import size
from strata.run import Row

_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#E69F00", "#CC79A7", "#56B4E9", "#666666", "#000000")
_ALLOCATION = {
    "malloc": "cudaMalloc",
    "vmm": "cuMemMap",
    "small_pages": f"pages of {size(4096)}",
    "huge_pages": f"pages of {size(2 << 20)}",
}


def prepare(rows: Sequence[Row]) -> Sequence[Point]:
    """A curve per allocation and stride."""
    found = _chase.points(rows, "tlb", "allocation")
    named = [
        replace(
            point,
            curve=f"{_ALLOCATION.get(point.curve, point.curve)}, a load every {size(point.stride)}",
        )
        for point in found
    ]
    return sorted(named, key=lambda point: (point.stride, point.curve, point.footprint))


def grid(points: Sequence[Point]) -> Grid:  # noqa: ARG001  (every figure is asked alike)
    """One panel, whatever the points."""
    return Grid(1, 1, width=8.4, height=3.0)


def _name(curve: str) -> str:
    return curve.replace(", ", "\n")


def draw(points: Sequence[Point], axes: AxesGrid) -> None:
    """Flat as far as the translations reach."""
    (panel,) = flat(axes)
    curves = list(dict.fromkeys(point.curve for point in points))
    colours = {curve: _COLOURS[i % len(_COLOURS)] for i, curve in enumerate(curves)}
    _chase.draw(points, panel, curves, colours.__getitem__, _name)


def caption(points: Sequence[Point]) -> str:
    """What is loaded, and from where."""
    if any(point.row.backend == "host" for point in points):
        return (
            "Time of one dependent load against the bytes that the chain spans, one load in each "
            "slot, in random order. Curves of one distance touch the same lines, so that caches "
            "answer alike: where they part, translations do. Lines: medians; bands: range of the "
            f"samples.{_chase.invalid(points)}"
        )
    return (
        "Time of one dependent load against the bytes that the chain spans, one load in each slot, "
        "in random order. All lines that are loaded stay in L2: what grows is the time to find "
        "out where a page is. Lines: medians; bands: range of the samples."
        f"{_chase.invalid(points)}"
    )


FIGURE = Figure(
    name="tlb",
    title="Reach of the address translations",
    order=6,
    prepare=prepare,
    grid=grid,
    draw=draw,
    caption=caption,
    columns=_chase.COLUMNS,
    cells=_chase.cells,
    source=_chase.source,
)
