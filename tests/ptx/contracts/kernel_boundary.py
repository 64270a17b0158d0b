"""One load past L1, one store of the changed word, one reading of the timer; a wait if it may.

What starts before the end of the kernel before must wait for it before it loads.
"""

import re
from collections.abc import Iterator

from contract import Contract, Kernel


def waits_first(listing: str) -> Iterator[str]:
    """Complain where the word is loaded before the results of the kernel before have arrived."""
    wait, load = re.search(r"\bACQBULK\b", listing), re.search(r"\bLDG\.E\.STRONG", listing)
    if wait is None or load is None or wait.start() > load.start():
        yield "the load does not wait for the kernel before"


def kernel(*, programmatic: bool) -> Kernel:
    return Kernel(
        name=rf"hand_onILb{int(programmatic)}E",
        ptx={
            r"ld\.global\.cg\.u32": 1,
            r"st\.global\.u32": 1,
            r"%globaltimer": 1,
            r"griddepcontrol\.wait": int(programmatic),
            r"griddepcontrol\.launch_dependents": int(programmatic),
        },
        sass={r"LDG\.E\.STRONG\.GPU": 1, r"STG\.E": 1},
        clock=False,
        **({"more": waits_first} if programmatic else {}),
    )


CONTRACT = Contract(kernels=(kernel(programmatic=False), kernel(programmatic=True)))
