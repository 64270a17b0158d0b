"""Do two independent clocks agree?

If they differ by more than 2 %, one of them did not time what it should.
"""

from operator import attrgetter
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from strata.figures._figure import attributes, prose
from strata.figures._plot import figure, table
from strata.figures._style import points
from strata.model import TIMER_TOLERANCE, Agreement, agreements
from strata.run import Run

WIDEST = 0.25
"""Ratios further than this from 1 are drawn as triangles on the edge."""
WITHIN = f"{100 * TIMER_TOLERANCE:g} %"
COLUMNS = attributes(
    "level", "ratio", benchmark="reference.benchmark", quantity="reference.quantity",
    unit="reference.unit", reference_method="reference.method", reference_value="reference",
    other_method="other.method", other_value="other", valid="valid",
)  # fmt: skip


def data(run: Run) -> pd.DataFrame:
    """The pairs of timers of each case."""
    return table(agreements(run.rows), COLUMNS, row=attrgetter("other"), label=_label)


def _label(pair: Agreement) -> str:
    return f"{pair.other.case}, {pair.other.method}"


def limit(data: pd.DataFrame) -> float:
    """The largest distance from 1 on the axis."""
    return float(min(max(1.25 * (data.ratio - 1).abs().max(), 0.03), WIDEST))


def caption(data: pd.DataFrame) -> str:
    """How many pairs agree."""
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
    """A strip for each quantity, its ratios sorted from the bottom up."""
    most, strips = limit(data), data.groupby(["benchmark", "quantity"])
    ax.figure.set_figheight(1.0 + 0.32 * len(strips))  # type: ignore[union-attr]
    rank = strips.ratio.rank(method="first", ascending=False) / (strips.ratio.transform("size") + 1)
    beyond = np.sign(data.ratio - 1).where((data.ratio - 1).abs() > most, 0).astype(int)
    shown = data.assign(
        at=strips.ngroup() + 0.8 * (rank - 0.5), ratio=data.ratio.clip(1 - most, 1 + most)
    )
    ends = 1 - TIMER_TOLERANCE, 1 + TIMER_TOLERANCE
    ax.fill_betweenx([-1, len(strips)], *ends, color="#e8f3ec", label=f"within {WITHIN}")
    ax.axvline(1, color="#7a7a7a", lw=0.7)
    for place, method in enumerate(sorted({*data.other_method})):
        for side, marker in ((0, "osDP"[place % 4]), (-1, "<"), (1, ">")):
            part = shown[(data.other_method == method) & (beyond == side)]
            look = {"color": f"C{place}", "marker": marker, "ls": "", "ms": 5 if side else 2.5}
            points(ax, part, "ratio", "at", label=method if side == 0 else "", **look)
    groups: Any = strips.groups
    names = [f"{one}\n{what.replace('_', ' ')}" for one, what in groups]
    ax.set(yticks=range(len(names)), yticklabels=names, ylim=(len(names) - 0.4, -0.6))
    ax.set(xlim=(1 - 1.04 * most, 1 + 1.04 * most), xlabel="outer ÷ in-kernel (×)")
    ax.tick_params(axis="y", labelsize=7)
    ax.grid(axis="x")
