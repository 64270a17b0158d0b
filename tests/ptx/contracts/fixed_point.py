"""Phases in fixed point: a signal is read at once from shared memory, and nothing is converted."""

from contract import Contract
from fstat_contract import BINS, terms

CONTRACT = Contract(
    kernels=tuple(
        terms(rf"11sum_by_laneILj{group}EE", reciprocals=BINS // group, beside=beside, shared=2)
        for group, beside in {1: 101, 2: 126, 4: 137, 8: 143, 16: 147}.items()
    )
)
