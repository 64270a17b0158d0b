"""As rung runs."""

from contract import Contract
from neighbours_contract import searches

CONTRACT = Contract(
    kernels=searches(
        numbers=(49, 3, 0),
        ids=(2, 2, 2),
        agents=(4, 8, 8),
        loads=(2, 2, 2),
        whole=(3, 7, 7),
    ),
)
