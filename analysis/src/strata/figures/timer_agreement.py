"""Do two independent clocks agree?

If they differ by more than 2 %, one of them did not time what it should.
"""

import pandas as pd
from matplotlib.axes import Axes

from strata.figures._plot import figure
from strata.figures._style import GREY, NOTE, listed, points
from strata.model import TIMER_TOLERANCE, agreements
from strata.run import Run

PERCENT = 100 * TIMER_TOLERANCE
TICKS = (-50, -20, -10, -5, -2, -1, 0, 1, 2, 5, 10, 20, 50, 100, 1000)


def data(run: Run) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "level": pair.level, "ratio": pair.ratio, "benchmark": pair.reference.benchmark,
            "quantity": pair.reference.quantity, "unit": pair.reference.unit,
            "reference_method": pair.reference.method, "reference_value": pair.reference.value,
            "other_method": pair.other.method, "other_value": pair.other.value,
            "valid": pair.valid, "case": pair.other.case, "_row": pair.other,
            "_label": f"{pair.other.case}, {pair.other.method}",
        }
        for pair in agreements(run.rows)
    )  # fmt: skip


def caption(data: pd.DataFrame) -> str:
    return (
        "Time by an outer method over time by the in-kernel clock "
        f"({' and '.join(sorted({*data.reference_method}))}), one point per case, sorted: "
        f"{((data.ratio - 1).abs() <= TIMER_TOLERANCE).sum()} of {len(data)} pairs within "
        f"{PERCENT:g} %, beyond which the axis is logarithmic."
    )


@figure("timer_agreement", "Agreement of the timers", 40, data, caption)
def draw(data: pd.DataFrame, ax: Axes) -> None:
    strips = data.groupby(["benchmark", "quantity"])
    ax.figure.set_figheight(1.0 + 0.36 * len(strips))  # type: ignore[union-attr]
    rank = strips.ratio.rank(method="first", ascending=False) / (strips.ratio.transform("size") + 1)
    shown = data.assign(at=strips.ngroup() + 0.8 * (rank - 0.5), gap=100 * (data.ratio - 1))
    label = f"within {PERCENT:g} %"
    ax.fill_betweenx([-1, len(strips)], -PERCENT, PERCENT, color="#e8f3ec", label=label)
    ax.axvline(0, color=GREY, lw=0.7)
    for place, method in enumerate(sorted({*data.other_method})):
        look = {"color": f"C{place}", "marker": "osDP"[place % 4], "ls": "", "label": method}
        points(ax, shown[data.other_method == method], "gap", "at", ms=2.5, **look)
    names = sorted({*zip(data.benchmark, data.quantity, strict=True)})
    listed(ax, [f"{benchmark}\n{name.replace('_', ' ')}" for benchmark, name in names])
    ax.set_xscale("symlog", linthresh=PERCENT, linscale=2)
    low, high = ax.get_xlim()
    ax.set_xticks([at for at in TICKS if low <= at <= high])
    ax.xaxis.set_major_formatter(lambda at, _: f"{at:+g}" if at else "0")
    ax.set_xlabel("outer ÷ in-kernel time − 1 (%)")
    ax.tick_params(axis="y", labelsize=NOTE)
