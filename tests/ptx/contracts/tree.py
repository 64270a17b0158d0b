"""A tree: a box is two reads, and the agents of a leaf are tested as a group, each read at once.

The code holds a leaf twice, one's own and any other: 8 agents, and those of them that are near once
more; of the compiler's choice, boxes are looked at in two places.
"""

from contract import Contract, Kernel
from neighbours_contract import PROBLEMS

GROUP = 8
AGENTS = (3, 3, 3)
"""Read with their numbers: the thread's own, and those that are near."""

CONTRACT = Contract(
    kernels=tuple(
        Kernel(
            name=rf"7step_ofILNS0_4KindE{problem}E",
            ptx={
                r"\bld\.global\.v4\.u32\b": AGENTS[problem],
                r"\bld\.global\.v4\.f32\b": 2 * GROUP + 2,
                r"\bmin\.f32\b": 2 * (GROUP - 1),
                r"\b(?:atom|red)\.": 0,
            },
            sass={},
            sass_in_loops={r"LDG\.E\.128": GROUP + 4, r"LDG\.E": 0},
            clock=False,
        )
        for problem in range(len(PROBLEMS))
    ),
    others=("10note_codes", "10put_leaves", "10join_nodes", "3cub"),
)
