"""Which clock do the SMs hold under each load, what does the driver report, at what power?"""

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd
from matplotlib.figure import Figure

from strata.figures._figure import Columns, attributes, params, prose
from strata.figures._plot import figure, table
from strata.figures._style import GREY, marks, points
from strata.model.cases import CaseRows
from strata.model.clocks import BOUND, MIXES, loads, seconds
from strata.run import Row, Run

GIGA = 1e9
APART = 0.17
"""Of a line of the list: from the marks of one duration to those of the next."""
LOOKS = ("#56B4E9", "o"), ("#0072B2", "s")
"""Of the shortest load, and of the longest."""


@dataclass(frozen=True, slots=True)
class Load:
    """A case: its clock by the kernel's counters and by the driver, and its power."""

    case: CaseRows
    row: Row
    driver: Row | None
    power: Row | None

    @property
    def after(self) -> float:
        """How long the load had run before the first sample, in seconds."""
        return seconds(self.case)


def data(run: Run) -> pd.DataFrame:
    """The cases by mix, and by how long they had run; `attrs` has the power limit in W."""
    limit = run.context.device.facts.get("power_limit_watts")
    watts = float(limit) if isinstance(limit, int | float) and limit > 0 else None
    found = [
        Load(one, clock, one.row("driver_clock"), one.row("power"))
        for one in loads(run)
        if (clock := one.row("core_clock"))
    ]
    lines = table(found, COLUMNS)
    lines.attrs["limit"] = watts
    return lines


def _other(quantity: str) -> Callable[[Load], Row | None]:
    return lambda one: one.case.row(quantity)


COLUMNS: Columns = {
    **params("mix", "seconds", of="row"),
    **attributes(of="row", core_clock_hz="value", minimum_hz="minimum", maximum_hz="maximum"),
    **attributes(driver_clock_hz="driver", power_watts="power"),
    "slowest_clock_hz": _other("slowest_clock"),
    "fastest_clock_hz": _other("fastest_clock"),
    "instructions_per_second": _other("instructions_per_second"),
    **attributes(_clock="row", _driver="driver", _power="power", _after="after"),
}


def caption(data: pd.DataFrame) -> str:
    """The loads, and how far the clock was from that of the driver."""
    means = any(power.method == "nvml_mean" for power in data["_power"].dropna())
    valid = data[data.valid]
    off = (valid.core_clock_hz / valid.driver_clock_hz.astype(float) - 1).dropna().sort_values()
    worst = float(off.iloc[0]) if len(off) else 0.0
    return prose(
        "Every SM runs 16 warps of one instruction mix, in launches of 25 ms one after the "
        "other from rest. Clock of the SMs by the kernel's own counters (cycles over "
        "nanoseconds); clock and power that NVML reports during the load. Marks: medians.",
        means and "NVML provides no power reading here except the mean of the last second.",
        data.driver_clock_hz.isna().all() and "NVML reported no clock.",
        worst < -BOUND
        and f"The SMs ran up to {-100 * worst:.1f} % below the clock that the driver reported: "
        f"{MIXES[data.mix[off.index[0]]]}, after {data['_after'][off.index[0]]:g} s.",
    )


@figure(
    "clock_under_load", "Clock and power under load", order=74, data=data, caption=caption
)  # fmt: skip
def draw(data: pd.DataFrame, figure: Figure) -> None:
    """Clocks left, power right, both from 0; one line of the list per mix."""
    mixes = [mix for mix in MIXES if mix in {*data.mix}]
    durations = sorted({*data["_after"]})
    ends = [durations[0], durations[-1]][: len(durations)]
    figure.set_figheight(1.2 + 0.34 * len(mixes))
    theirs = {
        "color": "#D55E00",
        "marker": "|",
        "mew": 1.6,
        "label": "clock as the driver reports it",
    }
    clocks, power = figure.subplots(1, 2, sharey=True)
    panels = (clocks, "_clock", GIGA), (power, "_power", 1.0), (clocks, "_driver", GIGA)
    for ax, name, scale in panels:
        for nth, (after, (colour, marker)) in enumerate(zip(ends, LOOKS, strict=False)):
            rows = data[name][data["_after"] == after].dropna()
            lane = APART * (2 * nth - len(ends) + 1)
            at = [mixes.index(mix) + lane for mix in data.mix[rows.index]]
            ours = {"color": colour, "marker": marker, "label": f"after {after:g} s of load"}
            look = theirs if name == "_driver" else ours
            points(ax, marks(rows, at, scale), "value", "at", ls="", ms=5, **look)
    if data.attrs["limit"] and data.power_watts.notna().any():
        power.axvline(data.attrs["limit"], color=GREY, ls="--", lw=0.9, label="power limit")
    for ax in figure.axes:
        ax.set_xlim(0, 1.06 * max(ax.dataLim.x1, 1e-9))
        ax.grid(axis="x")
    clocks.set_yticks(range(len(mixes)), [MIXES[mix] for mix in mixes])
    clocks.set(xlabel="clock of the SMs (GHz)", title="Clock", ylim=(len(mixes) - 0.5, -0.5))
    power.set(xlabel="power of the device (W)", title="Power")
