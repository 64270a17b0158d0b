"""How many bytes must be in flight on an SM to reach the full bandwidth of a level?"""

from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from strata.figures._figure import Columns, attributes, prose
from strata.figures._plot import figure, table
from strata.figures._style import bytes_axis, points
from strata.model import LEVELS, level_name, little, ordered, units
from strata.model.cases import by_case
from strata.run import Row, Run

LOOKS = {
    "read": ("#0072B2", "o"),
    "write": ("#D55E00", "s"),
    "copy": ("#009E73", "^"),
    "triad": ("#CC79A7", "D"),
    "update": ("#E69F00", "v"),
}
TERA = 1e12
COLUMNS: Columns = {
    **attributes("level", "operation"),
    "width_bytes": lambda spot: spot.row.text("width"),
    **attributes(bytes_in_flight_per_sm="in_flight", bandwidth_bytes_per_second="row"),
    **attributes(minimum="row.minimum", maximum="row.maximum", limit_bytes_per_second="limit"),
    **attributes(little_bytes_per_second="little"),
}


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


def data(run: Run) -> pd.DataFrame:
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
    spots.sort(key=lambda s: (LEVELS.index(s.level), s.operation, s.in_flight))
    return table(spots, COLUMNS)


def best(spots: pd.DataFrame) -> pd.DataFrame:
    """The best valid spot for each number of bytes in flight, ascending."""
    valid = spots[spots.valid].sort_values(["bytes_in_flight_per_sm", "bandwidth_bytes_per_second"])
    return valid.drop_duplicates("bytes_in_flight_per_sm", keep="last")


def caption(data: pd.DataFrame) -> str:
    """The best reads, and the bytes in flight that they need."""
    tops, needed = [], []
    for level in data.level.unique():
        reads = best(data[(data.level == level) & (data.operation == "read")])
        limits = reads.limit_bytes_per_second.astype(float)
        allowed = reads[~(reads.bandwidth_bytes_per_second > limits)]
        if reads.empty:
            continue
        found = allowed if len(allowed) else reads
        top = found.sort_values("bandwidth_bytes_per_second").iloc[-1]
        rate, limit = top.bandwidth_bytes_per_second, top.limit_bytes_per_second
        share = f", {100 * rate / limit:.1f} % of its limit" if pd.notna(limit) else ""
        tops.append(f"{level_name(level)} {units.quantity(rate, 'B/s')}{share}")
        if pd.notna(top.little_bytes_per_second):
            least = top.bytes_in_flight_per_sm * rate / top.little_bytes_per_second
            needed.append(f"{level_name(level)} {units.size(round(least))}")
    asks = f", which needs at least {', '.join(needed)} per SM for the best of each"
    return prose(
        "Bandwidth of the whole chip against the maximum bytes in flight per SM, by launch "
        "shape (threads, accesses per thread, their width). Points: medians of the launches "
        "of one shape; bars: range of the samples, cut at the limit; lines join the best. "
        "Limits: bus width times clock for device memory, bytes per cycle for L1 and shared "
        "memory.",
        data.little_bytes_per_second.notna().any()
        and "Little's law: bytes in flight over the latency of a single dependent load from "
        f"the level{asks if needed else ''}.",
        tops and f"Best reads: {'; '.join(tops)}.",
    )


@figure(
    "bandwidth_surface", "Bandwidth against bytes in flight", order=21, data=data,
    caption=caption, size=(7, 5.4),
)  # fmt: skip
def draw(data: pd.DataFrame, figure: Figure) -> None:
    """A panel for each level; the operations that any of them has share the legend."""
    levels = data.level.unique()
    columns = min(len(levels), 2)
    rows = -(-len(levels) // columns)
    figure.set_figheight(0.6 + 2.4 * rows)
    panels = [*figure.subplots(rows, columns, squeeze=False).flat]
    for ax in panels[len(levels) :]:
        ax.remove()
    for ax, level in zip(panels, levels, strict=False):
        draw_level(ax, data[data.level == level])
        ax.set(title=level_name(level), ylabel="bandwidth (TB/s)")


def draw_level(ax: Axes, here: pd.DataFrame) -> None:
    """Every shape as a point, a line through the best ones, the limit, and Little's law."""
    rates = ["bandwidth_bytes_per_second", "minimum", "maximum"]
    spots = here.assign(**{name: here[name] / TERA for name in rates})
    limits = here.limit_bytes_per_second.dropna().astype(float) / TERA
    top = 1.16 * max(spots.maximum.clip(upper=limits.median()).max(), limits.max(), 0)
    for name in ordered(spots.operation, tuple(LOOKS)):
        colour, marker = LOOKS[name]
        some = spots[spots.operation == name]
        look = {"color": colour, "marker": marker, "ls": "", "label": name}
        points(ax, some, "bytes_in_flight_per_sm", "bandwidth_bytes_per_second", **look)
        good = some[some.valid]
        most = good.maximum.clip(upper=limits.median())
        ax.vlines(good.bytes_in_flight_per_sm, good.minimum, most, color=colour, lw=0.8)
        line = best(some)
        ax.plot(line.bytes_in_flight_per_sm, line.bandwidth_bytes_per_second, color=colour)
    bytes_axis(ax, "bytes in flight per SM")
    low, high = ax.get_xlim()
    little = (spots.little_bytes_per_second / spots.bytes_in_flight_per_sm).dropna().astype(float)
    crossed = limits.median() * TERA / little.iloc[0] if len(little) and len(limits) else high
    left = crossed > (low * high) ** 0.5  # the half without the crossing
    if len(limits):
        limit = limits.median()
        words = f"limit {units.quantity(limit * TERA, 'B/s')}"
        ax.axhline(limit, color="k", ls="--", lw=0.9, label="limit")
        ax.text(
            0.02 if left else 0.98, limit, words, va="bottom",
            ha="left" if left else "right", transform=ax.get_yaxis_transform(),
        )  # fmt: skip
    if len(little):
        along = np.geomspace(low, high, 200)
        along = along[along * little.iloc[0] / TERA <= top]
        ax.plot(along, along * little.iloc[0] / TERA, "k:", lw=0.9, label="Little's law")
    ax.set(xlim=(low, high), ylim=(0, top))
