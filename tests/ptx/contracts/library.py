"""Terms are written to memory at once; CUB adds them up."""

from contract import Contract
from fstat_contract import terms

CONTRACT = Contract(
    kernels=(terms("11write_termsE", loads={r"\bst\.global\.v4\.f32\b": 1}),),
    others=("12combine_sumsE", "3cub"),
)
