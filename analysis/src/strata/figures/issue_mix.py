"""What does an instruction of another unit cost a scheduler among multiply-adds?

The issue slot that any instruction needs is one cycle.
"""

from collections.abc import Sequence

from strata.figures import _chart as c
from strata.figures._figure import Figure, attributes, params, prose
from strata.model.cases import CaseRows, by_case
from strata.model.units import short
from strata.run import Row, Run

LOOKS = {
    "rsqrt": ("reciprocal square root", c.Look("#D55E00", "o", "-", 4.4)),
    "shuffle": ("shuffle", c.Look("#0072B2", "s", "-", 4.4)),
    "shared_load": ("load, shared", c.Look("#009E73", "^", "-", 4.4)),
    "integer_add": ("add, int32", c.Look("#CC79A7", "D", "-", 4.4)),
}
APART = 1.012
"""From one partner's mark to the next at the same size: ranges would lie on each other."""


def items(run: Run) -> Sequence[CaseRows]:
    """The cases by partner and by multiply-adds."""
    rows = [row for row in run.of("issue_mix") if row.text("partner") in LOOKS]
    cases = [one for one in by_case(rows) if one.row("partner_cycles")]
    order = list(LOOKS).index
    return sorted(cases, key=lambda one: (order(one.text("partner")), one.count("multiply_adds")))


def cost(one: CaseRows) -> Row:
    """The cycles that a partner takes."""
    return next(row for row in one.rows if row.quantity == "partner_cycles")


def chart(cases: Sequence[CaseRows]) -> c.Chart:
    """A line for each partner, and one for the issue slot."""
    order = list(LOOKS)

    def marked(one: CaseRows) -> c.Mark:
        shift = APART ** (order.index(one.text("partner")) - (len(order) - 1) / 2)
        return c.mark(one.count("multiply_adds") * shift, cost(one))

    lines = c.by_look(cases, lambda one: one.text("partner"), LOOKS, marked, spread="bar")
    slot = c.Rule(1, c.Look(c.GREY, line=":", width=1), "its slot")
    ticks = sorted({one.count("multiply_adds") for one in cases})
    places = c.Axis("multiply-adds between two such instructions", "log2", ticks=ticks)
    values = c.Axis("cycles of a scheduler for one more instruction", zero=True)
    return c.Chart([[c.Panel([*lines, slot], places, values)]], 6.4, 3.6)


def _caption(cases: Sequence[CaseRows]) -> str:
    valid = [one for one in cases if cost(one).valid]
    most = max(valid, key=lambda one: cost(one).value, default=None)
    return prose(
        "Groups of fp32 multiply-adds with one instruction of another unit after each, eight "
        "warps per scheduler, every SM at work: cycles of a group minus those of the same "
        "multiply-adds alone, measured beside it. Marks: medians; lines: range of the "
        "samples. For small groups, the limit is the throughput of the other unit, not the "
        "cost of its instruction among others.",
        most
        and f"The maximum is {short(cost(most).value)} cycles: "
        f"{LOOKS[most.text('partner')][0]} among {most.count('multiply_adds')} "
        "multiply-adds.",
    )


COLUMNS = (
    params("partner", "multiply_adds")
    | attributes(of=cost, partner_cycles="value", minimum="minimum", maximum="maximum")
    | {"group_cycles": lambda one: one.row("group_cycles", "clock64_slope")}
)
TITLE = "Instructions of other units among multiply-adds"
FIGURE = Figure("issue_mix", TITLE, 72, items, chart, _caption, COLUMNS, row=cost)
