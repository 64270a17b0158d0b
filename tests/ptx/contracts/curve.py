"""As rung reordered; of each cell is read where it stands."""

from contract import Contract
from neighbours_contract import searches

CONTRACT = Contract(
    kernels=searches(
        numbers=(49, 3, 0),
        ids=(3, 3, 3),
        agents=(4, 8, 8),
        loads=(3, 3, 3),
        whole=(3, 7, 7),
    ),
)
