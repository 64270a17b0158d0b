"""A kernel that copies to or from the peer's memory, and one that follows a chain through it.

The copy has four elements in flight, then one at a time. A load of the chain needs the word that
the last one brought, and nothing stands between them but the addition that makes an address of it.
"""

from contract import Contract, Kernel
from dependencies import Order

IN_FLIGHT = 4
UNROLL = 16
ELEMENTS = {"5uint4": (r"v4\.\w?32", r"\.128"), "j": (r"u32|\w32", "")}

CONTRACT = Contract(
    kernels=(
        *(
            Kernel(
                name=f"carryI{element}E",
                ptx={
                    rf"ld\.global\.(?:{ptx}) ": IN_FLIGHT + 1,
                    rf"st\.global\.(?:{ptx}) ": IN_FLIGHT + 1,
                },
                sass={r"LDG\..*": IN_FLIGHT + 1, r"STG\..*": IN_FLIGHT + 1},
                sass_in_loops={
                    rf"LDG\.E{sass}(\.SYS)?": IN_FLIGHT + 1,
                    rf"STG\.E{sass}(\.SYS)?": IN_FLIGHT + 1,
                },
                clock=False,
                order=Order(r"ld\.global", r"LDG\.", turn=IN_FLIGHT, chains=0, step=0),
            )
            for element, (ptx, sass) in ELEMENTS.items()
        ),
        Kernel(
            name="12follow_chain",
            ptx={r"ld\.global\.cg\.u32": UNROLL, r"\bld\.global\.": UNROLL},
            # The trap makes the last clock wait for the last word.
            sass={r"LDG\..*": UNROLL, r"BPT\.TRAP": 1},
            sass_in_loops={r"LDG\.E\.STRONG\.GPU": UNROLL},
            order=Order(r"ld\.global", r"LDG\.", turn=UNROLL, chains=1, step=UNROLL),
        ),
    ),
)
