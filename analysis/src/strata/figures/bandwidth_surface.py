"""How many bytes must be in flight on an SM to reach the full bandwidth of a level?"""

from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from strata.figures import _chart as c
from strata.figures._figure import Figure, attributes, prose
from strata.model import LEVELS, level_name, little, ordered, units
from strata.model.cases import by_case
from strata.run import Row, Run

LOOKS = {
    "read": c.Look(colour="#0072B2", marker="o"),
    "write": c.Look(colour="#D55E00", marker="s"),
    "copy": c.Look(colour="#009E73", marker="^"),
    "triad": c.Look(colour="#CC79A7", marker="D"),
    "update": c.Look(colour="#E69F00", marker="v"),
}
LIMIT, LITTLE = c.Look(line="--", width=0.9), c.Look(line=":", width=0.9)
LEVEL, RATE = attrgetter("level"), attrgetter("row.value")
TERA = 1e12


class Spot(NamedTuple):
    """The bandwidth of one launch shape; `limit` is in B/s, None if unknown.

    `little` is the read bandwidth that its bytes in flight allow at the latency of the level, in
    B/s, if known.
    """

    level: str
    operation: str
    row: Row
    in_flight: float
    limit: float | None
    little: float | None


def items(run: Run) -> Sequence[Spot]:
    """Every timed bandwidth of a GPU whose bytes in flight are known."""
    mine = [row for row in run.of("bandwidth") if row.backend == "cuda"]
    sms = little.cores(mine)
    latencies = little.latencies(run) if sms else {}
    spots = []
    for case in by_case(mine):
        row, in_flight = case.row("bandwidth"), case.row("bytes_in_flight_per_sm")
        if row and in_flight:
            level, operation = row.text("level"), row.text("operation")
            share = case.row("share_of_limit")
            limit = row.value / share.value if share and share.value else None
            latency = latencies.get(level) if operation == "read" else None
            law = little.allowed((sms or 0) * in_flight.value, latency) if latency else None
            spots.append(Spot(level, operation, row, in_flight.value, limit, law))
    return sorted(spots, key=lambda s: (LEVELS.index(s.level), s.operation, s.in_flight))


def best(spots: Sequence[Spot]) -> list[Spot]:
    """The best valid spot for each number of bytes in flight, ascending."""
    valid = sorted((s for s in spots if s.row.valid), key=lambda s: (s.in_flight, s.row.value))
    return list({spot.in_flight: spot for spot in valid}.values())


def chart(spots: Sequence[Spot]) -> c.Chart:
    """Bandwidth against bytes in flight, one panel per level."""

    def panel(level: str, here: Sequence[Spot]) -> c.Panel:
        limits = sorted(spot.limit for spot in here if spot.limit)
        top = (
            1.16 * max([min(s.row.maximum, s.limit or s.row.maximum) for s in here] + limits) / TERA
        )
        places = c.bytes_axis("bytes in flight per SM", [spot.in_flight for spot in here])
        layers: list[c.Layer] = []
        for operation in ordered((spot.operation for spot in here), tuple(LOOKS)):
            look, some = LOOKS[operation], [s for s in here if s.operation == operation]
            marks, line = (
                [c.mark(s.in_flight, s.row, TERA, most=s.limit) for s in of]
                for of in (some, best(some))
            )
            layers.append(c.Series(marks, look, spread="bar"))
            layers.append(c.Series(line, replace(look, line="-"), operation))
        if limits:
            limit = limits[len(limits) // 2]
            words = f"limit {units.quantity(limit, 'B/s')}"
            layers.append(c.Rule(limit / TERA, LIMIT, "limit", words=words))
        slope = next((spot.little / spot.in_flight for spot in here if spot.little), None)
        if slope and places.limits:
            along = np.geomspace(*places.limits, 400)
            law = [c.Mark(at, slope * at / TERA) for at in along if slope * at / TERA <= top]
            layers.append(c.Series(law, LITTLE, "Little's law", order=1.5))
        values = c.Axis("bandwidth (TB/s)", limits=(0, top))
        return c.Panel(layers, places, values, level_name(level))

    rows = c.wrapped([panel(*group) for group in c.grouped(spots, LEVEL).items()], 2)
    return c.Chart(rows, 1.6 + 3.0 * len(rows[0]), 0.4 + 2.5 * len(rows), "beside")


def _caption(spots: Sequence[Spot]) -> str:
    tops, needed = [], []
    for level, here in c.grouped(spots, LEVEL).items():
        reads = best([s for s in here if s.operation == "read"])
        top = max(reads, key=lambda s: (not s.limit or RATE(s) <= s.limit, RATE(s)), default=None)
        if top:
            share = f", {100 * RATE(top) / top.limit:.1f} % of its limit" if top.limit else ""
            tops.append(f"{level_name(level)} {units.quantity(RATE(top), 'B/s')}{share}")
        if top and top.little:
            least = top.in_flight * RATE(top) / top.little
            needed.append(f"{level_name(level)} {units.size(round(least))}")
    asks = f", which needs at least {', '.join(needed)} per SM for the best of each"
    return prose(
        "Bandwidth of the whole chip against the maximum bytes in flight per SM, by launch "
        "shape (threads, accesses per thread, their width). Points: medians of the launches "
        "of one shape; bars: range of the samples, cut at the limit; lines join the best. "
        "Limits: bus width times clock for device memory, bytes per cycle for L1 and shared "
        "memory.",
        any(spot.little for spot in spots)
        and "Little's law: bytes in flight over the latency of a single dependent load from "
        f"the level{asks if needed else ''}.",
        tops and f"Best reads: {'; '.join(tops)}.",
    )


FIGURE = Figure(
    "bandwidth_surface", "Bandwidth against bytes in flight", 21, items, chart, _caption,
    attributes("level", "operation")
    | {"width_bytes": lambda spot: spot.row.text("width")}
    | attributes(bytes_in_flight_per_sm="in_flight", bandwidth_bytes_per_second="row")
    | attributes(minimum="row.minimum", maximum="row.maximum", limit_bytes_per_second="limit")
    | attributes(little_bytes_per_second="little"),
)  # fmt: skip
