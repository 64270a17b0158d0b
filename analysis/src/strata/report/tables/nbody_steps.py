"""What did each n-body step gain, what was predicted, and which counters changed?"""

from strata.ladder.rungs import case_words, rung_name
from strata.ladder.steps import FACTORS, MEASURED, RULES, Change, changes
from strata.model.text import NONE, Cited, Sentence, Table, table
from strata.model.units import factor
from strata.run import Run

ORDER = 220


def _factor(change: Change, name: str) -> Sentence:
    if name not in change.factors:
        return NONE
    words = factor(change.factors[name])
    row = change.cases.get(change.after, MEASURED.get(name, ""))
    return (Cited(words, row) if row else words,)


def _line(change: Change) -> dict[str, Sentence]:
    digits = 3 if change.high < 9.995 else 1
    low, high = f"{change.low:.{digits}f}", f"{change.high:.{digits}f}"
    measured = Cited(f"{change.measured:.{digits}f}×", change.after)
    predicted, unexplained = NONE, NONE
    if change.prediction:
        value, source = factor(change.prediction.value), change.prediction.source
        rule = f" ({RULES.get(change.prediction.rule, change.prediction.rule)})"
        predicted = (Cited(value, source) if source else value, rule)
    if change.unexplained is not None:
        counted = "" if change.counted else " (not counted)"
        unexplained = (f"{factor(change.unexplained)}{counted}",)
    return {
        "rung": (rung_name(change.rung),),
        "over": (Cited(rung_name(change.before.benchmark), change.before),),
        "where": (case_words(change.after),),
        "measured": (measured, f" ({low if low == high else f'{low}–{high}'})"),
        "predicted": predicted,
        **{words: _factor(change, name) for name, words in FACTORS.items()},
        "unexplained": unexplained,
        "counters that moved": change.moved or NONE,
    }


def make(run: Run) -> Table | None:
    """Every measured step, of one system and of many; None without two rungs.

    Columns without any value (such as counters on a CPU) are left out.
    """
    title = "The steps of n-body: measured, predicted, and what is left unexplained"
    words = ("rung", "over", "where", "counters that moved")
    lines = [_line(change) for change in changes(run)]
    return table("nbody_steps", title, lines, words=words, blank=())
