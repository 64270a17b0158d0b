"""Each pair once: a turn hands a body and its reaction on by seven shuffles."""

from contract import Contract
from rung_contract import TWO_SIDED, banks_apart, fast

HANDED_ON = 7
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
            loads=1,
            more=banks_apart,
        )
        for per_thread in (4, 8, 12, 16)
    ),
    others=("6gatherI", "8end_stepI"),
)
