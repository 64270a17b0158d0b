"""What the warps of each n-body rung waited for, as counted."""

from collections.abc import Mapping
from typing import NamedTuple

from strata.ladder import rungs as ladder
from strata.run import Row, Run

STATES: Mapping[str, str] = {
    "selected": "issues",
    "not_selected": "ready, another issues",
    "wait": "fixed latency",
    "math_pipe_throttle": "arithmetic pipe full",
    "short_scoreboard": "shared memory, special functions",
    "mio_throttle": "queue of these full",
    "long_scoreboard": "L1, L2, device memory",
    "lg_throttle": "queue of L1 full",
    "dispatch_stall": "dispatch, register ports",
    "barrier": "barrier",
    "branch_resolving": "branch",
    "imc_miss": "constant cache",
    "no_instruction": "instruction cache",
}
"""Of the counted states those that matter here, in the order in which they are stacked."""
WORKING = ("selected", "not_selected")
"""States of a warp in which it does not wait."""


class Stalls(NamedTuple):
    """How the warps of a rung spent their time: warps per issued instruction, by state.

    `shares` are of the warps' time, with `other` for the part without a named state. `most_waited`
    is the named state with the longest waits; None if none was counted.
    """

    rung: str
    states: Mapping[str, Row]
    all_states: Row
    utilisation: Row | None
    shares: Mapping[str, float]
    most_waited: str | None


def stalls(run: Run) -> tuple[Stalls, ...]:
    """The fastest counted case of each rung, then those of another size."""
    cases = ladder.Cases(run)
    rates = [row for row in cases.having(ladder.RATE) if stalls_of(row, cases)]
    return tuple(one for row in cases.fastest(rates) if (one := stalls_of(row, cases)))


def stalls_of(row: Row, cases: ladder.Cases) -> Stalls | None:
    """The stalls of the case of a row; None if they were not counted."""
    whole = cases.get(row, "stall_all")
    if whole is None or whole.value <= 0:
        return None
    states = {name: one for name in STATES if (one := cases.get(row, f"stall_{name}"))}
    shares = {name: one.value / whole.value for name, one in states.items()}
    shares |= {"other": max(0.0, 1 - sum(shares.values()))}
    waits = (name for name in states if name not in WORKING)
    most_waited = max(waits, key=lambda name: states[name].value, default=None)
    issued = cases.get(row, "issue_utilisation")
    return Stalls(row.benchmark, states, whole, issued, shares, most_waited)
