"""Steps of multiply-adds, products and powers of two, as many of each as the mix says.

The multiply-adds of inline asm square a number; those of C++ add up powers of two. A mix whose
instructions were merged or dropped would draw less power, and hold a higher clock than it should.
"""

from contract import Contract, Kernel
from dependencies import Order

CHAINS = 8
PRODUCTS = 4

# Mix -> its number in the enumeration, steps of a turn, and of a step: squares, products, powers.
MIXES = {
    "fma": (0, 512, 1, 0, 0),
    "tensor": (1, 64, 0, 1, 0),
    "idle_lanes": (3, 512, 1, 0, 0),
    "mufu": (4, 128, 1, 0, 1),
    "fma_tensor": (5, 64, 4, 1, 0),
    "fma_tensor_mufu": (6, 64, 4, 1, 1),
}
SQUARE = (r"fma\.rn\.f32 %", r"FFMA R\d+, R\d+(?:\.reuse)?, R")
SUM = (r"fma\.rn\.f32 \t", r"FFMA R\d+, R\d+(?:\.reuse)?, 0\.5, R")
PRODUCT = (r"mma\.sync\.aligned\.m16n8k16\.row\.col\.f32\.f16\.f16\.f32 ", r"HMMA\.16816\.F32 ")
POWER = r"\bex2\.approx\.ftz\.f32 %"
IN_FLIGHT = 8


def work(number: int, steps: int, squares: int, products: int, powers: int) -> Kernel:
    """What the kernel of a mix must hold."""
    orders = (
        (SQUARE, squares, CHAINS),
        (SUM, powers, CHAINS),
        (PRODUCT, products, PRODUCTS),
    )
    return Kernel(
        name=rf"4workIL.*MixE{number}E",
        ptx={
            SQUARE[0]: squares * steps,
            r"\bfma\.rn\.f32": (squares + powers) * steps,
            rf"\b{PRODUCT[0]}": products * steps,
            POWER: powers * steps,
            "%clock64": 2,
        },
        sass={},
        sass_in_loops={
            r"FFMA(\.FTZ)?": (squares + powers) * steps,
            r"HMMA\..*": products * steps,
            r"MUFU\.EX2": powers * steps,
            r"MUFU\..*": powers * steps,
        },
        order=tuple(
            Order(ptx, sass, turn=count * steps, chains=chains)
            for (ptx, sass), count, chains in orders
            if count
        ),
    )


CONTRACT = Contract(
    kernels=(
        *(work(*mix) for mix in MIXES.values()),
        Kernel(
            name="4walkE",
            ptx={r"ld\.global\.cg\.v4\.u32 \{": IN_FLIGHT, r"ld\.global": IN_FLIGHT},
            sass={r"LDG\..*": IN_FLIGHT},
            sass_in_loops={r"LDG\.E\.128\.STRONG\.GPU": IN_FLIGHT},
            order=Order(
                r"ld\.global\.cg\.v4\.u32 \{", r"LDG\.E\.128\.STRONG\.GPU ", IN_FLIGHT, chains=0
            ),
        ),
    ),
)
