"""Do two independent clocks agree?

If they differ by more than 2 %, one of them did not time what it should.
"""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from strata.figures._plot import figure, prose
from strata.figures._style import GREY, NOTE, listed, points
from strata.model import TIMER_TOLERANCE, agreements
from strata.run import Run

WIDEST = 0.25
"""Ratios further than this from 1 are drawn as triangles on the edge."""
WITHIN = f"{100 * TIMER_TOLERANCE:g} %"


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


def limit(data: pd.DataFrame) -> float:
    """The largest distance from 1 on the axis."""
    return float(min(max(1.25 * (data.ratio - 1).abs().max(), 0.03), WIDEST))


def caption(data: pd.DataFrame) -> str:
    gaps = (data.ratio - 1).abs()
    beyond = (gaps > limit(data)).sum()
    return prose(
        "Time by an outer method over time by the in-kernel clock "
        f"({' and '.join(sorted({*data.reference_method}))}), one point per case, sorted: "
        f"{(gaps <= TIMER_TOLERANCE).sum()} of {len(data)} pairs within {WITHIN}.",
        bool(beyond) and f"Triangles on the edge: {beyond} outside the axis.",
    )


@figure("timer_agreement", "Agreement of the timers", order=40, data=data, caption=caption)
def draw(data: pd.DataFrame, ax: Axes) -> None:
    most, strips = limit(data), data.groupby(["benchmark", "quantity"])
    ax.figure.set_figheight(1.0 + 0.36 * len(strips))  # type: ignore[union-attr]
    rank = strips.ratio.rank(method="first", ascending=False) / (strips.ratio.transform("size") + 1)
    beyond = np.sign(data.ratio - 1).where((data.ratio - 1).abs() > most, 0)
    shown = data.assign(
        at=strips.ngroup() + 0.8 * (rank - 0.5), ratio=data.ratio.clip(1 - most, 1 + most)
    )
    ends = 1 - TIMER_TOLERANCE, 1 + TIMER_TOLERANCE
    ax.fill_betweenx([-1, len(strips)], *ends, color="#e8f3ec", label=f"within {WITHIN}")
    ax.axvline(1, color=GREY, lw=0.7)
    for place, method in enumerate(sorted({*data.other_method})):
        for side, marker in ((0, "osDP"[place % 4]), (-1, "<"), (1, ">")):
            part = shown[(data.other_method == method) & (beyond == side)]
            look = {"color": f"C{place}", "marker": marker, "ls": "", "ms": 5 if side else 2.5}
            points(ax, part, "ratio", "at", label=method if side == 0 else "", **look)
    names = sorted({*zip(data.benchmark, data.quantity, strict=True)})
    listed(ax, [f"{benchmark}\n{name.replace('_', ' ')}" for benchmark, name in names])
    ax.set(xlim=(1 - 1.04 * most, 1 + 1.04 * most), xlabel="outer ÷ in-kernel (×)")
    ax.tick_params(axis="y", labelsize=NOTE)
