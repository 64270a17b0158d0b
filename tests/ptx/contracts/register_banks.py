"""As rung registers, but that no subtraction finds both operands in one bank."""

from contract import Contract
from rung_contract import banks_apart, several

CONTRACT = Contract(
    kernels=tuple(
        several(rf"7step_ofILj{bodies}ELj{warps}ELb{moves}E", bodies, warps, banks_apart)
        for bodies in (1, 2, 4, 8)
        for warps in (1, 2, 4, 8)
        for moves in (0, 1)
    ),
)
