"""A warp for each template: five shuffles for each of four sums."""

from contract import Contract
from fstat_contract import terms

CONTRACT = Contract(
    kernels=(terms("11sum_by_warpE", beside=119, loads={r"\bshfl\.sync\.bfly\b": 20}),)
)
