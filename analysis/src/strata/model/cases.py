"""The rows of one case: what a benchmark measured at one point of its axes."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

from strata.run import Provenance, Row

CLOCKS = ("clock64_slope", "tsc_slope")
"""The methods that read a clock on the core that works."""

CYCLE_CLOCKS = ("core_clock", "tsc_frequency")
"""The rate of the clock that counts the cycles of a case: a core's, or of a CPU's time stamps."""

TIME_STAMPS = "tsc_over_monotonic"
"""The rate of a CPU's time-stamp counter, which is not the clock of its cores."""

NET = "cupti_net"
"""The method of counts without the kernel's own other loads; a chip's metric by itself has them."""


@dataclass(frozen=True, slots=True)
class CaseRows:
    """The rows of one case, in their order; at least one."""

    rows: tuple[Row, ...]

    @property
    def params(self) -> Mapping[str, str]:
        """The value of each axis."""
        return self.rows[0].params

    def text(self, axis: str, default: str = "?") -> str:
        """The value of an axis; `default` if the case has no such axis."""
        return self.rows[0].text(axis, default)

    def count(self, axis: str, default: int = 0) -> int:
        """The value of an axis as an integer; `default` if it is not one."""
        found = self.rows[0].count(axis)
        return default if found is None else found

    def row(self, quantity: str, *methods: str, provenance: str = "") -> Row | None:
        """The first row of a quantity; with `methods`, by the first of them that exists."""
        found = [
            row for row in self.rows
            if row.quantity == quantity and provenance in ("", row.provenance)
        ]  # fmt: skip
        by_method = [row for method in methods for row in found if row.method == method]
        return next(iter(by_method if methods else found), None)

    def of(self, quantity: str, provenance: Provenance) -> Row | None:
        """The first row of a quantity; preferably by a core clock, or net of other loads."""
        preferred = self.row(quantity, *CLOCKS, NET, provenance=provenance)
        return preferred or self.row(quantity, provenance=provenance)

    def timed(self, quantity: str) -> Row | None:
        """The timed row; by a core clock if there is one, otherwise by any timer."""
        return self.of(quantity, "timed")


def only_noisy(row: Row) -> bool:
    """Whether the noise gate alone rejected a row; its reason is the last one."""
    return row.noise == "failed" and row.reasons.startswith("noise:")


def ratio(row: Row | None, base: Row | None) -> float | None:
    """The ratio of two values; None if either is missing or invalid, or the base is 0."""
    if row is None or base is None or base.value <= 0 or not (row.valid and base.valid):
        return None
    return row.value / base.value


def by_case(rows: Iterable[Row]) -> list[CaseRows]:
    """The cases of `rows`, in their order; rows of a case are adjacent."""
    return [CaseRows(tuple(found)) for _, found in groupby(rows, attrgetter("case"))]
