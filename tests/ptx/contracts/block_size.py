"""As rung unrolled with 32 bodies a turn, for tiles of several sizes."""

from contract import Contract
from rung_contract import fast

UNROLL = 32

CONTRACT = Contract(
    kernels=tuple(
        fast(rf"7step_ofILj{block}ELb{moves}E", UNROLL, shared=UNROLL, loads=1)
        for block in (64, 128, 256, 512, 1024)
        for moves in (0, 1)
    ),
)
