"""What does an instruction of another unit cost a scheduler among multiply-adds?

The issue slot that any instruction needs is one cycle.
"""

import pandas as pd
from matplotlib.axes import Axes

from strata.figures._plot import columns, figure, in_order, prose, rows_of
from strata.figures._style import GREY, series, values_axis
from strata.model.units import short
from strata.run import Run, beside

LOOKS = {
    "rsqrt": ("reciprocal square root", "#D55E00", "o"),
    "shuffle": ("shuffle", "#0072B2", "s"),
    "shared_load": ("load, shared", "#009E73", "^"),
    "integer_add": ("add, int32", "#CC79A7", "D"),
}


def data(run: Run) -> pd.DataFrame:
    rows = rows_of(run, "issue_mix", partner="", multiply_adds=0)
    lines = rows[(rows.quantity == "partner_cycles") & rows.partner.isin(LOOKS)]
    lines = in_order(lines, "partner", "multiply_adds", partner=LOOKS)
    groups = beside(lines, rows[rows.method == "clock64_slope"], "group_cycles")
    return columns(
        lines.assign(group_cycles=groups), "partner", "multiply_adds", partner_cycles="value",
        minimum="minimum", maximum="maximum", group_cycles="group_cycles",
    )  # fmt: skip


def caption(data: pd.DataFrame) -> str:
    most = data[data.valid].nlargest(1, "partner_cycles")
    return prose(
        "Groups of fp32 multiply-adds with one instruction of another unit after each, eight "
        "warps per scheduler, every SM at work: cycles of a group minus those of the same "
        "multiply-adds alone, measured beside it. Marks: medians; lines: range of the "
        "samples. For small groups, the limit is the throughput of the other unit, not the "
        "cost of its instruction among others.",
        *(
            f"The maximum is {short(line.partner_cycles)} cycles: {LOOKS[line.partner][0]} among "
            f"{line.multiply_adds} multiply-adds."
            for _, line in most.iterrows()
        ),
    )


@figure("issue_mix", "Instructions of other units among multiply-adds", 72, data, caption)
def draw(data: pd.DataFrame, ax: Axes) -> None:
    data = data.rename(columns={"minimum": "low", "maximum": "high"})
    series(ax, data, "partner", LOOKS, "multiply_adds", "partner_cycles", "y")
    ax.axhline(1, color=GREY, ls=":", lw=1, label="its slot")
    values_axis(ax, data.multiply_adds)
    ax.set(xlabel="multiply-adds between two such instructions", ylim=(0, None))
    ax.set_ylabel("cycles of a scheduler\nfor one more instruction")
