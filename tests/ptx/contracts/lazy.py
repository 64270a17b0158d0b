"""As rung tile: only copies differ."""

from contract import Contract
from neighbours_contract import searches

CONTRACT = Contract(kernels=searches(numbers=(55, 9, 6), group=8, loads=(3, 3, 3)))
