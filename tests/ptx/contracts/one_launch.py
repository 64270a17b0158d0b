"""As rung tiled, for all systems at once."""

from contract import Contract
from rung_contract import LAYOUTS, plain

CONTRACT = Contract(
    kernels=tuple(
        plain(rf"7step_ofINS_{len(layout)}{layout}ELb{moves}E", shared=1, loads=loads)
        for layout, loads in LAYOUTS.items()
        for moves in (0, 1)
    ),
)
