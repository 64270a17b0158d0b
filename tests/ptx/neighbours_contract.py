"""What the search of a rung of the ladder of neighbours must hold, in a line a rung.

Of each problem there is a kernel. A candidate that is read in pieces, or twice, costs more than its
test, and the result is as right as before.
"""

from __future__ import annotations

from contract import Kernel

PROBLEMS = ("boids", "circles", "list")
"""In the order of their numbers in the names of kernels."""

Counts = tuple[int, int, int]
"""Of boids, circles and list, which the compiler unrolls as it sees fit."""
NONE: Counts = (0, 0, 0)


def searches(
    *,
    numbers: Counts,
    ids: Counts = NONE,
    agents: Counts = NONE,
    tiles: int = 0,
    loads: Counts,
    whole: Counts = NONE,
) -> tuple[Kernel, ...]:
    """The kernels of a rung.

    numbers, ids, agents: loads from global memory in the PTX, of a coordinate, of a number of an
        agent or a cell, and of a whole agent.
    tiles: agents that one turn of the inner loop reads from shared memory, each at once.
    loads, whole: of global memory in the loops of the machine code, and those of a whole agent.
    """
    return tuple(
        Kernel(
            name=rf"7step_ofILNS0_4KindE{problem}E",
            ptx={
                r"\bld\.global\.f32\b": numbers[problem],
                r"\bld\.global\.u32\b": ids[problem],
                r"\bld\.global\.v4\.u32\b": agents[problem],
                r"\bld\.shared\.v4\.f32\b": tiles,
                r"\bld\.shared\.(?!v4)": 0,
                r"\b(?:atom|red)\.": 0,
            },
            sass={},
            sass_in_loops={
                r"LDG\.E": loads[problem],
                r"LDG\.E\.128": whole[problem],
                r"LDS(\.U)?\.128": tiles,
                r"LDS(?!(\.U)?\.128).*": 0,
            }
            # Three differences a test, and nothing else is added.
            | ({r"FADD": 3 * tiles} if tiles else {}),
            clock=False,
        )
        for problem in range(len(PROBLEMS))
    )
