"""How long do instructions take on this GPU, and on others by published measurements?"""

from strata import reference
from strata.model.text import NONE, Sentence, Table, table, told
from strata.model.units import number
from strata.reference import Published, published
from strata.run import Run

ORDER = 303


def _head(one: Published) -> str:
    return f"{one.gpu} {reference.cite(one.origin.keys[0])}"


def make(run: Run) -> Table | None:
    """One line per instruction, one column per published GPU; None without own rows."""
    compared = published.instructions(run.rows)
    others = {one for line in compared for one in line.others}
    # From the oldest generation to the newest.
    age = published.GENERATIONS.index
    aged = sorted(others, key=lambda one: (age(one.architecture), one.gpu, one.origin.keys[0]))
    lines = []
    for line in compared:
        cells: dict[str, Sentence] = {"instruction": (line.name,), "here": told(line.own, number)}
        cells |= {_head(one): NONE for one in aged}
        for one in reversed(line.others):
            cells[_head(one)] = (one.latency_cycles.text + " (in doubt)" * bool(one.origin.doubt),)
        sources = reference.cite(*(one.origin.keys[0] for one in line.others))
        lines.append({**cells, "sources": (sources,)})
    title = "Cycles until the result of an instruction is there, here and as published"
    return table("published_instructions", title, lines, words=("instruction", "sources"))
