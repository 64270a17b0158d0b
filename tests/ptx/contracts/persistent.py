"""All of a step in one kernel: a counting sort, its scan, and the search of rung runs.

One atomic addition counts an agent, and five the blocks that wait for each other; those waits read
around L1. Nothing is read as if no kernel wrote it: what a step reads, the one before it wrote.
"""

from contract import Contract, Kernel

WAITS = 5

CONTRACT = Contract(
    kernels=tuple(
        Kernel(
            name=rf"7step_ofILNS0_4KindE{problem}E",
            ptx={r"\bld\.global\.nc\b": 0, r"\bld\.global\.v4\.u32\b": agents},
            sass={},
            sass_in_loops={
                r"ATOMG\.E\.ADD\.STRONG\.GPU": 1,
                r"ATOM\.E\.ADD\.STRONG\.GPU": WAITS,
                r"LDG\.E\.128": agents,
                r"LDG\..*CONSTANT": 0,
            },
            clock=False,
        )
        for problem, agents in enumerate((4, 8, 16))
    ),
)
