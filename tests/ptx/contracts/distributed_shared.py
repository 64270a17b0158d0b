"""A chain through another block's shared memory, and rounds of loads from it, all under way.

A word of the chain is the address of the next: nothing stands between two of its loads.
"""

from contract import Contract, Kernel
from dependencies import Order

UNROLL = 16
FLIGHTS = 4

CONTRACT = Contract(
    kernels=(
        Kernel(
            name="12follow_chain",
            ptx={r"\bld\.u64 (%\w+), \[\1\];": UNROLL, r"mapa\.u64": 1},
            # The trap makes the last clock wait for the last word.
            sass={r"LD\.E\.64": UNROLL, r"BPT\.TRAP": 1},
            sass_in_loops={r"LD\.E\.64": UNROLL},
            order=Order(r"ld\.u64", r"LD\.E\.64", turn=UNROLL, chains=1, step=UNROLL),
        ),
        Kernel(
            name="9read_tile",
            ptx={r"\bld\.v4\.u32 \{": FLIGHTS, r"mapa\.u64": 1},
            sass={r"LD\.E\.128": FLIGHTS},
            sass_in_loops={r"LD\.E\.128": FLIGHTS},
            order=Order(r"ld\.v4\.u32", r"LD\.E\.128", turn=FLIGHTS, chains=0),
        ),
    ),
)
