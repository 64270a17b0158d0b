"""The time of a step by phase: traced, and predicted from the run's own atlas.

    copies     the number of copies and bytes, by the line through the run's pinned transfers; those
               to the device, which are not waited for, each as one of many
    build      the bytes that its kernels read and write, at the run's rate of reading L2, or DRAM
               if they exceed L2; or the instructions of its comparisons, if they take longer
    search     the floating-point instructions of its distances, at the run's rate
    allocate   the number of allocations, each with its release, of the smallest pieces that the run
               allocated on the GPU
    idle       the number of launches, each at the cost of one more launch in a stream; of a launch
               that the host waits for, if a copy to the host follows each of them

Nothing is fitted to the predicted values, and phases without such a rule are not predicted: the
difference between a step and the sum of its predictions is shown, never explained away.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from strata.model import atlas, transfer_model
from strata.model.cases import by_case
from strata.run import Row, Run, finite, grouped
from strata.run.load import STEP

PHASES = ("allocate", "copy_in", "build", "search", "sum", "move", "copy_out", "idle")
PREFIX = "phase_"
OPERATIONS_OF_FMA = 2
"""A ceiling counts a fused multiply-add as two operations; it is one instruction."""
MODELLED = ("fp32_instructions", "build_bytes", "build_instructions", "allocations")
"""What a step computes and moves, as its rung's model has it."""


class Step(NamedTuple):
    """A traced case: its phases, and their predictions, in seconds per step.

    `place` are the axes common to all rungs of its ladder, with their values. `timed` is the step
    without any records, `traced` all phases together, and `left` the part that predictions do not
    explain, None without any. Of the phases, of which `first` is one, all are valid, or none.
    """

    place: tuple[tuple[str, str], ...]
    phases: Mapping[str, Row]
    predicted: Mapping[str, float]
    timed: float
    traced: float
    left: float | None
    first: Row


class Atlas:
    """The costs of the parts of a step in a run; None if not measured."""

    def __init__(self, run: Run) -> None:
        points = transfer_model.points(run.of("transfers"))
        found = transfer_model.lines(points)
        self.to_device = found.get(("pinned", "to_device", 1, "none"))
        queued = transfer_model.queued_copy(points, "to_device")
        if queued and self.to_device:  # nothing waits for such a copy alone
            self.to_device = self.to_device._replace(alpha=queued)
        self.to_host = found.get(("pinned", "to_host", 1, "none"))
        self.launch = {
            row.text("launch"): row.value
            for row in run.of("launch_overhead")
            if row.valid and (row.quantity, row.method) == ("launch_seconds", "event_slope")
        }
        pieces = [row for row in run.of("allocation") if row.text("memory") == "device"]
        piece = min(pieces, key=lambda row: int(row.text("bytes")), default=None)
        # The next larger one costs many times as much, so it cannot replace an invalid one.
        self.allocation = piece.value if piece and piece.valid else None
        peak = atlas.ceilings(run).get("fp32") if run.context.backend == "cuda" else None
        self.instructions = peak.row.value / OPERATIONS_OF_FMA if peak else None
        read = atlas.bandwidths(run) if run.context.backend == "cuda" else {}
        self.read = {level: best.row.value for level, best in read.items()}
        held = run.context.device.facts.get("l2_bytes")
        self.l2_bytes = held if isinstance(held, int) else 0

    def predict(self, counted: Mapping[str, float]) -> dict[str, float]:
        """Seconds by phase for a step that queues and computes as `counted`, where known."""
        copies = {
            "copy_in": (self.to_device, "copies_in", "copied_in_bytes"),
            "copy_out": (self.to_host, "copies_out", "copied_out_bytes"),
        }
        found = {
            phase: counted[times] * line.alpha + counted[size] * line.beta
            for phase, (line, times, size) in copies.items()
            if line and counted.get(times)
        }
        if self.instructions and "fp32_instructions" in counted:
            found["search"] = counted["fp32_instructions"] / self.instructions
        if self.allocation and counted.get("allocations"):
            found["allocate"] = counted["allocations"] * self.allocation
        if build := self._build(counted):
            found["build"] = build
        if launches := counted.get("launches"):
            waits = counted.get("copies_out", 0) >= launches
            if each := self.launch.get("synchronised" if waits else "stream"):
                found["idle"] = launches * each
        return found

    def _build(self, counted: Mapping[str, float]) -> float | None:
        """Seconds of the kernels that build; None if their work is unknown."""
        moved, issued = counted.get("build_bytes"), counted.get("build_instructions")
        rate = self.read.get("l2" if moved and moved <= self.l2_bytes else "dram")
        if not moved or not rate or (issued and not self.instructions):
            return None
        return max(moved / rate, issued / self.instructions if issued and self.instructions else 0)


def _counted(rows: Sequence[Row]) -> dict[str, float]:
    """The work that a step queued, by the records of its trace, and what it must compute."""
    method = next(row.method for row in rows if row.quantity.startswith(PREFIX))
    found = {row.quantity: row.value for row in rows if row.method == method}
    found |= {row.quantity: row.value for row in rows if row.quantity in MODELLED}
    found["copies_out"] = found.get("copies", 0) - found.get("copies_in", 0)
    found["copied_out_bytes"] = found.get("copied_bytes", 0) - found.get("copied_in_bytes", 0)
    return found


def steps(run: Run) -> Sequence[Step]:
    """Every traced case, in sweep order."""
    atlas_of_run, shared = Atlas(run), _shared_axes(run)
    facts, found = {case.id: case.facts for case in run.cases}, list[Step]()
    for case in by_case(row for row in run.rows if row.suite in shared):
        rows = {row.quantity: row for row in reversed(case.rows)}
        phases = {phase: rows[PREFIX + phase] for phase in PHASES if PREFIX + phase in rows}
        if phases:
            first = case.rows[0]
            place = tuple((axis, first.text(axis)) for axis in shared[first.suite])
            predicted = atlas_of_run.predict(_counted(case.rows))
            timed = finite(facts[first.case].get(STEP)) or 0.0
            traced = sum(row.value for row in phases.values())
            left = traced - sum(predicted.values()) if predicted else None
            first = next(iter(phases.values()))
            found.append(Step(place, phases, predicted, timed, traced, left, first))
    return found


def _shared_axes(run: Run) -> Mapping[str, Sequence[str]]:
    traced = {row.case: row for row in run.rows if row.quantity.startswith(PREFIX)}
    shared = {}
    for suite, rows in grouped(traced.values(), lambda row: row.suite).items():
        declared = run.context.benchmarks.get(rows[0].benchmark)
        axes = [axis.name for axis in declared.axes] if declared else list(rows[0].params)
        shared[suite] = [axis for axis in axes if all(axis in row.params for row in rows)]
    return shared


def best(found: Sequence[Step]) -> Sequence[Step]:
    """The fastest valid case of each rung at each place, in the order of `found`."""
    by_rung = grouped(found, lambda step: (step.place, step.first.benchmark))
    return [
        min(here, key=lambda step: (not step.first.valid, step.traced)) for here in by_rung.values()
    ]
