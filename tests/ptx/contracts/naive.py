"""Every body read from memory, in whatever loads its layout has; roots and divisions as in C++."""

from contract import Contract
from rung_contract import LAYOUTS, plain

CONTRACT = Contract(
    kernels=tuple(
        plain(rf"10accelerateINS_{len(layout)}{layout}E", shared=0, loads=loads)
        for layout, loads in LAYOUTS.items()
    ),
    others=("4moveI",),
)
