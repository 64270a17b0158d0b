"""How long does an instruction take on this GPU, and how long did others find it to take?"""

from strata import reference
from strata.model import Cited, Sentence, Table
from strata.model.units import number
from strata.reference import published
from strata.reference.published import GENERATIONS, Compared
from strata.report.tables import ReportTable
from strata.run import Run

NONE: Sentence = ("–",)
IN_DOUBT = " (in doubt)"
Column = tuple[int, str, str]
"""Generation, GPU, key of the source."""


def _columns(compared: tuple[Compared, ...]) -> list[Column]:
    """GPUs of a source each, from the oldest generation to the newest."""
    found = {
        (GENERATIONS.index(one.architecture), one.gpu, one.origin.keys[0])
        for line in compared
        for one in line.others
    }
    return sorted(found)


def _cell(line: Compared, column: Column) -> Sentence:
    _, gpu, key = column
    found = [one for one in line.others if (one.gpu, one.origin.keys[0]) == (gpu, key)]
    if not found:
        return NONE
    return (found[0].latency_cycles.text + (IN_DOUBT if found[0].origin.doubt else ""),)


def make(run: Run) -> Table | None:
    """A line for each instruction, a column for each GPU of a source; None without own rows."""
    compared = published.instructions(run.rows)
    if not compared:
        return None
    columns = _columns(compared)
    return Table(
        name="published_instructions",
        title="Cycles until the result of an instruction is there, here and as published",
        header=(
            "instruction",
            "here",
            *(f"{gpu} {reference.cite(key)}" for _, gpu, key in columns),
            "sources",
        ),
        rows=tuple(
            (
                (line.name,),
                (Cited(number(line.own.value), line.own),),
                *(_cell(line, column) for column in columns),
                (reference.cite(*(one.origin.keys[0] for one in line.others)),),
            )
            for line in compared
        ),
        numeric=frozenset(range(1, 2 + len(columns))),
    )


TABLE = ReportTable(order=40, make=make)
