"""How many bytes must be in flight on an SM to reach the full bandwidth of a level?"""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from strata.figures._figure import prose
from strata.figures._plot import columns, figure, in_order, rows_of
from strata.figures._style import bytes_axis, grid, points
from strata.model import LEVELS, level_name, little, ordered, units
from strata.run import Run, beside

LOOKS = {
    "read": ("#0072B2", "o"),
    "write": ("#D55E00", "s"),
    "copy": ("#009E73", "^"),
    "triad": ("#CC79A7", "D"),
    "update": ("#E69F00", "v"),
}
TERA = 1e12


def data(run: Run) -> pd.DataFrame:
    """Every timed bandwidth of a GPU whose bytes in flight are known.

    `little_bytes_per_second` is the read bandwidth that these bytes allow at the latency of the
    level.
    """
    rows = rows_of(run, "bandwidth", level="", operation="", width="")
    lines = rows[(rows.quantity == "bandwidth") & (rows.backend == "cuda")]
    lines = lines.drop_duplicates("case")
    lines["in_flight"] = beside(lines, rows, "bytes_in_flight_per_sm").astype(float)
    lines = in_order(
        lines.dropna(subset=["in_flight"]), "level", "operation", "in_flight", level=LEVELS
    )
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
    valid = spots[spots.valid].sort_values(["bytes_in_flight_per_sm", "bandwidth_bytes_per_second"])
    return valid.drop_duplicates("bytes_in_flight_per_sm", keep="last")


def caption(data: pd.DataFrame) -> str:
    """The best reads, and the bytes in flight that they need."""
    tops, needed = [], []
    for level in data.level.unique():
        reads = best(data[(data.level == level) & (data.operation == "read")])
        if reads.empty:
            continue
        beyond = reads.bandwidth_bytes_per_second > reads.limit_bytes_per_second
        top = reads.assign(allowed=~beyond).sort_values(["allowed", "bandwidth_bytes_per_second"])
        rate, limit, law, in_flight = top.iloc[-1][
            ["bandwidth_bytes_per_second", "limit_bytes_per_second", "little_bytes_per_second",
             "bytes_in_flight_per_sm"]
        ]  # fmt: skip
        share = f", {100 * rate / limit:.1f} % of its limit" if pd.notna(limit) else ""
        tops.append(f"{level_name(level)} {units.quantity(rate, 'B/s')}{share}")
        if pd.notna(law):
            needed.append(f"{level_name(level)} {units.size(round(in_flight * rate / law))}")
    least = f", which needs at least {', '.join(needed)} per SM for the best of each"
    return prose(
        "Bandwidth of the whole chip against the maximum bytes in flight per SM, by launch "
        "shape (threads, accesses per thread, their width). Points: medians of the launches "
        "of one shape; bars: range of the samples, cut at the limit; lines join the best. "
        "Limits: bus width times clock for device memory, bytes per cycle for L1 and shared "
        "memory.",
        data.little_bytes_per_second.notna().any()
        and "Little's law: bytes in flight over the latency of a single dependent load from "
        f"the level{least if needed else ''}.",
        tops and f"Best reads: {'; '.join(tops)}.",
    )


@figure(
    "bandwidth_surface", "Bandwidth against bytes in flight", order=21, data=data, caption=caption
)
def draw(data: pd.DataFrame, figure: Figure) -> None:
    """A panel for each level; the operations that any of them has share the legend."""
    levels = data.level.unique()
    for ax, level in zip(grid(figure, len(levels)), levels, strict=True):
        _draw_level(ax, data[data.level == level])
        ax.set(title=level_name(level), ylabel="bandwidth (TB/s)")


def _draw_level(ax: Axes, here: pd.DataFrame) -> None:
    """Every shape as a point, a line through the best ones, the limit, and Little's law."""
    in_flight, rate = "bytes_in_flight_per_sm", "bandwidth_bytes_per_second"
    limit = here.limit_bytes_per_second.median() / TERA
    most = (here.maximum / TERA).clip(upper=limit)
    spots = here.assign(low=here.minimum / TERA, high=most, **{rate: here[rate] / TERA})
    top = 1.16 * np.nanmax([most.max(), here.limit_bytes_per_second.max() / TERA])
    for name in ordered(spots.operation, tuple(LOOKS)):
        colour, marker = LOOKS[name]
        some = spots[spots.operation == name]
        points(ax, some, in_flight, rate, "y", color=colour, marker=marker, ls="", label=name)
        line = best(some)
        ax.plot(line[in_flight], line[rate], color=colour)
    bytes_axis(ax, "bytes in flight per SM")
    low, high = ax.get_xlim()
    law = (here.little_bytes_per_second / here[in_flight] / TERA).max()
    if limit > 0:
        ax.axhline(limit, color="k", ls="--", lw=0.9, label="limit")
        left = not limit / law <= (low * high) ** 0.5  # the half that the law does not cross
        x, side = (0.02, "left") if left else (0.98, "right")
        words = f"limit {units.quantity(limit * TERA, 'B/s')}"
        ax.text(x, limit, words, va="bottom", ha=side, transform=ax.get_yaxis_transform())
    if law > 0:
        along = np.geomspace(low, min(high, top / law), 200)
        ax.plot(along, along * law, "k:", lw=0.9, label="Little's law")
    ax.set(xlim=(low, high), ylim=(0, top))
