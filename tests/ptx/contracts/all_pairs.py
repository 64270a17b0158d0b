"""Everybody read from memory, coordinate by coordinate."""

from contract import Contract
from neighbours_contract import searches

CONTRACT = Contract(kernels=searches(numbers=(58, 21, 18), loads=(6, 15, 15)))
