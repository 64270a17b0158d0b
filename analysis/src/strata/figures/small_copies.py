"""When does it pay to pack many small pieces into one copy?

Breitbart's reason for his data structure: a copy costs much to start and little for each byte.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from strata.figures import AxesGrid, Figure, Grid, _transfers
from strata.figures._palette import GREY, INK, hollow_key, legend_beside
from strata.model import ordered
from strata.model.transfer_model import (
    DIRECTIONS,
    MEMORIES,
    BreakEven,
    Key,
    Line,
    Point,
    break_evens,
    lines,
    points,
    worst_prediction,
)
from strata.model.units import size
from strata.run import Row

_COLOURS = ("#414487", "#2a788e", "#22a884", "#8fc31f", "#440154")
_MARKERS = ("o", "s", "^", "D", "v")
_DASHED = (0, (4.0, 2.0))


def prepare(rows: Sequence[Row]) -> Sequence[Point]:
    """The transfers of a payload in several pieces."""
    return [point for point in points(rows) if point.pieces > 1]


def _rows(shown: Sequence[Point]) -> list[str]:
    return ordered((point.memory for point in shown), MEMORIES)


def _columns(shown: Sequence[Point]) -> list[str]:
    return ordered((point.direction for point in shown), DIRECTIONS)


def _pieces(shown: Sequence[Point]) -> dict[int, tuple[str, str]]:
    """Colour and marker of each number of pieces."""
    numbers = sorted({point.pieces for point in shown})
    return {
        number: (_COLOURS[i % len(_COLOURS)], _MARKERS[i % len(_MARKERS)])
        for i, number in enumerate(numbers)
    }


def grid(shown: Sequence[Point]) -> Grid:
    """Kinds of host memory as rows, directions as columns."""
    rows, columns = len(_rows(shown)), len(_columns(shown))
    return Grid(rows, columns, width=2.2 + 3.0 * columns, height=0.6 + 2.5 * max(rows, 1))


def draw(shown: Sequence[Point], axes: AxesGrid) -> None:
    """Solid: a copy for each piece. Dashed: packed. A mark where the two lines cross."""
    fitted, crossings = lines(shown), break_evens(shown)
    styles = _pieces(shown)
    for row, memory in zip(axes, _rows(shown), strict=True):
        for panel, direction in zip(row, _columns(shown), strict=True):
            here = [p for p in shown if (p.memory, p.direction) == (memory, direction)]
            for pieces, (colour, marker) in styles.items():
                _pair([p for p in here if p.pieces == pieces], fitted, panel, colour, marker)
                crossing = crossings.get((memory, direction, pieces))
                if crossing:
                    _cross(crossing, fitted[memory, direction, pieces, "none"], panel, colour)
            if not here:
                panel.text(
                    0.5, 0.5, "not measured", transform=panel.transAxes, ha="center", color=GREY
                )
            _transfers.seconds_axis(panel, [point.row for point in shown])
            _transfers.bytes_axis(panel, [point.bytes for point in shown])
            panel.set_title(f"{memory}, {_transfers.direction_name(direction)}")
        row[0].set_ylabel("time of the whole payload (s)")
    for panel in axes[-1]:
        panel.set_xlabel("bytes of the payload")
    legend_beside(axes[0][0], _handles(shown, styles, crossed=bool(crossings)))


def _pair(
    here: Sequence[Point], fitted: Mapping[Key, Line], panel: Axes, colour: str, marker: str
) -> None:
    for packing, style in (("none", "-"), ("packed", _DASHED)):
        group = [point for point in here if point.packing == packing]
        if not group:
            continue
        line = fitted.get(group[0].key)
        if line:
            _transfers.curve(line, panel, colour, style)
        else:  # too few sizes for a fit: what is packed must still be told from what is not
            known = sorted((point.bytes, point.row.value) for point in group)
            panel.plot(
                [one for one, _ in known], [seconds for _, seconds in known], color=colour,
                linewidth=0.6, linestyle=style, zorder=2, label="_joined",
            )  # fmt: skip
        _transfers.marks(group, panel, colour, marker)


def _cross(crossing: BreakEven, line: Line, panel: Axes, colour: str) -> None:
    """A star at the crossing, with its interval where both ends are known."""
    height = line.at(crossing.size)
    low, high = crossing.interval.low, crossing.interval.high
    if low > 0 and np.isfinite(high):
        panel.plot([low, high], [height, height], color=colour, linewidth=2.2, alpha=0.45,
                   solid_capstyle="butt", zorder=4, label="_interval")  # fmt: skip
    panel.plot(
        [crossing.size], [height], marker="*", markersize=9, color=colour, markeredgecolor="white",
        markeredgewidth=0.6, linestyle="none", zorder=5, label="_break_even",
    )  # fmt: skip


def _handles(
    shown: Sequence[Point], styles: Mapping[int, tuple[str, str]], *, crossed: bool
) -> list[Artist]:
    handles: list[Artist] = [
        Line2D([], [], color=colour, marker=marker, linestyle="none", label=f"{number} pieces")
        for number, (colour, marker) in styles.items()
    ]
    handles += [
        Line2D([], [], color=INK, linewidth=0.9, label="a copy each"),
        Line2D([], [], color=INK, linewidth=0.9, linestyle=_DASHED, label="packed into one"),
    ]
    if any(point.held_out for point in shown):
        handles.append(_transfers.held_out_key())
    if crossed:
        handles.append(
            Line2D(
                [], [], color=INK, marker="*", markersize=8, linestyle="none", label="break-even"
            )
        )
    if any(not point.row.valid for point in shown):
        handles.append(hollow_key())
    return handles


def _joined(shown: Sequence[Point]) -> str:
    """What the lines are."""
    fitted = lines(shown)
    if not fitted:
        return "from one size to the next, solid for copies, dashed for packed"
    words = f"{_transfers.LINE}, fitted by relative errors"
    apart = {point.key for point in shown} - fitted.keys()
    return words + ("; thin: from one size to the next, too few for a fit" if apart else "")


def _bound(value: float) -> str:
    if value <= 0:
        return "0"
    return size(round(value)) if np.isfinite(value) else "any size"


def caption(shown: Sequence[Point]) -> str:
    """What is drawn, where packing stops paying, and how well the lines predict."""
    crossings = break_evens(shown)
    listed = "; ".join(
        f"{memory} {_transfers.direction_name(direction)}, {pieces} pieces: "
        f"{size(round(found.size))} ({_bound(found.interval.low)} to "
        f"{_bound(found.interval.high)}), {size(round(found.size / pieces))} a piece"
        for (memory, direction, pieces), found in crossings.items()
    )
    pays = (
        f" Packing pays below, with 95 % intervals: {listed}."
        if listed
        else " No payload was found from which on packing costs more than it saves."
    )
    worst = worst_prediction(shown)
    predicted = f" Sizes held out are predicted within {100 * worst:.0f} %." if worst else ""
    return (
        "Time to transfer a payload that lies in host memory in many pieces, by its caller's "
        "clock (medians, bars: range of the samples): a copy for each piece, or one copy of what "
        "the host packs before it (unpacks after it), which is inside the time. Lines: "
        f"{_joined(shown)}.{pays}{predicted}{_transfers.invalid(shown)}"
    )


FIGURE = Figure(
    name="small_copies",
    title="Many small copies against one packed copy",
    order=91,
    prepare=prepare,
    grid=grid,
    draw=draw,
    caption=caption,
    columns=_transfers.COLUMNS,
    cells=_transfers.cells,
    source=_transfers.source,
)
