"""Rounds of loads and stores of four widths, in memory and in shared memory, all under way at once.

A load may not be used before the last load of its round was issued: ptxas likes to add up early,
to save registers, and then less is in flight than the case says. The accesses of a thread are a
warp's bytes apart: other distances move the same words in other sectors.
"""

from contract import Contract, Kernel
from dependencies import Order

SHARED, NEAR, FAR = range(3)
READ, WRITE, COPY, TRIAD, UPDATE = range(5)
ARRAYS_READ = {READ: 1, WRITE: 0, COPY: 1, TRIAD: 2, UPDATE: 1}
WORDS = {4: "u32", 8: r"v2\.u32", 16: r"v4\.u32"}
SUFFIX = {4: "", 8: r"\.64", 16: r"\.128"}
LOAD = {NEAR: r"ld\.global\.ca", FAR: r"ld\.global\.cg", SHARED: r"ld\.shared"}
STORE = {FAR: r"st\.global", SHARED: r"st\.shared"}
CACHE = {NEAR: r"\.STRONG\.SM", FAR: r"\.STRONG\.GPU"}


def kernel(space: int, operation: int, width: int, flights: int) -> Kernel:
    """What one of the kernels must hold."""
    loads = flights * ARRAYS_READ[operation]
    stores = 0 if operation == READ else flights
    ptx = {rf"{LOAD[space]}\.{WORDS[width]} [%{{]": loads}
    if space in STORE:
        ptx[rf"{STORE[space]}\.{WORDS[width]} \["] = stores
    if space == SHARED:
        # The block's words are laid down, and read back, by accesses of another spelling.
        load, store = rf"LDS{SUFFIX[width]} ", rf"STS{SUFFIX[width]} "
        sass = {}
    else:
        load, store = rf"LDG\.E{SUFFIX[width]}{CACHE[space]} ", rf"STG\.E{SUFFIX[width]} "
        sass = {r"LDG\..*": loads, r"STG\..*": stores}
        arrays = ARRAYS_READ[operation] + (operation != READ)
        ptx |= {rf"add\.s64\s+%rd\d+, %rd\d+, {n * 32 * width};": arrays for n in range(1, flights)}
    return Kernel(
        name=rf"6streamIL.*LevelE{space}EL.*OperationE{operation}ELj{width}ELj{flights}E",
        ptx=ptx,
        sass=sass,
        sass_in_loops=dict(sass),
        order=tuple(
            # A block lays its words in shared memory, and adds them up, in loops of its own.
            Order(ptx, sass, turn=turn, chains=0, loops=0 if space == SHARED else 1)
            for ptx, sass, turn in (
                (rf"{LOAD[space]}\.{WORDS[width]} [%{{]", load, loads),
                (rf"{STORE.get(space)}\.{WORDS[width]} \[", store, stores),
            )
            if turn
        ),
    )


def flights(space: int, operation: int) -> tuple[int, ...]:
    """The accesses in flight that there are kernels for."""
    if space == SHARED:
        return (1, 2, 4) if operation == READ else (1, 4)
    return (1, 4, 8) if operation in (TRIAD, UPDATE) else (1, 2, 4, 8, 16)


CONTRACT = Contract(
    kernels=tuple(
        kernel(space, operation, width, count)
        for space, operations in (
            (NEAR, (READ,)),
            (FAR, tuple(ARRAYS_READ)),
            (SHARED, tuple(ARRAYS_READ)),
        )
        for operation in operations
        for width in WORDS
        for count in flights(space, operation)
    ),
    # Accesses of 32 bytes are left out of code for chips that have none.
    others=("ELj32ELj",),
)
