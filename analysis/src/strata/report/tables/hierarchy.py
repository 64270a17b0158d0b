"""What are the levels of this device's memory like, and where does each number come from?"""

from strata.model.hierarchy import WHAT, Number, hierarchy
from strata.model.text import NONE, Cited, Sentence, Table, table
from strata.run import Run

ORDER = 0


def _cell(one: Number | None) -> Sentence:
    """A number with its row, or with whose word it is; or why it is missing."""
    if one is None:
        return NONE
    if one.source == "missing":
        return (Cited(one.why, one.row),) if one.row else (one.why,)
    said = "" if one.source == "measured" else f" ({one.source})"
    return (Cited(one.text, one.row) if one.row else one.text, said)


def make(run: Run) -> Table | None:
    """A line for each level, a column for each number; None where nothing was measured."""
    found = hierarchy(run)
    lines: list[dict[str, Sentence]] = []
    for level in found.levels:
        told = {head: _cell(level.numbers.get(what)) for what, head in WHAT.items()}
        lines.append({"level": (level.title_of(found.core),), **told})
    title = "The levels of memory"
    return table("hierarchy", title, lines, words=("level",)) if found.measured else None
