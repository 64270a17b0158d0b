"""Rounds of loads and stores of four widths, in memory and in shared memory, all under way at once.

A load may not be used before the last load of its round was issued: ptxas likes to add up early,
to save registers, and then less is in flight than the case says.
"""

import re
from collections.abc import Callable, Iterator

from contract import Contract, Kernel

SHARED, NEAR, FAR = range(3)
READ, WRITE, COPY, TRIAD, UPDATE = range(5)
ARRAYS_READ = {READ: 1, WRITE: 0, COPY: 1, TRIAD: 2, UPDATE: 1}
WORDS = {4: "u32", 8: r"v2\.u32", 16: r"v4\.u32"}
SUFFIX = {4: "", 8: r"\.64", 16: r"\.128"}
LOAD = {NEAR: r"ld\.global\.ca", FAR: r"ld\.global\.cg", SHARED: r"ld\.shared"}
STORE = {FAR: r"st\.global", SHARED: r"st\.shared"}
CACHE = {NEAR: r"\.STRONG\.SM", FAR: r"\.STRONG\.GPU"}

Instructions = list[tuple[int, str]]


def loops(body: str) -> Iterator[Instructions]:
    """The instructions of each loop of a listing, as far as its backward branch."""
    instructions = [
        (int(address, 16), text)
        for address, text in re.findall(r"^\s+/\*([0-9a-f]+)\*/\s+([^;]*);", body, re.MULTILINE)
    ]
    for address, text in instructions:
        target = re.search(r"\bBRA\b.*?0x([0-9a-f]+)\s*$", text)
        if target and int(target[1], 16) < address:
            yield [one for one in instructions if int(target[1], 16) <= one[0] <= address]


def early(loop: Instructions, load: str, words: int) -> bool:
    """Whether something needs a loaded register before the last of the loads was issued."""
    pending: set[int] = set()
    left = sum(re.search(load, text) is not None for _, text in loop)
    for _, text in loop:
        registers = [int(number) for number in re.findall(r"\bR(\d+)\b", text)]
        if re.search(load, text):
            if pending & set(registers[1:]):
                return True
            pending |= set(range(registers[0], registers[0] + words))
            left -= 1
            if left == 0:
                return False
        elif pending & set(registers):
            return True
    return False


def round_holds(
    load: str, loads: int, store: str, stores: int, words: int
) -> Callable[[str], Iterator[str]]:
    """Complain unless one loop holds just these accesses, its loads all under way at once."""

    def diagnostics(body: str) -> Iterator[str]:
        def fits(loop: Instructions) -> bool:
            return (
                sum(re.search(load, text) is not None for _, text in loop) == loads
                and sum(re.search(store, text) is not None for _, text in loop) == stores
            )

        rounds = [loop for loop in loops(body) if fits(loop)]
        if not rounds:
            yield f"no loop holds {loads} of {load} and {stores} of {store}"
        elif loads and all(early(loop, load, words) for loop in rounds):
            yield "a loaded word is used before the last load was issued"

    return diagnostics


def kernel(space: int, operation: int, width: int, flights: int) -> Kernel:
    """What one of the kernels must hold."""
    loads = flights * ARRAYS_READ[operation]
    stores = 0 if operation == READ else flights
    ptx = {rf"{LOAD[space]}\.{WORDS[width]} [%{{]": loads}
    if space in STORE:
        ptx[rf"{STORE[space]}\.{WORDS[width]} \["] = stores
    if space == SHARED:
        # The block's words are laid down, and read back, by accesses of another spelling.
        load, store = rf"\bLDS{SUFFIX[width]} ", rf"\bSTS{SUFFIX[width]} "
        sass = {}
    else:
        load = rf"\bLDG\.E{SUFFIX[width]}{CACHE[space]} "
        store = rf"\bSTG\.E{SUFFIX[width]} "
        sass = {r"LDG\..*": loads, r"STG\..*": stores}
    return Kernel(
        name=rf"6streamIL.*LevelE{space}EL.*OperationE{operation}ELj{width}ELj{flights}E",
        ptx=ptx,
        sass=sass,
        sass_in_loops=dict(sass),
        more=round_holds(load, loads, store, stores, width // 4),
    )


def flights(space: int, operation: int) -> tuple[int, ...]:
    """The accesses in flight that there are kernels for."""
    if space == SHARED:
        return (1, 2, 4) if operation == READ else (1, 4)
    return (1, 2, 4, 8, 16) if operation == READ else (1, 4, 8)


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
