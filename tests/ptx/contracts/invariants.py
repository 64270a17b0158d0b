"""As rung unrolled with 32 bodies a turn: what is taken out of the loop by hand was out before."""

from contract import Contract
from rung_contract import fast

UNROLL = 32

CONTRACT = Contract(
    kernels=tuple(
        fast(rf"7step_ofILb{moves}E", UNROLL, shared=UNROLL, loads=1) for moves in (0, 1)
    ),
)
