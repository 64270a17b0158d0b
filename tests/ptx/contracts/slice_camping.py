"""Loads past L1 that are all in flight before the first is needed."""

from contract import Contract, Kernel
from dependencies import Order

FLIGHTS = 4

CONTRACT = Contract(
    kernels=(
        Kernel(
            name="11read_spaced",
            ptx={r"ld\.global\.cg\.u32 ": FLIGHTS, r"ld\.global": FLIGHTS},
            sass={r"LDG\..*": FLIGHTS},
            sass_in_loops={r"LDG\.E\.STRONG\.GPU": FLIGHTS},
            order=Order(r"ld\.global", r"LDG\.", turn=FLIGHTS, chains=0),
        ),
    ),
)
