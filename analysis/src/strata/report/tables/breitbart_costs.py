"""What do instructions cost now, beside what they cost on the G80?

Table 2.2 of Breitbart (2008), row by row.
"""

from typing import NamedTuple

from strata import reference
from strata.model.text import NONE, Cited, Sentence, Table, table
from strata.model.units import short
from strata.reference import published
from strata.report.tables import ReportTable
from strata.run import Run

KEY = "breitbart2008structures"


HEADS = (
    "instruction", "G80, cycles per warp", "here", "cycles of an SM for a warp",
    "cycles until the result is there",
)  # fmt: skip


class Printed(NamedTuple):
    """A row of the table, and what measures the same here.

    `measures` is an operation of `instruction_cost` or a panel of `published.LATENCIES`; blank
    where nothing does. `instructions`: how many of the row's an operation here is made of.
    """

    instruction: str
    cost: str
    here: str
    measures: str = ""
    instructions: int = 1


SUM = ("FADD, FMUL, FMAD, IADD", "4")
SIMPLE = ("bitwise operations, compare, min, max", "4")
INVERSE = ("reciprocal, reciprocal square root", "16")
CONSTANT = "reading from constant memory"
ROWS = (
    Printed(*SUM, "FADD", "fadd"),
    Printed(*SUM, "FMUL", "fmul"),
    Printed(*SUM, "FFMA", "ffma"),
    Printed(*SUM, "IADD3", "iadd3"),
    Printed(*SIMPLE, "LOP3", "bitwise"),
    Printed(*SIMPLE, "FMNMX: half of a pair", "fmin_fmax", instructions=2),
    Printed(*SIMPLE, "IMNMX: half of a pair", "imin_imax", instructions=2),
    Printed(*INVERSE, "MUFU.RCP and FADD", "rcp_approx"),
    Printed(*INVERSE, "MUFU.RSQ", "rsqrt_approx"),
    Printed("accessing registers", "0", "part of every operation"),
    Printed("accessing shared memory", "≥4", "LDS", "load_shared"),
    Printed("reading from device memory", "400 - 600", "a load that misses the L2", "dram"),
    Printed(CONSTANT, "≥ 0 (cached)", "LDC, in its cache", "load_constant"),
    Printed(CONSTANT, "400 - 600 (else)", "LDC, in the cache behind it", "constant_l15"),
    Printed("synchronizing all threads within a block", "4 + possible waiting time", "BAR.SYNC",
            "barrier"),
)  # fmt: skip
"""In the order and words of the table."""


def make(run: Run) -> Table | None:
    """The thesis's rows beside this GPU's; None where no operation was timed on a GPU."""
    costs = run.of(published.COST)
    latencies = published.own_latencies(run.of(published.CHASE))
    lines: list[dict[str, Sentence]] = []
    for instruction, cost, here, measures, instructions in ROWS:
        issue = published.own_cost(costs, measures, chain=False)
        chain = published.own_cost(costs, measures, chain=True) or latencies.get(measures)
        cells = (
            (Cited(short(row.value / instructions), row),) if row else NONE
            for row in (issue, chain)
        )
        texts = ((instruction,), (cost,), (here,))
        lines.append(dict(zip(HEADS, (*texts, *cells), strict=True)))
    if all(line[HEADS[3]] == NONE for line in lines):
        return None
    title = (
        f"Table 2.2 of Breitbart (2008) {reference.cite(KEY)}: instruction costs on the G80, "
        "stated there without a measurement, and on this GPU"
    )
    return table("breitbart_costs", title, lines, words=("instruction", "here"))


TABLE = ReportTable(order=13, make=make)
