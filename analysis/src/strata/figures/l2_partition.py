"""Which SMs and lines belong to which half of L2, and what does crossing cost?

The samples are SMs in the order of their numbers; there are none if L2 is one cache.
"""

from collections import Counter
from collections.abc import Mapping
from operator import itemgetter
from statistics import fmean

import pandas as pd
from matplotlib.figure import Figure

from strata.figures._figure import Columns, prose
from strata.figures._plot import figure, table
from strata.figures._style import points
from strata.model.units import SPACE, number, quantity
from strata.run import Row, Run

LINES = {
    "near": ("line whose home is on the SM's side", "#0072B2", "o"),
    "far": ("line whose home is on the other side", "#D55E00", "s"),
}
SHOWN = ("near_cycles", "far_cycles", "near_share")
COLUMNS: Columns = {
    **{name: itemgetter(name) for name in ("sm", "near_cycles", "far_cycles")},
    "crossing_cycles": lambda core: core["far_cycles"] - core["near_cycles"],
    "near_share": itemgetter("near_share"),
    "near_share_valid": lambda core: (row := core["rows"].get("near_share")) and row.valid,
    "valid": lambda core: all(row.valid for row in _shown(core["rows"])),
    "_rows": itemgetter("rows"),
}


def _shown(rows: Mapping[str, Row]) -> list[Row]:
    return [rows[name] for name in SHOWN if name in rows]


def data(run: Run) -> pd.DataFrame:
    """The SMs of the single case, if it found two sides; those of the first visit come first."""
    rows = {row.quantity: row for row in run.of("l2_partition")}
    if not {"near_cycles", "far_cycles"} <= rows.keys():
        return pd.DataFrame()
    count = min(run.context.device.sm_count or 0, len(rows["far_cycles"].taken))
    taken = {name: rows[name].taken if name in rows else [None] * count for name in SHOWN}
    cores = [
        {"sm": sm, "rows": rows} | {name: taken[name][sm] for name in SHOWN} for sm in range(count)
    ]
    return table(cores, COLUMNS, row=lambda core: core["rows"]["far_cycles"], label=_label)


def _label(core: dict[str, object]) -> str:
    """The invalid parts of the case, reported once, for the first SM."""
    rows: dict[str, Row] = core["rows"]  # type: ignore[assignment]
    bad = [] if core["sm"] else [row for row in _shown(rows) if not row.valid]
    return "; ".join(f"{row.quantity} ({row.reasons})" for row in bad)


def crossing(rows: Mapping[str, Row]) -> Row | None:
    """The cost of crossing, if it and the two compared rows are valid."""
    found = [rows.get(f"{way}_cycles") for way in ("crossing", "near", "far")]
    return found[0] if all(row and row.valid for row in found) else None


def caption(data: pd.DataFrame) -> str:
    """The exchanges, the cost of crossing, and the sides."""
    rows = data["_rows"][0]
    cost = crossing(rows)
    share, fabric = rows.get("near_share"), rows.get("fabric_sectors_per_access")
    counts = sorted(Counter(data.near_share.dropna()).items())
    sides = ""
    if share and share.valid and len(counts) == 2:
        (near, small), (_, large) = counts
        side = f"the side with {number(100 * near)}{SPACE}% of the lines near them"
        sides = f"{small} SMs are on {side}, {large} on the other."
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
        _loads(rows),
        share and "Below: share of near lines; SMs with the same share are on one side.",
        sides,
    )


def _loads(rows: dict[str, Row]) -> str:
    """Latencies of loads from L2 and from memory, if they were timed."""

    def both(kind: str) -> list[str]:
        found = [rows.get(f"{side}_{kind}_cycles") for side in LINES]
        valid = [number(row.value) for row in found if row and row.valid]
        return valid if len(valid) == len(found) else []

    load, dram = both("load"), both("dram")
    first_touch = fmean(rows[f"{side}_load_cycles"].value for side in LINES) if load else 0.0
    return prose(
        load
        and f"A load of a line without a copy in the other half takes {load[0]} cycles near "
        f"and {load[1]} far (medians over SMs): {number(first_touch)} on average at first touch.",
        dram
        and f"A load served by memory takes {dram[0]} cycles behind the SM's own side of L2 "
        f"and {dram[1]} behind the other (medians over SMs). Before such a load all SMs "
        "read four times the size of L2, which evicts its line; its page was touched "
        "before.",
    )


@figure(
    "l2_partition", "The halves of L2, and crossing between them", order=8,
    data=data, caption=caption,
)  # fmt: skip
def draw(data: pd.DataFrame, figure: Figure) -> None:
    """Exchanges SM by SM; below, the share of near lines, which separates the sides."""
    rows = data["_rows"][0]
    shared = "near_share" in rows
    panels = figure.subplots(
        1 + shared, squeeze=False, sharex=True, height_ratios=(2.5, 1)[: 1 + shared]
    )[:, 0]
    for side, (label, colour, marker) in LINES.items():
        row = rows[f"{side}_cycles"]
        look = {"color": colour, "marker": marker, "ms": 3, "ls": "", "label": label}
        shown = data.assign(valid=row.valid, _row=[row] * len(data))
        points(panels[0], shown, "sm", f"{side}_cycles", **look)
        if row.valid:
            median = panels[0].axhline(row.value, color="black", ls="--", lw=0.8)
            median.set_label("median of the SMs")
    if cost := crossing(rows):
        at, near, far = len(data) / 2, *(rows[f"{side}_cycles"].value for side in LINES)
        panels[0].annotate("", (at, near), (at, far), arrowprops={"arrowstyle": "<->"})
        words = f"crossing: {quantity(cost.value, cost.unit)}"
        panels[0].annotate(
            words, (at, (near + far) / 2), (6, 0), textcoords="offset points", va="center"
        )
    panels[0].set_ylabel("exchange (cycles)")
    if shared:
        row = rows["near_share"]
        shares = data.assign(share=100 * data.near_share, valid=row.valid, _row=[row] * len(data))
        points(panels[1], shares, "sm", "share", color="#009E73", marker="o", ms=3, ls="")
        panels[1].set_ylabel("near (%)")
        panels[1].margins(y=0.2)
    panels[-1].set_xlabel("SM (in the order of their numbers)")
