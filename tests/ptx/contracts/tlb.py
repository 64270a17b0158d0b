"""A dependent chain of 64-bit loads past L1, in a loop that warms up and one that is timed."""

from contract import Contract, Kernel
from dependencies import Order

UNROLL = 16
LOOPS = 2

CONTRACT = Contract(
    kernels=(
        Kernel(
            name="6follow",
            ptx={r"ld\.global\.cg\.u64 (%\w+), \[\1\]": LOOPS * UNROLL},
            sass={r"LDG\..*": LOOPS * UNROLL},
            sass_in_loops={r"LDG\.E\.64\.STRONG\.GPU": LOOPS * UNROLL},
            order=Order(r"ld\.global", r"LDG\.", turn=UNROLL, chains=1, step=UNROLL, loops=LOOPS),
        ),
    ),
)
