"""A chain of multiply-adds in each of 32 paths, none merged with another."""

from contract import Contract, Kernel

PATHS = 32
STEPS = 64

CONTRACT = Contract(
    kernels=(
        Kernel(
            name="7diverge",
            ptx={r"mad\.lo\.u32 (%\w+), \1, %\w+, \d+": PATHS * STEPS},
            sass={},
            sass_in_loops={r"IMAD": PATHS * STEPS},
        ),
    ),
)
