"""What are the properties of this device's memory levels, and where does each number come from?"""

from strata.model.hierarchy import WHAT, Number, hierarchy
from strata.model.text import NONE, Cited, Sentence, Table, table
from strata.run import Run, grouped

ORDER = 0
WHY = "what is missing, and why"


def _cell(one: Number | None) -> Sentence:
    """A number with its row, or its source; an invalid row behind a dash."""
    if one is None or not (one.text or one.row):
        return NONE
    text = one.text or NONE[0]
    said = f" ({one.source})" if one.source in ("fact", "reported") else ""
    return (Cited(f"{text}", one.row) if one.row else text, said)


def make(run: Run) -> Table | None:
    """One line per level, one column per number; None if nothing was measured."""
    found, lines = hierarchy(run), list[dict[str, Sentence]]()
    titles = {level.name: level.title_of(found.core) for level in found.levels}
    heads = {what: head.replace("core", found.core) for what, head in WHAT.items()}
    for level in found.levels:
        told = {head: _cell(level.numbers.get(what)) for what, head in heads.items()}
        title = ", ".join(titles[name] for name in (level.part_of, level.name) if name)
        missing = grouped((one for one in level.numbers.values() if not one.text), lambda n: n.why)
        whys = [f"{', '.join(heads[one.what] for one in of)}: {why}" for why, of in missing.items()]
        lines.append({"level": (title,), **told, WHY: ("; ".join(whys),) if whys else NONE})
    if not found.measured:
        return None
    return table("hierarchy", "The levels of memory", lines, words=("level", WHY), blank=())
