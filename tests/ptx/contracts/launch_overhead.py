"""A kernel of one thread that writes one word: as little as a launch can be checked by."""

from contract import Contract, Kernel

CONTRACT = Contract(
    kernels=(
        Kernel(
            name="10write_word",
            ptx={r"ld\.global": 0, r"st\.global": 1},
            sass={r"LDG\..*": 0, r"STG\..*": 1, r"BRA": 1},
            clock=False,
        ),
    ),
)
