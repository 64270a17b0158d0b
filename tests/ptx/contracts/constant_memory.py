"""Bodies from constant memory, each by one load, which is two of 8 bytes in machine code."""

from contract import Contract
from rung_contract import fast

UNROLL = 32

CONTRACT = Contract(
    kernels=(
        fast(
            r"3addE",
            UNROLL,
            others={r"(ULDC|LDCU)\.64": 2 * UNROLL},
            beside=8,
            rest=1,
            loads=0,
            ptx={r"\bld\.const\.v4\.f32\b": UNROLL + 1, r"\bld\.const\.(?!v4)": 0},
        ),
    ),
    others=("4moveE",),
)
