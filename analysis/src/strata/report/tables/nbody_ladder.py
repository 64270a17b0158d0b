"""What did each rung of n-body change, what did it bring, and what do the counters say of it?"""

from collections.abc import Sequence

from strata.ladder import rungs as ladder
from strata.ladder.rungs import Cases, Step, interactions, rung_name
from strata.model import Sentence, Table
from strata.model.units import factor, number
from strata.report.tables import ReportTable
from strata.report.tables._rates import NONE, cell, rate_cell, scientific, small
from strata.run import Case, Row, Run


def _per_interaction(cases: Cases, row: Row, name: str, quantity: str) -> tuple[Row | None, float]:
    """A net count for each interaction, and its row.

    Else the chip's metric of a step, over its interactions: all that the kernel does is in it.
    """
    told = cases.get(row, name)
    if told:
        return told, told.value
    counted = cases.get(row, quantity)
    pairs = interactions(row)
    return (counted, counted.value / pairs) if counted and pairs else (None, 0)


def _percent(row: Row | None) -> Sentence:
    return cell(row, f"{row.value:.1f} %" if row else "")


def _speedup(step: Step) -> Sentence:
    if step.speedup is None or step.before is None:
        return NONE
    words = f" {rung_name(step.before.benchmark)}"
    if ladder.size_words(step.before) != ladder.size_words(step.row):
        words += f" at {ladder.size_words(step.before)}"
    return (*cell(step.after, factor(step.speedup)), words)


def _fact(case: Case | None, name: str) -> Sentence:
    return (f"{case.facts[name]}",) if case and name in case.facts else NONE


def _other(steps: Sequence[Step]) -> str:
    """What the column of the other problem is called."""
    problems = [step.other.params["problem"] for step in steps if step.other]
    return (
        ladder.PROBLEM_WORDS[max(dict.fromkeys(problems), key=problems.count)] if problems else ""
    )


def _line(step: Step, cases: Cases, case: Case | None) -> tuple[Sentence, ...]:
    row = step.row
    error = cases.get(row, "relative_rms_error")
    flops = cases.get(row, "flops_per_interaction")
    instructions = cases.get(row, "instructions_per_interaction")
    dram, dram_bytes = _per_interaction(cases, row, "dram_bytes_per_interaction", "dram_read_bytes")
    limit: Sentence = NONE
    if step.limit and row.valid:
        limit = cell(step.limit, f"{100 * row.value / step.limit.value:.1f} %")
    return (
        (rung_name(step.rung),),
        _fact(case, "change"),
        (f"{ladder.size_words(row)}; {ladder.axis_words(row, ladder.own_axes(row))}",),
        rate_cell(row),
        _speedup(step),
        rate_cell(step.other),
        limit,
        _percent(cases.get(row, "issue_utilisation")),
        _percent(cases.get(row, "achieved_occupancy")),
        _fact(case, "registers"),
        cell(instructions, number(instructions.value) if instructions else ""),
        cell(flops, number(flops.value) if flops else ""),
        cell(dram, small(dram_bytes)),
        cell(error, scientific(error.value) if error else ""),
    )


def make(run: Run) -> Table | None:
    """Every rung by its best case, with its step, its counts and its error; None without rungs.

    What no rung has (counters, say, on a CPU) has no column.
    """
    steps = ladder.steps(run.rows)
    if not steps:
        return None
    cases = Cases(run.rows)
    by_id = {case.id: case for case in run.cases}
    lines = [_line(step, cases, by_id.get(step.row.case)) for step in steps]
    header = (
        "rung", "change", "best case", "10⁹ interactions/s", "over the rung before",
        _other(steps), "of issue limit", "issue slots used", "occupancy", "registers",
        "instructions/interaction", "FLOP/interaction", "DRAM bytes/interaction",
        "relative RMS error",
    )  # fmt: skip
    words = (0, 1, 2, 4)
    kept = [
        place
        for place in range(len(header))
        if place in words or any(line[place] != NONE for line in lines)
    ]
    return Table(
        name="nbody_ladder",
        title="The n-body ladder",
        header=tuple(header[place] for place in kept),
        rows=tuple(tuple(line[place] for place in kept) for line in lines),
        numeric=frozenset(at for at, place in enumerate(kept) if place not in words),
    )


TABLE = ReportTable(order=20, make=make)
