"""What does it cost to bring bytes to the GPU and back?

A cost for each transfer and a cost for each byte: a line through some of the sizes, which must
predict the others.
"""

from collections.abc import Sequence

from matplotlib.artist import Artist
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from strata.figures import AxesGrid, Figure, Grid, _transfers
from strata.figures._palette import INK, hollow_key, legend_beside
from strata.model import ordered
from strata.model.transfer_model import (
    DIRECTIONS,
    MEMORIES,
    Point,
    lines,
    points,
    worst_prediction,
)
from strata.model.units import unit_name
from strata.run import Row

_STYLE = {"pageable": ("#D55E00", "o"), "pinned": ("#0072B2", "s"), "mapped": ("#009E73", "^")}
_OTHER = ("#666666", "D")


def prepare(rows: Sequence[Row]) -> Sequence[Point]:
    """The transfers of a payload in one piece."""
    return [point for point in points(rows) if point.pieces == 1]


def _directions(shown: Sequence[Point]) -> list[str]:
    return ordered((point.direction for point in shown), DIRECTIONS)


def _memories(shown: Sequence[Point]) -> list[str]:
    return ordered((point.memory for point in shown), MEMORIES)


def grid(shown: Sequence[Point]) -> Grid:
    """Time above, bandwidth below; a column per direction."""
    return Grid(2, len(_directions(shown)), width=2.0 + 2.5 * len(_directions(shown)), height=4.9)


def draw(shown: Sequence[Point], axes: AxesGrid) -> None:
    """Marks: medians. Lines: fits."""
    fitted = lines(shown)
    rates = [p.bandwidth for p in shown if p.bandwidth and p.bandwidth.valid]
    scale, prefix = _scale(max((row.value for row in rates), default=1.0))
    top = 1.08 * max((row.value for row in rates), default=1.0) / scale
    for column, direction in enumerate(_directions(shown)):
        above, below = axes[0][column], axes[1][column]
        for memory in _memories(shown):
            here = [p for p in shown if (p.direction, p.memory) == (direction, memory)]
            if not here:
                continue
            colour, marker = _STYLE.get(memory, _OTHER)
            line = fitted.get((memory, direction, 1, "none"))
            if line:
                _transfers.curve(line, above, colour)
            _transfers.marks(here, above, colour, marker)
            valid = [(p.bytes, p.bandwidth) for p in here if p.bandwidth and p.bandwidth.valid]
            if valid:
                below.plot(
                    [x for x, _ in valid], [row.value / scale for _, row in valid], color=colour,
                    marker=marker, markersize=3.2, linewidth=1.0, label="_bandwidth",
                )  # fmt: skip
        _transfers.seconds_axis(above, [point.row for point in shown])
        below.set_ylim(0, top)
        below.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 4, 5, 8, 10]))
        for panel in (above, below):
            _transfers.bytes_axis(panel, [point.bytes for point in shown])
        above.set_title(_transfers.direction_name(direction))
        below.set_xlabel("bytes, each way" if direction == "both" else "bytes")
    axes[0][0].set_ylabel("time of a transfer (s)")
    axes[1][0].set_ylabel(f"bandwidth ({prefix}{unit_name('B/s')})")
    handles: list[Artist] = [
        Line2D([], [], color=colour, marker=marker, linestyle="none", label=memory)
        for memory in _memories(shown)
        for colour, marker in (_STYLE.get(memory, _OTHER),)
    ]
    if fitted:
        handles.append(Line2D([], [], color=INK, linewidth=0.9, label=_transfers.LINE))
    if any(point.held_out for point in shown):
        handles.append(_transfers.held_out_key())
    if any(not point.row.valid for point in shown):
        handles.append(hollow_key())
    legend_beside(axes[0][0], handles)


def _scale(best: float) -> tuple[float, str]:
    steps = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
    return next(((s, p) for s, p in steps if best >= s), (1.0, ""))


def caption(shown: Sequence[Point]) -> str:
    """What is drawn, the fits, and how well they predict."""
    fits = "; ".join(
        f"{memory} {_transfers.direction_name(direction)} {_transfers.parameters(line)}"
        for (memory, direction, _, _), line in lines(shown).items()
    )
    fitted = f" Fits, by relative errors, with 95 % intervals: {fits}." if fits else ""
    worst = worst_prediction(shown)
    predicted = f" Sizes held out are predicted within {100 * worst:.0f} %." if worst else ""
    return (
        "Time of one transfer by its caller's clock, from the first call to the end of the wait "
        "(medians, bars: range of the samples), and the bandwidth that it makes. Pageable and "
        "pinned: copies by the runtime; mapped: a kernel reads or writes host memory itself."
        f"{fitted}{predicted}{_transfers.invalid(shown)}"
    )


FIGURE = Figure(
    name="transfers",
    title="Transfers between host and device",
    order=90,
    prepare=prepare,
    grid=grid,
    draw=draw,
    caption=caption,
    columns=_transfers.COLUMNS,
    cells=_transfers.cells,
    source=_transfers.source,
)
