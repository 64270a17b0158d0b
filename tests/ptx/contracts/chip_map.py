"""Chains of accesses, each with the address that the one before it brought."""

from contract import Contract, Kernel
from dependencies import Order

TURN = 4
"""Accesses side by side: once to begin with, once in the loop that is timed."""


def kernel(number: int, ptx: str, sass: str) -> Kernel:
    """What the walk of an operation must hold."""
    return Kernel(
        name=rf"walkILN.*OperationE{number}E",
        ptx={rf"{ptx}\.[bu]64 (%\w+), \[\1\]": 2 * TURN, "%clock64": 4},
        sass={sass: 2 * TURN},
        sass_in_loops={sass: 2 * TURN},
        order=Order(ptx, sass, turn=TURN, chains=1),
    )


CONTRACT = Contract(
    kernels=(
        kernel(0, r"ld\.global\.cg", r"LDG\.E\.64\.STRONG\.GPU"),
        kernel(1, r"atom\.global\.exch", r"ATOMG\.E\.EXCH\.64\.STRONG\.GPU"),
    ),
    others=("11write_words", "6reside"),
)
