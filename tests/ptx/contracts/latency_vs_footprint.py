"""Dependent chains through every window of memory: a loop that warms up, and one that is timed.

A step of a chain is one load and nothing else: an address that needed arithmetic would be inside
the number.
"""

import re
from collections.abc import Callable, Iterator

from contract import Contract, Kernel
from dependencies import Order

UNROLL = 16
LOOPS = 2
LOADS = LOOPS * UNROLL
BESIDE = 3
"""Instructions that a loop may hold between its first load and its last: its counter's."""


def nothing_but_loads(load: str) -> Callable[[str], Iterator[str]]:
    """Complain of what stands between the loads of a loop."""

    def diagnostics(body: str) -> Iterator[str]:
        code = re.findall(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z0-9_.]+)([^;]*);", body)
        marks = "".join(
            "L" if re.fullmatch(load, opcode) and "c[0x0]" not in rest else "."
            for opcode, rest in code
        )
        walk = r"L\.*" * (UNROLL - 1) + "L"
        walks = re.findall(walk, marks)
        if len(walks) != LOOPS:
            yield f"{len(walks)} rows of {UNROLL} loads, not {LOOPS}"
        for number, row in enumerate(walks):
            if row.count(".") > BESIDE:
                yield f"row {number} of loads holds {row.count('.')} other instructions"

    return diagnostics


def chain(name: str, ptx: str, sass: str) -> Kernel:
    """A kernel of two loops of such loads, which has no others of the kind."""
    return Kernel(
        name=name,
        ptx={ptx: LOADS},
        sass={sass: LOADS},
        sass_in_loops={sass: LOADS},
        order=Order(ptx.partition(" ")[0], sass, turn=UNROLL, chains=1, step=UNROLL, loops=LOOPS),
        more=nothing_but_loads(sass),
    )


def through_global(space: int, ptx: str, sass: str) -> Kernel:
    """Words are addresses of 64 bits."""
    return chain(
        rf"6followILNS0_5SpaceE{space}E",
        rf"ld\.{ptx}\.u64 (%\w+), \[\1\]",
        rf"LDG\.E\.64\.{sass}",
    )


CONTRACT = Contract(
    kernels=(
        through_global(0, r"global\.ca", r"STRONG\.SM"),
        through_global(1, r"global\.cg", r"STRONG\.GPU"),
        through_global(2, r"global\.nc", "CONSTANT"),
        through_global(6, r"volatile\.global", r"STRONG\.SYS"),
        chain("13follow_shared", r"ld\.shared\.u32 (%\w+), \[\1\]", "LDS"),
        Kernel(
            name="15follow_constant",
            ptx={r"ld\.const\.u32\s": LOADS},
            sass={},  # parameters are loaded by the same opcode
            sass_in_loops={"LDC": LOADS},
            order=Order(r"ld\.const", r"LDC", turn=UNROLL, chains=1, step=UNROLL, loops=LOOPS),
            more=nothing_but_loads("LDC"),
        ),
        chain("14follow_texture", r"tex\.1d\.v4\.u32\.s32 ", r"TLD\.LZ"),
    ),
)
