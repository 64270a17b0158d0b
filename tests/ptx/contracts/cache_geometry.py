"""Chains through L1, past it and through constant memory; and neighbours that are timed one by one.

A step of a chain is one load and nothing else. A neighbour's load stands between two readings of
the clock, after the load before was waited for and before its own value is.
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

CODE = re.compile(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z0-9_.]+)([^;]*);")


def nothing_but_loads(load: str) -> Callable[[str], Iterator[str]]:
    """Complain of what stands between the loads of a walk."""

    def diagnostics(body: str) -> Iterator[str]:
        marks = "".join(
            "L" if re.fullmatch(load, opcode) and "c[0x0]" not in rest else "."
            for opcode, rest in CODE.findall(body)
        )
        walk = f"L\\.{{0,{BESIDE}}}" * (UNROLL - 1) + "L"
        walks = re.findall(walk, marks)
        if len(walks) != LOOPS:
            yield f"{len(walks)} rows of {UNROLL} loads, not {LOOPS}"
        for number, row in enumerate(walks):
            if row.count(".") > BESIDE:
                yield f"row {number} of loads holds {row.count('.')} other instructions"

    return diagnostics


def timed_alone(load: str) -> Callable[[str], Iterator[str]]:
    """Complain unless one load, its value awaited, stands between two readings of the clock."""

    def diagnostics(body: str) -> Iterator[str]:
        marks = "".join(
            "C" if "SR_CLOCKLO" in rest
            else "L" if re.fullmatch(load, opcode) and "c[0x0]" not in rest
            else "W" if opcode.startswith("ISETP") and "-0x1" in rest
            else "."
            for opcode, rest in CODE.findall(body)
        )  # fmt: skip
        # Nothing but moves, waits and branches in between.
        if len(re.findall(r"L[.]*W[.W]*C\.{0,2}L\.{0,2}W\.{0,2}C", marks)) != 1:
            yield "no load by itself between two readings of the clock"

    return diagnostics


def walk(level: int, ptx: str, sass: str) -> Kernel:
    """Words are addresses of 64 bits; before it, one loop brings in words of 32."""
    return Kernel(
        name=rf"6followILNS\d_5LevelE{level}E",
        ptx={
            rf"ld\.global\.{ptx}\.u64 (%\w+), \[\1\]": LOADS,
            rf"ld\.global\.{ptx}\.u32 ": 1,
        },
        sass={rf"LDG\.E\.64\.{sass}": LOADS, rf"LDG\.E\.{sass}": 1},
        sass_in_loops={rf"LDG\.E\.64\.{sass}": LOADS, rf"LDG\.E\.{sass}": 1},
        order=Order(
            r"ld\.global\.\w+\.u64", r"LDG\.E\.64", turn=UNROLL, chains=1, step=UNROLL, loops=LOOPS
        ),
        more=nothing_but_loads(rf"LDG\.E\.64\.{sass}"),
    )


def neighbours(level: int, ptx: str, sass: str) -> Kernel:
    """Two loads a trial."""
    return Kernel(
        name=rf"5probeILNS\d_5LevelE{level}E",
        ptx={rf"ld\.global\.{ptx}\.u32 ": 2},
        sass={r"LDG\..*": 2},
        sass_in_loops={rf"LDG\.E\.{sass}": 2, r"CS2R": 2},
        more=timed_alone(rf"LDG\.E\.{sass}"),
    )


CONTRACT = Contract(
    kernels=(
        walk(0, "ca", r"STRONG\.SM"),
        walk(1, "cg", r"STRONG\.GPU"),
        neighbours(0, "ca", r"STRONG\.SM"),
        neighbours(1, "cg", r"STRONG\.GPU"),
        Kernel(
            name="15follow_constant",
            ptx={r"ld\.const\.u32\s": LOADS},
            sass={},  # parameters are loaded by the same opcode
            sass_in_loops={"LDC": LOADS},
            order=Order(r"ld\.const", "LDC", turn=UNROLL, chains=1, step=UNROLL, loops=LOOPS),
            more=nothing_but_loads("LDC"),
        ),
        Kernel(
            name="14probe_constant",
            ptx={r"ld\.const\.u32\s": 3},
            sass={},
            sass_in_loops={"LDC": 3, r"CS2R": 2},
            more=timed_alone("LDC"),
        ),
    ),
)
