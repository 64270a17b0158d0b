"""What did porting one function of Einstein@Home to a GPU bring, then and now?

The numbers that chapter 4 of Breitbart (2008) prints, each redone by the rungs that are built as it
tells: version 1 calls the GPU for each sum, version 2 packs the pieces of memory first, version 3
sums a band by one kernel. Its CPU is one core of the time; beside it is one of the GPU's host.
"""

from math import prod

from strata import reference
from strata.ladder import fstat
from strata.ladder.phases import steps
from strata.model.cases import CaseRows, ratio
from strata.model.text import NONE, Cited, Sentence, Table, told
from strata.model.units import factor, quantity
from strata.report.tables._cells import percent, redone
from strata.run import Run

ORDER = 319

TEMPLATES = 45 * 9 * 84 * 161
"""Of its whole dataset (4.2)."""


def _templates(case: CaseRows) -> int:
    return prod(case.count(axis) for axis in fstat.AXES)


def _whole(case: CaseRows) -> Sentence:
    """Seconds of the whole dataset, if all of it cost what this part does."""
    if (time := fstat.seconds(case)) is None:
        return NONE
    whole = time / _templates(case) * TEMPLATES
    return told(case.row(fstat.RATE), lambda _: quantity(whole, "s"))


def _over_core(case: CaseRows) -> Sentence:
    """Its time for a term over that of one core."""
    own = case.row("seconds_per_sft")
    times = ratio(own, case.row("core_seconds_per_sft"))
    return NONE if times is None else told(own, lambda _: factor(times))


def make(run: Run) -> Table | None:
    """The seed's numbers beside this run's; None where it has none of them."""
    cases: dict[str, CaseRows] = {}  # of each rung, at its largest place
    for (_, name), case in fstat.best(run).items():
        known = cases.get(fstat.short(name))
        if case.rows[0].backend == "cuda" and (not known or _templates(case) > _templates(known)):
            cases[fstat.short(name)] = case
    traced = {step.first.case: step.phases for step in steps(run)}

    def share(case: CaseRows, *parts: str) -> Sentence:
        """What some phases take of all of them."""
        phases = traced.get(case.rows[0].case, {})
        whole = sum(row.value for row in phases.values())
        found = [row for name, row in phases.items() if name in parts]
        if not found or whole <= 0 or not all(row.valid for row in phases.values()):
            return NONE
        return (Cited(percent(100 * sum(row.value for row in found) / whole), found[0]),)

    printed = {(one.version, one.quantity): one.value for one in reference.fstat()}
    copies = ("copy_in", "copy_out")
    lines = [
        ("version 1: the whole dataset", quantity(printed[1, "seconds"], "s"), "per call", _whole),
        ("version 1: its time over the CPU's", factor(printed[1, "times_of_cpu"]), "per call",
         _over_core),
        ("version 1: memory management", percent(100 * printed[1, "memory_share"]), "per call",
         lambda case: share(case, "allocate", *copies)),
        ("version 1: of it copies", percent(100 * printed[1, "copies_share"]), "per call",
         lambda case: share(case, *copies)),
        ("version 2: its time over the CPU's", factor(printed[2, "times_of_cpu"]), "packed",
         _over_core),
        ("version 3: its time over the CPU's", factor(printed[3, "times_of_cpu"]), "one launch",
         _over_core),
    ]  # fmt: skip
    return redone(
        "breitbart",
        "Chapter 4",
        [
            (question, theirs, answer(cases[rung]) if rung in cases else NONE, rung)
            for question, theirs, rung, answer in lines
        ],
    )
