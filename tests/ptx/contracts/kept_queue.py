"""As rung queue, among agents in cell order."""

from contract import Contract
from neighbours_contract import searches

BATCH = 4
WORKED_OFF = 2

CONTRACT = Contract(
    kernels=searches(
        numbers=(49, 3, 0),
        ids=(2, 2, 2),
        agents=(3, 3, 3),
        noted=WORKED_OFF,
        loads=(2, 2, 2),
        whole=(BATCH + WORKED_OFF,) * 3,
    ),
)
