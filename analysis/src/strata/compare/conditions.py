"""What differs between two runs beside what they measured: each difference in one line."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any, Literal

from strata.model.units import fact, quantity
from strata.run import Context, Run

Kinship = Literal["device", "model", "other"]
"""The same device; another one of its model; something else."""

CLOCK_TOLERANCE = 0.005
"""Clocks under load that differ by more are named."""
CLOCK = "core_clock"

# Facts of the device that change what it can do, and that a change of the code does not explain.
_FACTS = (
    "driver", "cuda_driver", "cuda_runtime", "ecc", "mig", "compute_mode", "persistence_mode",
    "power_limit_watts", "core_clock_peak_hz", "sm_clock_max_hz", "memory_clock_max_hz",
    "memory_bytes", "sm_count", "module_loading", "cores", "memory_clock_peak_hz",
)  # fmt: skip
_CLOCKS = ("memory_clock_hz", "sm_clock_hz", "core_clock_hz", "throttled", "throttle_reasons")


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing in which two runs differ: its name, and what each has."""

    name: str
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.name}: {self.before} against {self.after}"


def kinship(one: Context, other: Context) -> Kinship:
    """Whether two runs are of one device, of two of one model, or of different ones.

    A device that has no number of its own (a CPU) is told by its host.
    """
    if (one.device.slug, one.backend) != (other.device.slug, other.backend):
        return "other"
    if one.device.uuid is None or other.device.uuid is None:
        hosts = [(run.host.cpu, run.host.cores, run.host.memory_bytes) for run in (one, other)]
        same = one.device.uuid == other.device.uuid and hosts[0] == hosts[1]
    else:
        same = one.device.uuid == other.device.uuid
    return "device" if same else "model"


def differences(one: Run, other: Run) -> tuple[Difference, ...]:
    """In what the conditions of two runs differ, the device first; empty where nothing does."""
    before, after = dict(_conditions(one.context)), dict(_conditions(other.context))
    found = [
        Difference(name, _shown(name, before), _shown(name, after))
        for name in dict.fromkeys([*before, *after])
        if _differ(name, before.get(name), after.get(name))
    ]
    return (*found, *_held_clock(one, other))


def _differ(name: str, before: Any, after: Any) -> bool:
    """Whether two values of a condition differ; of clocks, by more than their tolerance."""
    if name.startswith("clocks ") and isinstance(before, float) and isinstance(after, float):
        return abs(after - before) > CLOCK_TOLERANCE * abs(before)
    return bool(before != after)


def _conditions(context: Context) -> Iterator[tuple[str, Any]]:
    device, build, host = context.device, context.build, context.host
    yield "backend", context.backend
    yield "device", device.name
    yield "device.uuid", device.uuid
    for name in _FACTS:
        if name in device.facts:
            yield f"device.{name}", device.facts[name]
    for moment, clocks in (("before", context.clocks_before), ("after", context.clocks_after)):
        for name in _CLOCKS:
            if name in clocks:
                yield f"clocks {moment}.{name}", clocks[name]
    yield "strata.version", build.version
    yield "strata.commit", build.commit
    yield "strata.dirty", build.dirty
    yield "strata.source_digest", build.source_digest
    yield "strata.build_type", build.build_type
    yield "strata.flags", build.flags
    yield "strata.compiler", build.compiler
    yield "strata.cuda_compiler", build.cuda_compiler
    yield "strata.cuda_architectures", build.cuda_architectures
    yield "host.cpu", host.cpu
    yield "host.cores", host.cores
    yield "host.os", host.os
    yield "host.kernel", host.kernel
    for name, value in sorted(context.libraries.items()):
        yield f"libraries.{name}", value
    for name, value in sorted(context.sweep.plan.items()):
        yield f"sweep.plan.{name}", value
    yield "state", context.state


def _shown(name: str, conditions: Mapping[str, Any]) -> str:
    if name not in conditions:
        return "not recorded"
    text = fact(name, conditions[name])
    if name in ("strata.commit", "strata.source_digest"):
        return text.removeprefix("sha256:")[:12]
    return text or "none"


def _held_clock(one: Run, other: Run) -> Iterator[Difference]:
    """The clock under load, where it differs at the median over the cases that both measured."""
    clocks = [
        {row.key: row.value for row in run.rows if row.quantity == CLOCK and row.valid}
        for run in (one, other)
    ]
    shared = sorted(clocks[0].keys() & clocks[1].keys())
    if not shared:
        return
    before, after = (median(found[key] for key in shared) for found in clocks)
    if before > 0 and abs(after / before - 1) > CLOCK_TOLERANCE:
        name = "clock under load, median over cases"
        yield Difference(name, quantity(before, "Hz"), quantity(after, "Hz"))
