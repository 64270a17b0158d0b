"""Warps that read their clock in a loop until it has advanced far enough."""

from contract import Contract, Kernel

CONTRACT = Contract(
    kernels=(
        Kernel(
            name="4spin",
            ptx={r"mov\.u64 %\w+, %clock64": 3},
            sass={},
            sass_in_loops={r"CS2R": 1},
        ),
    ),
)
