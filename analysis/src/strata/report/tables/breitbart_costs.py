"""What do instructions cost now, compared with the G80?

Table 2.2 of Breitbart (2008), row by row.
"""

from strata import reference
from strata.model import Sentence, Table, atlas
from strata.model.text import NONE, table, told
from strata.model.units import short
from strata.reference import published
from strata.run import Row, Run

ORDER = 316

SUM = "FADD, FMUL, FMAD, IADD"
SIMPLE = "bitwise operations, compare, min, max"
INVERSE = "reciprocal, reciprocal square root"
CONSTANT = "reading from constant memory"
BARRIER = "synchronizing all threads within a block"
ROWS = (
    (SUM, "4", "FADD", "fadd", 1),
    (SUM, "4", "FMUL", "fmul", 1),
    (SUM, "4", "FFMA", "ffma", 1),
    (SUM, "4", "IADD3", "iadd3", 1),
    (SIMPLE, "4", "LOP3", "bitwise", 1),
    (SIMPLE, "4", "FMNMX: half of a pair", "fmin_fmax", 2),
    (SIMPLE, "4", "IMNMX: half of a pair", "imin_imax", 2),
    (INVERSE, "16", "MUFU.RCP and FADD", "rcp_approx", 1),
    (INVERSE, "16", "MUFU.RSQ", "rsqrt_approx", 1),
    ("accessing registers", "0", "part of every operation", "", 1),
    ("accessing shared memory", "≥4", "LDS", "load_shared", 1),
    ("reading from device memory", "400 - 600", "a load that misses the L2", "dram", 1),
    (CONSTANT, "≥ 0 (cached)", "LDC, in its cache", "load_constant", 1),
    (CONSTANT, "400 - 600 (else)", "LDC, in the cache behind it", "constant_l15", 1),
    (BARRIER, "4 + possible waiting time", "BAR.SYNC", "barrier", 1),
)
"""In the order and words of the table, with what measures the same here (an operation of
`instruction_cost` or a panel of `published.LATENCIES`), and how many of the row's that is."""
ISSUE = "cycles of an SM for a warp"


def _cell(row: Row | None, each: int) -> Sentence:
    return told(row, lambda value: short(value / each))


def make(run: Run) -> Table | None:
    """The thesis's rows beside this GPU's; None if no operation was timed on a GPU."""
    costs, latencies = run.of(published.COST), atlas.own_latencies(run)
    lines = []
    for instruction, cost, here, sought, each in ROWS:
        issue = published.own_cost(costs, sought, chain=False)
        latency = latencies.get(sought) or published.own_cost(costs, sought, chain=True)
        lines.append(
            {
                "instruction": (instruction,),
                "G80, cycles per warp": (cost,),
                "here": (here,),
                ISSUE: _cell(issue, each),
                "cycles until the result is there": _cell(latency, each),
            }
        )
    title = (
        f"Table 2.2 of Breitbart (2008) {reference.cite('breitbart2008structures')}: instruction "
        "costs on the G80, stated there without a measurement, and on this GPU"
    )
    timed = any(line[ISSUE] != NONE for line in lines)
    words = ("instruction", "here")
    return table("breitbart_costs", title, lines, words=words) if timed else None
