"""Rows of cells in shared memory, whose agents are tested in groups of eight, as in rung tile.

A lane reads four agents at a time into the tile, and further ones one by one.
"""

from contract import Contract
from neighbours_contract import searches

CONTRACT = Contract(
    kernels=searches(
        numbers=(49, 3, 0),
        ids=(2, 2, 2),
        agents=(8, 8, 8),
        group=8,
        sums=12,
        loads=(2, 2, 2),
        whole=(7, 7, 7),
    ),
)
