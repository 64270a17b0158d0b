"""Which clock do the SMs hold under each load, what does the driver report, at what power?"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from strata.figures import _chart as c
from strata.figures._figure import Figure, attributes, params, prose
from strata.model.cases import CaseRows
from strata.model.clocks import BOUND, MIXES, loads, seconds
from strata.run import Row, Run

GIGA = 1e9
APART = 0.17
"""Of a line of the list: from the marks of one duration to those of the next."""
DRIVER = c.Look("#D55E00", "D", size=4.6, hollow=True)
DURATIONS = (c.Look("#56B4E9", "o", size=4.8), c.Look("#0072B2", "s", size=4.6))
"""Of the shortest load, and of the longest."""
LIMIT = c.Look(c.GREY, line="--", width=0.9)


@dataclass(frozen=True, slots=True)
class Load:
    """A case; `limit` is the power limit of the device, in W."""

    case: CaseRows
    row: Row
    driver: Row | None
    power: Row | None
    limit: float | None

    @property
    def after(self) -> float:
        """How long the load had run before the first sample, in seconds."""
        return seconds(self.case)


def items(run: Run) -> Sequence[Load]:
    """The cases by mix, and by how long they had run."""
    limit = run.context.device.facts.get("power_limit_watts")
    watts = float(limit) if isinstance(limit, int | float) and limit > 0 else None
    return [
        Load(one, clock, one.row("driver_clock"), one.row("power"), watts)
        for one in loads(run)
        if (clock := one.row("core_clock"))
    ]


def chart(found: Sequence[Load]) -> c.Chart:
    """Clocks left, power right; one line of the list per mix."""
    mixes = [mix for mix in MIXES if any(one.case.text("mix") == mix for one in found)]
    durations = sorted({one.after for one in found})
    ends = [durations[0], durations[-1]][: len(durations)]
    shown = [one for one in found if one.after in ends]
    middle = (len(ends) - 1) / 2

    def place(one: Load) -> float:
        return mixes.index(one.case.text("mix")) + APART * 2 * (ends.index(one.after) - middle)

    def series(row: str, scale: float) -> list[c.Layer]:
        return [
            c.Series(
                [
                    c.mark(place(one), value, scale)
                    for one in shown
                    if one.after == after and (value := getattr(one, row))
                ],
                DURATIONS[at],
                f"after {after:g} s of load",
                "bar",
                order=3,
            )
            for at, after in enumerate(ends)
        ]

    theirs = [c.mark(place(one), one.driver, GIGA) for one in shown if one.driver]
    names = c.names_axis([MIXES[mix] for mix in mixes], grid=True)
    clocks = c.Panel(
        [*series("row", GIGA), c.Series(theirs, DRIVER, "clock as the driver reports it")],
        names, c.Axis("clock of the SMs (GHz)"), "Clock", sideways=True,
    )  # fmt: skip
    powers = series("power", 1.0)
    drawn = [one.power.maximum for one in shown if one.power]
    if drawn and (limit := found[0].limit):
        powers.append(c.Rule(limit, LIMIT, "power limit"))
        drawn.append(limit)
    ends_of_power = (0, 1.05 * max(drawn)) if drawn else None
    values = c.Axis("power of the device (W)", limits=ends_of_power)
    power = c.Panel(powers, names, values, "Power", sideways=True)
    return c.Chart([[clocks, power]], 8.2, 1.25 + 0.34 * len(mixes))


def _caption(found: Sequence[Load]) -> str:
    means = any(one.power and one.power.method == "nvml_mean" for one in found)
    off = [
        (one.row.value / one.driver.value - 1, one) for one in found if one.driver and one.row.valid
    ]
    worst, by = min(off, key=lambda item: item[0], default=(0.0, None))
    return prose(
        "Every SM runs 16 warps of one instruction mix, in launches of 25 ms one after the "
        "other from rest. Clock of the SMs by the kernel's own counters (cycles over "
        "nanoseconds); clock and power that NVML reports during the load. Marks: medians; "
        "lines: range of the samples.",
        means and "NVML provides no power reading here except the mean of the last second.",
        not any(one.driver for one in found) and "NVML reported no clock.",
        by
        and worst < -BOUND
        and f"The SMs ran up to {-100 * worst:.1f} % below the clock that the driver reported: "
        f"{MIXES[by.case.text('mix')]}, after {by.after:g} s.",
    )


def _other(quantity: str) -> Callable[[Load], Row | None]:
    return lambda one: one.case.row(quantity)


FIGURE = Figure(
    "clock_under_load", "Clock and power under load", 74, items, chart, _caption,
    params("mix", "seconds", of="row")
    | attributes(of="row", core_clock_hz="value", minimum_hz="minimum", maximum_hz="maximum")
    | attributes(driver_clock_hz="driver", power_watts="power")
    | {
        name: _other(quantity)
        for name, quantity in {
            "slowest_clock_hz": "slowest_clock",
            "fastest_clock_hz": "fastest_clock",
            "instructions_per_second": "instructions_per_second",
        }.items()
    },
)  # fmt: skip
