"""What do instructions cost now, beside what they cost on the G80?

Table 2.2 of Breitbart (2008), row by row.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from strata import reference
from strata.model import Cited, Sentence, Table
from strata.model.units import short
from strata.reference import published
from strata.report.tables import ReportTable
from strata.run import Row, Run

KEY = "breitbart2008structures"
NONE: Sentence = ("–",)


@dataclass(frozen=True, slots=True)
class Printed:
    """A row of the table, and what measures the same here.

    `operation` is one of `instruction_cost`, or `latency` a panel of `published.LATENCIES`; blank
    where nothing does. `instructions`: how many of the row's an operation here is made of.
    """

    instruction: str
    cost: str
    here: str
    operation: str = ""
    latency: str = ""
    instructions: int = 1


SUM = "FADD, FMUL, FMAD, IADD"
SIMPLE = "bitwise operations, compare, min, max"
INVERSE = "reciprocal, reciprocal square root"
ROWS = (
    Printed(SUM, "4", "FADD", "fadd"),
    Printed(SUM, "4", "FMUL", "fmul"),
    Printed(SUM, "4", "FFMA", "ffma"),
    Printed(SUM, "4", "IADD3", "iadd3"),
    Printed(SIMPLE, "4", "LOP3", "bitwise"),
    Printed(SIMPLE, "4", "FMNMX: half of a pair", "fmin_fmax", instructions=2),
    Printed(SIMPLE, "4", "IMNMX: half of a pair", "imin_imax", instructions=2),
    Printed(INVERSE, "16", "MUFU.RCP and FADD", "rcp_approx"),
    Printed(INVERSE, "16", "MUFU.RSQ", "rsqrt_approx"),
    Printed("accessing registers", "0", "part of every operation"),
    Printed("accessing shared memory", "≥4", "LDS", "load_shared"),
    Printed("reading from device memory", "400 - 600", "a load that misses the L2", latency="dram"),
    Printed("reading from constant memory", "≥ 0 (cached)", "LDC, in its cache", "load_constant"),
    Printed(
        "reading from constant memory", "400 - 600 (else)", "LDC, in the cache behind it",
        latency="constant_l15",
    ),
    Printed(
        "synchronizing all threads within a block", "4 + possible waiting time", "BAR.SYNC",
        "barrier",
    ),
)  # fmt: skip
"""In the order and words of the table."""


def _cell(row: Row | None, instructions: int = 1) -> Sentence:
    return (Cited(short(row.value / instructions), row),) if row else NONE


def _line(
    rows: Sequence[Row], latencies: Mapping[str, Row], printed: Printed
) -> tuple[Sentence, ...]:
    issue, latency = None, None
    if printed.operation:
        issue = published.own_cost(rows, printed.operation, chain=False)
        latency = published.own_cost(rows, printed.operation, chain=True)
    elif printed.latency:
        latency = latencies.get(printed.latency)
    return (
        (printed.instruction,),
        (printed.cost,),
        (printed.here,),
        _cell(issue, printed.instructions),
        _cell(latency, printed.instructions),
    )


def make(run: Run) -> Table | None:
    """The thesis's rows beside this GPU's; None where no operation was timed on a GPU."""
    rows = [row for row in run.rows if row.benchmark in (published.COST, published.CHASE)]
    costs = [row for row in rows if row.benchmark == published.COST]
    latencies = published.own_latencies(rows)
    lines = tuple(_line(costs, latencies, printed) for printed in ROWS)
    if all(line[3] == NONE for line in lines):
        return None
    return Table(
        name="breitbart_costs",
        title=(
            f"Table 2.2 of Breitbart (2008) {reference.cite(KEY)}: instruction costs on the G80, "
            "stated there without a measurement, and on this GPU"
        ),
        header=(
            "instruction", "G80, cycles per warp", "here", "cycles of an SM for a warp",
            "cycles until the result is there",
        ),
        rows=lines,
        numeric=frozenset({1, 3, 4}),
    )  # fmt: skip


TABLE = ReportTable(order=13, make=make)
