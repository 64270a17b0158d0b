"""The input of a rule: one case, its rows, and the surrounding run."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from strata.run import Case, Row, Run


class Broken(NamedTuple):
    """What breaks a rule: the whole case, or its rows with these `keys`.

    With `says`, the rows stay valid with a note of what they are: the case gets an unverified gate.
    """

    rule: str
    detail: str
    keys: frozenset[tuple[str, str, str]] | None = None
    says: bool = False


def broken(rule: str, detail: str, *rows: Row, says: bool = False) -> Broken:
    """Only these `rows` break it."""
    return Broken(rule, detail, frozenset(row.key for row in rows), says)


class Around:
    """The run of a case: properties of the device and of other cases, computed once."""

    def __init__(self, run: Run) -> None:
        self.device, self._run = run.context.device, run
        self.build, self.started = run.context.build, run.context.started
        self.limit_slack = run.context.bounds["limit"].value
        counters = run.context.counters
        known = (*(one.name for one in counters.quantities), *counters.absent) if counters else ()
        self.tells_far_l2 = any("l2_fabric_miss_sectors" in name for name in known)
        """Whether the level gate knew far hits of L2: then `dram_share` is of what L2 fetched."""

    @cached_property
    def one_way(self) -> Mapping[tuple[str, str], Mapping[str, float]]:
        """Valid bandwidths of one-way copies between GPUs: (by, method) -> bytes -> best."""
        found: dict[tuple[str, str], dict[str, float]] = {}
        for row in self._run.of("peer_copy"):
            if row.valid and row.quantity == "bandwidth" and row.text("direction") != "both":
                sizes = found.setdefault((row.text("by"), row.method), {})
                sizes[row.text("bytes")] = max(row.value, sizes.get(row.text("bytes"), 0.0))
        return found


class Here:
    """A case and its rows, at least one of them valid."""

    def __init__(self, around: Around, case: Case, rows: Sequence[Row]) -> None:
        self.around, self.case, self.rows = around, case, rows
        # The first of the rows of a quantity: those by a core clock or counted come first.
        self.first = {row.quantity: row for row in reversed(rows)}

    def value(self, quantity: str) -> float | None:
        """The value of the first row of a quantity."""
        row = self.first.get(quantity)
        return row.value if row else None

    @property
    def sms(self) -> int | None:
        """The number of working SMs: all, or those requested by the case; None if unknown."""
        return 1 if self.case.params.get("cores") == "one" else self.around.device.sm_count

    @property
    def place(self) -> str:
        """The place of the data according to the case: its residency or level."""
        return self.case.params.get("residency") or self.case.params.get("level", "")

    @property
    def clock_spread(self) -> float:
        """Highest over lowest clock of the case, minus one; 0 if it was not sampled."""
        clock = self.first.get("core_clock")
        return clock.maximum / clock.minimum - 1 if clock and clock.minimum > 0 else 0.0

    @property
    def level(self) -> str:
        """The verdict of the level gate; empty where the case claims no level."""
        verdict = next((gate.verdict for gate in self.case.gates if gate.name == "level"), "")
        return "" if verdict == "not_applicable" else verdict
