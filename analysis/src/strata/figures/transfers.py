"""What does it cost to copy data to the GPU and back, or to another GPU?

A line through some of the sizes, with one cost per transfer and one per byte, must predict the
others. Breitbart packs many small pieces into one copy, because starting a copy is expensive.
"""

from collections.abc import Sequence
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from strata.figures._plot import figure, prose
from strata.figures._style import WIDTHS, bytes_axis, grid, hover, parts, si_axis
from strata.figures._style import points as points_of
from strata.model import ordered
from strata.model.transfer_model import Line, Point, break_evens, lines, points, worst_prediction
from strata.model.units import interval, quantity, size
from strata.run import Run

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


def _lines(found: Sequence[Point]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "memory": point.memory, "direction": point.direction, "pieces": point.pieces,
            "packing": point.packing, "bytes": point.bytes, "seconds": point.row.value,
            "seconds_low": point.row.minimum, "seconds_high": point.row.maximum,
            "seconds_predicted": point.predicted, "held_out": point.held_out,
            "bytes_per_second": point.bandwidth and point.bandwidth.value,
            "valid": point.row.valid, "case": point.row.case, "_row": point.row,
            "_point": point,
            "_label": f"{_name(point.memory)} {_name(point.direction)}, {size(point.bytes)}"
                      f"{pieces}{packed}",
        }
        for point in found
        for pieces in [f" in {point.pieces} pieces" if point.pieces > 1 else ""]
        for packed in [", packed" if point.packing == "packed" else ""]
    )  # fmt: skip


def transfers(run: Run) -> pd.DataFrame:
    return _lines([point for point in points(run.of("transfers")) if point.pieces == 1])


def small_copies(run: Run) -> pd.DataFrame:
    return _lines([point for point in points(run.of("transfers")) if point.pieces > 1])


def peer_copies(run: Run) -> pd.DataFrame:
    unused = ["pieces", "packing", "seconds_predicted", "held_out"]
    lines = _lines(peer_accesses(run)).rename(columns={"memory": "way"})
    return lines.drop(columns=unused, errors="ignore")


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


def _draw_times(ax: Axes, here: pd.DataFrame, pieces: Sequence[int]) -> None:
    fitted, crossings = lines(here["_point"]), break_evens(here["_point"])
    here = here.assign(key=[point.key for point in here["_point"]])
    for key, some in parts(here, "key"):
        memory, direction, count, packing = key
        alone = count == 1
        colour, marker, ms = LOOKS[memory] if alone else PIECES[pieces.index(count) % len(PIECES)]
        label = _name(memory) if alone else f"{count} pieces"
        style = "--" if packing == "packed" else "-"
        if line := fitted.get(key):
            along = np.geomspace(min(line.sizes), max(line.sizes), 200)
            along = along[line.alpha + line.beta * along > 0]
            ax.plot(along, line.alpha + line.beta * along, color=colour, ls=style, lw=0.9)
        look = {"color": colour, "marker": marker, "ms": ms, "ls": "" if line else style, "lw": 0.6}
        held_out = some["_held_out"]
        points_of(ax, some[~held_out], "bytes", "seconds", "y", label=label, **look)
        look |= {"marker": "X", "ms": 4.6, "ls": "", "label": "held out of the fit"}
        points_of(ax, some[held_out], "bytes", "seconds", "y", **look)
        crossing = crossings.get((memory, direction, count))
        if line and crossing and packing == "none":
            at = [crossing.size], [line.at(crossing.size)]
            (star,) = ax.plot(*at, "*", c=colour, ms=9, label="break-even")
            hover(star, [f"break-even {size(round(crossing.size))}"])
    ax.set(yscale="log", ylabel="time")
    ax.yaxis.set_minor_formatter("")
    si_axis(ax, unit="s")


