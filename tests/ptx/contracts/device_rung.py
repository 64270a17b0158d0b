"""What is shown of the agents."""

from contract import Contract, Kernel

CONTRACT = Contract(
    kernels=(
        Kernel(
            name=r"\d4drawE",  # a column of the matrix at once
            ptx={r"\bld\.global": 6, r"\bst\.global\.v4\.f32\b": 4, r"\bst\.global": 4},
            sass={r"STG\.E\.128": 4},
            clock=False,
        ),
    ),
)
