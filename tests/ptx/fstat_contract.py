"""What the kernels of the F-statistic's ladder must hold, in a line a rung.

A bin that is read in two loads, a reciprocal with steps that round it right, a sine with a branch
for angles of many turns: each costs more than the term, and the result is as right as before.
"""

from __future__ import annotations

from contract import Kernel
from rung_contract import turn

BINS = 16
"""Of a window."""


def terms(
    name: str,
    *,
    reciprocals: int = BINS,
    beside: int | None = None,
    shared: int = 0,
    loads: dict[str, int] | None = None,
) -> Kernel:
    """A kernel that weighs the bins of a window, each read at once.

    reciprocals: of a term. beside: instructions of a turn of the loop over signals besides bins
    and reciprocals, at the most; None: there is no such loop. shared: loads of 16 bytes of shared
    memory in it. loads: further loads in the PTX.
    """
    bins = r"LDG\.E\.64\.CONSTANT"
    holds = {bins: BINS, r"MUFU\.RCP": reciprocals, r"LDS(\.U)?\.128": shared}
    return Kernel(
        name=name,
        ptx={
            r"\bld\.global\.nc\.v2\.f32\b": BINS,
            r"\brcp\.approx\.ftz\.f32\b": reciprocals,
            r"\brcp\.(?!approx)|\bdiv\.(?![su])": 0,
            r"\bsin\.approx\.f32\b": 1,
            r"\bcos\.approx\.f32\b": 1,
            r"\batom\.": 2,  # where terms are counted
        }
        | (loads or {}),
        sass={bins: BINS},
        clock=False,
        **({} if beside is None else {"more": turn(holds, beside, most=bins)}),
    )
