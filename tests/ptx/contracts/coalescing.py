"""Warp-loads of five widths, past L1: .cg in PTX, .STRONG.GPU in SASS; four in one loop.

As many before it find the windows.
"""

from contract import Contract, Kernel
from dependencies import Order

LOADS = 4
PTX = {1: "u8", 2: "u16", 4: "u32", 8: r"v2\.u32", 16: r"v4\.u32"}
SASS = {1: r"LDG\.E\.U8", 2: r"LDG\.E\.U16", 4: r"LDG\.E", 8: r"LDG\.E\.64", 16: r"LDG\.E\.128"}

CONTRACT = Contract(
    kernels=tuple(
        Kernel(
            name=rf"gatherILj{width}E",
            ptx={rf"ld\.global\.cg\.{PTX[width]} ": LOADS, r"ld\.global\.cg": LOADS},
            sass={r"LDG\..*": 2 * LOADS},
            sass_in_loops={rf"{SASS[width]}\.STRONG\.GPU": LOADS},
            order=Order(r"ld\.global", r"LDG\.", turn=LOADS, chains=0),
        )
        for width in PTX
    ),
)
