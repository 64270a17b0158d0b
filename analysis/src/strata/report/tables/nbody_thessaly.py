"""Does each step of a report on two K80 still pay?

Table 1 of Papadouli, Markovitsis and Sanchez Cabrera (2026), redone by this run.
"""

from collections.abc import Sequence

from strata.ladder import rungs as ladder
from strata.ladder import seeds as ladder_seeds
from strata.ladder.rungs import GIGA, rung_name, size, size_words
from strata.ladder.seeds import FOUR
from strata.model import Sentence, Table
from strata.model.units import factor, number
from strata.report.tables import ReportTable
from strata.report.tables._rates import NONE, cell, rate_cell
from strata.run import Row, Run


def _words(row: Row | None, hardware: str) -> Sentence:
    """Which case it is; on how many GPUs, where the report had four."""
    if row is None:
        return NONE
    many = ladder.gpus(row)
    shared = f", {many} GPU{'s' if many > 1 else ''}" if hardware == FOUR else ""
    return (f"{rung_name(row.benchmark)}, {row.params['layout']}{shared}; {size_words(row)}",)


def _before(row: Row | None, rates: Sequence[Row], above: Row | None) -> Row | None:
    """What a step is over: the row above; of several GPUs the same code on one."""
    if row is None or row.benchmark != ladder.SEVERAL:
        return above
    alone = [one for one in rates if ladder.gpus(one) == 1]
    return ladder.best(alone) if alone and ladder.gpus(row) > 1 else None


def _step(row: Row | None, before: Row | None) -> Sentence:
    """Speed over another case of the same systems."""
    if row is None or before is None or size(row) != size(before):
        return NONE
    return cell(row, factor(row.value / before.value)) if row.valid and before.valid else NONE


def make(run: Run) -> Table | None:
    """The report's rows with this run's galaxies beside them; None where it has none of them."""
    rates = ladder.at_size(ladder.Cases(run.rows).having(ladder.RATE), "galaxies")
    lines: list[tuple[Sentence, ...]] = []
    their_last: float | None = None
    own_last: Row | None = None
    for one in ladder_seeds.thessaly(run.rows):
        row, rate = one.row, one.rate
        over = cell(row, factor(row.value / rate)) if row and row.valid else NONE
        lines.append(
            (
                (one.name,),
                (one.hardware,),
                (number(rate / GIGA),),
                (factor(rate / their_last),) if their_last else NONE,
                _words(row, one.hardware),
                rate_cell(row),
                _step(row, _before(row, rates.get(ladder.SEVERAL, ()), own_last)),
                over,
            )
        )
        their_last = rate
        if row is not None and row.benchmark != ladder.SEVERAL:
            own_last = row
    if not lines:
        return None
    return Table(
        name="nbody_thessaly",
        title="The table of Papadouli, Markovitsis and Sanchez Cabrera (2026), redone",
        header=(
            "step", "on two K80 and their host", "their 10⁹ interactions/s", "their step", "here",
            "10⁹ interactions/s", "our step", "over theirs",
        ),
        rows=tuple(lines),
        numeric=frozenset({2, 3, 5, 6, 7}),
    )  # fmt: skip


TABLE = ReportTable(order=21, make=make)
