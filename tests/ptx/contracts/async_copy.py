"""Tiles into shared memory, one at a time (fetch) and several at once (stream), by seven methods.

Copies by threads are unrolled, so that several of a thread are in flight; through registers as many
as there are left, of eight, four, two and one, all loaded before the first is stored. A stream
requests in two places: before its loop and in it.

Two builds of the same kernels once differed by 14 to 49 %, because ptxas computed the address of
shared memory again for each tile (S2UR SR_CgaCtaId), and stored after two loads instead of four.
"""

import re
from collections.abc import Callable, Iterator
from itertools import groupby

from contract import Contract, Kernel
from sass_listing import Instruction, in_loops, opcodes

BATCHES = (8, 4, 2, 1)
BATCH = sum(BATCHES)
UNROLL = 4
PLACES = {"5fetch": 1, "6stream": 2}
BARRIER = r"BAR\.SYNC\.DEFER_BLOCKING"
TIMED_BARRIERS = {"5fetch": 2, "6stream": 1}
STAMPED = {r"BPT\.TRAP": 2}
"""Each clock waits for a word behind the barrier before it."""
SHARED = r"st\.shared\.v4\.u32"
WORDS = {"5fetch": 12, "6stream": 13}
"""Loads of words of shared memory in PTX. Three of them keep addresses in registers."""


def timed(body: str) -> list[Instruction]:
    """The instructions between the clocks, without what ptxas puts behind the kernel's end."""
    instructions = opcodes(body)
    clocks = [n for n, (_, _, operands) in enumerate(instructions) if "SR_CLOCKLO" in operands]
    return instructions[clocks[0] : clocks[-1]]


def same_addresses(body: str) -> Iterator[str]:
    """Diagnostics of a timed loop that reads special registers, as addresses need them.

    A load from another block's shared memory needs the window of generic addresses.
    """
    again = [
        rest.strip()
        for _, op, rest in in_loops(timed(body))
        if re.match(r"S2U?R\b", op) and "SR_SWINHI" not in rest
    ]
    if again:
        yield f"the timed loop reads {', '.join(again)}"


def whole_batches(places: int, load: str, barriers: int) -> Callable[[str], Iterator[str]]:
    def diagnostics(body: str) -> Iterator[str]:
        yield from same_addresses(body)
        instructions = timed(body)
        kinds = [op for _, op, _ in instructions if re.fullmatch(rf"{load}|STS\.128", op)]
        runs = [len(list(run)) for _, run in groupby(kinds)]
        expected = [size for size in BATCHES * places for _ in ("loads", "stores")]
        if runs != expected:
            yield f"loads and stores in turns of {runs}, not {expected}"
        found = sum(re.fullmatch(BARRIER, op) is not None for _, op, _ in in_loops(instructions))
        if found != barriers:
            yield f"{found} barriers in the timed loop, not {barriers}"

    return diagnostics


def through_registers(number: int, load: str, opcode: str) -> list[Kernel]:
    return [
        Kernel(
            name=rf"{kernel}ILNS0_10CopyMethodE{number}E",
            ptx={
                load: BATCH * places,
                SHARED: BATCH * places,
                r"cp\.async": 0,
                r"ld\.shared\.u32": WORDS[kernel],
                r"bar\.warp\.sync": (len(BATCHES) - 1) * places,
            },
            sass={opcode: BATCH * places, r"STS\.128": BATCH * places, **STAMPED},
            sass_in_loops={opcode: BATCH * places, r"STS\.128": BATCH * places},
            more=whole_batches(places, opcode, TIMED_BARRIERS[kernel]),
        )
        for kernel, places in PLACES.items()
    ]


def by_element(number: int, ptx: str, opcode: str) -> list[Kernel]:
    """Four in a row, with a way out after each."""
    return [
        Kernel(
            name=rf"{kernel}ILNS0_10CopyMethodE{number}E",
            ptx={
                ptx: UNROLL * places,
                r"ld\.shared\.u32": WORDS[kernel],
                r"cp\.async\.c[ag]": UNROLL * places,
                r"cp\.async\.commit_group": places,
                rf"cp\.async\.wait_group {0 if places == 1 else 3};": 1,
            },
            sass={
                r"LDGSTS\..*": UNROLL * places,
                r"LDGDEPBAR": places,
                r"DEPBAR\.LE": 1,
                **STAMPED,
            },
            sass_in_loops={
                opcode: UNROLL * places,
                r"LDGDEPBAR": places,
                r"DEPBAR\.LE": 1,
                BARRIER: TIMED_BARRIERS[kernel],
            },
            more=same_addresses,
        )
        for kernel, places in PLACES.items()
    ]


def by_engine(number: int, ptx: str, opcode: str) -> list[Kernel]:
    return [
        Kernel(
            name=rf"{kernel}ILNS0_10CopyMethodE{number}E",
            ptx={
                ptx: places,
                r"ld\.shared\.u32": WORDS[kernel],
                r"cp\.async\.bulk": places,
                r"mbarrier\.arrive\.expect_tx\.release\.cta\.shared::cta\.b64": places,
                r"mbarrier\.try_wait\.parity\.shared::cta\.b64": 1,
                r"mbarrier\.init\.shared\.b64": 1 if places == 1 else UNROLL,
                r"fence\.mbarrier_init\.release\.cluster": 1,
                r"fence\.proxy\.async": 1,
            },
            sass={
                r"(?:UBLKCP|UTMA).*": places,
                r"SYNCS\.ARRIVE\.TRANS64": places,
                **STAMPED,
            },
            sass_in_loops={opcode: places, r"SYNCS\.ARRIVE\.TRANS64": places},
            more=same_addresses,
        )
        for kernel, places in PLACES.items()
    ]


CONTRACT = Contract(
    kernels=(
        *through_registers(0, r"ld\.global\.cg\.v4\.u32", r"LDG\.E\.128\.STRONG\.GPU"),
        *by_element(1, r"cp\.async\.ca\.shared\.global \[%\w+\], \[%\w+\], 4", r"LDGSTS\.E"),
        *by_element(2, r"cp\.async\.ca\.shared\.global \[%\w+\], \[%\w+\], 8", r"LDGSTS\.E\.64"),
        *by_element(
            3,
            r"cp\.async\.cg\.shared\.global \[%\w+\], \[%\w+\], 16",
            r"LDGSTS\.E\.BYPASS\.128",
        ),
        *by_engine(4, r"cp\.async\.bulk\.shared::cluster\.global\.mbarrier", r"UBLKCP\.S\.G"),
        *by_engine(
            6,
            r"cp\.async\.bulk\.tensor\.2d\.shared::cta\.global\.tile\.mbarrier",
            r"UTMALDG\.2D",
        ),
        *through_registers(5, r"ld\.shared::cluster\.v4\.u32", r"LD\.E\.128"),
    ),
)
