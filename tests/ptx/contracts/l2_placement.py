"""Loads past L1, all of a round under way together, from pieces that a table names."""

from contract import Contract, Kernel
from dependencies import Order

FLIGHTS = 4

CONTRACT = Contract(
    kernels=(
        Kernel(
            name="11read_placed",
            ptx={r"ld\.global\.cg\.v4\.u32 \{": FLIGHTS, r"ld\.shared": FLIGHTS},
            sass={r"LDG\.E\.128.*": FLIGHTS},
            sass_in_loops={r"LDG\.E\.128\.STRONG\.GPU": FLIGHTS, r"LDS.*": FLIGHTS},
            order=Order(
                r"ld\.global\.cg\.v4\.u32", r"LDG\.E\.128\.STRONG\.GPU", turn=FLIGHTS, chains=0
            ),
        ),
    ),
    others=("15write_addresses", "5probe"),
)
