"""Pairs, each noted for both: two atomic additions for each of the seven tests in the code.

Agents are moved by what was noted for them, of which four are read at once.
"""

from contract import Contract, Kernel
from neighbours_contract import PROBLEMS

TESTS = 7
BATCH = 4
FINDS = {
    r"ATOMG\.E\.ADD\.STRONG\.GPU": 2 * TESTS,
    r"STG\.E": 2 * TESTS,
    r"LDG\.E": 2,
    r"LDG\.E\.128": TESTS,
}
PAIRS = {r"\b(?:atom|red)\.": 2 * TESTS, r"\bld\.global\.u32\b": 2}
BOIDS, CIRCLES, LIST = range(len(PROBLEMS))

CONTRACT = Contract(
    kernels=(
        *(
            Kernel(
                name=rf"4findILNS0_4KindE{problem}E",
                ptx=PAIRS,
                sass={},
                sass_in_loops=FINDS,
                clock=False,
            )
            for problem in (BOIDS, CIRCLES)
        ),
        Kernel(
            name=rf"7step_ofILNS0_4KindE{LIST}E",
            ptx=PAIRS,
            sass={},
            sass_in_loops=FINDS,
            clock=False,
        ),
        *(
            Kernel(
                name=rf"7step_ofILNS0_4KindE{problem}E",
                ptx={
                    r"\bld\.global\.f32\b": numbers,
                    r"\bld\.global\.v4\.u32\b": BATCH + 1,
                    r"\b(?:atom|red)\.": 0,
                },
                sass={},
                sass_in_loops={r"LDG\.E": BATCH, r"LDG\.E\.128": BATCH},
                clock=False,
            )
            for problem, numbers in ((BOIDS, 49), (CIRCLES, 3))
        ),
    ),
)
