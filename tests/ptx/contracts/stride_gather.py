"""Rounds of loads of three widths, past L1, at a stride or at places computed in registers.

A load may not be used before the last load of its round was issued: ptxas likes to add up early,
to save registers, and then less is in flight than the case says.
"""

import re
from collections.abc import Callable, Iterator

from contract import Contract, Kernel

FLIGHTS = {4: 8, 8: 4, 16: 4}
PTX = {4: "u32", 8: r"v2\.u32", 16: r"v4\.u32"}
SASS = {4: "", 8: r"\.64", 16: r"\.128"}


def loops(body: str) -> Iterator[list[str]]:
    """The instructions of each loop of a listing, as far as its backward branch."""
    instructions = [
        (int(address, 16), text)
        for address, text in re.findall(r"^\s+/\*([0-9a-f]+)\*/\s+([^;]*);", body, re.MULTILINE)
    ]
    for address, text in instructions:
        target = re.search(r"\bBRA\b.*?0x([0-9a-f]+)\s*$", text)
        if target and int(target[1], 16) < address:
            yield [one for at, one in instructions if int(target[1], 16) <= at <= address]


def used_early(loop: list[str], words: int) -> bool:
    """Whether something needs a loaded register before the last of the loads was issued."""
    pending: set[int] = set()
    left = sum("LDG." in text for text in loop)
    for text in loop:
        registers = [int(number) for number in re.findall(r"\bR(\d+)\b", text)]
        if "LDG." in text:
            if pending & set(registers[1:]):
                return True
            pending |= set(range(registers[0], registers[0] + words))
            left -= 1
            if left == 0:
                return False
        elif pending & set(registers):
            return True
    return False


def in_flight(width: int) -> Callable[[str], Iterator[str]]:
    """Complain unless one loop holds all loads, and all are under way at once."""

    def diagnostics(body: str) -> Iterator[str]:
        rounds = [
            loop for loop in loops(body) if sum("LDG." in text for text in loop) == FLIGHTS[width]
        ]
        if not rounds:
            yield f"no loop holds {FLIGHTS[width]} loads"
        elif all(used_early(loop, width // 4) for loop in rounds):
            yield "a loaded word is used before the last load was issued"

    return diagnostics


CONTRACT = Contract(
    kernels=tuple(
        Kernel(
            name=rf"5sweepILj{width}ELb{gather}E",
            ptx={
                rf"ld\.global\.cg\.{PTX[width]} [%{{]": FLIGHTS[width],
                r"ld\.global": FLIGHTS[width],
                r"mad\.wide\.u32": FLIGHTS[width],
            },
            sass={r"LDG\..*": FLIGHTS[width]},
            sass_in_loops={
                rf"LDG\.E{SASS[width]}\.STRONG\.GPU": FLIGHTS[width],
            },
            more=in_flight(width),
        )
        for width in FLIGHTS
        for gather in (0, 1)
    ),
)
