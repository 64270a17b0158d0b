"""A kernel that copies, for mapped host memory: four elements in flight, then one at a time."""

from contract import Contract, Kernel
from dependencies import Order

IN_FLIGHT = 4
ELEMENTS = {"5uint4": (r"v4\.\w?32", r"\.128"), "j": (r"u32|\w32", "")}

CONTRACT = Contract(
    kernels=tuple(
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
)
