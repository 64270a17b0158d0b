"""Atomic operations: eight between two branches, and what each kind compiles to.

Operations that are not one instruction in shared memory are a loop of a load, an addition and a
compare and swap; eight such loops then. Lanes that ptxas had added up beforehand would show as
fewer operations, or as others (POPC, REDUX).
"""

from contract import Contract, Kernel
from dependencies import Order

UNROLL = 8
SPACES = ("shared", "global")
OPERATIONS = ("add_int", "add_float", "add_int64", "cas_int", "exch_int")
PTX = {
    "add_int": r"add\.u32",
    "add_float": r"add\.f32",
    "add_int64": r"add\.u64",
    "cas_int": r"cas\.b32",
    "exch_int": r"exch\.b32",
}
IN_SHARED = {
    "add_int": r"ATOMS\.ADD",
    "add_float": r"ATOMS\.CAST\.SPIN",
    "add_int64": r"ATOMS\.CAST\.SPIN\.64",
    "cas_int": r"ATOMS\.CAS",
    "exch_int": r"ATOMS\.EXCH",
}
IN_GLOBAL = {
    "add_int": r"E\.ADD",
    "add_float": r"E\.ADD\.F32\.FTZ\.RN",
    "add_int64": r"E\.ADD\.64",
    "cas_int": r"E\.CAS",
    "exch_int": r"E\.EXCH",
}


def repeat(space: str, operation: str, chains: int, *, returns: bool) -> Kernel:
    if space == "shared":
        opcode = IN_SHARED[operation]
    else:
        opcode = rf"{'ATOMG' if returns else 'REDG?'}\.{IN_GLOBAL[operation]}\.STRONG\.GPU"
    verb = "atom" if returns else "red"
    return Kernel(
        name=(
            rf"6repeatILNS\d_10StateSpaceE{SPACES.index(space)}E"
            rf"LNS\d_9OperationE{OPERATIONS.index(operation)}ELb{int(returns)}ELj{chains}E"
        ),
        ptx={
            rf"\b(?:atom|red)\.{space}\.": UNROLL,
            rf"\b{verb}\.{space}\.{PTX[operation]} ": UNROLL,
        },
        # The trap makes the last clock wait for what the last operations return.
        sass={r"(?:ATOM|RED(?!UX)).*": UNROLL, r".*POPC.*|REDUX.*": 0, r"BPT\.TRAP": 1},
        sass_in_loops={opcode: UNROLL},
        order=Order(
            r"atom|red",
            "" if "SPIN" in opcode else opcode,  # a loop ends before the next one begins
            turn=UNROLL,
            chains=chains if returns else 0,
            step=UNROLL,
        ),
    )


def visit(operation: str) -> Kernel:
    """The latency in global memory: the same loop, within one over places that reads clocks."""
    opcode = rf"ATOMG\.{IN_GLOBAL[operation]}\.STRONG\.GPU"
    return Kernel(
        name=rf"5visitILNS\d_9OperationE{OPERATIONS.index(operation)}E",
        ptx={
            rf"\b(?:atom|red)\.global\.{PTX[operation]} ": UNROLL,
            r"\b(?:atom|red)\.": UNROLL,
            "%clock64": 4,
        },
        sass={r"(?:ATOM|RED(?!UX)).*": UNROLL, r".*POPC.*|REDUX.*": 0, r"BPT\.TRAP": 2},
        sass_in_loops={opcode: UNROLL},
        order=Order(r"atom", opcode, turn=UNROLL, chains=1, step=UNROLL),
    )


CONTRACT = Contract(
    kernels=(
        *(repeat("shared", operation, 1, returns=True) for operation in OPERATIONS),
        *(visit(operation) for operation in OPERATIONS),
        *(
            repeat(space, operation, 4, returns=True)
            for space in SPACES
            for operation in OPERATIONS
        ),
        *(
            repeat(space, operation, 4, returns=False)
            for space in SPACES
            for operation in OPERATIONS
            if operation.startswith("add")
        ),
    ),
    others=("3layI",),
)
