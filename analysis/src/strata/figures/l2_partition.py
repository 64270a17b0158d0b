"""Which SMs and lines belong to which half of L2, and what does crossing cost?

The samples are SMs in the order of their numbers; there are none if L2 is one cache.
"""

from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure

from strata.figures._plot import figure, prose
from strata.figures._style import note, points
from strata.model.units import number, quantity
from strata.run import Row, Run

LINES = {
    "near": ("line whose home is on the SM's side", "#0072B2", "o"),
    "far": ("line whose home is on the other side", "#D55E00", "s"),
}
SHOWN = ("near_cycles", "far_cycles", "near_share")


def data(run: Run) -> pd.DataFrame:
    """The SMs of the single case, if it found two sides; those of the first visit come first.

    `attrs` has the rows by quantity.
    """
    rows = {row.quantity: row for row in run.of("l2_partition")}
    if not {"near_cycles", "far_cycles"} <= rows.keys():
        return pd.DataFrame()
    shown = [rows[name] for name in SHOWN if name in rows]
    far, share = rows["far_cycles"], rows.get("near_share")
    sms = min(run.context.device.sm_count or 0, len(far.taken))
    taken = pd.DataFrame({row.quantity: row.taken[:sms] for row in shown}, range(sms))
    data = pd.DataFrame(
        {
            "sm": taken.index,
            "near_cycles": taken.near_cycles,
            "far_cycles": taken.far_cycles,
            "crossing_cycles": taken.far_cycles - taken.near_cycles,
            "near_share": taken.near_share if share else None,
            "near_share_valid": share and share.valid,
            "valid": all(row.valid for row in shown),
            "case": far.case,
            "_row": [far] * sms,
        }
    )
    bad = "; ".join(f"{row.quantity} ({row.reasons})" for row in shown if not row.valid)
    data["_label"] = [bad, *[""] * (sms - 1)][:sms]  # reported once, for the first SM
    data.attrs["rows"] = rows
    return data


def crossing(rows: Mapping[str, Row]) -> Row | None:
    """The cost of crossing, if it and the two compared rows are valid."""
    found = [rows.get(f"{way}_cycles") for way in ("crossing", "near", "far")]
    return found[0] if all(row and row.valid for row in found) else None


def caption(data: pd.DataFrame) -> str:
    rows = data.attrs["rows"]
    cost, fabric = crossing(rows), rows.get("fabric_sectors_per_access")
    return prose(
        "Atomic exchanges, which are executed at the home of a line, each waiting for the "
        f"previous one; one thread on each of {len(data)} SMs. Points: medians over the lines "
        "near an SM, and over those far from it.",
        cost
        and f"Crossing costs {quantity(cost.value, cost.unit)} (median), "
        f"{number(cost.minimum)} to {number(cost.maximum)} by SM.",
        fabric
        and fabric.valid
        and f"Counted between the halves: {number(fabric.value)} sectors per exchange, near "
        "and far together.",
        _both(rows, "load")
        and "A load of a line without a copy in the other half takes {} cycles near and {} far "
        "(medians over SMs).".format(*_both(rows, "load")),
        _both(rows, "dram")
        and "A load served by memory takes {} cycles behind the SM's own side of L2 and {} behind "
        "the other.".format(*_both(rows, "dram")),
        "near_share" in rows
        and "Below: share of near lines; SMs with the same share are on one side.",
    )


def _both(rows: Mapping[str, Row], kind: str) -> list[str]:
    """The cycles of loads near and far, if both are valid."""
    found = [rows.get(f"{side}_{kind}_cycles") for side in LINES]
    valid = [number(row.value) for row in found if row and row.valid]
    return valid if len(valid) == len(found) else []


@figure("l2_partition", "The halves of L2, and crossing between them", 8, data, caption)
def draw(data: pd.DataFrame, figure: Figure) -> None:
    rows = data.attrs["rows"]
    ratios = (2.5, 1) if "near_share" in rows else (1,)
    panels = figure.subplots(len(ratios), squeeze=False, sharex=True, height_ratios=ratios)[:, 0]
    ax = panels[0]
    for side, (label, colour, marker) in LINES.items():
        row = rows[f"{side}_cycles"]
        look = {"color": colour, "marker": marker, "ms": 3, "ls": "", "label": label}
        shown = data.assign(valid=row.valid, _row=[row] * len(data))
        points(ax, shown, "sm", f"{side}_cycles", **look)
        if row.valid:
            ax.axhline(row.value, color="black", ls="--", lw=0.8, label="median of the SMs")
    if cost := crossing(rows):
        at, near, far = len(data) / 2, *(rows[f"{side}_cycles"].value for side in LINES)
        ax.annotate("", (at, near), (at, far), arrowprops={"arrowstyle": "<->"})
        note(ax, f"crossing: {quantity(cost.value, cost.unit)}", at, (near + far) / 2)
    ax.set_ylabel("exchange (cycles)")
    for ax in panels[1:]:
        row = rows["near_share"]
        shares = data.assign(share=100 * data.near_share, valid=row.valid, _row=[row] * len(data))
        points(ax, shares, "sm", "share", color="#009E73", marker="o", ms=3, ls="")
        ax.set_ylabel("near (%)")
        ax.margins(y=0.2)
    panels[-1].set_xlabel("SM (in the order of their numbers)")
