"""Tiles into shared memory, one at a time (fetch) and several at once (stream), by seven methods.

Copies by threads are unrolled, so that several of a thread are in flight; through registers as many
as there are left, of eight, four, two and one. A stream asks in two
places: before its loop and in it.
"""

from contract import Contract, Kernel

BATCH = 8 + 4 + 2 + 1
UNROLL = 4
PLACES = {"5fetch": 1, "6stream": 2}
BARRIER = r"BAR\.SYNC\.DEFER_BLOCKING"
TIMED_BARRIERS = {"5fetch": 2, "6stream": 1}
STAMPED = {r"BPT\.TRAP": 2}
"""Each clock waits for a word behind the barrier before it."""
SHARED = r"st\.shared\.v4\.u32"


def through_registers(number: int, load: str, opcode: str) -> list[Kernel]:
    return [
        Kernel(
            name=rf"{kernel}ILNS0_10CopyMethodE{number}E",
            ptx={load: BATCH * places, SHARED: BATCH * places, r"cp\.async": 0},
            sass={opcode: BATCH * places, r"STS\.128": BATCH * places, **STAMPED},
            sass_in_loops={
                opcode: BATCH * places,
                r"STS\.128": BATCH * places,
                BARRIER: TIMED_BARRIERS[kernel],
            },
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
        )
        for kernel, places in PLACES.items()
    ]


def by_engine(number: int, ptx: str, opcode: str) -> list[Kernel]:
    return [
        Kernel(
            name=rf"{kernel}ILNS0_10CopyMethodE{number}E",
            ptx={
                ptx: places,
                r"cp\.async\.bulk": places,
                r"mbarrier\.arrive\.expect_tx\.release\.cta\.shared::cta\.b64": places,
                r"mbarrier\.try_wait\.parity\.shared::cta\.b64": 1,
                r"mbarrier\.init\.shared\.b64": 1 if places == 1 else UNROLL,
                r"fence\.mbarrier_init\.release\.cluster": 1,
                r"fence\.proxy\.async": 1,
            },
            sass={r"(?:UBLKCP|UTMA).*": places, r"SYNCS\.ARRIVE\.TRANS64": places, **STAMPED},
            sass_in_loops={opcode: places, r"SYNCS\.ARRIVE\.TRANS64": places},
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
            6, r"cp\.async\.bulk\.tensor\.2d\.shared::cta\.global\.tile\.mbarrier", r"UTMALDG\.2D"
        ),
        *through_registers(5, r"ld\.shared::cluster\.v4\.u32", r"LD\.E\.128"),
    ),
)
