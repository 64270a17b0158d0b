"""Groups of multiply-adds and a partner: that the partners stand apart, as far as they should.

ptxas knows nothing of groups. Left to itself it gathers partners at the end of a loop or hoists
them to its start, and the time of a loop is then that of queues that run full and empty.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from contract import Contract, Kernel
from dependencies import Order
from sass_listing import Instruction, innermost_loops, opcodes

BODY = 384
BESIDE = 8
"""Instructions that close the loop."""
SIZES = (4, 8, 12, 16, 24, 48)
EDGES = 3
"""Gaps that may be off by more than one, where a loop begins and ends, or half of them all."""
FARTHEST = 7
"""By how much those may be off, and never so far that partners stand side by side."""

# Partner in the order of the enumeration -> PTX; SASS, opcode and operands. The instruction that
# closes the loop is an IADD3 as well, with a number or a uniform register among its operands.
PARTNERS: tuple[tuple[str, str, str], ...] = (
    ("", "", ""),
    (r"rsqrt\.approx\.ftz\.f32", r"MUFU\.RSQ", r".*"),
    (r"shfl\.sync\.idx\.b32", r"SHFL\.IDX", r".*"),
    (r"ld\.shared\.f32", r"LDS(\.U)?", r".*"),
    (
        r"add\.u32 %r\d+, %r\d+, %r\d+;\s*add\.u32",
        r"IADD3",
        r"\s*R\d+(, PT, PT)?(, R\d+(\.reuse)?){3}\s*",
    ),
)
# One factor from a uniform register or from constant memory: two registers of the lane to read.
MULTIPLY_ADD = r"\s*R\d+, R\d+(?:\.reuse)?, (?:UR\d+|c\[\S+\]\s?\[\S+\]), R\d+(?:\.reuse)?\s*"


def gaps_of(partner: int, loop: Sequence[Instruction]) -> list[int]:
    """Multiply-adds before the first partner of a loop, between two, and behind the last."""
    _, opcode, operands = PARTNERS[partner]
    gaps = [0]
    for _, name, rest in loop:
        if name == "FFMA":
            gaps[-1] += 1
        elif partner and re.fullmatch(opcode, name) and re.fullmatch(operands, rest):
            gaps.append(0)
    return gaps


def spaced(partner: int, size: int) -> Callable[[str], Iterator[str]]:
    """Complain unless the loop is multiply-adds with a partner behind each group of them."""

    def diagnostics(listing: str) -> Iterator[str]:
        loops = [loop for loop in innermost_loops(opcodes(listing)) if len(loop) > BODY]
        if len(loops) != 1:
            yield f"{len(loops)} loops of {BODY} multiply-adds, not 1"
            return
        gaps = gaps_of(partner, loops[0])
        shaped = sum(
            name == "FFMA" and re.fullmatch(MULTIPLY_ADD, rest) is not None
            for _, name, rest in loops[0]
        )
        if shaped != BODY or sum(gaps) != BODY:
            yield f"{sum(gaps)} multiply-adds, {shaped} of them of the wanted form, not {BODY}"
        groups = BODY // size if partner else 0
        if len(gaps) - 1 != groups:
            yield f"{len(gaps) - 1} partners in the loop, not {groups}"
        if len(loops[0]) - BODY - groups > BESIDE:
            yield f"{len(loops[0]) - BODY - groups} instructions beside the groups"
        around = [*gaps[1:-1], gaps[0] + gaps[-1]] if partner else []
        off = [abs(gap - size) for gap in around]
        many = sum(one > 1 for one in off) > max(EDGES, groups // 2)
        if many or max(off, default=0) > min(FARTHEST, size - 1):
            yield f"partners with {around} multiply-adds between them, not {size}"

    return diagnostics


def mix(partner: int, size: int) -> Kernel:
    text = PARTNERS[partner][0]
    ptx = {r"fma\.rn\.f32": BODY, "%clock64": 2}
    return Kernel(
        name=rf"3mix.*PartnerE{partner}ELj{size}E",
        ptx=ptx | ({text: BODY // size} if text else {}),
        sass={},
        order=Order(r"fma\.rn\.f32", "FFMA", turn=BODY, chains=2) if partner == 0 else (),
        more=spaced(partner, size),
    )


CONTRACT = Contract(
    kernels=tuple(mix(partner, size) for partner in range(len(PARTNERS)) for size in SIZES),
)
