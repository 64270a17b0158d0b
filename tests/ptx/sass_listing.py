"""Reading a SASS listing, as cuobjdump writes one for each kernel."""

from __future__ import annotations

import re
from collections.abc import Sequence

Instruction = tuple[int, str, str]
"""Address, opcode and operands."""


def opcodes(body: str) -> list[Instruction]:
    """Every instruction of a listing."""
    return [
        (int(address, 16), opcode, rest)
        for address, opcode, rest in re.findall(
            r"^\s+/\*([0-9a-f]+)\*/\s+(?:@!?U?P\w+\s+)?([A-Z0-9_.]+)([^;]*);", body, re.MULTILINE
        )
    ]


def loops(instructions: Sequence[Instruction]) -> list[tuple[int, int]]:
    """First and last address of each loop: a backward branch's target, and the branch."""
    found = []
    for address, opcode, rest in instructions:
        target = re.search(r"0x([0-9a-f]+)\s*$", rest) if opcode.startswith("BRA") else None
        if target and int(target[1], 16) < address:
            found.append((int(target[1], 16), address))
    return found


def in_loops(instructions: Sequence[Instruction]) -> list[Instruction]:
    """Those that lie between a backward branch and its target.

    ptxas takes a load whose address does not change out of its loop, even one from volatile asm:
    the loop then times nothing, and looks very fast.
    """
    around = loops(instructions)
    return [one for one in instructions if any(low <= one[0] <= high for low, high in around)]


def innermost_loops(instructions: Sequence[Instruction]) -> list[list[Instruction]]:
    """The instructions of each loop that has no other within it."""
    around = set(loops(instructions))
    return [
        [one for one in instructions if low <= one[0] <= high]
        for low, high in sorted(around)
        if not any(low <= a and b <= high for a, b in around - {(low, high)})
    ]
