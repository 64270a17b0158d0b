"""Do independent timers of one quantity agree?"""

from collections.abc import Sequence
from typing import NamedTuple

from strata.model.cases import CLOCKS
from strata.run import BOUNDS, Row

TIMER_TOLERANCE = BOUNDS["timer"]


class Agreement(NamedTuple):
    """One quantity of one case by a clock in the kernel (`reference`) and by another method.

    `level` is that of the timed access, empty without one; `ratio` is of the other method to it.
    """

    level: str
    reference: Row
    other: Row
    ratio: float
    valid: bool


def agreements(rows: Sequence[Row]) -> tuple[Agreement, ...]:
    """Every quantity of a case by a clock in the kernel and by another method, in one unit.

    In the order of the rows.
    """
    in_kernel = (row for row in reversed(rows) if row.method in CLOCKS and row.value > 0)
    clocks = {(row.case, row.quantity): row for row in in_kernel}
    found = []
    for row in rows:
        clock = clocks.get((row.case, row.quantity), row)
        if row is not clock and row.unit == clock.unit:
            level, ratio = row.text("residency", row.text("level", "")), row.value / clock.value
            found.append(Agreement(level, clock, row, ratio, clock.valid and row.valid))
    return tuple(found)
