"""Do two benchmarks that measure one quantity with different kernels agree?

`agreement.csv` lists the pairs. Each side selects valid timed rows of one benchmark by its
parameters (a range is `low..high`), and takes the median, mean, least or most of them. Two sides
may differ by `tolerance`, for the physical `reason`.
"""

import csv
import statistics
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from strata.model.units import quantity
from strata.run import Row, Run
from strata.run.files import resource

PICKS: dict[str, Callable[[list[float]], float]] = {
    "median": statistics.median, "mean": statistics.fmean, "min": min, "max": max,
}  # fmt: skip

Pair = Mapping[str, Any]
"""A line of `agreement.csv`."""


@cache
def pairs() -> Sequence[Pair]:
    """The pairs of `agreement.csv`."""
    return [*csv.DictReader(resource("strata.model", "agreement.csv").splitlines())]


def _value(run: Run, side: str, picked: str) -> tuple[float, str] | None:
    """The value of a side and its unit; None without a valid row."""
    benchmark, *params = side.split()
    pick, *quantities = picked.split()
    rows = [
        row
        for row in run.valid(benchmark)
        if row.provenance == "timed" and row.quantity in quantities
        if all(_matches(row, param) for param in params)
    ]
    return (PICKS[pick]([row.value for row in rows]), rows[0].unit) if rows else None


def _matches(row: Row, param: str) -> bool:
    name, _, wanted = param.partition("=")
    low, dots, high = wanted.partition("..")
    number = row.count(name) if dots else None
    if number is None:
        return not dots and row.params.get(name) == wanted
    return int(low) <= number and (not high or number <= int(high))


def agreements(run: Run) -> Sequence[Pair]:
    """The pairs of which a run has both sides: in `words`, and how `far` they differ.

    Relative to the tolerance: beyond 1 they disagree.
    """
    found = []
    for pair in pairs():
        first, second = (_value(run, pair[s], pair[f"{s}_rows"]) for s in ("first", "second"))
        if pair["backend"] == run.context.backend and first and second and first[0] > 0:
            difference, tolerance = second[0] / first[0] - 1, float(pair["tolerance"])
            one, other = (pair[side].split()[0] for side in ("first", "second"))
            words = (
                f"{pair['quantity']}: {quantity(*first)} by {one}, "
                f"{quantity(second[0], first[1])} by {other}: {difference:+.1%} "
                f"(tolerance {tolerance:.0%}: {pair['reason']})"
            )
            found.append({**pair, "words": words, "far": abs(difference) / tolerance})
    return found


def disagreements(run: Run) -> tuple[str, ...]:
    """A line for each pair that differs by more than its tolerance."""
    return tuple(pair["words"] for pair in agreements(run) if pair["far"] > 1)


def sentence(run: Run) -> str:
    """How many pairs agree, and those that do not; empty for a run without pairs."""
    found, apart = agreements(run), disagreements(run)
    if not found:
        return ""
    nearest = max(found, key=lambda pair: float(pair["far"]))["words"]
    rest = f"not: {'; '.join(apart)}" if apart else f"nearest to its tolerance: {nearest}"
    count = f"{len(found) - len(apart)} of {len(found)}"
    return f"Agreement: {count} quantities that two benchmarks measure agree; {rest}."
