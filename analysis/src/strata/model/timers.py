"""Do independent timers of one quantity agree?"""

from collections.abc import Sequence
from typing import NamedTuple

from strata.model.cases import CLOCKS
from strata.run import BOUNDS, Row

TIMER_TOLERANCE = BOUNDS["timer"]


class Agreement(NamedTuple):
    """One quantity of one case by a clock in the kernel (`reference`) and by another method.

    `level` is that of the timed access, empty without one.
    """

    level: str
    reference: Row
    other: Row

    @property
    def ratio(self) -> float:
        """The other method over the reference; 1 when they agree."""
        return self.other.value / self.reference.value

    @property
    def valid(self) -> bool:
        """Whether both rows are valid."""
        return self.reference.valid and self.other.valid


def agreements(rows: Sequence[Row]) -> tuple[Agreement, ...]:
    """Every quantity of a case by a clock in the kernel and by another method, in one unit.

    In the order of the rows.
    """
    in_kernel = [row for row in rows if row.method in CLOCKS and row.value > 0]
    clocks = {(row.case, row.quantity): row for row in reversed(in_kernel)}
    timed = {row.quantity for row in in_kernel}
    return tuple(
        Agreement(row.text("residency", row.text("level", "")), clock, row)
        for row in rows
        if row.quantity in timed
        if (clock := clocks.get((row.case, row.quantity)))
        if row is not clock and row.unit == clock.unit
    )
