"""Rounds of loads of three widths, past L1, at a stride or at places computed in registers.

A load may not be used before the last load of its round was issued: ptxas likes to add up early,
to save registers, and then less is in flight than the case says.
"""

from contract import Contract, Kernel
from dependencies import Order

FLIGHTS = {4: 8, 8: 4, 16: 4}
PTX = {4: "u32", 8: r"v2\.u32", 16: r"v4\.u32"}
SASS = {4: "", 8: r"\.64", 16: r"\.128"}

CONTRACT = Contract(
    kernels=tuple(
        Kernel(
            name=rf"5sweepILj{width}ELb{gather}E",
            ptx={
                rf"ld\.global\.cg\.{PTX[width]} [%{{]": FLIGHTS[width],
                r"ld\.global": FLIGHTS[width],
                r"mad\.wide\.u32": FLIGHTS[width],
            },
            sass={r"LDG\..*": FLIGHTS[width]},
            sass_in_loops={
                rf"LDG\.E{SASS[width]}\.STRONG\.GPU": FLIGHTS[width],
            },
            order=Order(r"ld\.global", r"LDG\.", turn=FLIGHTS[width], chains=0),
        )
        for width in FLIGHTS
        for gather in (0, 1)
    ),
)
