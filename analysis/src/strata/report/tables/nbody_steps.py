"""What did each step of n-body bring, what was predicted, and which counters moved?"""

from strata.ladder import steps as ladder_steps
from strata.ladder.rungs import rung_name
from strata.ladder.steps import FACTORS, RULES, Change
from strata.model import Cited, Sentence, Table, units
from strata.report.tables import ReportTable
from strata.report.tables._rates import NONE
from strata.run import Row, Run


def _measured(change: Change) -> Sentence:
    digits = 3 if change.high < 9.995 else 1
    low, high = f"{change.low:.{digits}f}", f"{change.high:.{digits}f}"
    words = low if low == high else f"{low}–{high}"
    return (Cited(f"{change.measured:.{digits}f}×", change.after.rate), f" ({words})")


def _predicted(change: Change) -> Sentence:
    if change.predicted is None:
        return NONE
    value = units.factor(change.predicted)
    number: str | Cited = Cited(value, change.source) if change.source else value
    return (number, f" ({RULES[change.rule]})")


def _factor(change: Change, name: str) -> Sentence:
    value = change.factors.get(name)
    if value is None:
        return NONE
    rows: dict[str, Row | None] = {
        "instructions": change.after.instructions,
        "issue": change.after.issued,
        "clock": change.after.clock,
    }
    row, words = rows.get(name), units.factor(value)
    return (Cited(words, row),) if row else (words,)


def _unexplained(change: Change) -> Sentence:
    """What is left; told where the factors that matter most are not known."""
    if change.unexplained is None:
        return NONE
    words = units.factor(change.unexplained)
    return (words,) if change.counted else (f"{words} (not counted)",)


def _line(change: Change) -> tuple[Sentence, ...]:
    return (
        (rung_name(change.rung),),
        (Cited(rung_name(change.before.rate.benchmark), change.before.rate),),
        (ladder_steps.case_words(change),),
        _measured(change),
        _predicted(change),
        *(_factor(change, name) for name in FACTORS),
        _unexplained(change),
        ladder_steps.moved_words(change) or NONE,
    )


def make(run: Run) -> Table | None:
    """Every step that was measured, of one system and of many; None without two rungs.

    What no step has (counters, say, on a CPU) has no column.
    """
    facts = run.context.device.facts
    sms = facts.get("sm_count", 0)
    host = run.context.backend == "host"
    changes = ladder_steps.changes(
        run.rows,
        sms=sms if isinstance(sms, int) else 0,
        cores=run.context.host.cores if host else 0,
    )
    if not changes:
        return None
    lines = [_line(change) for change in changes]
    header = (
        "rung", "over", "where", "measured", "predicted", *FACTORS.values(), "unexplained",
        "counters that moved",
    )  # fmt: skip
    words = (0, 1, 2, len(header) - 1)
    kept = [
        place
        for place in range(len(header))
        if place in words[:3] or any(line[place] != NONE for line in lines)
    ]
    return Table(
        name="nbody_steps",
        title="The steps of n-body: measured, predicted, and what is left unexplained",
        header=tuple(header[place] for place in kept),
        rows=tuple(tuple(line[place] for place in kept) for line in lines),
        numeric=frozenset(at for at, place in enumerate(kept) if place not in words),
    )


TABLE = ReportTable(order=22, make=make)
