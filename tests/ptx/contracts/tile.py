"""Tiles in shared memory, each agent read from them at once."""

from contract import Contract
from neighbours_contract import searches

CONTRACT = Contract(kernels=searches(numbers=(55, 9, 6), group=8, loads=(3, 3, 3)))
