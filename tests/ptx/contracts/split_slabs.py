"""Those of rung slabs, which the host makes otherwise."""

from contract import Contract
from neighbours_contract import searches

CONTRACT = Contract(
    kernels=searches(
        numbers=(49, 3, 0),
        agents=(3, 3, 3),
        group=8,
        loads=(0, 0, 0),
        whole=(1, 1, 1),
    ),
)
