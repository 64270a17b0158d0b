"""A dependent chain of loads, in a loop that fills L1 and in one that is timed."""

from contract import Contract, Kernel
from dependencies import Order

UNROLL = 16
LOOPS = 2

CONTRACT = Contract(
    kernels=(
        Kernel(
            name="6follow",
            ptx={r"ld\.global\.ca\.u32 %\w+, \[address\]": LOOPS * UNROLL},
            sass={r"LDG\..*": LOOPS * UNROLL},
            sass_in_loops={r"LDG\.E\.STRONG\.SM": LOOPS * UNROLL},
            order=Order(r"ld\.global", r"LDG\.", turn=UNROLL, chains=1, step=UNROLL, loops=LOOPS),
        ),
    ),
)
