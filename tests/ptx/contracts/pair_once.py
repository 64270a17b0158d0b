"""Each pair once: a turn hands a body and its reaction on by seven shuffles."""

from contract import Contract
from rung_contract import TWO_SIDED, banks_apart, fast

HANDED_ON = 7
WORDS = 4
"""Of the body that is handed on: they are read apart, the warp's own bodies by one load each."""
BESIDE = 12
"""Counter and branch, and what asks whether all lanes are there: that takes sm_75 nine of them."""

CONTRACT = Contract(
    kernels=tuple(
        fast(
            rf"4meetILj{per_thread}E",
            per_thread,
            arithmetic=TWO_SIDED,
            shuffles=HANDED_ON,
            beside=BESIDE,
            loads=per_thread + WORDS,
            more=banks_apart,
        )
        for per_thread in (4, 8, 12, 16)
    ),
    others=("8end_stepI",),
)
