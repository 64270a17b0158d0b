"""Runs whose changes, wander and noise are known, for the tests of the comparison."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median
from types import MappingProxyType
from typing import Any

import numpy as np
from msgspec.structs import replace

from builders import GPU_RUN
from strata.run import Context, Provenance, Row, Run, load_run

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
    unit: str = "cycle",
    provenance: Provenance = "timed",
    method: str = "clock64_slope",
    valid: bool = True,
    run: str = "run",
    **params: str,
) -> Row:
    """One row with the samples `taken`."""
    words: Mapping[str, str] = MappingProxyType({"size": f"{case}"} | params)
    listed = "/".join(f"{key}={words[key]}" for key in sorted(words))
    return Row(
        run=run, device="synthetic-gpu", backend="cuda", suite="micro", benchmark=benchmark,
        case=f"micro/{benchmark}/cuda/{listed}", params=words, quantity=quantity, unit=unit,
        provenance=provenance, method=method, value=median(taken), ci_low=None, ci_high=None,
        minimum=min(taken), maximum=max(taken), samples=len(taken), valid=valid,
        reasons="" if valid else "result: wrong", taken=tuple(taken),
    )  # fmt: skip


def run_of(rows: Sequence[Row], name: str = "run", **changes: Any) -> Run:
    """A run with `rows`; `device__uuid="X"` reaches into the context."""
    context = replace(base(), run=name)
    for key, value in changes.items():
        outer, _, inner = key.partition("__")
        if inner:
            part: Any = getattr(context, outer)
            context = replace(context, **{outer: replace(part, **{inner: value})})
        else:
            plain: dict[str, Any] = {outer: value}
            context = replace(context, **plain)
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
