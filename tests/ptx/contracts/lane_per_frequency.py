"""A lane for each template."""

from contract import Contract
from fstat_contract import terms

CONTRACT = Contract(kernels=(terms("11sum_by_laneE", beside=120),))
