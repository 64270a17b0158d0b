"""The clock that the SMs had, and the one that the driver reported meanwhile.

A driver may report a clock that no SM has: cycles and seconds are both right then, but neither
follows from the other by the driver's clock.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from strata.model.cases import CaseRows, by_case
from strata.model.text import Cited, Sentence, cited, joined
from strata.model.units import quantity
from strata.run import Row, Run, finite, params_text, tidy

if TYPE_CHECKING:
    import pandas as pd

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
FEW = 3
"""Cases of a benchmark that a sentence names."""


def below_the_drivers(run: Run) -> "pd.DataFrame":
    """Valid kernel clocks below that of the `driver` by more than the bound, relative to it.

    A case records what the driver reported meanwhile; cases of older runs do not, and must be below
    the values reported before and after the run.
    """
    both = (run.context.clocks_before, run.context.clocks_after)
    around = [clock for facts in both if (clock := finite(facts.get("sm_clock_hz"))) and clock > 0]
    of_case = {case.id: finite(case.facts.get("driver_clock_hz")) for case in run.cases}
    rows = (row for row in run.rows if (row.quantity, row.method) == ("core_clock", METHOD))
    clocks = tidy(row for row in rows if row.valid)
    of_run = min(around) if len(around) == 2 else None
    drivers = [clock if (clock := of_case[row]) and clock > 0 else of_run for row in clocks.case]
    clocks["driver"] = drivers
    clocks = clocks.astype({"driver": float})
    clocks["below"] = 1 - clocks.value / clocks.driver
    return clocks[clocks.below > run.context.bounds["driver_clock"].value]


def _seconds(case: CaseRows) -> float:
    """The duration of the load before the first sample; 0 if the case lacks it."""
    try:
        return float(case.text("seconds", "0"))
    except ValueError:
        return 0.0


def sentences(run: Run) -> Iterator[Sentence]:
    """The clock under each load, and the cases that ran below the driver's clock."""
    loads = sorted(by_case(run.of("clock_under_load")), key=_seconds)
    last = {case.text("mix"): case for case in loads if case.row("core_clock")}
    parts: list[Sentence] = []
    for mix in filter(last.__contains__, MIXES):
        clock, power = last[mix].row("core_clock"), last[mix].row("power")
        if clock and clock.valid:
            drawn: Sentence = (" at ", cited(power)) if power and power.valid else ()
            parts.append((f"{MIXES[mix]} ", cited(clock), *drawn))
    if parts:
        yield ("Clock of the SMs under load: ", *joined(parts), ".")
    slow = below_the_drivers(run).groupby("benchmark", sort=False)
    if named := [_listed([*rows.sort_values("value")["_row"]]) for _, rows in slow]:
        yield (
            "SMs ran more than two per cent below the clock that the driver reported in ",
            *joined(named),
            ": their cycles and seconds hold, but limits at the driver's clock were out of reach.",
        )


def _listed(rows: Sequence[Row]) -> Sentence:
    name = rows[0].benchmark
    if len(rows) > FEW:
        many = Cited(f"{len(rows)} cases", rows[0])
        return (many, f" of {name} (", cited(rows[0]), " to ", cited(rows[-1]), ")")
    parts: list[str | Cited] = []
    for row in rows:
        words = [quantity(row.value, row.unit), params_text(row.params, ", ")]
        parts += ["; " if parts else f"{name} (", Cited(" at ".join(filter(None, words)), row)]
    return (*parts, ")")
