"""How long do instructions take on this GPU, and on others by published measurements?"""

from strata import reference
from strata.model.text import NONE, Sentence, Table, table, told
from strata.model.units import number
from strata.reference import published
from strata.run import Run

ORDER = 303


def make(run: Run) -> Table | None:
    """One line per instruction, one column per published GPU; None without own rows."""
    compared = published.instructions(run.rows)
    # From the oldest generation to the newest.
    others = [one for line in compared for one in line.others]
    age = published.GENERATIONS.index
    columns = sorted({(age(one.architecture), one.gpu, one.origin.keys[0]) for one in others})
    lines = []
    for line in compared:
        cells: dict[str, Sentence] = {
            "instruction": (line.name,),
            "here": told(line.own, number),
        }
        cells |= {f"{gpu} {reference.cite(key)}": NONE for _, gpu, key in columns}
        for one in reversed(line.others):
            doubt = " (in doubt)" if one.origin.doubt else ""
            head = f"{one.gpu} {reference.cite(one.origin.keys[0])}"
            cells[head] = (one.latency_cycles.text + doubt,)
        sources = reference.cite(*(one.origin.keys[0] for one in line.others))
        lines.append({**cells, "sources": (sources,)})
    title = "Cycles until the result of an instruction is there, here and as published"
    return table("published_instructions", title, lines, words=("instruction", "sources"))
