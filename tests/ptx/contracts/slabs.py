"""Tiles of agents within reach of a slab: each thread reads one, and tests eight at once."""

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
