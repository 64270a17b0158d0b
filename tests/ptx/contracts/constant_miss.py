"""A dependent chain through constant memory, as in latency_vs_footprint."""

from contract import Contract, Kernel
from dependencies import Order

UNROLL = 16
LOOPS = 2

CONTRACT = Contract(
    kernels=(
        Kernel(
            name="12follow_table",
            ptx={r"ld\.const\.u32\s": LOOPS * UNROLL},
            sass={},  # parameters are loaded by the same opcode
            sass_in_loops={"LDC": LOOPS * UNROLL},
            order=Order(r"ld\.const", "LDC", turn=UNROLL, chains=1, step=UNROLL, loops=LOOPS),
        ),
        Kernel(
            name="15read_parameters",
            ptx={r"ld\.param\.u32 ": 3},
            sass={},
            sass_in_loops={"LDC": 1},
            clock=False,
        ),
    ),
)
