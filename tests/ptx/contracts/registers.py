"""Several bodies a thread, which one read from shared memory serves; banks as they come."""

from contract import Contract
from rung_contract import banks_shared, several

CONTRACT = Contract(
    kernels=tuple(
        several(rf"7step_ofILj{bodies}ELj{warps}ELb{moves}E", bodies, warps, banks_shared)
        for bodies in (1, 2, 4, 8)
        for warps in (1, 2, 4, 8)
        for moves in (0, 1)
    ),
)
