"""What does it cost to copy data to the GPU and back, or to another GPU?

A line through some of the sizes, with one cost per transfer and one per byte, must predict the
others. Breitbart packs many small pieces into one copy, because starting a copy is expensive.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import inf
from operator import itemgetter

import numpy as np

from strata.figures import _chart as c
from strata.figures._figure import Figure, attributes, prose
from strata.model import ordered
from strata.model.transfer_model import Line, Point, break_evens, lines, points, worst_prediction
from strata.model.units import interval, quantity, size
from strata.run import Run

LOOKS = {
    "pageable": c.Look(colour="#D55E00", marker="o", size=6.4),
    "pinned": c.Look(colour="#0072B2", marker="s", size=4.6),
    "mapped": c.Look(colour="#56B4E9", marker="^", size=2.8),
    "copy_engine": c.Look(colour="#0072B2", marker="s", size=5.4),
    "kernel": c.Look(colour="#56B4E9", marker="^", size=3.2),
    "load_cached": c.Look(colour="#009E73", marker="v", size=6.8),
    "load_uncached": c.Look(colour="#E69F00", marker="D", size=2.8),
}
"""The later ones are smaller, and so all are seen where they coincide."""
PIECES = (*list(c.WIDTH_LOOK.values())[1:], c.WIDTH_LOOK[1])
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
FIT = c.Key(f"{ALPHA} + {BETA} · bytes", c.Look(line="-", width=0.9))
EACH = c.Key("a copy each", FIT.look)
PACKED = c.Key("packed into one", replace(FIT.look, line="--"))
HELD_OUT = c.Key("held out of the fit", c.Look(marker="X", size=4.6))


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


def _times(here: Sequence[Point], pieces: Sequence[int]) -> list[c.Layer]:
    """Marks, crosses for held-out sizes, fitted lines (thin without a fit), and crossings."""
    fitted, crossings = lines(here), break_evens(here)
    layers: list[c.Layer] = []
    for key, some in c.grouped(here, lambda point: point.key).items():
        memory, direction, count, packing = key
        look = LOOKS[memory] if count == 1 else PIECES[pieces.index(count) % len(PIECES)]
        label = _name(memory) if count == 1 else f"{count} pieces"
        drawn = replace((PACKED if packing == "packed" else EACH).look, colour=look.colour)
        at = [c.mark(point.bytes, point.row) for point in some if not point.held_out]
        held = [c.mark(point.bytes, point.row) for point in some if point.held_out]
        line, curve = fitted.get(key), [c.Mark(point.bytes, point.row.value) for point in some]
        if line:
            along = np.geomspace(min(line.sizes), max(line.sizes), 200)
            curve = [c.Mark(size, line.at(size)) for size in along if line.at(size) > 0]
        layers += [
            c.Series(curve, drawn if line else replace(drawn, width=0.6)),
            c.Series(at, replace(look, line=""), label, spread="bar"),
            c.Series(held, replace(HELD_OUT.look, colour=look.colour), spread="bar"),
        ]
        crossing = crossings.get((memory, direction, count))
        if line and crossing and packing == "none":
            ends, height = (crossing.interval.low, crossing.interval.high), line.at(crossing.size)
            span = [c.Mark(end, height) for end in ends if 0 < end < inf]
            star = c.Look(colour=look.colour, marker="*", size=9)
            layers += [
                c.Series(span, replace(drawn, width=2.2, alpha=0.45), order=4),
                c.Series([c.Mark(crossing.size, height)], star, "break-even", order=5),
            ]
    return layers


def chart(shown: Sequence[Point]) -> c.Chart:
    """Time above bandwidth, or one row per memory of many pieces; one column per direction."""
    pieces, sizes = sorted({p.pieces for p in shown}), [p.bytes for p in shown]
    rates = [p.bandwidth.value for p in shown if p.bandwidth and p.bandwidth.valid]
    scale, unit = c.scaled(max(rates, default=1.0), "B/s")
    rate = c.Axis(f"bandwidth ({unit})", zero=True)
    time = c.Axis("time", "log", text=c.seconds)
    directions = ordered((p.direction for p in shown), DIRECTIONS)
    looks = {way: ("", replace(look, line="-")) for way, look in LOOKS.items()}

    def panel(direction: str, memory: str = "", *, rates: bool = False) -> c.Panel:
        here = [p for p in shown if p.direction == direction and memory in ("", p.memory)]
        places = c.bytes_axis("bytes, each way" if direction == "both" else "bytes", sizes)
        if not rates:
            title = f"{memory}, {_name(direction)}".removeprefix(", ")
            return c.Panel(_times(here, pieces), places, time, title)
        valid = [(p, p.bandwidth) for p in here if p.bandwidth and p.bandwidth.valid]
        marks = [(p.memory, c.mark(p.bytes, row, scale)) for p, row in valid]
        return c.Panel(c.by_look(marks, itemgetter(0), looks, itemgetter(1)), places, rate)

    rows = [[panel(one, rates=rates) for one in directions] for rates in (False, True)]
    keys = [FIT] if lines(shown) else []
    many = pieces[-1] > 1
    if many:
        memories = ordered((p.memory for p in shown), WAYS)
        rows = [[panel(one, memory) for one in directions] for memory in memories]
        keys = [EACH, PACKED]
    if any(p.held_out for p in shown):
        keys.append(HELD_OUT)
    width, height = 2.1 + 2.6 * len(directions), 0.5 + 2.3 * len(rows)
    return c.Chart(rows, width, height, "beside", keys=keys, share="all" if many else "row")


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


def _caption(text: str, shown: Sequence[Point]) -> str:
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
        fitted and f"Lines: {FIT.label}, fitted by relative errors{each}.",
        joined and "Thin lines join sizes that are too few for a fit.",
        worst and f"Sizes held out are predicted within {100 * worst:.0f} %.",
    )


def _label(p: Point) -> str:
    pieces = f" in {p.pieces} pieces" if p.pieces > 1 else ""
    packed = ", packed" if p.packing == "packed" else ""
    return f"{_name(p.memory)} {_name(p.direction)}, {size(p.bytes)}{pieces}{packed}"


SECONDS = attributes(of="row", seconds="value", seconds_low="minimum", seconds_high="maximum")
RATE = attributes(bytes_per_second="bandwidth")
POINT = attributes("memory", "direction", "pieces", "packing", "bytes")
COLUMNS = POINT | SECONDS | attributes(seconds_predicted="predicted", held_out="held_out") | RATE
FIGURES = (
    Figure(
        "transfers", "Transfers between host and device", 90,
        lambda run: [point for point in points(run.of("transfers")) if point.pieces == 1],
        chart, columns=COLUMNS, label=_label,
        caption=partial(
            _caption,
            "Time of one transfer by its caller's clock, from the first call to the end of "
            "the wait (medians; bars: range of the samples), and the resulting bandwidth. "
            "Pageable and pinned: copies by the runtime; mapped: a kernel accesses host "
            "memory directly.",
        ),
    ),
    Figure(
        "small_copies", "Many small copies against one packed copy", 91,
        lambda run: [point for point in points(run.of("transfers")) if point.pieces > 1],
        chart, columns=COLUMNS, label=_label,
        caption=partial(
            _caption,
            "Time to transfer a payload that is split into pieces in host memory, by its "
            "caller's clock (medians; bars: range of the samples): one copy per piece, or one "
            "copy of a buffer that the host packs before it (unpacks after it), which the "
            "time includes.",
        ),
    ),
    Figure(
        "peer_copy", "Copies between two GPUs", 92, peer_accesses, chart, label=_label,
        columns=attributes(way="memory", direction="direction", bytes="bytes") | SECONDS | RATE,
        caption=partial(
            _caption,
            "Time on the device of one copy between the memories of two GPUs, alone and "
            "queued before it began (medians; bars: range of the samples), and the resulting "
            "bytes per second, both directions together.",
        ),
    ),
)  # fmt: skip
