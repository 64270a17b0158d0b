"""How many sectors does a warp-load ask for when its lanes read further and further apart?

The model says it from the addresses alone and the hardware counts it; beneath, what it costs.
"""

from collections.abc import Sequence

from strata.figures import AxesGrid, Figure, Grid, _warp_loads
from strata.model.counted import WarpLoad, warp_loads
from strata.run import Row


def prepare(rows: Sequence[Row]) -> Sequence[WarpLoad]:
    """The loads that start at a line, lane after lane."""
    return [
        load
        for load in warp_loads(rows)
        if (load.misalignment, load.permutation) == (0, "identity")
    ]


def grid(loads: Sequence[WarpLoad]) -> Grid:
    """Sectors above; cycles below, where any were timed."""
    panels = 2 if any(load.cycles for load in loads) else 1
    return Grid(panels, 1, width=7.6, height=0.6 + 2.3 * panels)


def _stride(load: WarpLoad) -> int:
    return load.stride


def draw(loads: Sequence[WarpLoad], axes: AxesGrid) -> None:
    """Against stride, a curve per width."""
    first, *others = (row[0] for row in axes)
    _warp_loads.sectors(loads, first, _stride)
    first.set_title("Traffic")
    for panel in others:
        _warp_loads.times(loads, panel, _stride)
        panel.set_title("Time")
    for panel in (first, *others):
        _warp_loads.powers_of_two(panel, [load.stride for load in loads])
    (first, *others)[-1].set_xlabel("stride from lane to lane (elements)")
    _warp_loads.legend(loads, first, timed=bool(others))


def caption(loads: Sequence[WarpLoad]) -> str:
    """What lines and marks are, and whether they agree."""
    timed = any(load.cycles for load in loads)
    below = (
        " Below: cycles of one warp-load, every SM at work; medians, bands: range of the samples."
        if timed
        else " Nothing was timed."
    )
    return (
        "Sectors of 32 bytes that one load of a warp asks for, against the distance between "
        "neighbouring lanes, by the width of each lane's read; curves meet where every lane has a "
        "sector of its own (32). Lines: predicted from the addresses "
        f"(compute capability 7.x and later). Marks: counted.{_warp_loads.agreement(loads)}{below}"
        f"{_warp_loads.invalid(loads, timed=timed)}"
    )


FIGURE = Figure(
    name="coalescing",
    title="Sectors of a warp-load by stride",
    order=60,
    prepare=prepare,
    grid=grid,
    draw=draw,
    caption=caption,
    columns=_warp_loads.COLUMNS,
    cells=_warp_loads.cells,
    source=_warp_loads.source,
)
