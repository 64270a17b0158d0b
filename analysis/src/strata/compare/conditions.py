"""How the conditions of two runs differ, one line per difference."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import median
from typing import Any, Literal, NamedTuple

from strata.model.cases import CYCLE_CLOCKS
from strata.model.units import fact, quantity
from strata.run import Context, Run, RunError

Kinship = Literal["device", "model", "other"]
"""The same device; another one of its model; something else."""

CLOCK_TOLERANCE = 0.005
"""Clocks that differ by more are named, and explain what follows them."""

# Facts of the device that change its performance and are not due to a change of the code.
_FACTS = (
    "driver", "cuda_driver", "cuda_runtime", "ecc", "mig", "compute_mode", "persistence_mode",
    "power_limit_watts", "core_clock_peak_hz", "sm_clock_max_hz", "memory_clock_max_hz",
    "memory_bytes", "sm_count", "module_loading", "cores", "memory_clock_peak_hz",
)  # fmt: skip
_CLOCKS = ("memory_clock_hz", "sm_clock_hz", "core_clock_hz", "throttled", "throttle_reasons")
_BUILD = (
    "version", "commit", "dirty", "source_digest", "build_type", "flags", "compiler",
    "cuda_compiler", "cuda_architectures",
)  # fmt: skip
_HOST = ("cpu", "cores", "os", "kernel")


class Difference(NamedTuple):
    """A difference between two runs: its name, and the value of each."""

    name: str
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.name}: {self.before} against {self.after}"


def kinship(one: Context, other: Context) -> Kinship:
    """How the devices of two runs are related; a CPU, which has no number, is named by its host."""
    if (one.device.slug, one.backend) != (other.device.slug, other.backend):
        return "other"
    hosts = [(run.host.cpu, run.host.cores, run.host.memory_bytes) for run in (one, other)]
    is_known = one.device.uuid is not None or hosts[0] == hosts[1]
    return "device" if is_known and one.device.uuid == other.device.uuid else "model"


def repeats(compared: Sequence[Run], same: Sequence[Run]) -> tuple[tuple[Run, ...], ...]:
    """The sets of two or more runs on one chip and with the same code, formed from `same`.

    The first of those `compared` that belongs to a set is its first run; no second one is added,
    because a run under test is not evidence of noise. Raises `RunError` for one of `same` that
    repeats nothing.
    """

    def alike(one: Run, other: Run) -> bool:
        built = [run.context.build.source_digest for run in (one, other)]
        return kinship(one.context, other.context) == "device" and built[0] == built[1]

    sets: list[list[Run]] = []
    for run in same:
        of = next((found for found in sets if alike(found[0], run)), None)
        if of is None:
            sets.append(of := [one for one in compared if alike(one, run)][:1])
        of.append(run)
    for alone in (found[0] for found in sets if len(found) == 1):
        found = "a noise run (--same) without a repeat"
        expected = "two or more runs of the same code on one chip, including those compared"
        raise RunError(alone.folder, found=found, expected=expected, fix="give its repeats too")
    return tuple(map(tuple, sets))


def differences(one: Run, other: Run) -> tuple[Difference, ...]:
    """The differences in the conditions of two runs, the device first; empty if there are none."""
    before, after = _conditions(one.context), _conditions(other.context)
    names = [name for name in before | after if _differ(name, before.get(name), after.get(name))]
    found = [Difference(name, _shown(name, before), _shown(name, after)) for name in names]
    return (*found, *_held_clock(one, other))


def _differ(name: str, before: Any, after: Any) -> bool:
    """Whether two values of a condition differ."""
    if name.startswith("clocks ") and isinstance(before, float) and isinstance(after, float):
        return clock_differs(before, after)
    return bool(before != after)


def _conditions(context: Context) -> dict[str, Any]:
    device, plan, libraries = context.device, context.sweep.plan, context.libraries
    return {
        "backend": context.backend,
        "device": device.name,
        "device.uuid": device.uuid,
        **_named("device.", device.facts, _FACTS),
        **_named("clocks before.", context.clocks_before, _CLOCKS),
        **_named("clocks after.", context.clocks_after, _CLOCKS),
        **{f"strata.{name}": getattr(context.build, name) for name in _BUILD},
        **{f"host.{name}": getattr(context.host, name) for name in _HOST},
        **_named("libraries.", libraries, sorted(libraries)),
        **_named("sweep.plan.", plan, sorted(plan)),
        "state": context.state,
    }


def _named(prefix: str, facts: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {f"{prefix}{name}": facts[name] for name in names if name in facts}


def _shown(name: str, conditions: Mapping[str, Any]) -> str:
    if name not in conditions:
        return "not recorded"
    text = fact(name, conditions[name])
    if name in ("strata.commit", "strata.source_digest"):
        return text.removeprefix("sha256:")[:12]
    return text or "none"


def clocks(one: Run, other: Run) -> tuple[float, float]:
    """The clock under load of each run, its median over the common cases; 0 where it is unknown."""
    ours, theirs = (
        {row.key: row.value for row in run.rows if row.quantity in CYCLE_CLOCKS and row.valid}
        for run in (one, other)
    )
    shared = ours.keys() & theirs.keys()
    before, after = (median([clock[key] for key in shared] or [0]) for clock in (ours, theirs))
    return before, after


def clock_differs(before: float, after: float) -> bool:
    """Whether two clocks are different ones: by more than their tolerance."""
    return abs(after - before) > CLOCK_TOLERANCE * abs(before)


def _held_clock(one: Run, other: Run) -> Iterator[Difference]:
    """The clock under load, if it differs."""
    before, after = clocks(one, other)
    if clock_differs(before, after):
        name = "clock under load, median over cases"
        yield Difference(name, quantity(before, "Hz"), quantity(after, "Hz"))
