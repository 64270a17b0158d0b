"""How near is each kernel to the instructions that an SM can issue, for each sector it moves?"""

from collections.abc import Sequence

from strata.figures import _roofline
from strata.reference import cite
from strata.roofline import roofline
from strata.roofline.roofline import INSTRUCTION, LOADS, Entry


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


FIGURE = _roofline.figure(
    name="roofline_instructions",
    title="Instruction roofline",
    order=207,
    form=INSTRUCTION,
    caption=caption,
)
