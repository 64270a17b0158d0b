"""As rung unrolled, with tiles of 128 bodies in each layout of Siegel et al."""

from contract import Contract
from rung_contract import LAYOUTS, fast

TILE = 128
READS_A_TILE = 32
"""Instructions that read a tile, and a barrier before it and after it."""

CONTRACT = Contract(
    kernels=tuple(
        fast(
            rf"7step_ofINS_{len(layout)}{layout}ELj{unroll}ELb{moves}E",
            unroll,
            shared=unroll,
            others={r"LDG\..*": LAYOUTS[layout]} if unroll == TILE else {},
            beside=READS_A_TILE if unroll == TILE else 4,
            loads=LAYOUTS[layout],
        )
        for layout in ("Aos", "Soa", "Aoas", "Soaoas")
        for unroll in (1, 2, 4, 8, 16, 32, 64, TILE)
        for moves in (0, 1)
    ),
)
