"""Cells that name agents, whose coordinates are read one by one."""

from contract import Contract
from neighbours_contract import searches

CONTRACT = Contract(
    kernels=searches(numbers=(58, 15, 24), ids=(5, 5, 9), loads=(14, 14, 30)),
)
