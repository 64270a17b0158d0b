"""A dependent chain of loads, in a loop that fills L1 and in one that is timed."""

from contract import Contract, Kernel

UNROLL = 16
LOOPS = 2

CONTRACT = Contract(
    kernels=(
        Kernel(
            name="6follow",
            ptx={r"ld\.global\.ca\.u32 %\w+, \[address\]": LOOPS * UNROLL},
            sass={r"LDG\..*": LOOPS * UNROLL},
            sass_in_loops={r"LDG\.E\.STRONG\.SM": LOOPS * UNROLL},
        ),
    ),
)
