"""The clock that the SMs had, and the one that the driver reported meanwhile.

A driver may report a clock that no SM has: cycles and seconds are both right then, but neither
follows from the other by the driver's clock.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from strata.model.cases import CaseRows, by_case
from strata.model.text import Cited, Sentence, cited, joined
from strata.model.units import quantity
from strata.run import Row, Run, grouped, params_text

METHOD = "clock64_over_globaltimer"
MIXES: Mapping[str, str] = {
    "idle_lanes": "multiply-adds in one lane of 32",
    "memory": "reading memory",
    "mufu": "powers of two",
    "fma": "multiply-adds",
    "tensor": "tensor cores",
    "fma_tensor": "multiply-adds + tensor cores",
    "fma_tensor_mufu": "these + powers of two",
}
"""The mixes of `clock_under_load`, as a list of them has them, in its order."""


class Slow(NamedTuple):
    """A case whose kernel ran at a lower clock than the driver reported, in Hz."""

    row: Row
    driver: float

    @property
    def below(self) -> float:
        """The relative difference."""
        return 1 - self.row.value / self.driver


def below_the_drivers(run: Run) -> Sequence[Slow]:
    """Valid kernel clocks that are below the driver's by more than the bound.

    A case records what the driver reported meanwhile; cases of older runs do not, and must be below
    the values reported before and after the run.
    """
    both = (run.context.clocks_before, run.context.clocks_after)
    around = [clock for facts in both if (clock := _hertz(facts, "sm_clock_hz"))]
    of_run = min(around) if len(around) == 2 else None
    of_case = {case.id: _hertz(case.facts, "driver_clock_hz") for case in run.cases}
    bound = run.context.bounds["driver_clock"].value
    clocks = (r for r in run.rows if r.valid and (r.quantity, r.method) == ("core_clock", METHOD))
    slow = (Slow(row, of_case.get(row.case) or of_run or 0) for row in clocks)
    return [one for one in slow if one.driver and one.below > bound]


def _hertz(facts: Mapping[str, Any], name: str) -> float | None:
    value = facts.get(name)
    return float(value) if isinstance(value, int | float) and value > 0 else None


def loads(run: Run) -> Sequence[CaseRows]:
    """The cases of `clock_under_load`, by mix and by duration of the load."""
    cases = [one for one in by_case(run.of("clock_under_load")) if one.row("core_clock")]
    known = [one for one in cases if one.text("mix") in MIXES]
    order = list(MIXES).index
    return sorted(known, key=lambda one: (order(one.text("mix")), seconds(one)))


def seconds(one: CaseRows) -> float:
    """The duration of the load before the first sample; 0 if the case lacks it."""
    try:
        return float(one.text("seconds", "0"))
    except ValueError:
        return 0.0


def sentences(run: Run) -> Iterator[Sentence]:
    """The clock under each load, and the cases that ran below the driver's clock."""
    last = {one.text("mix"): one for one in loads(run)}  # the longest of each mix
    parts: list[Sentence] = []
    for mix, one in last.items():
        clock, power = one.row("core_clock"), one.row("power")
        if clock and clock.valid:
            drawn: Sentence = (" at ", cited(power)) if power and power.valid else ()
            parts.append((f"{MIXES[mix]} ", cited(clock), *drawn))
    if parts:
        yield ("Clock of the SMs under load: ", *joined(parts), ".")
    if slow := below_the_drivers(run):
        yield (
            "SMs ran more than two per cent below the clock that the driver reported in ",
            *joined(
                [_listed(one) for one in grouped(slow, lambda one: one.row.benchmark).values()]
            ),
            (
                ": their cycles and seconds hold, but limits at the driver's clock were out of "
                "reach."
            ),
        )


def _listed(slow: Sequence[Slow]) -> Sentence:
    few = 3
    name = slow[0].row.benchmark
    rows = [one.row for one in sorted(slow, key=lambda one: one.row.value)]
    if len(rows) > few:
        many = Cited(f"{len(rows)} cases", rows[0])
        return (many, f" of {name} (", cited(rows[0]), " to ", cited(rows[-1]), ")")
    parts: list[str | Cited] = []
    for row in rows:
        words = [quantity(row.value, row.unit), params_text(row.params, ", ")]
        parts += ["; " if parts else f"{name} (", Cited(" at ".join(filter(None, words)), row)]
    return (*parts, ")")
