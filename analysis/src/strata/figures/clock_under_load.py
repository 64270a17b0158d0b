"""Which clock do the SMs hold under each load, what does the driver report, at what power?"""

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from strata.figures._plot import columns, figure, in_order, prose, rows_of
from strata.figures._style import GREY, listed, lists, marks, points, si_axis
from strata.model.clocks import MIXES
from strata.run import BOUNDS, Run, beside

APART = 0.17
"""Of a line of the list: from the marks of one duration to those of the next."""
LOOKS = ("#56B4E9", "o"), ("#0072B2", "s")
"""Of the shortest load, and of the longest."""
DRIVER: dict[str, Any] = {
    "color": "#D55E00", "marker": "|", "mew": 1.6, "label": "clock as the driver reports it",
}  # fmt: skip
OTHERS = {
    "driver_clock_hz": "driver_clock",
    "power_watts": "power",
    "slowest_clock_hz": "slowest_clock",
    "fastest_clock_hz": "fastest_clock",
    "instructions_per_second": "instructions_per_second",
}


def data(run: Run) -> pd.DataFrame:
    """The cases by mix, and by how long they had run; `attrs` has the power limit in W."""
    limit = run.context.device.facts.get("power_limit_watts")
    rows = rows_of(run, "clock_under_load", mix="", seconds="")
    lines = rows[(rows.quantity == "core_clock") & rows.mix.isin(MIXES)].drop_duplicates("case")
    lines = lines.assign(
        _after=pd.to_numeric(lines.seconds, errors="coerce").fillna(0.0),
        _clock=lines["_row"],
        _driver=beside(lines, rows, "driver_clock", "_row"),
        _power=beside(lines, rows, "power", "_row"),
        **{name: beside(lines, rows, quantity) for name, quantity in OTHERS.items()},
    )
    lines = columns(
        in_order(lines, "mix", "_after", mix=MIXES), "mix", "seconds", core_clock_hz="value",
        minimum_hz="minimum", maximum_hz="maximum", **{name: name for name in OTHERS},
    )  # fmt: skip
    lines.attrs["limit"] = float(limit) if isinstance(limit, int | float) and limit > 0 else None
    return lines


def caption(data: pd.DataFrame) -> str:
    means = any(power.method == "nvml_mean" for power in data["_power"].dropna())
    off = (data.core_clock_hz / data.driver_clock_hz - 1)[data.valid].dropna()
    worst = data.loc[off[off < -BOUNDS["driver_clock"]].nsmallest(1).index]
    return prose(
        "Every SM runs 16 warps of one instruction mix, in launches of 25 ms one after the "
        "other from rest. Clock of the SMs by the kernel's own counters (cycles over "
        "nanoseconds); clock and power that NVML reports during the load. Marks: medians.",
        means and "NVML provides no power reading here except the mean of the last second.",
        data.driver_clock_hz.isna().all() and "NVML reported no clock.",
        len(worst)
        and f"The SMs ran up to {-100 * off.min():.1f} % below the clock that the driver reported: "
        f"{MIXES[worst.mix.iloc[0]]}, after {worst['_after'].iloc[0]:g} s.",
    )


@figure("clock_under_load", "Clock and power under load", order=74, data=data, caption=caption)
def draw(data: pd.DataFrame, figure: Figure) -> None:
    mixes = [mix for mix in MIXES if mix in {*data.mix}]
    ends = sorted({data["_after"].min(), data["_after"].max()})
    clocks, power = lists(figure, [len(mixes)] * 2, 0.34)
    for ax, name in (clocks, "_clock"), (power, "_power"), (clocks, "_driver"):
        for nth, (after, (colour, marker)) in enumerate(zip(ends, LOOKS, strict=False)):
            rows = data[name][data["_after"] == after].dropna()
            lane = APART * (2 * nth - len(ends) + 1)
            at = data.mix.map(mixes.index)[rows.index] + lane
            ours = {"color": colour, "marker": marker, "label": f"after {after:g} s of load"}
            look = DRIVER if name == "_driver" else ours
            points(ax, marks(rows, at), "value", "at", ls="", ms=5, **look)
    if data.attrs["limit"] and data.power_watts.notna().any():
        power.axvline(data.attrs["limit"], color=GREY, ls="--", lw=0.9, label="power limit")
    for ax in (clocks, power):
        listed(ax, [MIXES[mix] for mix in mixes])
        ax.set_xlim(0, 1.06 * max(ax.dataLim.x1, 1e-9))
    si_axis(clocks, "x", "Hz")
    clocks.set(xlabel="clock of the SMs", title="Clock")
    power.set(xlabel="power of the device (W)", title="Power")
