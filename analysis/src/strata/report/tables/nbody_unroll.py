"""How far does it pay to write the inner loop of n-body out, beside what others found?

Table 14.2 of the CUDA Handbook, redone; with Siegel, Ributzka and Li (2009, IV-A).
"""

from strata.ladder import rungs as ladder
from strata.ladder.rungs import AxisPoint
from strata.ladder.seeds import UNROLL_GAINS
from strata.model import Sentence, Table, units
from strata.report.tables import ReportTable
from strata.report.tables._rates import NONE, cell, rate_cell
from strata.run import Row, Run

WHOLE = 256
"""Bodies of a tile: the factor that leaves no loop."""


def _over(point: AxisPoint | None, base: Row | None) -> Sentence:
    """Over the loop as it is; nothing where one of both is not valid."""
    if point is None or base is None or base.value <= 0:
        return NONE
    if not (point.row.valid and base.valid):
        return NONE
    return cell(point.row, units.factor(point.row.value / base.value))


def make(run: Run) -> Table | None:
    """Rates and gains by unroll factor, of each problem that has several; None without any."""
    points = ladder.along(run.rows, "unrolled", "unroll")
    if not points:
        return None
    problems = list(dict.fromkeys(point.problem for point in points))
    by_place = {(point.problem, point.value): point for point in points}
    header = ["bodies of a turn"]
    for problem in problems:
        words = ladder.size_words(next(p.row for p in points if p.problem == problem))
        header += [f"10⁹ interactions/s, {words}", "over one"]
    header += ["theirs", "who"]
    lines = []
    for value in sorted({point.value for point in points} | set(UNROLL_GAINS)):
        line: list[Sentence] = [(f"{value} (all)" if value == WHOLE else f"{value}",)]
        for problem in problems:
            here, one = by_place.get((problem, value)), by_place.get((problem, 1))
            line += [rate_cell(here.row if here else None), _over(here, one.row if one else None)]
        gain = UNROLL_GAINS.get(value)
        line += [(units.factor(gain[0]),), (gain[1],)] if gain else [NONE, NONE]
        lines.append(tuple(line))
    return Table(
        name="nbody_unroll",
        title="Unrolling the inner loop of n-body (CUDA Handbook, Table 14.2, redone)",
        header=tuple(header),
        rows=tuple(lines),
        numeric=frozenset(range(len(header) - 1)),
    )


TABLE = ReportTable(order=24, make=make)
