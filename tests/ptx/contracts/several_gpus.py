"""As rung register_banks, with eight warps a block."""

from contract import Contract
from rung_contract import banks_apart, several

WARPS = 8

CONTRACT = Contract(
    kernels=tuple(
        several(rf"7step_ofILj{bodies}ELb{moves}E", bodies, WARPS, banks_apart)
        for bodies in (2, 4, 8)
        for moves in (0, 1)
    ),
)
