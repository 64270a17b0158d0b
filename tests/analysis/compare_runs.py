"""Runs whose changes, wander and noise are known, for the tests of the comparison."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from msgspec.structs import replace

import builders
from builders import GPU_RUN
from strata.run import Context, Row, Run, load_run

QUANTITIES = (("load_cycles", "cycle"), ("bandwidth", "B/s"), ("step_time", "s"))


@cache
def base() -> Context:
    """The context of a recorded synthetic run."""
    return load_run(GPU_RUN).context


@dataclass(frozen=True)
class World:
    """Cases of several benchmarks: what is true of them, and how they wander from run to run.

    `spread` is the standard deviation of samples, `between` that of a row from run to run, `shift`
    that of a group; `law` draws what moves a row, of standard deviation 1.
    """

    benchmarks: int = 6
    cases: int = 40
    samples: int = 15
    spread: float = 0.004
    between: float = 0.002
    shift: float = 0.0
    law: str = "normal"
    correlation: float = 0.0


def row(
    benchmark: str = "copy",
    case: int = 0,
    taken: Sequence[float] = (10.0, 10.1, 9.9, 10.0, 10.2, 9.8, 10.0),
    *,
    quantity: str = "load_cycles",
    run: str = "run",
    **changes: Any,
) -> Row:
    """One row with the samples `taken`."""
    made = builders.row(benchmark, quantity, median(taken), size=case, **changes)
    ends = {"minimum": min(taken), "maximum": max(taken)}
    return replace(made, run=run, samples=len(taken), taken=tuple(taken), **ends)


def run_of(rows: Sequence[Row], name: str = "run", **changes: Any) -> Run:
    """A run with `rows`; `device__uuid="X"` reaches into the context."""
    context: Any = replace(base(), run=name)
    for key, value in changes.items():
        outer, _, inner = key.partition("__")
        part = replace(getattr(context, outer), **{inner: value}) if inner else value
        context = replace(context, **{outer: part})
    return Run(folder=Path(name), context=context, cases=(), rows=tuple(rows))


def sampled(
    world: World,
    rng: np.random.Generator,
    *,
    name: str = "run",
    changed: Mapping[tuple[int, int], float] | None = None,
) -> Run:
    """One run of the world; `changed` slows cases (benchmark and number) down, 0.02 by 2 %."""
    rows = []
    for bench in range(world.benchmarks):
        quantity, unit = QUANTITIES[bench % len(QUANTITIES)]
        together = rng.normal(0, world.shift) if world.shift else 0.0
        for case in range(world.cases):
            slower = np.log1p((changed or {}).get((bench, case), 0.0))
            wander = world.between * _drawn(world.law, rng) + together
            noise = rng.normal(0, world.spread, world.samples)
            for place in range(1, world.samples):
                kept = world.correlation
                noise[place] = kept * noise[place - 1] + np.sqrt(1 - kept**2) * noise[place]
            sign = -1 if unit.endswith("/s") else 1
            taken = 100 * (1 + case % 7) * np.exp(sign * slower + wander + noise)
            rows.append(
                row(f"bench{bench}", case, taken.tolist(), quantity=quantity, unit=unit, run=name)
            )
    return run_of(rows, name)


def _drawn(law: str, rng: np.random.Generator) -> float:
    """One number of variance 1."""
    if law == "laplace":
        return float(rng.laplace(0, np.sqrt(0.5)))
    return float(rng.normal())
