"""Tiles in shared memory, and one special function a pair."""

from contract import Contract
from rung_contract import LAYOUTS, fast

CONTRACT = Contract(
    kernels=tuple(
        fast(rf"7step_ofINS_{len(layout)}{layout}ELb{moves}E", 1, shared=1, loads=loads)
        for layout, loads in LAYOUTS.items()
        for moves in (0, 1)
    ),
)
