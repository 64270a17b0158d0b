"""Each body by one load of 16 bytes, so many bodies a turn, and no shared memory."""

from contract import Contract
from rung_contract import fast

MINE = 1

CONTRACT = Contract(
    kernels=tuple(
        fast(
            rf"7step_ofILj{unroll}ELb{moves}E",
            unroll,
            others={r"LDG\.E(\.U)?\.128.*": unroll},
            beside=10,
            rest=int(unroll > 1),
            loads=unroll + int(unroll > 2),
            ptx={r"\bld\.global\.v4\.f32\b": unroll + int(unroll > 1) + MINE + moves},
        )
        for unroll in (1, 2, 4, 8, 16, 32)
        for moves in (0, 1)
    ),
)
