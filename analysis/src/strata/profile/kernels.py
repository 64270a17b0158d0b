"""The kernels of a profile: their share of the time, their counts, and what limits them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import NamedTuple

from strata.ladder.stalls import STATES, WORKING
from strata.model.units import SPACE, quantity
from strata.roofline.ceilings import MAIN, Ceiling, ceilings, peaks
from strata.roofline.forms import FLOP, INSTRUCTION, SECTOR, level_words
from strata.roofline.kernels import short_names
from strata.run import Case, Row, Run, grouped

SUITE = "profile"
COPIES = "memory_copies"
TIMELINE = "device_timeline"
NEAR = 0.6
"""A kernel above this share of a ceiling is limited by it; below, by latency."""
_LONGEST = 40
"""Letters of a name."""
FEW = 0.6
"""Share of the SMs with work below which a launch is too small."""
_MOVED: Mapping[str, Mapping[str, int]] = {
    "dram": {"dram_read_bytes": 1, "dram_write_bytes": 1},
    "l2": {"l2_sm_sectors": SECTOR},
    "l1": {"l1_load_sectors": SECTOR, "l1_store_sectors": SECTOR, "shared_wavefronts": 128},
}
"""What is counted at each level, and the bytes of one."""
_DONE: Mapping[str, Mapping[str, int]] = {
    "fp16x2": {"fp16_add": 2, "fp16_mul": 2, "fp16_fma": 4},
    "fp32": {"fp32_add": 1, "fp32_mul": 1, "fp32_fma": 2},
    "fp64": {"fp64_add": 1, "fp64_mul": 1, "fp64_fma": 2},
    **{
        f"tensor {kind}": {f"tensor_{name}_operations": 1}
        for kind, name in {
            "fp16": "fp16", "bf16": "bf16", "tf32": "tf32", "e4m3": "fp8", "fp64": "fp64",
        }.items()
    },
}  # fmt: skip
"""What is counted of each arithmetic, and the operations of one. A 16-bit instruction has two."""
_ISSUE = {"executed_instructions": 1}
WAITS: Mapping[str, str] = {
    **STATES,
    "mio_throttle": "queue of shared memory full",
    "lg_throttle": "queue of loads and stores full",
    "gmma": "matrix instruction of a warp group",
    "membar": "memory fence",
    "sleeping": "sleep",
    "drain": "stores at the end",
    "tex_throttle": "queue of textures full",
}
"""In what warps wait, by state."""


class Use(NamedTuple):
    """What a kernel takes of a resource: its rate, and the share of the measured ceiling."""

    name: str
    rate: float
    unit: str
    ceiling: Ceiling

    @property
    def share(self) -> float:
        """Share of the ceiling."""
        return self.rate / self.ceiling.value


@dataclass(frozen=True)
class Kernel:
    """A kernel with one launch shape."""

    case: Case
    rows: Mapping[str, Row]
    share: float
    name: str
    """Short, without namespaces and parameters."""

    @property
    def time(self) -> float:
        """Median of the launches, in seconds."""
        return self.rows["gpu_time"].value

    @property
    def launches(self) -> int:
        """Their number in the program."""
        return int(self.rows["launches"].value)

    @property
    def counted(self) -> bool:
        """Whether it has counters."""
        return any(row.provenance == "counted" for row in self.rows.values())

    def valid(self, name: str) -> Row | None:
        """A row that is not invalid; None if there is none."""
        row = self.rows.get(name)
        return row if row and row.valid else None

    def total(self, parts: Mapping[str, int]) -> float | None:
        """A weighted sum of counts, mean of the counted launches; None if one is missing."""
        counts = [self.valid(name) for name in parts]
        found = [row for row in counts if row]
        if len(found) < len(parts):
            return None
        return sum(each * _mean(row) for row, each in zip(found, parts.values(), strict=True))

    @property
    def counted_time(self) -> float:
        """Mean duration of the counted launches, in the run without counters.

        Launches of one shape may do different work. Without such times those while counting, or
        the median of all launches.
        """
        if row := self.valid("paired_time"):
            return _mean(row)
        counting = self.valid("counted_time")
        return _mean(counting) / 1e9 if counting else self.time

    def moved(self, level: str) -> float | None:
        """Bytes of a launch at a level."""
        return self.total(_MOVED[level])

    def part(self, of: str, *others: str) -> float | None:
        """The share of a count in its sum with others; None if one is missing, or all are 0."""
        all_of = self.total(dict.fromkeys((of, *others), 1))
        mine = self.total({of: 1})
        return mine / all_of if mine is not None and all_of else None

    @cached_property
    def stall(self) -> tuple[str, float] | None:
        """The state in which warps wait most, and its share of the waiting time."""
        waits = {
            name: row.value
            for name, row in self.rows.items()
            if name.startswith("stall_") and name.removeprefix("stall_") not in (*WORKING, "all")
        }
        total = sum(waits.values())
        if total <= 0:
            return None
        name = max(waits, key=waits.__getitem__)
        return name.removeprefix("stall_"), waits[name] / total


def _mean(row: Row) -> float:
    return fmean(row.taken) if row.taken else row.value


def kernels(run: Run) -> list[Kernel]:
    """The kernels of a profile, those with the longest total time first."""
    of_case = grouped(run.rows, lambda row: row.case)
    found = []
    for case in run.cases:
        if case.suite != SUITE or case.benchmark in (COPIES, TIMELINE):
            continue
        rows = {row.quantity: row for row in of_case.get(case.id, ())}
        if "gpu_time" in rows and "total_time" in rows and "launches" in rows:
            found.append((case, rows))
    whole = sum(rows["total_time"].value for _, rows in found) or 1.0
    full = {case.id: str(case.facts.get("kernel", case.benchmark)) for case, _ in found}
    short = short_names(((name, name) for name in dict.fromkeys(full.values())), _LONGEST)
    made = [
        Kernel(case, rows, rows["total_time"].value / whole, short[full[case.id]])
        for case, rows in found
    ]
    return sorted(made, key=lambda one: -one.share)


def limits_of(runs: Iterable[Run]) -> dict[str, Ceiling]:
    """The measured ceilings of levels, arithmetic and issue, each of the first run that has it."""
    found: dict[str, Ceiling] = {}
    for run in runs:
        best: dict[str, Ceiling] = {}
        issue = (one for one in ceilings(run, INSTRUCTION) if not one.sloped)
        for one in (*(ceilings(run, FLOP) or peaks(run, FLOP)), *issue):
            # Some ceilings limit only kernels without an optimisation.
            is_limit = one.roof if one.sloped or one.level == MAIN else one.bounds
            if is_limit and one.value > _value(best.get(one.level)):
                best[one.level] = one
        found = best | found
    return found


def _value(ceiling: Ceiling | None) -> float:
    return ceiling.value if ceiling else 0.0


def uses(kernel: Kernel, limits: Mapping[str, Ceiling]) -> list[Use]:
    """What a kernel takes of each resource with a ceiling, the largest share first."""
    found = []
    for parts_of, unit in ((_MOVED, "B/s"), (_DONE, "FLOP/s"), ({"issue": _ISSUE}, "1/s")):
        for level, parts in parts_of.items():
            done, ceiling = kernel.total(parts), limits.get(level)
            if done and ceiling and kernel.counted_time > 0:
                rate = done / kernel.counted_time
                found.append(Use(_resource(level), rate, unit, ceiling))
    return sorted(found, key=lambda use: -use.share)


def _resource(level: str) -> str:
    if level.startswith("tensor "):
        return f"{level.removeprefix('tensor ')} tensor cores"
    if level in ("l1", "l2", "dram"):
        return level_words(level)
    return {"issue": "instruction issue", "fp16x2": "fp16"}.get(level, level)


def sentence(kernel: Kernel, used: Sequence[Use]) -> str:
    """What limits a kernel, and what would be next."""
    if not kernel.counted:
        return "not counted"
    waits = ""
    if kernel.stall:
        name, share = kernel.stall
        waits = f"; warps wait mostly for {WAITS.get(name, name)} ({percent(share)})"
    if not used:
        return f"no ceilings to compare with{waits}"
    first = used[0]
    following = f"; next: {used[1].name}, {percent(used[1].share)}" if len(used) > 1 else ""
    rate = "" if first.unit == "1/s" else f"{quantity(first.rate, first.unit)}, "
    if first.share >= NEAR:
        return f"limited by {first.name}: {rate}{percent(first.share)} of its ceiling{following}"
    at_work = kernel.rows.get("sms_at_work")
    if at_work and at_work.value < 100 * FEW:
        return (
            f"too small: SMs have work {percent(at_work.value / 100)} of the time; "
            f"{first.name} {percent(first.share)} of its ceiling"
        )
    return f"limited by latency: {first.name} is nearest its ceiling, {percent(first.share)}{waits}"


def percent(share: float) -> str:
    """A share in percent."""
    return f"{100 * share:.{0 if share >= 0.0995 else 1}f}{SPACE}%"
