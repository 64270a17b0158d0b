"""What does it cost to copy data to the GPU and back, or to another GPU?

A line through some of the sizes, with one cost per transfer and one per byte, must predict the
others. Breitbart packs many small pieces into one copy, because starting a copy is expensive.
"""

from collections.abc import Callable, Sequence
from functools import partial
from math import inf
from operator import attrgetter
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from strata.figures._figure import Columns, attributes, prose
from strata.figures._plot import figure, table
from strata.figures._style import WIDTHS, bytes_axis, hover, scaled
from strata.figures._style import points as marked
from strata.model import ordered
from strata.model.transfer_model import Line, Point, break_evens, lines, points, worst_prediction
from strata.model.units import interval, quantity, size
from strata.run import Run, grouped

LOOKS = {
    "pageable": ("#D55E00", "o", 5.5),
    "pinned": ("#0072B2", "s", 4.2),
    "mapped": ("#56B4E9", "^", 2.8),
    "copy_engine": ("#0072B2", "s", 4.8),
    "kernel": ("#56B4E9", "^", 3.2),
    "load_cached": ("#009E73", "v", 5.8),
    "load_uncached": ("#E69F00", "D", 2.8),
}
"""The later ones are smaller, and so all are seen where they coincide."""
PIECES = [(*look, 4.0) for look in (*list(WIDTHS.values())[1:], WIDTHS[1])]
NAMES = {
    "copy_engine": "copy engine",
    "load_cached": "one load, peer's L2",
    "load_uncached": "one load, peer's memory",
    "to_device": "to the device",
    "to_host": "to the host",
    "read": "from the peer",
    "write": "to the peer",
    "both": "both ways at once",
}
LOADS = {"load_time_cached": "load_cached", "load_time_uncached": "load_uncached"}
WAYS, DIRECTIONS = tuple(LOOKS), tuple(NAMES)
ALPHA, BETA = "\u03b1", "\u03b2"
FIT = f"{ALPHA} + {BETA} · bytes"


SECONDS = attributes(of="row", seconds="value", seconds_low="minimum", seconds_high="maximum")
RATE = {**attributes(bytes_per_second="bandwidth"), "_point": lambda one: one}
POINT = attributes("memory", "direction", "pieces", "packing", "bytes")
PREDICTED = attributes(seconds_predicted="predicted", held_out="held_out")
COLUMNS: Columns = POINT | SECONDS | PREDICTED | RATE


def transfers(run: Run) -> pd.DataFrame:
    """Transfers in one piece."""
    found = [point for point in points(run.of("transfers")) if point.pieces == 1]
    return table(found, COLUMNS, label=_label)


def small_copies(run: Run) -> pd.DataFrame:
    """Transfers of many pieces."""
    found = [point for point in points(run.of("transfers")) if point.pieces > 1]
    return table(found, COLUMNS, label=_label)


def peer_copies(run: Run) -> pd.DataFrame:
    """Copies and loads between GPUs."""
    columns = attributes(way="memory", direction="direction", bytes="bytes") | SECONDS | RATE
    return table(peer_accesses(run), columns, label=_label)


def peer_accesses(run: Run) -> Sequence[Point]:
    """Peer copies and loads by their time on the device; `memory` is the method."""
    rows = run.of("peer_copy")
    rates = {row.case: row for row in rows if (row.quantity, row.method) == ("bandwidth", "event")}
    found = []
    for row in rows:
        if (row.quantity, row.method) == ("transfer_time", "event") or row.quantity in LOADS:
            way, direction = LOADS.get(row.quantity, row.text("by")), row.text("direction")
            moved, rate = row.count("bytes") or 0, rates.get(row.case)
            found.append(Point(way, direction, 1, "none", moved, row, rate))
    directions, ways = DIRECTIONS.index, WAYS.index
    return sorted(found, key=lambda p: (directions(p.direction), ways(p.memory), p.bytes))


def _name(word: str) -> str:
    return NAMES.get(word, word)


