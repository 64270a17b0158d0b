"""How does the time of a warp-read grow as more warps share an SM?

Flat while the level still has room, then in proportion to the warps: where the line bends, the
layout has saturated the level.
"""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from strata.figures import AxesGrid, Figure, _curves
from strata.model import Point, curves
from strata.model.units import tick, unit_name
from strata.run import Row


def prepare(rows: Sequence[Row]) -> Sequence[Point]:
    """Cycles of a warp-read against warps."""
    return curves(rows, "warp_read_cycles")


def draw(points: Sequence[Point], axes: AxesGrid) -> None:
    """Both axes logarithmic: saturation is a slope of one."""
    label = f"{unit_name(points[0].row.unit)} per warp-read"
    _curves.draw(points, axes, label=label, scale=1, finish=_finish)


def _finish(panel: Axes, column: Sequence[Point]) -> None:
    low, high = _curves.extent(column)
    panel.set_yscale("log")
    panel.set_ylim(low / 1.4, high * 1.4)
    panel.yaxis.set_major_locator(LogLocator(10, subs=(1, 2, 5)))
    panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: tick(value)))
    panel.yaxis.set_minor_locator(NullLocator())


def caption(points: Sequence[Point]) -> str:
    """What the lines are, and which points do not count."""
    return (
        f"Time of one warp-read against {_curves.setting(points)}. Lines: "
        "median over warps; bands: 5th to 95th percentile over warps. "
        f"{_curves.block_sizes(points)}{_curves.invalid(points)}"
    )


FIGURE = Figure(
    name="latency_vs_warps",
    title="Latency under load",
    order=20,
    prepare=prepare,
    grid=_curves.grid,
    draw=draw,
    caption=caption,
    columns=_curves.COLUMNS,
    cells=_curves.cells,
    source=_curves.source,
)
