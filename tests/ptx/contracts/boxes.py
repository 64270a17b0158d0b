"""Boxes, a thread looks at each; who is near is noted in shared memory, and read as a tile."""

from contract import Contract
from neighbours_contract import searches

CONTRACT = Contract(
    kernels=searches(
        numbers=(49, 3, 0),
        ids=(2, 2, 2),
        agents=(4, 4, 4),
        group=8,
        noted=1,
        sums=6,
        loads=(2, 2, 2),
        whole=(3, 3, 3),
    ),
)
