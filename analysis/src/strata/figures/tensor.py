"""How much do tensor cores multiply per cycle, by type and instruction?

Dashed: the limit by the vendor.
"""

import pandas as pd
from matplotlib.axes import Axes

from strata.figures._plot import columns, figure, prose, rows_of
from strata.figures._style import GREY, bars, si_axis
from strata.run import Run

USUAL = {"largest", "n256", "registers", "dense", "random"}
"""Values that a label leaves out."""


def data(run: Run) -> pd.DataFrame:
    """A line for each case of a rate, with the limit of its chip."""
    axes = ("measure", "instruction", "type", "shape", "a", "sparsity", "data")
    rows = rows_of(run, "tensor_rate", **dict.fromkeys(axes, ""))
    cycle = rows[rows.quantity == "operations_per_cycle"]
    if cycle.empty:
        return cycle
    of_case = rows.pivot_table("value", "case", ["quantity", "method"])
    # The share is by events; the cycles of both timers convert it to the clock of the SM.
    clocks = of_case["instruction_cycles"]
    shares = of_case["share_of_limit"].event_slope * clocks.event_slope / clocks.clock64_slope
    labels = [
        f"{line['type']} {line['instruction']}"
        + "".join(f", {line[axis]}" for axis in axes[3:] if line[axis] not in USUAL)
        for line in cycle.to_dict("records")
    ]
    lines = cycle.assign(product=labels, limit=cycle.value / cycle.case.map(shares))
    return columns(
        lines, "product", "limit", operations="value", low="minimum", high="maximum"
    )  # fmt: skip


def caption(data: pd.DataFrame) -> str:
    """What was timed."""
    limits = "limit" in data and data.limit.notna().any()
    return prose(
        f"Multiplications and additions per cycle of an SM, {len(data)} instructions and shapes; a "
        "sparse product counts the zeros of A, as vendors do. Medians, at the clock that the "
        "kernel sees.",
        limits and "Dashed: what the tensor cores do by the vendor's figures.",
    )


@figure("tensor", "Tensor cores", order=73, data=data, caption=caption, size=(7, 6))
def draw(data: pd.DataFrame, ax: Axes) -> None:
    """A bar for each case, and its limit."""
    bars(ax, data, "product", "operations", words="{:.0f}")
    for text in ax.texts:  # over the limits
        text.set_bbox({"fc": "white", "ec": "none", "pad": 1})
    places = [place for place, limit in enumerate(data.limit) if pd.notna(limit)]
    ax.vlines(
        [data.limit[place] for place in places],
        [place - 0.45 for place in places],
        [place + 0.45 for place in places],
        color=GREY,
        ls="--",
        lw=1,
    )
    si_axis(ax, "x")
    ax.set_xlabel("operations per SM and cycle")
