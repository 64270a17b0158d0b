"""What does an instruction of another unit cost a scheduler among multiply-adds?

The issue slot that any instruction needs is one cycle.
"""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from strata.figures._figure import Columns, attributes, params, prose
from strata.figures._plot import figure, table
from strata.figures._style import GREY, points
from strata.model.cases import CaseRows, by_case
from strata.model.units import short
from strata.run import Row, Run

LOOKS = {
    "rsqrt": ("reciprocal square root", "#D55E00", "o"),
    "shuffle": ("shuffle", "#0072B2", "s"),
    "shared_load": ("load, shared", "#009E73", "^"),
    "integer_add": ("add, int32", "#CC79A7", "D"),
}


def cost(one: CaseRows) -> Row:
    """The cycles that a partner takes."""
    return next(row for row in one.rows if row.quantity == "partner_cycles")


COLUMNS: Columns = {
    **params("partner", "multiply_adds"),
    **attributes(of=cost, partner_cycles="value", minimum="minimum", maximum="maximum"),
    "group_cycles": lambda one: one.row("group_cycles", "clock64_slope"),
    "_at": lambda one: one.count("multiply_adds"),
}


def data(run: Run) -> pd.DataFrame:
    """The cases by partner and by multiply-adds."""
    rows = [row for row in run.of("issue_mix") if row.text("partner") in LOOKS]
    cases = [one for one in by_case(rows) if one.row("partner_cycles")]
    order = list(LOOKS).index
    cases.sort(key=lambda one: (order(one.text("partner")), one.count("multiply_adds")))
    return table(cases, COLUMNS, row=cost)


def caption(data: pd.DataFrame) -> str:
    """What was timed, and the greatest cost."""
    most: Any = data[data.valid].nlargest(1, "partner_cycles")
    return prose(
        "Groups of fp32 multiply-adds with one instruction of another unit after each, eight "
        "warps per scheduler, every SM at work: cycles of a group minus those of the same "
        "multiply-adds alone, measured beside it. Marks: medians; lines: range of the "
        "samples. For small groups, the limit is the throughput of the other unit, not the "
        "cost of its instruction among others.",
        *(
            f"The maximum is {short(one.partner_cycles)} cycles: {LOOKS[one.partner][0]} among "
            f"{one.multiply_adds} multiply-adds."
            for one in most.itertuples()
        ),
    )


@figure(
    "issue_mix", "Instructions of other units among multiply-adds", order=72, data=data,
    caption=caption,
)  # fmt: skip
def draw(data: pd.DataFrame, ax: Axes) -> None:
    """A line for each partner, and one for the issue slot."""
    partner: Any
    for partner, here in data.groupby("partner", sort=False):
        label, colour, marker = LOOKS[partner]
        points(ax, here, "_at", "partner_cycles", color=colour, marker=marker, label=label)
        ax.vlines(here["_at"], here.minimum, here.maximum, color=colour, lw=0.9)
    ax.axhline(1, color=GREY, ls=":", lw=1, label="its slot")
    ticks = sorted(data["_at"].unique())
    ax.set_xscale("log", base=2)
    ax.set_xticks(ticks, ticks)
    ax.set(xlabel="multiply-adds between two such instructions", ylim=(0, None))
    ax.set_ylabel("cycles of a scheduler\nfor one more instruction")
