"""One load of each round, past L1, between two readings of the clock, behind the cluster's barrier.

The second reading waits for the loaded word: a trap hangs on it.
"""

from contract import Contract, Kernel

CONTRACT = Contract(
    kernels=(
        Kernel(
            name="4meet",
            ptx={
                r"ld\.global\.cg\.u32 ": 1,
                r"ld\.global": 1,
                r"barrier\.cluster\.arrive": 1,
                r"barrier\.cluster\.wait": 1,
                r"%clock64": 6,
            },
            sass={r"LDG\..*": 1},
            sass_in_loops={r"LDG\.E\.STRONG\.GPU": 1, r"UCGABAR_WAIT": 1},
        ),
    ),
)
