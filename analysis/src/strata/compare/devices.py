"""Different devices side by side, in units in which they can be: cycles, bytes a cycle, shares.

Seconds and bytes per second say which device is faster, cycles and bytes per cycle and SM (on a CPU
per core) say how it is built. Every number is the best valid row of what it stands for, and is
linked to that row; a device that has none is left blank. Cycles are those that the device's own
timer counts: of the SM on a GPU, of the time-stamp counter on a CPU.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from strata.compare.changes import Better
from strata.compare.conditions import CLOCK, Difference, differences
from strata.ladder import rungs as ladder
from strata.ladder.best import best_cases
from strata.model import LEVELS, Cited, Sentence, Table, level_name, ordered
from strata.model.units import SPACE, number
from strata.run import Row, Run, RunError

Found = Iterable[tuple[str, float, Row]]
"""Label, value in the unit of the panel, and the row it is from."""


@dataclass(frozen=True, slots=True)
class Panel:
    """A group of numbers in one unit.

    `find` gives every candidate of a run, of which the best of each label is shown; with `common`
    only the labels that two devices have.
    """

    name: str
    title: str
    unit: str
    better: Better
    find: Callable[[Run], Found]
    known: tuple[str, ...] = ()
    common: bool = False


@dataclass(frozen=True, slots=True)
class Number:
    """The best of what a label stands for on one device, in the unit of its panel."""

    value: float
    row: Row


@dataclass(frozen=True, slots=True)
class Group:
    """A panel filled: for each label the number of each run, in their order, None without one."""

    panel: Panel
    lines: tuple[tuple[str, tuple[Number | None, ...]], ...]


@dataclass(frozen=True, slots=True)
class Devices:
    """Runs of different devices side by side; `names` tell them apart."""

    runs: tuple[Run, ...]
    names: tuple[str, ...]
    differences: tuple[tuple[str, tuple[Difference, ...]], ...]
    groups: tuple[Group, ...]


def side_by_side(runs: Sequence[Run]) -> Devices:
    """The normalised numbers of two or more runs, one column each.

    Raises `RunError` where no two of them have a number in common.
    """
    groups = [group for panel in PANELS if (group := _filled(panel, runs)).lines]
    if not any(sum(map(bool, numbers)) > 1 for group in groups for _, numbers in group.lines):
        raise RunError(
            runs[-1].folder,
            found=f"no normalised number that {runs[0].context.run} has too",
            expected="runs with benchmarks in common",
            mend="run the same sweep on both devices",
        )
    return Devices(
        runs=tuple(runs),
        names=_names(runs),
        differences=tuple(
            (run.context.run, _conditions(differences(runs[0], run))) for run in runs[1:]
        ),
        groups=tuple(groups),
    )


def _names(runs: Sequence[Run]) -> tuple[str, ...]:
    """The names of the devices, with the run where two have one name."""
    devices = [run.context.device.name for run in runs]
    return tuple(
        f"{name} ({run.context.run})" if devices.count(name) > 1 else name
        for name, run in zip(devices, runs, strict=True)
    )


def _conditions(found: Sequence[Difference]) -> tuple[Difference, ...]:
    """What differs beside the devices themselves: harness, build, sweep, state."""
    return tuple(one for one in found if one.name.startswith(("strata.", "sweep.", "state")))


def _filled(panel: Panel, runs: Sequence[Run]) -> Group:
    columns: list[dict[str, Number]] = []
    for run in runs:
        best: dict[str, Number] = {}
        for label, value, row in panel.find(run):
            known = best.get(label)
            lower = panel.better == "lower"
            if known is None or (value < known.value if lower else value > known.value):
                best[label] = Number(value, row)
        columns.append(best)
    labels = [label for column in columns for label in column]
    if panel.common:
        labels = [label for label in labels if labels.count(label) > 1]
    names = ordered(labels, panel.known) if panel.known else list(dict.fromkeys(labels))
    return Group(
        panel, tuple((name, tuple(column.get(name) for column in columns)) for name in names)
    )


# --- what stands in a panel -----------------------------------------------------------------------


def _rows(run: Run, benchmark: str, quantity: str) -> Iterator[Row]:
    """The valid timed rows of a quantity; of several methods the first of each case."""
    seen = set()
    for row in run.rows:
        mine = (row.benchmark, row.quantity, row.provenance) == (benchmark, quantity, "timed")
        if mine and row.case not in seen:
            seen.add(row.case)
            if row.valid:
                yield row


def units_of(run: Run) -> int | None:
    """SMs of a GPU, cores of a CPU; None where the run does not say."""
    facts = run.context.device.facts
    for name in ("sm_count", "cores"):
        if isinstance(facts.get(name), int) and facts[name] > 0:
            return int(facts[name])
    return run.context.host.cores or None if run.context.backend == "host" else None


def clocks_of(run: Run) -> Mapping[str, float]:
    """Cycles per second under the load of each case that measured them, by case."""
    return {
        row.case: row.value
        for row in reversed(run.rows)
        if row.quantity == CLOCK and row.valid and row.value > 0
    }


def _per_cycle(run: Run, rows: Iterable[tuple[str, Row, int | None]]) -> Found:
    """Rates by the clock of their case and by the SMs or cores that share the work."""
    clocks = clocks_of(run)
    for label, row, sharing in rows:
        if row.case in clocks and sharing:
            yield label, row.value / clocks[row.case] / sharing, row


def _latency(run: Run) -> Found:
    for row in _rows(run, "layout_read", "warp_read_cycles"):
        if row.params.get("warps_per_sm") == "1" and row.params.get("fields") == "all":
            yield level_name(row.params.get("residency", "?")), row.value, row


def _bandwidth(run: Run) -> Found:
    for row in _rows(run, "bandwidth", "bandwidth_per_sm"):
        if row.params.get("operation") == "read":
            yield level_name(row.params.get("level", "?")), row.value, row


def _of_ceiling(run: Run) -> Found:
    ceilings: dict[str, float] = {}
    for row in _rows(run, "bandwidth", "bandwidth"):
        if row.params.get("operation") == "read":
            level = row.params.get("level", "?")
            ceilings[level] = max(row.value, ceilings.get(level, 0.0))
    for row in _rows(run, "layout_read", "useful_bandwidth"):
        ceiling = ceilings.get(row.params.get("residency", "?"), 0.0)
        if ceiling > 0 and row.params.get("fields") == "all":
            label = f"{row.params.get('layout', '?')}, {level_name(row.params['residency'])}"
            yield label, 100 * row.value / ceiling, row


def _arithmetic(run: Run) -> Found:
    rows = _rows(run, "ceilings", "flops_per_second")
    return _per_cycle(
        run, ((row.params.get("arithmetic", "?"), row, units_of(run)) for row in rows)
    )


def _instructions(run: Run) -> Found:
    by_case = {row.case: row for row in _rows(run, "instruction_cost", "operation_cycles")}
    # In cycles of the core, where a CPU's own differ from those of its counter.
    by_case |= {row.case: row for row in _rows(run, "instruction_cost", "operation_core_cycles")}
    for row in by_case.values():
        if row.params.get("ilp") == "1" and row.params.get("warps_per_sm") == "1":
            yield row.params.get("operation", "?"), row.value, row


def _atomics(run: Run) -> Found:
    words = {"same": "one address", "line": "one line", "warp": "one address a warp"}
    rows = [row for row in _rows(run, "atomics", "atomic_rate") if "target" in row.params]

    def label(row: Row) -> str:
        target = row.params["target"]
        return f"{row.params.get('space', '?')}, {words.get(target, target)}"

    added = (row for row in rows if row.params.get("operation") == "add_int")
    return _per_cycle(run, ((label(row), row, units_of(run)) for row in added))


def _interactions(run: Run) -> Found:
    steps = [step.row for step in best_cases(run) if step.row.valid]
    # The serial rung is of one core; all others of every SM or core of each of their GPUs.
    serial = "serial"
    return _per_cycle(
        run,
        (
            (
                ladder.rung_name(row.benchmark),
                row,
                1 if row.benchmark == serial else ladder.gpus(row) * (units_of(run) or 0),
            )
            for row in steps
        ),
    )


_LEVEL_NAMES = tuple(level_name(level) for level in LEVELS)

PANELS = (
    Panel(
        "latency", "A warp reads 32 particles, cheapest layout, alone", "cycles", "lower",
        _latency, known=_LEVEL_NAMES,
    ),
    Panel(
        "bandwidth", "Read bandwidth", "B/cycle/SM or core", "higher", _bandwidth,
        known=_LEVEL_NAMES,
    ),
    Panel(
        "of_ceiling", "Useful bandwidth of layouts", "% of the device's own read bandwidth",
        "higher", _of_ceiling, common=True,
    ),
    Panel("arithmetic", "Arithmetic", "FLOP/cycle/SM or core", "higher", _arithmetic),
    Panel("atomics", "Atomic additions", "1/cycle/SM or core", "higher", _atomics),
    Panel(
        "instructions", "Dependent instructions", "cycles", "lower", _instructions, common=True
    ),
    Panel(
        "interactions", "The n-body ladder", "interactions/cycle/SM or core", "higher",
        _interactions,
    ),
)  # fmt: skip


# --- tables ---------------------------------------------------------------------------------------


def table(found: Devices, group: Group) -> Table:
    """One panel as a table: a column for each run, then each against the first."""
    lines: list[tuple[Sentence, ...]] = []
    for label, numbers in group.lines:
        cells: list[Sentence] = [
            (Cited(number(one.value), one.row),) if one else ("–",) for one in numbers
        ]
        against = [
            (f"{one.value / numbers[0].value:.3g}×",) if one and numbers[0] else ("–",)
            for one in numbers[1:]
        ]
        lines.append(((label,), *cells, *against))
    return Table(
        name=group.panel.name,
        title=f"{group.panel.title} ({group.panel.unit}; {group.panel.better} is better)",
        header=("", *found.names, *(f"{name}, over the first" for name in found.names[1:])),
        rows=tuple(lines),
        numeric=frozenset(range(1, 2 * len(found.names))),
    )


COLUMNS = ("panel", "label", "unit", "run", "device", "value", "case", "quantity", "method")


def lines(found: Devices) -> Iterator[tuple[str, ...]]:
    """The numbers of all panels, one line each, as `COLUMNS` name them."""
    for group in found.groups:
        for label, numbers in group.lines:
            for run, one in zip(found.runs, numbers, strict=True):
                if one:
                    yield (
                        group.panel.name, label, group.panel.unit, run.context.run,
                        run.context.device.name, f"{one.value:.6g}", one.row.case,
                        one.row.quantity, one.row.method,
                    )  # fmt: skip


def warnings(found: Devices) -> tuple[str, ...]:
    """In what harness, build and sweep of the runs differ, beside their devices."""
    first = found.runs[0].context.run
    return tuple(
        f"conditions of {first} and {run} differ, {'; '.join(map(str, listed))}"
        for run, listed in found.differences
        if listed
    )


def title(found: Devices) -> str:
    """The devices, in the order of their columns."""
    return f"Side by side:{SPACE}" + ", ".join(found.names)
