"""How near is each kernel to the instructions that an SM can issue, for each sector it moves?"""

from collections.abc import Sequence

from strata import roofline
from strata.figures import AxesGrid, Figure, _roofline
from strata.records import Row
from strata.reference import cite
from strata.roofline import INSTRUCTION, LOADS, Entry


def prepare(rows: Sequence[Row]) -> Sequence[Entry]:
    """Ceilings and kernels; nothing where one of both is missing."""
    return roofline.entries(rows, INSTRUCTION)


def draw(entries: Sequence[Entry], axes: AxesGrid) -> None:
    """Roofs as lines, each kernel a row of points, one for each level."""
    _roofline.draw(entries, axes, INSTRUCTION)


def caption(entries: Sequence[Entry]) -> str:
    """What lines, points and uprights are, and what cannot be."""
    points, ceilings = roofline.points_of(entries), roofline.ceilings_of(entries)
    words = (
        f"Instruction roofline {cite('ding2019instruction')}: instructions of warps that "
        "were executed, "
        "of any kind, against sectors of 32 bytes; a wavefront of shared memory has four. Thick: "
        "the best that was measured, slopes the bandwidth of a level, the flat one arithmetic in "
        "registers."
    )
    if any(one.basis == "theoretical" for one in ceilings):
        words += (
            " Dotted: four instructions a cycle on each SM, and what lanes and pins allow, at the "
            "clock held."
        )
    if any(one.level == LOADS for one in points):
        words += (
            " Diamonds: global loads alone, against the sectors that they asked L1 for. Uprights: "
            "where loads of a 4-byte word by each lane lie, if all lanes want one word (stride 0), "
            "words in a row (1), or a sector each (8 and more)."
        )
    words += _roofline.sizes(entries) + _roofline.beyond(entries)
    return words + _roofline.faults(entries)


def cells(entry: Entry) -> tuple[object, ...]:
    """One line of the data file."""
    return roofline.cells(entry, INSTRUCTION)


FIGURE = Figure(
    name="roofline_instructions",
    title="Instruction roofline",
    order=207,
    prepare=prepare,
    grid=_roofline.grid,
    draw=draw,
    caption=caption,
    columns=roofline.COLUMNS,
    cells=cells,
    source=_roofline.source,
)
