"""What the inner loop of a rung of the n-body ladder must hold, in a few lines a rung.

A rung's number is the time of that loop. A body that is read twice, a reciprocal square root with
code around it for numbers too small to be normal, an index that is worked out anew for each body:
each costs an instruction or more a pair, and the result is as right as before.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from contract import Kernel
from sass_listing import Instruction, innermost_loops, opcodes

Diagnostics = Callable[[str], Iterator[str]]

LAYOUTS = {"Aos": 4, "Soa": 4, "Aoas": 2, "Soaoas": 1, "Aosoa32": 4}
"""Loads that position and mass of a body take."""

# The machine code of one pair: of an interaction, and of one that serves both of its bodies.
ROOT = r"MUFU\.RSQ"
ONE_SIDED = {"FADD": 3, "FMUL": 3, "FFMA": 6, ROOT: 1}
TWO_SIDED = {"FADD": 3, "FMUL": 4, "FFMA": 9, ROOT: 1}
# Square root and division as IEEE 754 wants them: an approximation, steps that make it right, and a
# call for operands that the steps cannot serve.
IEEE = {ROOT: 1, r"MUFU\.RCP": 1, r"CALL\..*": 2}

SHARED = r"LDS(\.U)?\.128"
SHUFFLE = r"SHFL\..*"


def inner_loop(listing: str, most: str = ROOT) -> list[Instruction]:
    """The loop with the most instructions `most` of those that have no other within them."""

    def wanted(loop: Sequence[Instruction]) -> int:
        return sum(re.fullmatch(most, opcode) is not None for _, opcode, _ in loop)

    return max(innermost_loops(opcodes(listing)), key=wanted, default=[])


def turn(holds: dict[str, int], beside: int | None, most: str = ROOT) -> Diagnostics:
    """Complain unless one turn of the inner loop holds just these, of shared loads no others.

    beside: what it may issue besides, at the most. most: what there is more of than in other loops.
    """

    def diagnostics(listing: str) -> Iterator[str]:
        loop = inner_loop(listing, most)
        left = len(loop)
        for pattern, expected in holds.items():
            found = sum(re.fullmatch(pattern, opcode) is not None for _, opcode, _ in loop)
            left -= found
            if found != expected:
                yield f"{found} {pattern} in the inner loop, not {expected}"
        loads = sum(opcode.startswith("LDS") for _, opcode, _ in loop)
        if loads != holds.get(SHARED, 0):
            yield f"{loads} loads of shared memory in the inner loop, not {holds.get(SHARED, 0)}"
        if beside is not None and left > beside:
            yield f"{left} instructions in the inner loop beside those wanted, not {beside} or less"

    return diagnostics


def both(first: Diagnostics, second: Diagnostics) -> Diagnostics:
    """The diagnostics of both."""

    def diagnostics(listing: str) -> Iterator[str]:
        yield from first(listing)
        yield from second(listing)

    return diagnostics


def fast(
    name: str,
    pairs: int,
    *,
    arithmetic: dict[str, int] = ONE_SIDED,
    shared: int = 0,
    words: int = 0,
    shuffles: int = 0,
    others: dict[str, int] | None = None,
    beside: int = 4,
    rest: int = 0,
    loads: int | None = None,
    ptx: dict[str, int] | None = None,
    more: Diagnostics | None = None,
) -> Kernel:
    """A kernel that has the special function unit find its reciprocal square roots.

    pairs, shared, shuffles, others, beside: of one turn of the inner loop: pairs, loads of a whole
        body from shared memory, shuffles, other instructions that are wanted; and what else it may
        hold, its own counter and branch.
    words: single words that the kernel reads from shared memory outside of that loop.
    rest: pairs of a second loop, for what is left over by an unrolled one.
    loads: of global memory, in all loops.
    """
    holds = {opcode: pairs * count for opcode, count in arithmetic.items()}
    if shared:
        holds[SHARED] = shared
    holds |= {SHUFFLE: shuffles} | (others or {})
    held = turn(holds, beside)
    return Kernel(
        name=name,
        ptx={
            r"\brsqrt\.approx\.ftz\.f32\b": pairs + rest,
            r"\brsqrt\.approx\.f32\b|\bsqrt\.|\b(?:rcp|div)\.": 0,
            r"\bld\.shared\.v4\.f32\b": shared,
            r"\bld\.shared\.(?!v4)": words,
            r"\bshfl\.sync\.": shuffles,
        }
        | (ptx or {}),
        sass={},
        sass_in_loops={} if loads is None else {r"LDG\..*": loads},
        clock=False,
        more=held if more is None else both(held, more),
    )


def plain(name: str, *, shared: int, loads: int) -> Kernel:
    """A kernel with square roots and divisions as C++ has them, and no pair beside another."""
    holds = IEEE | ({SHARED: shared} if shared else {})
    return Kernel(
        name=name,
        ptx={
            r"\bsqrt\.rn\.f32\b": 1,
            r"\b(?:rcp|div)\.rn\.f32\b": 1,
            r"\b(?:r?sqrt|rcp|div)\.approx\b": 0,
            r"\bld\.shared\.v4\.f32\b": shared,
            r"\bld\.shared\.(?!v4)": 0,
        },
        sass={},
        sass_in_loops={r"LDG\..*": loads},
        clock=False,
        more=turn(holds, beside=None),
    )


def subtractions(listing: str) -> Iterator[bool]:
    """Of each subtraction in the inner loop: whether it reads two registers of one bank.

    The register file has a bank for even numbers and one for odd ones. A register that the
    instruction before has marked for reuse is not read again.
    """
    kept: set[str] = set()
    for _, opcode, operands in inner_loop(listing):
        registers = re.findall(r"\bR(\d+)\b", operands)
        if opcode == "FADD" and len(registers) == 3:
            _, a, b = registers
            yield int(a) % 2 == int(b) % 2 and not kept & {a, b}
        kept = set(re.findall(r"\bR(\d+)\.reuse\b", operands))


def banks_apart(listing: str) -> Iterator[str]:
    """Complain of subtractions that find both operands in one bank of the register file."""
    conflicts = sum(subtractions(listing))
    if conflicts:
        yield f"{conflicts} subtractions of the inner loop have both operands in one register bank"


def banks_shared(listing: str) -> Iterator[str]:
    """Complain unless nearly all do, for then there is nothing that rung register_banks changes."""
    conflicts = list(subtractions(listing))
    if sum(conflicts) < 0.8 * len(conflicts):
        yield (
            f"only {sum(conflicts)} of {len(conflicts)} subtractions of the inner loop have both "
            "operands in one register bank"
        )


def several(name: str, bodies: int, warps: int, more: Diagnostics) -> Kernel:
    """A kernel of nbody/gravity/several.cuh: so many bodies a thread, so many warps a block."""
    turns = 4 if bodies >= 8 else 8
    return fast(
        name,
        turns * bodies,
        shared=turns,
        # Totals: a sum is added to each at two places, and those of all warps at the end.
        words=6 * bodies + 3 * warps,
        beside=8,
        more=more,
    )
