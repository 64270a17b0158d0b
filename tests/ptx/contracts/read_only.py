"""Each body by one load of 16 bytes through the read-only path, and no shared memory."""

from contract import Contract
from rung_contract import fast

UNROLL = 32
MINE = 1

CONTRACT = Contract(
    kernels=tuple(
        fast(
            rf"7step_ofILb{moves}E",
            UNROLL,
            others={r"LDG\.E(\.U)?\.128\.CONSTANT(\.SYS)?": UNROLL},
            beside=8,
            rest=1,
            loads=UNROLL + 1,
            ptx={r"\bld\.global\.nc\.v4\.f32\b": UNROLL + 1 + MINE},
        )
        for moves in (0, 1)
    ),
)
