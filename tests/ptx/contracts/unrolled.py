"""As rung fast_math, so many bodies a turn; of a whole tile, the loop over tiles is the turn."""

from contract import Contract
from rung_contract import fast

TILE = 256
READS_A_TILE = 24
"""Instructions that read a tile, and a barrier before it and after it."""

CONTRACT = Contract(
    kernels=tuple(
        fast(
            rf"7step_ofILj{unroll}ELb{moves}E",
            unroll,
            shared=unroll,
            others={r"LDG\..*": 1} if unroll == TILE else {},
            beside=READS_A_TILE if unroll == TILE else 4,
            loads=1,
        )
        for unroll in (1, 2, 4, 8, 16, 32, 64, 128, TILE)
        for moves in (0, 1)
    ),
)