def draw(data: pd.DataFrame, figure: Figure) -> None:
    data = data.rename(columns={"way": "memory", "seconds_low": "low", "seconds_high": "high"})
    found = [*data["_point"]]
    data = data.assign(_held_out=[bool(point.held_out) for point in found])
    pieces = sorted({point.pieces for point in found})
    many = pieces[-1] > 1
    directions = ordered(data.direction, DIRECTIONS)
    memories = ordered(data.memory, WAYS) if many else [""]
    shown = [*product(memories if many else ("time", "bandwidth"), directions)]
    panels = grid(figure, len(shown), 2.0, len(directions))
    for ax, (row, direction) in zip(panels, shown, strict=True):
        here = data[(data.direction == direction) & ((data.memory == row) | (not many))]
        title = f"{row}, {_name(direction)}" if many else _name(direction)
        ax.set_title(title[0].upper() + title[1:])
        bytes_axis(ax, "bytes, each way" if direction == "both" else "bytes")
        if row == "bandwidth":
            _draw_rates(ax, here)
        else:
            _draw_times(ax, here, pieces)
    if many:
        for words, style in (("a copy each", "-"), ("packed into one", "--")):
            panels[0].plot([], color="k", ls=style, lw=0.9, label=words)
    elif lines(found):
        panels[0].plot([], color="k", lw=0.9, label=FIT)


def _draw_rates(ax: Axes, here: pd.DataFrame) -> None:
    rates = [point.bandwidth for point in here["_point"]]
    here = here.assign(_row=rates)[[rate is not None for rate in rates]]
    here = here.assign(valid=[row.valid for row in here["_row"]])
    for way, some in parts(here, "memory"):
        colour, marker, ms = LOOKS[way]
        points_of(ax, some, "bytes", "bytes_per_second", color=colour, marker=marker, ms=ms)
    ax.set(ylabel="bandwidth (B/s)", ylim=(0, None))
    si_axis(ax)


def _parameters(line: Line) -> str:
    """Alpha and 1/beta in words, with their intervals."""
    alpha, beta = line.alpha_interval, line.beta_interval
    words = f"{ALPHA} = {quantity(line.alpha, 's')} ({interval(alpha.low, alpha.high, 's')})"
    if line.beta > 0 and beta.low > 0:
        ends = interval(1 / beta.high, 1 / beta.low, "B/s")
        words += f", 1/{BETA} = {quantity(1 / line.beta, 'B/s')} ({ends})"
    return words


def _packing(shown: Sequence[Point]) -> str:
    """Where packing stops paying off."""
    crossings = "; ".join(
        f"{memory} {_name(direction)}, {pieces} pieces: {size(round(found.size))}"
        for (memory, direction, pieces), found in break_evens(shown).items()
    )
    if crossings:
        return f"Packing pays off below: {crossings}."
    return "No payload was found above which packing costs more than it saves."


def _caption(text: str, data: pd.DataFrame) -> str:
    shown: list[Point] = [*data["_point"]]
    many, fitted = any(p.pieces > 1 for p in shown), lines(shown)
    known = [p for p in shown if p.memory in LOADS.values() and p.row.valid]
    loads = "; ".join(f"{_name(p.memory)} {quantity(p.row.value, 's')}" for p in known)
    fits = [f"{_name(at[0])} {_name(at[1])} {_parameters(line)}" for at, line in fitted.items()]
    each = "" if many else f", with 95 % intervals: {'; '.join(fits)}"
    worst = worst_prediction(shown)
    return prose(
        text,
        loads and f"Dependent loads: {loads}.",
        many and _packing(shown),
        fitted and f"Lines: {FIT}, fitted by relative errors{each}.",
        worst and f"Sizes held out are predicted within {100 * worst:.0f} %.",
    )


_TEXTS = {
    "transfers": "Time of one transfer by its caller's clock, from the first call to the end of "
    "the wait (medians; bars: range of the samples), and the resulting bandwidth. Pageable and "
    "pinned: copies by the runtime; mapped: a kernel accesses host memory directly.",
    "small_copies": "Time to transfer a payload that is split into pieces in host memory, by "
    "its caller's clock (medians; bars: range of the samples): one copy per piece, or one copy "
    "of a buffer that the host packs before it (unpacks after it), which the time includes.",
    "peer_copy": "Time on the device of one copy between the memories of two GPUs, alone and "
    "queued before it began (medians; bars: range of the samples), and the resulting bytes per "
    "second, both directions together.",
}
for name, title, order, data in (
    ("transfers", "Transfers between host and device", 90, transfers),
    ("small_copies", "Many small copies against one packed copy", 91, small_copies),
    ("peer_copy", "Copies between two GPUs", 92, peer_copies),
):
    figure(name, title, order, data, partial(_caption, _TEXTS[name]))(draw)
