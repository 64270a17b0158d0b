"""How far does it pay to unroll the n-body inner loop, compared with published results?

Table 14.2 of the CUDA Handbook, redone; with Siegel, Ributzka and Li (2009, IV-A).
"""

from strata.ladder.best import along
from strata.ladder.rungs import size_words
from strata.ladder.seeds import UNROLL_GAINS
from strata.model.text import NONE, Sentence, Table
from strata.model.units import factor
from strata.report.tables import _cells
from strata.run import Run

ORDER = 222

WHOLE = 256
"""Bodies of a tile: the factor that leaves no loop."""


def make(run: Run) -> Table | None:
    """Rates and gains by unroll factor, for each problem with several; None without any."""
    points = along(run, "unrolled", "unroll")
    if not points:
        return None
    rows = {(point.problem, point.value): point.row for point in points}
    sizes = {point.problem: size_words(point.row) for point in points}
    header = ["bodies of a turn"]
    for words in sizes.values():
        header += [f"10⁹ interactions/s, {words}", "over one"]
    header += ["theirs", "who"]
    lines = []
    for value in sorted({point.value for point in points} | set(UNROLL_GAINS)):
        line: list[Sentence] = [(f"{value} (all)" if value == WHOLE else f"{value}",)]
        for problem in sizes:
            row, one = rows.get((problem, value)), rows.get((problem, 1))
            line += [_cells.rate(row), _cells.over(row, one)]
        gain = UNROLL_GAINS.get(value)
        line += [(factor(gain[0]),), (gain[1],)] if gain else [NONE, NONE]
        lines.append(tuple(line))
    title = "Unrolling the inner loop of n-body (CUDA Handbook, Table 14.2, redone)"
    numeric = frozenset(range(len(header) - 1))
    return Table("nbody_unroll", title, tuple(header), tuple(lines), numeric)
