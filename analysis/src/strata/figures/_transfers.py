"""What the figures of transfers have in common: colours, the axis of bytes, lines and marks."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedFormatter, FixedLocator, FuncFormatter, LogLocator, NullLocator

from strata.figures._palette import INK, invalid_note
from strata.model.transfer_model import Line, Point
from strata.model.units import quantity, size
from strata.run import Row
from strata.run.statistics import Interval

ALPHA, BETA = "\u03b1", "\u03b2"
LINE = f"{ALPHA} + {BETA} · bytes"
"""What is fitted, as a legend has it."""

HELD_OUT = "X"
"""The marker of a size that the line was not fitted to."""

DIRECTION_NAMES = {
    "to_device": "to the device", "to_host": "to the host", "both": "both ways at once",
}  # fmt: skip

COLUMNS = (
    "memory", "direction", "pieces", "packing", "bytes", "seconds", "seconds_low", "seconds_high",
    "seconds_predicted", "held_out", "bytes_per_second", "valid", "case",
)  # fmt: skip

_SECONDS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def direction_name(direction: str) -> str:
    """The direction in words."""
    return DIRECTION_NAMES.get(direction, direction)


def marks(points: Sequence[Point], panel: Axes, colour: str, marker: str) -> None:
    """Medians with the range of their samples; held-out sizes by a cross; hollow if invalid."""
    for held, valid in ((False, True), (True, True), (False, False)):
        here = [p for p in points if p.row.valid == valid and (p.held_out == held or not valid)]
        if not here:
            continue
        x = [point.bytes for point in here]
        y = [point.row.value for point in here]
        if valid:
            panel.vlines(
                x, [point.row.minimum for point in here], [point.row.maximum for point in here],
                color=colour, linewidth=0.8, alpha=0.5,
            )  # fmt: skip
        panel.plot(
            x, y, linestyle="none", marker=HELD_OUT if held else marker, color=colour,
            markersize=4.6 if held else 3.6, markerfacecolor=colour if valid else "white",
            markeredgecolor="white" if held else colour, markeredgewidth=0.5 if held else 0.7,
            zorder=3 if valid else 4, label="_valid" if valid else "_invalid",
        )  # fmt: skip


def curve(
    line: Line, panel: Axes, colour: str, style: str | tuple[int, tuple[float, ...]] = "-"
) -> None:
    """The fitted line over the sizes that it was fitted to."""
    x = np.geomspace(min(line.sizes), max(line.sizes), 200)
    panel.plot(
        x, [max(line.at(one), 0.0) or np.nan for one in x], color=colour, linewidth=0.9,
        linestyle=style, zorder=2, label="_fit",
    )  # fmt: skip


def bytes_axis(panel: Axes, sizes: Sequence[int]) -> None:
    """A logarithmic axis that names every fourth power of two, or fewer."""
    low, high = min(sizes), max(sizes)
    first, last = low.bit_length() - 1, (high - 1).bit_length()
    step = max(4, 4 * -(-(last - first) // 24))
    ticks = [2**power for power in range(0, 64, step) if low / 2 <= 2**power <= high * 2]
    panel.set_xscale("log", base=2)
    panel.set_xlim(low / 2, high * 2)
    panel.xaxis.set_major_locator(FixedLocator(ticks or [low]))
    names = [size(tick).replace("\u00a0", "\n") for tick in ticks or [low]]
    panel.xaxis.set_major_formatter(FixedFormatter(names))
    panel.xaxis.set_minor_locator(NullLocator())


def seconds_axis(panel: Axes, rows: Sequence[Row]) -> None:
    """A logarithmic axis of decades, in words."""
    values = [row.value for row in rows]
    panel.set_yscale("log")
    panel.set_ylim(min(values) / 2.5, max(values) * 2.5)
    panel.yaxis.set_major_locator(LogLocator(10, numticks=20))
    panel.yaxis.set_minor_locator(NullLocator())
    panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: _decade(value)))


def _decade(value: float) -> str:
    if value <= 0:
        return ""
    scale, name = next(((s, n) for s, n in _SECONDS if value >= 0.9999 * s), _SECONDS[-1])
    return f"{value / scale:.4g} {name}"


def parameters(line: Line) -> str:
    """Alpha and 1/beta in words, with their intervals."""
    alpha = f"{ALPHA} = {quantity(line.alpha, 's')} ({_span(line.alpha_interval, 's')})"
    if line.beta <= 0:
        return alpha
    rate = quantity(1 / line.beta, "B/s")
    if line.beta_interval.low <= 0:
        return f"{alpha}, 1/{BETA} = {rate}"
    ends = Interval(1 / line.beta_interval.high, 1 / line.beta_interval.low)
    return f"{alpha}, 1/{BETA} = {rate} ({_span(ends, 'B/s')})"


def _span(interval: Interval, unit: str) -> str:
    return f"{quantity(interval.low, unit)} to {quantity(interval.high, unit)}"


def invalid(points: Sequence[Point]) -> str:
    """The transfers that do not count."""
    return invalid_note(
        f"{p.memory} {direction_name(p.direction)}, {size(p.bytes)}"
        + (f" in {p.pieces} pieces, {p.packing}" if p.pieces > 1 else "")
        for p in points
        if not p.row.valid
    )


def cells(point: Point) -> tuple[object, ...]:
    """One line of the data file."""
    row = point.row
    return (
        point.memory, point.direction, point.pieces, point.packing, point.bytes, row.value,
        row.minimum, row.maximum, "" if point.predicted is None else point.predicted,
        point.held_out, point.bandwidth.value if point.bandwidth else "", row.valid, row.case,
    )  # fmt: skip


def source(point: Point) -> Row:
    """The row behind a point."""
    return point.row


def held_out_key() -> Line2D:
    """What a legend shows for sizes that were held out."""
    return Line2D([], [], color=INK, marker=HELD_OUT, linestyle="none", label="held out of the fit")
