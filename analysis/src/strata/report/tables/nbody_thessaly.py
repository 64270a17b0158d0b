"""Does each step of a report on two K80 GPUs still pay off?

Table 1 of Papadouli, Markovitsis and Sanchez Cabrera (2026), redone by this run.
"""

from itertools import pairwise

from strata.ladder import rungs as ladder
from strata.ladder.seeds import FOUR, THESSALY, ThessalyStep, thessaly
from strata.model.text import NONE, Sentence, Table, table, told
from strata.model.units import factor, number
from strata.report.tables import _cells
from strata.run import Run

ORDER = 321


def _line(one: ThessalyStep, before: ThessalyStep | None) -> dict[str, Sentence]:
    row, here, over = one.row, NONE, NONE
    if row:
        many = ladder.gpus(row)
        shared = f", {many} GPU{'s' if many > 1 else ''}" if one.hardware == FOUR else ""
        words = f"{ladder.rung_name(row.benchmark)}, {row.text('layout')}{shared}"
        here = (f"{words}; {ladder.size_words(row)}",)
        over = told(row, lambda value: factor(value / one.rate)) if row.valid else NONE
    same = row and one.before and ladder.size(row) == ladder.size(one.before)
    return {
        "step": (one.name,),
        "on two K80 and their host": (one.hardware,),
        "their 10⁹ interactions/s": (number(one.rate / ladder.GIGA),),
        "their step": (factor(one.rate / before.rate),) if before else NONE,
        "here": here,
        "10⁹ interactions/s": _cells.rate(row),
        "our step": _cells.over(row, one.before) if same else NONE,
        "over theirs": over,
    }


def make(run: Run) -> Table | None:
    """The report's rows beside this run's galaxies; None if it has none of them."""
    lines = [_line(one, before) for before, one in pairwise((None, *thessaly(run))) if one]
    words, title = ("step", "on two K80 and their host", "here"), f"The table of {THESSALY}, redone"
    return table("nbody_thessaly", title, lines, words=words)
