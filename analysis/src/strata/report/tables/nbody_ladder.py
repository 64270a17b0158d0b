"""What did each n-body rung change, what did it gain, and what do the counters show?"""

from collections import Counter

from strata.ladder.best import Best, best_cases
from strata.ladder.rungs import PROBLEM_WORDS, Cases, case_words, rung_name, size_words
from strata.model.text import NONE, Sentence, Table, table, told
from strata.model.units import number
from strata.report.tables import _cells
from strata.report.tables._cells import percent, scientific
from strata.run import Run

ORDER = 200


def _line(one: Best, other: str, second: str, cases: Cases) -> dict[str, Sentence]:
    row = one.row
    speedup = _cells.over(one.after, one.before)
    if one.before and speedup != NONE:
        where = size_words(one.before)
        words = f" {rung_name(one.before.benchmark)}"
        speedup = (*speedup, words if where == size_words(row) else f"{words} at {where}")
    apart = one.second if one.second and size_words(one.second) == second else None
    limit = told(one.limit, lambda value: percent(100 * row.value / value))
    return {
        "rung": (rung_name(one.rung),),
        "change": (cases.rungs[one.rung].change,),
        "best case": (case_words(row),),
        "10⁹ interactions/s": _cells.rate(row),
        "over the rung before": speedup,
        second: _cells.rate(apart),
        other: _cells.rate(one.other),
        "of issue limit": limit if row.valid else NONE,
        "issue slots used": told(cases.get(row, "issue_utilisation"), percent),
        "occupancy": told(cases.get(row, "achieved_occupancy"), percent),
        "registers": _cells.fact(row, "registers", cases),
        "instructions/interaction": told(cases.get(row, "instructions_per_interaction"), number),
        "FLOP/interaction": told(cases.get(row, "flops_per_interaction"), number),
        "DRAM bytes/interaction": _cells.dram_bytes(row, cases),
        "relative RMS error": told(cases.get(row, "relative_rms_error"), scientific),
    }


def make(run: Run) -> Table | None:
    """Every rung by its best case, with its step, its counts and its error; None without rungs.

    Columns without any value (such as counters on a CPU) are left out.
    """
    cases, found = Cases(run), best_cases(run)
    others = Counter(one.other.text("problem") for one in found if one.other).most_common(1)
    other = PROBLEM_WORDS[others[0][0]] if others else ""
    seconds = Counter(size_words(one.second) for one in found if one.second).most_common(1)
    second = seconds[0][0] if seconds else ""
    lines = [_line(one, other, second, cases) for one in found]
    over = "over the rung before"
    words = ("rung", "change", "best case", over)
    return table("nbody_ladder", "The n-body ladder", lines, words=words, blank=(over,))
