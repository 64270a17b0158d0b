"""How many bytes must be in flight on an SM to reach the full bandwidth of a level?"""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from strata.figures._plot import columns, figure, in_order, prose, rows_of
from strata.figures._style import bytes_axis, panels, parts, series, si_axis
from strata.model import LEVELS, level_name, little
from strata.model.units import quantity, size
from strata.run import Run, beside

LOOKS = {
    "read": ("#0072B2", "o"),
    "write": ("#D55E00", "s"),
    "copy": ("#009E73", "^"),
    "triad": ("#CC79A7", "D"),
    "update": ("#E69F00", "v"),
}
IN_FLIGHT, RATE, LAW = (
    "bytes_in_flight_per_sm", "bandwidth_bytes_per_second", "little_bytes_per_second",
)  # fmt: skip


def data(run: Run) -> pd.DataFrame:
    """Every timed bandwidth of a GPU whose bytes in flight are known.

    `little_bytes_per_second` is the read bandwidth that these bytes allow at the latency of the
    level.
    """
    rows = rows_of(run, "bandwidth", level="", operation="", width="")
    lines = rows[(rows.quantity == "bandwidth") & (rows.backend == "cuda")]
    lines = lines.drop_duplicates("case")
    lines["in_flight"] = beside(lines, rows, IN_FLIGHT).astype(float)
    lines = lines.dropna(subset=["in_flight"])
    lines = in_order(lines, "level", "operation", "in_flight", level=LEVELS)
    share = beside(lines, rows, "share_of_limit")
    sms = little.cores(run.of("bandwidth"))
    latencies = little.latencies(run) if sms else {}
    seconds = lines.level.map({level: latency.seconds for level, latency in latencies.items()})
    law = (sms or 0) * lines.in_flight / seconds.astype(float)
    lines = lines.assign(limit=lines.value / share[share > 0], law=law[lines.operation == "read"])
    return columns(
        lines, "level", "operation", width_bytes="width", bytes_in_flight_per_sm="in_flight",
        bandwidth_bytes_per_second="value", minimum="minimum", maximum="maximum",
        limit_bytes_per_second="limit", little_bytes_per_second="law",
    )  # fmt: skip


def best(spots: pd.DataFrame) -> pd.DataFrame:
    """The best valid spot for each number of bytes in flight, ascending."""
    valid = spots[spots.valid].sort_values([IN_FLIGHT, RATE])
    return valid.drop_duplicates(IN_FLIGHT, keep="last")


def caption(data: pd.DataFrame) -> str:
    tops, needed = [], []
    for level, here in parts(data[data.operation == "read"], "level"):
        reads = best(here)
        allowed = ~(reads[RATE] > reads.limit_bytes_per_second)
        for top in (
            reads.assign(allowed=allowed).sort_values(["allowed", RATE]).tail(1).to_dict("records")
        ):
            limit = top["limit_bytes_per_second"]
            share = f", {100 * top[RATE] / limit:.1f} % of its limit" if limit > 0 else ""
            tops.append(f"{level_name(level)} {quantity(top[RATE], 'B/s')}{share}")
            if top[LAW] > 0:
                least = size(round(top[IN_FLIGHT] * top[RATE] / top[LAW]))
                needed.append(f"{level_name(level)} {least}")
    return prose(
        "Bandwidth of the whole chip against the maximum bytes in flight per SM, by launch "
        "shape (threads, accesses per thread, their width). Points: medians of the launches "
        "of one shape; bars: range of the samples, cut at the limit; lines join the best. "
        "Limits: bus width times clock for device memory, bytes per cycle for L1 and shared "
        "memory.",
        data[LAW].notna().any()
        and "Little's law: bytes in flight over the latency of a single dependent load from "
        "the level.",
        needed and f"Least bytes per SM for the best reads, by this law: {', '.join(needed)}.",
        tops and f"Best reads: {'; '.join(tops)}.",
    )


@figure("bandwidth_surface", "Bandwidth against bytes in flight", 21, data, caption)
def draw(data: pd.DataFrame, figure: Figure) -> None:
    for ax, level, here in panels(figure, data, "level"):
        _draw_level(ax, here)
        ax.set_ylabel("bandwidth (B/s)")
        limit = here.limit_bytes_per_second.median()
        words = f", limit {quantity(limit, 'B/s')}" if limit > 0 else ""
        ax.set_title(f"{level_name(level)}{words}")


def _draw_level(ax: Axes, here: pd.DataFrame) -> None:
    limit = here.limit_bytes_per_second.median()
    spots = here.assign(low=here.minimum, high=here.maximum.clip(upper=limit))
    top = 1.1 * np.nanmax([spots.high.max(), here.limit_bytes_per_second.max()])
    series(ax, spots, "operation", LOOKS, IN_FLIGHT, RATE, "y", ls="")
    for operation, (colour, _) in LOOKS.items():
        line = best(spots[spots.operation == operation])
        ax.plot(line[IN_FLIGHT], line[RATE], color=colour)
    bytes_axis(ax, "bytes in flight per SM")
    si_axis(ax)
    low, high = ax.get_xlim()
    law = (here[LAW] / here[IN_FLIGHT]).max()
    if limit > 0:
        ax.axhline(limit, color="k", ls="--", lw=0.9, label="limit")
    if law > 0:
        along = np.geomspace(low, min(high, top / law), 200)
        ax.plot(along, along * law, "k:", lw=0.9, label="Little's law")
    ax.set(xlim=(low, high), ylim=(0, top))
