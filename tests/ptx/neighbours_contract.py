"""What the search of a rung of the ladder of neighbours must hold, in a line a rung.

Of each problem there is a kernel. A candidate that is read in pieces, or twice, costs more than its
test, and the result is as right as before.
"""

from __future__ import annotations

from contract import Contract, Kernel

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
    group: int = 0,
    noted: int = 0,
    constants: int = 0,
    sums: int = 0,
    loads: Counts,
    whole: Counts = NONE,
) -> tuple[Kernel, ...]:
    """The kernels of a rung.

    numbers, ids, agents: loads from global memory in the PTX, of a coordinate, of a number of an
        agent or a cell, and of a whole agent.
    group: agents that one turn of the inner loop reads from shared memory, each at once; whoever of
        them is near is read once more.
    noted: reads of a hit that was put off, from shared memory.
    constants: numbers of a cell from constant memory, in the PTX.
    sums: additions in the loops of a group, beside the three of each distance.
    loads, whole: of global memory in the loops of the machine code, and those of a whole agent.
    """
    read = group + 1 if group else 0
    return tuple(
        Kernel(
            name=rf"7step_ofILNS0_4KindE{problem}E",
            ptx={
                r"\bld\.global\.f32\b": numbers[problem],
                r"\bld\.global\.u32\b": ids[problem],
                r"\bld\.global\.v4\.u32\b": agents[problem],
                r"\bld\.shared\.v4\.(?:f32|u32)\b": read,
                r"\bld\.shared\.(?!v4)": noted,
                r"\bld\.const\.u32\b": constants,
                r"\bmin\.f32\b": max(group - 1, 0),
                r"\b(?:atom|red)\.": 0,
            },
            sass={},
            sass_in_loops={
                r"LDG\.E": loads[problem],
                r"LDG\.E\.128": whole[problem],
                r"LDS(\.U)?\.128": read,
                r"LDS(?!(\.U)?\.128).*": noted,
            }
            # Three differences a test.
            | ({r"FADD": 3 * read + sums} if group else {}),
            clock=False,
        )
        for problem in range(len(PROBLEMS))
    )


IN_CELL_ORDER = Contract(
    kernels=searches(
        numbers=(49, 3, 0),
        ids=(2, 2, 2),
        agents=(4, 8, 8),
        loads=(2, 2, 2),
        whole=(3, 7, 7),
    ),
)
"""Whole agents, in cell order: each of a cell, or of a row of cells, is read at once."""

BATCH = 4
WORKED_OFF = 2
QUEUED = Contract(
    kernels=searches(
        numbers=(49, 3, 0),
        ids=(2, 2, 2),
        agents=(3, 3, 3),
        noted=WORKED_OFF,
        loads=(2, 2, 2),
        whole=(BATCH + WORKED_OFF,) * 3,
    ),
)
"""The same, four at once.

A hit is read again where it is worked off: when there is no room left, and after the last row.
"""
