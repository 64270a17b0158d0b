"""Lists of where agents stand, of whom four are read at once; and the kernel that makes them."""

from contract import Contract, Kernel
from neighbours_contract import searches

BATCH = 4

CONTRACT = Contract(
    kernels=(
        *searches(
            numbers=(49, 3, 0),
            ids=(7, 7, 7),
            agents=(5, 5, 5),
            loads=(BATCH, BATCH, BATCH),
            whole=(BATCH, BATCH, BATCH),
        ),
        Kernel(
            name=r"\d5renewE",
            ptx={r"\bld\.global\.v4\.u32\b": 8},
            sass={},
            sass_in_loops={r"LDG\.E": 2, r"LDG\.E\.128": 7},
            clock=False,
        ),
    ),
    others=(r"\d6followE",),
)
