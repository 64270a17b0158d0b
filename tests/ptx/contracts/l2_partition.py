"""Chains of exchanges: each takes its address from the one before it, and nothing else is timed.

A single load takes its address from an exchange, and the next exchange from the load. Of the lines
that a sweep displaced, another load of the page gives the address.
"""

from contract import Contract, Kernel
from dependencies import Order

TURN = 4
"""Exchanges that stand side by side: once to begin with, once in the loop that is timed."""
SWEEP = 8 + 1
"""Quads that a thread of a sweep asks for at once, and the one of its last few."""

CONTRACT = Contract(
    kernels=(
        Kernel(
            name="5visit",
            ptx={r"atom\.global\.exch\.b64 (%\w+), \[\1\], \1;": 2 * TURN, "%clock64": 4},
            sass={r"ATOMG\.E\.EXCH\.64\.STRONG\.GPU": 2 * TURN},
            sass_in_loops={r"ATOMG\.E\.EXCH\.64\.STRONG\.GPU": 2 * TURN},
            order=Order(r"atom\.", r"ATOMG", turn=TURN, chains=1),
        ),
        Kernel(
            name="14load_once_each",
            ptx={
                r"atom\.global\.exch\.b64 (%\w+), \[\1\], \1;": 1,
                r"ld\.global\.cg\.u64 (%\w+), \[\1\];": 1,
                "%clock64": 5,
            },
            sass={r"ATOMG\.E\.EXCH\.64\.STRONG\.GPU": 1, r"LDG\.E\.64\.STRONG\.GPU": 1},
            sass_in_loops={
                r"ATOMG\.E\.EXCH\.64\.STRONG\.GPU": 1,
                r"LDG\.E\.64\.STRONG\.GPU": 1,
            },
            order=(
                Order(r"atom\.", r"ATOMG", turn=1, chains=1),
                Order(r"ld\.global\.cg", r"LDG\.E\.64\.STRONG", turn=1, chains=1),
            ),
        ),
        Kernel(
            name="12load_evicted",
            ptx={
                r"ld\.global\.cg\.u64 (%\w+), \[\1\];": 2,
                r"ld\.global\.cg\.v4\.u32": SWEEP,
                "%clock64": 7,
            },
            sass={r"LDG\.E\.64\.STRONG\.GPU": 2},
            sass_in_loops={r"LDG\.E\.64\.STRONG\.GPU": 2},
        ),
    ),
    others=("6settle",),
)
