"""Loads and stores of shared memory of three widths: one after the other, and eight in a round.

Filling shared memory and adding it up afterwards are accesses too, and how many of them ptxas
makes of a loop is its own affair: only those between the first and the last reading of the clock
are counted.
"""

import re
from collections.abc import Callable, Iterator

from contract import Contract, Kernel
from dependencies import Order

UNROLL = 16
ACCESSES = 8
VECTOR = {4: r"u32", 8: r"v2\.u32", 16: r"v4\.u32"}
SUFFIX = {4: "", 8: r"\.64", 16: r"\.128"}


def between_clocks(opcode: str, wanted: int) -> Callable[[str], Iterator[str]]:
    """Complain unless shared memory is accessed so often, and in this way alone, in the time."""

    def diagnostics(body: str) -> Iterator[str]:
        clocks = [match.start() for match in re.finditer(r"CS2R R\d+, SR_CLOCKLO", body)]
        if len(clocks) != 2:
            yield f"the clock is read {len(clocks)} times, not twice"
            return
        timed = body[clocks[0] : clocks[1]]
        found = re.findall(r"\*/\s+(?:@!?U?P\w+\s+)?((?:LDS|STS|ATOMS|LDSM)[A-Z0-9_.]*)", timed)
        if len(found) != wanted or not all(re.fullmatch(opcode, one) for one in found):
            yield f"{found} between the readings of the clock, not {wanted} {opcode}"

    return diagnostics


def load(width: int) -> str:
    """Turing says .U of a load whose address is in no uniform register."""
    return rf"LDS(\.U)?{SUFFIX[width]}"


def follow(width: int) -> Kernel:
    # One more load brings the program to the clock: of that one, only the first word is wanted.
    return Kernel(
        name=rf"6followILj{width}E",
        ptx={rf"ld\.shared\.{VECTOR[width]} [%{{]": UNROLL + 1},
        sass={},
        sass_in_loops={load(width): UNROLL},
        order=Order(r"ld\.shared", "LDS", turn=UNROLL, chains=1, step=UNROLL),
        more=between_clocks(load(width), UNROLL),
    )


def read(width: int) -> Kernel:
    return Kernel(
        name=rf"4readILj{width}E",
        ptx={rf"ld\.shared\.{VECTOR[width]} [%{{]": ACCESSES},
        sass={r"LDS.*": ACCESSES},
        sass_in_loops={load(width): ACCESSES},
        order=Order(r"ld\.shared", "LDS", turn=ACCESSES, chains=0, together=width < 16),
        more=between_clocks(load(width), ACCESSES),
    )


def write(width: int) -> Kernel:
    return Kernel(
        name=rf"5writeILj{width}E",
        ptx={rf"st\.shared\.{VECTOR[width]} \[": ACCESSES},
        sass={},
        order=Order(r"st\.shared", "STS", turn=ACCESSES, chains=0),
        more=between_clocks(rf"STS{SUFFIX[width]}", ACCESSES),
    )


CONTRACT = Contract(
    kernels=tuple(make(width) for width in VECTOR for make in (follow, read, write)),
)