def _draw_times(ax: Axes, here: Sequence[Point], pieces: Sequence[int]) -> None:
    """Marks, crosses for held-out sizes, fitted lines (thin without a fit), and crossings."""
    fitted, crossings = lines(here), break_evens(here)
    for key, some in grouped(here, attrgetter("key")).items():
        memory, direction, count, packing = key
        colour, marker, ms = (
            LOOKS[memory] if count == 1 else PIECES[pieces.index(count) % len(PIECES)]
        )
        label = _name(memory) if count == 1 else f"{count} pieces"
        line, style = fitted.get(key), "--" if packing == "packed" else "-"
        if line:
            along = np.geomspace(min(line.sizes), max(line.sizes), 200)
            along = np.array([at for at in along if line.at(at) > 0])
            ax.plot(along, [line.at(at) for at in along], color=colour, ls=style, lw=0.9)
        else:
            valid = [point for point in some if point.row.valid]
            places, times = [one.bytes for one in valid], [one.row.value for one in valid]
            ax.plot(places, times, color=colour, ls=style, lw=0.6)
        for held, shape in ((False, marker), (True, "X")):
            shown = [point for point in some if bool(point.held_out) == held]
            if shown:
                frame = table(shown, {"x": attrgetter("bytes"), "y": attrgetter("row")})
                look = {"color": colour, "marker": shape, "ms": 4.6 if held else ms, "ls": ""}
                marked(ax, frame, "x", "y", label="held out of the fit" if held else label, **look)
        ends = [(one.row.minimum, one.row.maximum) for one in some]
        ax.vlines([one.bytes for one in some], *zip(*ends, strict=True), color=colour, lw=0.8)
        crossing = crossings.get((memory, direction, count))
        if line and crossing and packing == "none":
            height = line.at(crossing.size)
            low, high = crossing.interval.low, crossing.interval.high
            span = [end for end in (low, high) if 0 < end < inf]
            ax.plot(span, [height] * len(span), color=colour, lw=2.2, alpha=0.45)
            (star,) = ax.plot(
                [crossing.size], [height], "*", color=colour, ms=9, label="break-even"
            )
            hover(star, [f"break-even {size(round(crossing.size))}"])


