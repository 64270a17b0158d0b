"""How many sectors more does a warp-load ask for when it does not start at a line?

Neighbouring lanes read neighbouring elements; only where the first of them stands is moved.
"""

from collections.abc import Sequence

from matplotlib.ticker import FixedLocator

from strata.figures import AxesGrid, Figure, Grid, _warp_loads, flat
from strata.model.counted import WarpLoad, warp_loads
from strata.run import Row


def prepare(rows: Sequence[Row]) -> Sequence[WarpLoad]:
    """The loads of neighbouring elements; nothing without any that is misaligned."""
    loads = [
        load for load in warp_loads(rows) if (load.stride, load.permutation) == (1, "identity")
    ]
    shown = [load for load in loads if load.predicted or load.counted]
    return shown if any(load.misalignment > 0 for load in shown) else ()


def grid(loads: Sequence[WarpLoad]) -> Grid:  # noqa: ARG001  (every figure is asked alike)
    """One panel, whatever the loads."""
    return Grid(1, 1, width=7.6, height=2.9)


def _misalignment(load: WarpLoad) -> int:
    return load.misalignment


def draw(loads: Sequence[WarpLoad], axes: AxesGrid) -> None:
    """Against misalignment, a curve per width."""
    (panel,) = flat(axes)
    _warp_loads.sectors(loads, panel, _misalignment)
    highest = max(load.misalignment for load in loads)
    panel.set_xlim(-0.5, highest + 0.5)
    step = 4 if highest >= 8 else 1
    panel.xaxis.set_major_locator(FixedLocator([*range(0, highest + 1, step)]))
    panel.set_xlabel("misalignment of the first lane (elements)")
    _warp_loads.legend(loads, panel, timed=False)


def caption(loads: Sequence[WarpLoad]) -> str:
    """What lines and marks are, and whether they agree."""
    return (
        "Sectors of 32 bytes that one load of a warp asks for when lanes read neighbouring "
        "elements and the first of them stands behind the start of a 128-byte line, by the width "
        "of each lane's read. Lines: predicted (compute capability 7.x and later). Marks: counted."
        f"{_warp_loads.agreement(loads)}{_warp_loads.invalid(loads, timed=False)}"
    )


FIGURE = Figure(
    name="misalignment",
    title="Sectors of a warp-load by misalignment",
    order=61,
    prepare=prepare,
    grid=grid,
    draw=draw,
    caption=caption,
    columns=_warp_loads.COLUMNS,
    cells=_warp_loads.cells,
    source=_warp_loads.source,
)
