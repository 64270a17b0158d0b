"""How much useful data does each layout deliver, and how many warps does that take?

Useful are the bytes of the fields that were asked for (28 or 16 a particle), not what moved.
"""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

from strata.figures import AxesGrid, Figure, _curves
from strata.model import Point, curves
from strata.run import Row


def prepare(rows: Sequence[Row]) -> Sequence[Point]:
    """Useful bandwidth against warps."""
    return curves(rows, "useful_bandwidth")


def unit(points: Sequence[Point]) -> tuple[float, str]:
    """The scale in B/s and the name of the unit that suits the largest value."""
    highest = max(point.row.value for point in points)
    return next(
        (scale, name)
        for scale, name in ((1e12, "TB/s"), (1e9, "GB/s"), (1e6, "MB/s"), (1, "B/s"))
        if highest >= scale or scale == 1
    )


def draw(points: Sequence[Point], axes: AxesGrid) -> None:
    """Linear from zero, so that a plateau looks like one."""
    scale, name = unit(points)

    def finish(panel: Axes, column: Sequence[Point]) -> None:
        panel.set_ylim(0, 1.08 * _curves.extent(column)[1] / scale)
        panel.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
        panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))

    _curves.draw(points, axes, label=f"useful bandwidth ({name})", scale=scale, finish=finish)


def caption(points: Sequence[Point]) -> str:
    """What the lines are, and which points do not count."""
    return (
        f"Useful bandwidth (bytes of the fields asked for) against {_curves.setting(points)}. "
        "Lines: medians; bands: range of the samples. "
        f"{_curves.block_sizes(points)}{_curves.invalid(points)}"
    )


FIGURE = Figure(
    name="bandwidth_vs_warps",
    title="Useful bandwidth",
    order=30,
    prepare=prepare,
    grid=_curves.grid,
    draw=draw,
    caption=caption,
    columns=_curves.COLUMNS,
    cells=_curves.cells,
    source=_curves.source,
)