def draw(data: pd.DataFrame, figure: Figure) -> None:
    """Time above bandwidth, or one row per memory of many pieces; one column per direction."""
    shown: list[Point] = [*data["_point"]]
    pieces = sorted({p.pieces for p in shown})
    many, narrow = pieces[-1] > 1, figure.get_figwidth() < 5
    directions = ordered((p.direction for p in shown), DIRECTIONS)
    memories = ordered((p.memory for p in shown), WAYS) if many else [""]
    rows = [*((memory, False) for memory in memories), *([] if many else [("", True)])]
    wanted = [(one, memory, rates) for memory, rates in rows for one in directions]
    columns = 1 if narrow else len(directions)
    figure.set_figheight(0.8 + 2.0 * (len(wanted) // columns))
    panels = [*figure.subplots(len(wanted) // columns, columns, squeeze=False).flat]
    rates = [p.bandwidth.value for p in shown if p.bandwidth and p.bandwidth.valid]
    scale, unit = scaled(max(rates, default=1.0), "B/s")
    for ax, (direction, memory, of_rates) in zip(panels, wanted, strict=True):
        here = [p for p in shown if p.direction == direction and memory in ("", p.memory)]
        title = f"{memory}, {_name(direction)}".removeprefix(", ")
        ax.set_title(title[0].upper() + title[1:])
        bytes_axis(ax, "bytes, each way" if direction == "both" else "bytes")
        if not of_rates:
            _draw_times(ax, here, pieces)
            ax.set(yscale="log", ylabel="time")
            ax.yaxis.set_major_formatter(FuncFormatter(lambda at, _: quantity(at, "s")))
            ax.yaxis.set_minor_formatter("")
            continue
        for way, some in grouped(here, attrgetter("memory")).items():
            colour, marker, ms = LOOKS[way]
            frame = table(
                [p for p in some if p.bandwidth],
                {"x": attrgetter("bytes"), "y": lambda p: p.bandwidth.value / scale},
                row=attrgetter("bandwidth"),
            )
            if len(frame):
                marked(ax, frame, "x", "y", color=colour, marker=marker, ms=ms)
        ax.set(ylabel=f"bandwidth ({unit})", ylim=(0, None))
    if many:
        for words, style in (("a copy each", "-"), ("packed into one", "--")):
            panels[0].plot([], color="k", ls=style, lw=0.9, label=words)
    elif lines(shown):
        panels[0].plot([], color="k", lw=0.9, label=FIT)


def _parameters(line: Line) -> str:
    """Alpha and 1/beta in words, with their intervals."""
    alpha, beta = line.alpha_interval, line.beta_interval
    words = f"{ALPHA} = {quantity(line.alpha, 's')} ({interval(alpha.low, alpha.high, 's')})"
    if line.beta > 0:
        words += f", 1/{BETA} = {quantity(1 / line.beta, 'B/s')}"
    return words + (f" ({interval(1 / beta.high, 1 / beta.low, 'B/s')})" if beta.low > 0 else "")


def _packing(shown: Sequence[Point]) -> str:
    """Where packing stops paying off."""

    def bound(end: float) -> str:
        return "0" if end <= 0 else size(round(end)) if end < inf else "any size"

    crossings = "; ".join(
        f"{memory} {_name(direction)}, {pieces} pieces: {size(round(found.size))} "
        f"({bound(found.interval.low)} to {bound(found.interval.high)}), "
        f"{size(round(found.size / pieces))} a piece"
        for (memory, direction, pieces), found in break_evens(shown).items()
    )
    if crossings:
        return f"Packing pays off below, with 95 % intervals: {crossings}."
    return "No payload was found above which packing costs more than it saves."


def _caption(text: str, data: pd.DataFrame) -> str:
    shown: list[Point] = [*data["_point"]]
    many, fitted = any(p.pieces > 1 for p in shown), lines(shown)
    known = [p for p in shown if p.memory in LOADS.values() and p.row.valid]
    loads = "; ".join(f"{_name(p.memory)} {quantity(p.row.value, 's')}" for p in known)
    fits = [f"{_name(at[0])} {_name(at[1])} {_parameters(line)}" for at, line in fitted.items()]
    each = "" if many else f", with 95 % intervals: {'; '.join(fits)}"
    joined = {p.key for p in shown if p.memory not in LOADS.values()} - fitted.keys()
    worst = worst_prediction(shown)
    return prose(
        text,
        loads and f"Dependent loads: {loads}.",
        many and _packing(shown),
        fitted and f"Lines: {FIT}, fitted by relative errors{each}.",
        joined and "Thin lines join sizes that are too few for a fit.",
        worst and f"Sizes held out are predicted within {100 * worst:.0f} %.",
    )


def _label(p: Point) -> str:
    pieces = f" in {p.pieces} pieces" if p.pieces > 1 else ""
    packed = ", packed" if p.packing == "packed" else ""
    return f"{_name(p.memory)} {_name(p.direction)}, {size(p.bytes)}{pieces}{packed}"


def _register(
    name: str, title: str, order: int, data: Callable[[Run], pd.DataFrame], text: str
) -> Any:
    caption = partial(_caption, text)
    return figure(name, title, order=order, data=data, caption=caption)(draw)


_register(
    "transfers", "Transfers between host and device", 90, transfers,
    "Time of one transfer by its caller's clock, from the first call to the end of "
    "the wait (medians; bars: range of the samples), and the resulting bandwidth. "
    "Pageable and pinned: copies by the runtime; mapped: a kernel accesses host "
    "memory directly.",
)  # fmt: skip
_register(
    "small_copies", "Many small copies against one packed copy", 91, small_copies,
    "Time to transfer a payload that is split into pieces in host memory, by its "
    "caller's clock (medians; bars: range of the samples): one copy per piece, or one "
    "copy of a buffer that the host packs before it (unpacks after it), which the "
    "time includes.",
)  # fmt: skip
_register(
    "peer_copy", "Copies between two GPUs", 92, peer_copies,
    "Time on the device of one copy between the memories of two GPUs, alone and "
    "queued before it began (medians; bars: range of the samples), and the resulting "
    "bytes per second, both directions together.",
)  # fmt: skip
