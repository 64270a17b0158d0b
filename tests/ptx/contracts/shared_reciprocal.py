"""Groups of bins that share a reciprocal."""

from contract import Contract
from fstat_contract import BINS, terms

CONTRACT = Contract(
    kernels=tuple(
        terms(rf"11sum_by_laneILj{group}EE", reciprocals=BINS // group, beside=beside)
        for group, beside in {1: 120, 2: 146, 4: 158, 8: 164, 16: 165}.items()
    )
)
