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
    """The rows of one side of a pair."""

    benchmark: str
    params: tuple[tuple[str, str], ...]
    pick: str
    quantities: tuple[str, ...]

    def value(self, run: Run) -> tuple[float, str] | None:
        """The value and its unit; None without a valid row."""
        rows = [row for row in run.of(self.benchmark) if self._has(row)]
        return (PICKS[self.pick]([row.value for row in rows]), rows[0].unit) if rows else None

    def _has(self, row: Row) -> bool:
        return (
            row.valid
            and row.provenance == "timed"
            and row.quantity in self.quantities
            and all(_matches(row, name, wanted) for name, wanted in self.params)
        )


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
    lines = read_utf8(Path(__file__).with_name("agreement.csv")).splitlines()
    return tuple(
        Pair(
            line["quantity"], line["backend"], _side(line["first"], line["first_rows"]),
            _side(line["second"], line["second_rows"]), float(line["tolerance"]), line["reason"],
        )
        for line in csv.DictReader(lines)
    )  # fmt: skip


def agreements(run: Run) -> Iterator[Agreement]:
    """The pairs of which a run has both sides."""
    for pair in pairs():
        if not run.rows or pair.backend != run.rows[0].backend:
            continue
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
    apart = [f"{one}" for one in found if not one.agrees]
    most = max(found, key=lambda one: abs(one.difference) / one.pair.tolerance)
    count = f"Agreement: {len(found) - len(apart)} of {len(found)} quantities that two benchmarks"
    if apart:
        return f"{count} measure agree; not: {'; '.join(apart)}."
    return f"{count} measure agree; nearest to its tolerance: {most}."


def _side(benchmark: str, rows: str) -> Side:
    name, *params = benchmark.split()
    pick, *quantities = rows.split()
    return Side(name, tuple(_named(param) for param in params), pick, tuple(quantities))


def _named(param: str) -> tuple[str, str]:
    name, _, value = param.partition("=")
    return name, value


def _matches(row: Row, name: str, wanted: str) -> bool:
    low, dots, high = wanted.partition("..")
    if not dots:
        return row.params.get(name) == wanted
    number = row.count(name)
    return number is not None and int(low) <= number and (not high or number <= int(high))
