"""How long does an instruction take on this GPU, and how long did others find it to take?"""

from strata import reference
from strata.model.text import NONE, Cited, Sentence, Table
from strata.model.units import number
from strata.reference import published
from strata.report.tables import ReportTable
from strata.run import Run


def make(run: Run) -> Table | None:
    """A line for each instruction, a column for each GPU of a source; None without own rows."""
    compared = published.instructions(run.rows)
    if not compared:
        return None
    # From the oldest generation to the newest.
    columns = sorted(
        {
            (published.GENERATIONS.index(one.architecture), one.gpu, one.origin.keys[0])
            for line in compared
            for one in line.others
        }
    )
    lines: list[tuple[Sentence, ...]] = []
    for line in compared:
        theirs = {
            (one.gpu, one.origin.keys[0]): (
                one.latency_cycles.text + (" (in doubt)" if one.origin.doubt else ""),
            )
            for one in reversed(line.others)
        }
        own = Cited(number(line.own.value), line.own)
        cells = (theirs.get((gpu, key), NONE) for _, gpu, key in columns)
        sources = reference.cite(*(one.origin.keys[0] for one in line.others))
        lines.append(((line.name,), (own,), *cells, (sources,)))
    heads = (f"{gpu} {reference.cite(key)}" for _, gpu, key in columns)
    return Table(
        name="published_instructions",
        title="Cycles until the result of an instruction is there, here and as published",
        header=("instruction", "here", *heads, "sources"),
        rows=tuple(lines),
        numeric=frozenset(range(1, 2 + len(columns))),
    )


TABLE = ReportTable(order=40, make=make)
