"""A chain of multiply-adds in a round, and behind it the store, the fence or the load."""

from contract import Contract, Kernel

STEPS = 64
FENCE = r"fence\.acq_rel\.gpu"
WORK, AFTER_FENCE, AFTER_LOAD = range(3)

CONTRACT = Contract(
    kernels=tuple(
        Kernel(
            name=rf"10store_thenILNS0_5AfterE{after}ELb{stores}E",
            ptx={
                r"mad\.lo\.u32 (%\w+), \1, %\w+, \d+": STEPS,
                r"st\.global\.u32 ": stores + 1,  # and a word of the stamp
                FENCE: int(after == AFTER_FENCE),
                r"ld\.global\.cg\.u32 ": 1 + int(after == AFTER_LOAD),
            },
            sass={r"LDG\..*": 1 + int(after == AFTER_LOAD)},
            sass_in_loops={
                "IMAD": STEPS,
                r"STG\..*": stores,
                r"MEMBAR\..*": int(after == AFTER_FENCE),
                r"LDG\..*": int(after == AFTER_LOAD),
            },
        )
        for after in (WORK, AFTER_FENCE, AFTER_LOAD)
        for stores in (0, 1)
    ),
)
