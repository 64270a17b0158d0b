"""As rungs one_launch and fast_math: roots and divisions as in C++, or one special function."""

from contract import Contract
from rung_contract import LAYOUTS, fast, plain


def kernel(layout: str, math: str, moves: int) -> str:
    return rf"7step_ofINS_{len(layout)}{layout}ENS0_{len(math)}{math}ELb{moves}E"


CONTRACT = Contract(
    kernels=tuple(
        one
        for layout in ("Aos", "Soa", "Soaoas")
        for moves in (0, 1)
        for one in (
            plain(kernel(layout, "Plain", moves), shared=1, loads=LAYOUTS[layout]),
            fast(kernel(layout, "Fast", moves), 1, shared=1, loads=LAYOUTS[layout]),
        )
    ),
)
