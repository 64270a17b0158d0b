"""A thread for each signal, whose term the first thread reads at once from shared memory."""

from contract import Contract
from fstat_contract import terms

CONTRACT = Contract(
    kernels=(
        terms("11sum_signalsE", loads={r"\bst\.shared\.v4\.f32\b": 1, r"\bld\.shared\.(?!v4)": 0}),
    )
)
