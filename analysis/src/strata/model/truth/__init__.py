"""Rules that judge every run when it is read, whenever it was measured and with whichever gates.

A rule checks whether the rows of a case can be true: its rows compared with each other,
and with the limits of the device. A row that breaks a rule keeps its value, becomes invalid, and
gives the reason (`flow: re-judged: …`); a rule about a whole case adds a gate to it. A correct row
that does not mean what its name promises stays valid with a note. Rules ignore rows that are
invalid, and do nothing if the rows do not suffice.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from strata.model.truth.rules import RULES, Around, Broken, Here
from strata.run import Case, Gate, Row, Run, grouped
from strata.run import load_run as load_recorded

MARK = "re-judged: "
"""What the reason of a rule begins with, behind the rule's name."""


def load_run(folder: Path) -> Run:
    """Read the run in `folder` and judge it. Raises `RunError` as `strata.run.load_run` does."""
    return judged(load_recorded(folder))


def judged(run: Run) -> Run:
    """`run` with the results of the rules, and `recorded` as it was; `run` itself if none apply."""
    of_case, around = grouped(run.rows, attrgetter("case")), Around(run)
    every = ((case.id, _broken(Here(around, case, of_case.get(case.id, ())))) for case in run.cases)
    found = {case: broken for case, broken in every if broken}
    if not found:
        return run
    rows = chain.from_iterable(_marked(rows, found.get(case, ())) for case, rows in of_case.items())
    cases = tuple(_gated(case, found.get(case.id, ())) for case in run.cases)
    return replace(run, cases=cases, rows=tuple(rows), before=run.recorded)


class Fallen(NamedTuple):
    """Rows that were valid as recorded and break a rule, and the number of their cases.

    `is_note`: rows that stay valid with a note of what they are.
    """

    rule: str
    rows: int
    cases: int
    is_note: bool


def fallen(run: Run) -> Sequence[Fallen]:
    """The findings of each rule, most first; a row that breaks several counts for the first."""
    found = []
    for before, row in zip(run.recorded.rows, run.rows, strict=True):
        if before.valid and row.reasons != before.reasons:
            added = row.reasons.removeprefix(before.reasons).removeprefix("; ")
            found.append((added.partition(": ")[0], row.valid, row.case))
    cases = Counter((rule, is_note) for rule, is_note, _ in dict.fromkeys(found))
    rows = Counter((rule, is_note) for rule, is_note, _ in found).most_common()
    return [Fallen(rule, number, cases[rule, is_note], is_note) for (rule, is_note), number in rows]


def _broken(here: Here) -> Sequence[Broken]:
    """The findings about valid rows; values that a rule cannot compute with are impossible."""
    keys, found = {row.key for row in here.rows if row.valid}, list[Broken]()
    for rule in RULES if keys else ():
        try:
            found += [*rule(here)]
        except (ArithmeticError, ValueError) as error:
            found.append(Broken("limit", f"numbers that no rule can judge ({error})"))
    return [one for one in found if one.keys is None or one.keys & keys]


def _marked(rows: Iterable[Row], found: Sequence[Broken]) -> Iterator[Row]:
    for row in rows:
        of_row = [one for one in found if one.keys is None or row.key in one.keys]
        if row.valid and of_row:
            of_row.sort(key=attrgetter("is_note"))  # rules that it breaks come first
            reasons = [f"{broken.rule}: {MARK}{broken.detail}" for broken in of_row]
            why = "; ".join(filter(None, [row.reasons, *reasons]))
            yield replace(row, valid=all(one.is_note for one in of_row), reasons=why)
        else:
            yield row


def _gated(case: Case, found: Sequence[Broken]) -> Case:
    """The case with a failed gate for each rule that it breaks as a whole, or an unverified one.

    If the flow is broken, the level is not proved either.
    """
    new = {one.rule: one for one in found if one.keys is None or one.is_note}
    if not new:
        return case
    if "flow" in new:
        new["level"] = new["flow"]
    kept = [gate for gate in case.gates if gate.name not in new or gate.verdict == "failed"]
    gates = (
        Gate(rule, "unverified" if one.is_note else "failed", f"{MARK}{one.detail}")
        for rule, one in new.items()
    )
    return replace(case, gates=(*kept, *gates))
