"""How long does a dependent load take as its data grow from the first cache to all of memory?

Every level of the hierarchy is a step; where the curve bends, the level is full.
"""

from collections.abc import Sequence

from strata.figures import AxesGrid, Figure, Grid, _chase, flat
from strata.figures._chase import Point
from strata.model import ordered
from strata.records import Row
from strata.units import size

_COLOUR = {
    "global_ca": "#0072B2",
    "global_cg": "#D55E00",
    "global_nc": "#56B4E9",
    "shared": "#009E73",
    "constant": "#E69F00",
    "texture": "#CC79A7",
    "mapped": "#666666",
    "memory": "#0072B2",
}
_NAME = {
    "global_ca": "global, cached in L1",
    "global_cg": "global, past L1",
    "global_nc": "global, read-only",
    "mapped": "host memory, mapped",
    "memory": "memory",
}
_SPACES = tuple(_COLOUR)


def prepare(rows: Sequence[Row]) -> Sequence[Point]:
    """Every space, at the stride that most cases have."""
    found = _chase.points(rows, "latency_vs_footprint", "space")
    if not found:
        return ()
    stride = _chase.usual_stride(found)
    return [point for point in found if point.stride == stride]


def grid(points: Sequence[Point]) -> Grid:  # noqa: ARG001  (every figure is asked alike)
    """One panel, whatever the points."""
    return Grid(1, 1, width=8.4, height=3.6)


def _colour(space: str) -> str:
    return _COLOUR.get(space, "#000000")


def _name(space: str) -> str:
    return _NAME.get(space, space)


def draw(points: Sequence[Point], axes: AxesGrid) -> None:
    """Both axes logarithmic: levels are a decade apart in time, and three of them in size."""
    (panel,) = flat(axes)
    spaces = ordered((point.curve for point in points), _SPACES)
    _chase.draw(points, panel, spaces, _colour, _name)
    _chase.draw_marks(points, panel)


def caption(points: Sequence[Point]) -> str:
    """What is walked, and what bands are."""
    bands = "bands: range of the samples"
    if any(point.cores == "several" for point in points):
        bands += ", or nearest to farthest SM where every SM walks, each with one load in flight"
    return (
        "Time of one load whose address the load before it gave, in random order over slots of "
        f"{size(points[0].stride)}, against the bytes that the chain spans. Lines: medians; "
        f"{bands}.{_marked(points)}{_chase.invalid(points)}"
    )


def _marked(points: Sequence[Point]) -> str:
    names = [name for name, _ in _chase.marks(points)]
    words = ""
    if "L2" in names or "shared memory of an SM" in names:
        words += " Dotted: sizes as the driver reports them."
    if "evicted before" in names:
        words += (
            " A walk starts from what two laps left in the caches; right of the mark (several "
            "times the L2) all was evicted instead, and every page visited."
        )
    return words


FIGURE = Figure(
    name="latency_vs_footprint",
    title="Latency of every level of the hierarchy",
    order=5,
    prepare=prepare,
    grid=grid,
    draw=draw,
    caption=caption,
    columns=_chase.COLUMNS,
    cells=_chase.cells,
    source=_chase.source,
)
