"""Four shuffles a body in place of a shared load; a turn is 32 bodies, and the load of all."""

from contract import Contract
from rung_contract import fast

LANES = 32

CONTRACT = Contract(
    kernels=tuple(
        fast(
            rf"7step_ofILb{moves}E",
            LANES,
            shuffles=4 * LANES,
            others={r"LDG\.E\.128(\.SYS)?": 1},
            beside=16,
            loads=1,
        )
        for moves in (0, 1)
    ),
)
