"""Loads past L1, all of a round under way together, at an address that starts again at the end."""

from contract import Contract, Kernel
from dependencies import Order

FLIGHTS = 4

CONTRACT = Contract(
    kernels=(
        Kernel(
            name="12read_in_turn",
            ptx={r"ld\.global\.cg\.v4\.u32 \{": FLIGHTS, r"ld\.global": FLIGHTS},
            sass={r"LDG\..*": FLIGHTS},
            sass_in_loops={r"LDG\.E\.128\.STRONG\.GPU": FLIGHTS},
            order=Order(
                r"ld\.global\.cg\.v4\.u32", r"LDG\.E\.128\.STRONG\.GPU", turn=FLIGHTS, chains=0
            ),
        ),
    ),
)
