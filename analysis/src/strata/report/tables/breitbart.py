"""What did porting one function of Einstein@Home to a GPU bring, then and now?

The numbers that chapter 4 of Breitbart (2008) prints, each redone by the rungs that are built as it
tells: version 1 calls the GPU for each sum, version 2 packs the pieces of memory first, version 3
sums a band by one kernel. Its CPU is one core of the time; beside it is one of the GPU's host.
"""

from collections.abc import Callable, Mapping, Sequence

from strata import reference
from strata.ladder import fstat
from strata.ladder.phases import steps
from strata.model.cases import CaseRows, ratio
from strata.model.text import NONE, Cited, Sentence, Table, told
from strata.model.units import factor, quantity
from strata.report.tables._cells import percent, redone
from strata.run import Row, Run

ORDER = 319

TEMPLATES = 45 * 9 * 84 * 161
"""Of its whole dataset (4.2)."""


class Cases:
    """The cases of a run's rungs on a GPU, and the phases of those that were traced."""

    def __init__(self, run: Run) -> None:
        self.of: dict[str, CaseRows] = {}
        """By rung, at the largest place that it has."""
        for (_, name), case in fstat.best(run).items():
            if case.rows[0].backend != "cuda":
                continue
            known = self.of.get(fstat.short(name))
            if known is None or _templates(case) > _templates(known):
                self.of[fstat.short(name)] = case
        self.phases: Mapping[str, Mapping[str, Row]] = {
            step.first.case: step.phases for step in steps(run)
        }

    def rate(self, rung: str) -> Row | None:
        """Its terms a second."""
        case = self.of.get(rung)
        return case.row(fstat.RATE) if case else None


def _templates(case: CaseRows) -> int:
    count = 1
    for axis in fstat.AXES:
        count *= case.count(axis)
    return count


Answer = Callable[[Cases], Sentence]


def _over_core(rung: str) -> Answer:
    """Its time for a term over that of one core."""

    def answer(cases: Cases) -> Sentence:
        case = cases.of.get(rung)
        own = case.row("seconds_per_sft") if case else None
        core = case.row("core_seconds_per_sft") if case else None
        times = ratio(own, core)
        return NONE if times is None else told(own, lambda _: factor(times))

    return answer


def _share(rung: str, *parts: str) -> Answer:
    """What some phases take of all of them."""

    def answer(cases: Cases) -> Sentence:
        row = cases.rate(rung)
        phases = cases.phases.get(row.case, {}) if row else {}
        whole = sum(one.value for one in phases.values())
        found = [one for name, one in phases.items() if name in parts]
        if not found or whole <= 0 or not all(one.valid for one in phases.values()):
            return NONE
        return (Cited(percent(100 * sum(one.value for one in found) / whole), found[0]),)

    return answer


def _whole(rung: str) -> Answer:
    """Seconds of the whole dataset, if all of it cost what this part does."""

    def answer(cases: Cases) -> Sentence:
        case = cases.of.get(rung)
        time = fstat.seconds(case)
        if case is None or time is None:
            return NONE
        return told(cases.rate(rung), lambda _: quantity(time / _templates(case) * TEMPLATES, "s"))

    return answer


LINES: Sequence[tuple[str, str, str, float, Answer]] = (
    ("version 1: the whole dataset", "per call", "seconds", 1, _whole("per call")),
    ("version 1: its time over the CPU's", "per call", "times_of_cpu", 1, _over_core("per call")),
    ("version 1: memory management", "per call", "memory_share", 1,
     _share("per call", "allocate", "copy_in", "copy_out")),
    ("version 1: of it copies", "per call", "copies_share", 1,
     _share("per call", "copy_in", "copy_out")),
    ("version 2: its time over the CPU's", "packed", "times_of_cpu", 2, _over_core("packed")),
    ("version 3: its time over the CPU's", "one launch", "times_of_cpu", 3,
     _over_core("one launch")),
)  # fmt: skip
"""The question, the rung, what the source prints of which version, and the answer here."""


def _printed(quantity_of: str, version: float) -> str:
    """The printed value, of the F-statistic alone where the source has it."""
    rows = [
        one for one in reference.fstat()
        if one.version == version and one.quantity == quantity_of
    ]  # fmt: skip
    value = rows[-1].value
    if quantity_of == "seconds":
        return quantity(value, "s")
    return factor(value) if quantity_of == "times_of_cpu" else percent(100 * value)


def make(run: Run) -> Table | None:
    """The seed's numbers beside this run's; None where it has none of them."""
    cases = Cases(run)
    return redone(
        "breitbart",
        "Chapter 4",
        (
            (question, _printed(what, version), answer(cases), rung)
            for question, rung, what, version, answer in LINES
        ),
    )
