"""Do two benchmarks that measure one quantity with different kernels agree?

`agreement.csv` lists the pairs. Each side selects valid timed rows of one benchmark by its
parameters (a range is `low..high`), and takes the median, mean, least or most of them.
"""

import csv
import statistics
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from strata.model.units import quantity
from strata.run import Row, Run
from strata.run.files import read_utf8

PICKS: dict[str, Callable[[list[float]], float]] = {
    "median": statistics.median, "mean": statistics.fmean, "min": min, "max": max,
}  # fmt: skip


class Side(NamedTuple):
    """The rows of one side of a pair: of a benchmark at these `params`, those quantities."""

    benchmark: str
    params: tuple[str, ...]
    pick: str
    quantities: tuple[str, ...]

    def value(self, run: Run) -> tuple[float, str] | None:
        """The value and its unit; None without a valid row."""
        rows = [
            row
            for row in run.of(self.benchmark)
            if row.valid and row.provenance == "timed" and row.quantity in self.quantities
            if all(_matches(row, param) for param in self.params)
        ]
        return (PICKS[self.pick]([row.value for row in rows]), rows[0].unit) if rows else None


def _matches(row: Row, param: str) -> bool:
    name, _, wanted = param.partition("=")
    low, dots, high = wanted.partition("..")
    number = row.count(name) if dots else None
    if number is None:
        return not dots and row.params.get(name) == wanted
    return int(low) <= number and (not high or number <= int(high))


class Pair(NamedTuple):
    """Two sides that may differ by `tolerance`, and the physical reason for it."""

    name: str
    backend: str
    first: Side
    second: Side
    tolerance: float
    reason: str


class Agreement(NamedTuple):
    """What a run has for a pair; `difference` is relative to the first side."""

    pair: Pair
    first: float
    second: float
    unit: str

    @property
    def difference(self) -> float:
        """Of the second side, relative to the first."""
        return self.second / self.first - 1

    @property
    def agrees(self) -> bool:
        """Whether the difference is within the tolerance."""
        return abs(self.difference) <= self.pair.tolerance

    def __str__(self) -> str:
        """Both values with their benchmarks, the difference and the tolerance."""
        first, second = self.pair.first.benchmark, self.pair.second.benchmark
        return (
            f"{self.pair.name}: {quantity(self.first, self.unit)} by {first}, "
            f"{quantity(self.second, self.unit)} by {second}: {self.difference:+.1%} "
            f"(tolerance {self.pair.tolerance:.0%}: {self.pair.reason})"
        )


@cache
def pairs() -> tuple[Pair, ...]:
    """The pairs of `agreement.csv`."""
    lines = csv.DictReader(read_utf8(Path(__file__).with_name("agreement.csv")).splitlines())
    found = []
    for line in lines:
        first, second = (_side(line[side], line[f"{side}_rows"]) for side in ("first", "second"))
        tolerance, reason = float(line["tolerance"]), line["reason"]
        found.append(Pair(line["quantity"], line["backend"], first, second, tolerance, reason))
    return tuple(found)


def _side(rows: str, values: str) -> Side:
    benchmark, *params = rows.split()
    pick, *quantities = values.split()
    return Side(benchmark, tuple(params), pick, tuple(quantities))


def agreements(run: Run) -> Iterator[Agreement]:
    """The pairs of which a run has both sides."""
    for pair in pairs():
        if pair.backend == run.context.backend:
            first, second = pair.first.value(run), pair.second.value(run)
            if first and second and first[0] > 0:
                yield Agreement(pair, first[0], second[0], first[1])


def disagreements(run: Run) -> tuple[str, ...]:
    """A line for each pair that differs by more than its tolerance."""
    return tuple(f"{found}" for found in agreements(run) if not found.agrees)


def sentence(run: Run) -> str:
    """How many pairs agree, and those that do not; empty for a run without pairs."""
    found = tuple(agreements(run))
    if not found:
        return ""
    apart = disagreements(run)
    nearest = max(found, key=lambda pair: abs(pair.difference) / pair.pair.tolerance)
    rest = f"not: {'; '.join(apart)}" if apart else f"nearest to its tolerance: {nearest}"
    count = f"{len(found) - len(apart)} of {len(found)}"
    return f"Agreement: {count} quantities that two benchmarks measure agree; {rest}."
