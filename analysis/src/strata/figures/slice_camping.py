"""Does a stride make all accesses meet in a few slices of L2?

Bandwidth against the distance of the lines, and beside it the load of the busiest slice.
"""

import pandas as pd
from matplotlib.figure import Figure

from strata.figures._plot import columns, figure, in_order, prose, rows_of, worded
from strata.figures._style import bytes_axis, grid, points
from strata.model.units import SPACE, number, size
from strata.run import Run, beside


def data(run: Run) -> pd.DataFrame:
    """The cases by spacing, with the sectors of the busiest slice over those of the mean one."""
    rows = rows_of(run, "slice_camping", spacing=0)
    counted = rows[rows.provenance == "counted"]
    lines = rows[(rows.quantity == "sector_bandwidth") & (rows.provenance == "timed")]
    lines = in_order(lines.drop_duplicates("case"), "spacing")
    busiest, mean = (
        beside(lines, counted, f"l2_{which}_slice_sectors") for which in ("busiest", "mean")
    )
    lines = lines.assign(busiest=busiest / mean, _label=worded(lines, "{spacing} B apart"))
    return columns(
        lines, spacing_bytes="spacing", sector_bytes_per_second="value", low="minimum",
        high="maximum", busiest_slice_over_mean="busiest",
    )  # fmt: skip


def caption(data: pd.DataFrame) -> str:
    """What is read, and the worst spacing."""
    valid = data[data.valid]
    slowest = ""
    if len(valid):
        line = valid.sort_values("sector_bytes_per_second").iloc[0]
        share = 100 * line.sector_bytes_per_second / valid.sector_bytes_per_second.max()
        slowest = (
            f"The slowest spacing, {size(line.spacing_bytes)}, has {number(share)}{SPACE}% of the "
            "bandwidth of the fastest."
        )
    return prose(
        slowest,
        "All SMs read 131,072 words from L2, one per line, at that distance; medians, with the "
        "range of the samples.",
        data.busiest_slice_over_mean.notna().any()
        and "Right: counted sectors of the busiest slice of L2 over those of the mean one; with 1, "
        "no slice is camped on.",
    )


@figure("slice_camping", "Strides and the slices of L2", order=63, data=data, caption=caption)
def draw(data: pd.DataFrame, figure: Figure) -> None:
    """Bandwidth by spacing, and the busiest slice where it was counted."""
    is_counted = bool(data.busiest_slice_over_mean.notna().any())
    left, *right = grid(figure, 2 if is_counted else 1)
    rates = data.assign(**{name: data[name] / 1e12 for name in ("low", "high")})
    rates["rate"] = data.sector_bytes_per_second / 1e12
    points(left, rates, "spacing_bytes", "rate", spread="y", color="C0", marker="o")
    left.set(ylabel="sectors from L2 (TB/s)", ylim=(0, 1.1 * rates.high.max()))
    for ax in right[:1]:
        points(ax, data, "spacing_bytes", "busiest_slice_over_mean", color="C1", marker="s")
        most = data.busiest_slice_over_mean.max()
        ax.set(ylabel="busiest slice over the mean", ylim=(0, 1.1 * most))
    for ax in (left, *right[:1]):
        bytes_axis(ax, "distance of the lines")
