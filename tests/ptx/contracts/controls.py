"""Each kernel does what is wrong with it, and without a mistake what is right."""

from contract import Contract, Kernel

UNROLL = 16
WALKS = 2
L1, L2 = 1, 2  # Access::global_ca, Access::global_cg
NONE, CLOCK_32, SPILLED = 0, 5, 6  # Mistake


def chase(access: int, mistake: int) -> str:
    return rf"chaseILNS_6AccessE{access}ELNS0_7MistakeE{mistake}E"


CONTRACT = Contract(
    kernels=(
        Kernel(
            name=chase(L1, NONE),
            ptx={r"ld\.global\.ca\.u64": WALKS * UNROLL, r"ld\.global": WALKS * UNROLL},
            sass={r"LDG\..*": WALKS * UNROLL},
            sass_in_loops={r"LDG\.E\.64\.STRONG\.SM": WALKS * UNROLL},
        ),
        Kernel(
            name=chase(L2, NONE),
            ptx={r"ld\.global\.cg\.u64": WALKS * UNROLL, r"ld\.global": WALKS * UNROLL},
            sass={r"LDG\..*": WALKS * UNROLL},
            sass_in_loops={r"LDG\.E\.64\.STRONG\.GPU": WALKS * UNROLL},
        ),
        # A load beside the walk that fills L1, which no address waits for.
        Kernel(
            name=chase(L1, 1),
            ptx={r"ld\.global\.ca\.u64": UNROLL + 1, r"%clock64": 4},
            sass={r"LDG\..*": UNROLL + 1},
        ),
        # Nothing but the walk that fills L1.
        Kernel(
            name=chase(L1, 2),
            ptx={r"ld\.global": UNROLL},
            sass={r"LDG\..*": UNROLL},
        ),
        Kernel(
            name=chase(L1, CLOCK_32),
            ptx={r"ld\.global\.ca\.u64": WALKS * UNROLL, r"mov\.u32 %\w+, %clock;": 2},
            sass={r"LDG\..*": WALKS * UNROLL},
            clock=False,
        ),
        Kernel(
            name=r"4readEPKc",
            ptx={r"ld\.global\.cg\.v4\.u32": 5, r"ld\.global": 5},
            sass={r"LDG\.E\.128\.STRONG\.GPU": 6},  # ptxas peels a round
        ),
    ),
    # What spills to local memory is refused where it measures.
    others=(r"4link", chase(L1, SPILLED)),
)
