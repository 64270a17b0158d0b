"""Different devices side by side, in units in which they can be: cycles, bytes a cycle, shares.

Seconds and bytes per second say which device is faster, cycles and bytes per cycle and SM (on a CPU
per core) say how it is built. Every number is the best valid row of what it stands for, and the
data name that row; a device that has none is left blank. Cycles are those that the device's own
timer counts: of the SM on a GPU, of the time-stamp counter on a CPU.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from strata.compare.changes import Better
from strata.compare.conditions import CLOCK, differences
from strata.compare.sections import Section, as_csv, table_of
from strata.ladder import rungs as ladder
from strata.ladder.best import best_cases
from strata.model import LEVELS, Table, level_name, ordered
from strata.model.cases import by_case
from strata.model.units import SPACE, number
from strata.run import Row, Run, RunError, grouped

Rows = Callable[[Run], Iterable[Row]]
Divisor = Callable[[Row], float]


class Panel(NamedTuple):
    """A group of numbers in one unit.

    A number is the value of one of the `rows` by its divisor, left out where that is 0; of those
    with one `label` the best is shown, with `common` only where two devices have the label.
    """

    name: str
    title: str
    unit: str
    better: Better
    rows: Rows
    label: Callable[[Row], str]
    divisor: Callable[[Run], Divisor] = lambda _: lambda _: 1.0
    known: tuple[str, ...] = ()
    common: bool = False


class Number(NamedTuple):
    """The best of what a label stands for on one device, in the unit of its panel."""

    value: float
    row: Row


class Group(NamedTuple):
    """A panel filled: for each label the number of each run, in their order, None without one."""

    panel: Panel
    lines: tuple[tuple[str, tuple[Number | None, ...]], ...]


class Devices(NamedTuple):
    """Runs of devices side by side, by `names`; `warnings` say in what else they differ."""

    runs: tuple[Run, ...]
    names: tuple[str, ...]
    warnings: tuple[str, ...]
    groups: tuple[Group, ...]


def side_by_side(runs: Sequence[Run]) -> Devices:
    """Normalised numbers, a column a run; raises `RunError` where no two have one in common."""
    groups = [group for panel in PANELS if (group := _filled(panel, runs)).lines]
    if not any(sum(map(bool, numbers)) > 1 for group in groups for _, numbers in group.lines):
        found = f"no normalised number that {runs[0].context.run} has too"
        expected, mend = "runs with benchmarks in common", "run the same sweep on both devices"
        raise RunError(runs[-1].folder, found=found, expected=expected, mend=mend)
    devices = [run.context.device.name for run in runs]
    names = [
        f"{name} ({run.context.run})" if devices.count(name) > 1 else name
        for name, run in zip(devices, runs, strict=True)
    ]
    return Devices(tuple(runs), tuple(names), tuple(_warnings(*runs)), tuple(groups))


def _warnings(first: Run, *later: Run) -> Iterator[str]:
    ours = ("strata.", "sweep.", "state")
    for run in later:
        found = [f"{one}" for one in differences(first, run) if one.name.startswith(ours)]
        names = f"{first.context.run} and {run.context.run}"
        yield from [f"conditions of {names} differ, {'; '.join(found)}"] if found else []


def _filled(panel: Panel, runs: Sequence[Run]) -> Group:
    columns: list[dict[str, Number]] = []
    best = min if panel.better == "lower" else max
    for run in runs:
        divisor = panel.divisor(run)
        found = (Number(row.value / by, row) for row in panel.rows(run) if (by := divisor(row)) > 0)
        by_label = grouped(found, lambda one: panel.label(one.row)).items()
        columns.append({label: best(here, key=lambda one: one.value) for label, here in by_label})
    labels = [label for column in columns for label in column]
    if panel.common:
        labels = [label for label in labels if labels.count(label) > 1]
    names = ordered(labels, panel.known) if panel.known else dict.fromkeys(labels)
    return Group(panel, tuple((name, tuple(c.get(name) for c in columns)) for name in names))


def _timed(benchmark: str, *quantities: str, **axes: str) -> Rows:
    """The valid timed rows with these axes: of each case the first quantity that it has."""

    def rows(run: Run) -> Iterator[Row]:
        for case in by_case(run.of(benchmark)):
            if axes.items() <= case.params.items():
                found = (case.row(quantity, provenance="timed") for quantity in quantities)
                yield from [row for row in found if row and row.valid][:1]

    return rows


def units_of(run: Run) -> int:
    """SMs of a GPU, cores of a CPU; 0 where the run does not say."""
    told = (run.context.device.facts.get(name) for name in ("sm_count", "cores"))
    cores = run.context.host.cores if run.context.backend == "host" else 0
    return next((units for units in told if isinstance(units, int) and units > 0), cores)


def _cycles(run: Run) -> Divisor:
    """The clock under a case's load, times the SMs or cores at work: of all GPUs, serially one."""
    clocks = {row.case: row.value for row in run.rows[::-1] if row.quantity == CLOCK and row.valid}
    units = units_of(run)
    return lambda row: (
        clocks.get(row.case, 0.0) * (1 if row.benchmark == "serial" else ladder.gpus(row) * units)
    )


def _ceiling(run: Run) -> Divisor:
    """A hundredth of the best read bandwidth of the level in which a row's data lie."""
    rows = _timed("bandwidth", "bandwidth", operation="read")(run)
    ceilings = {row.text("level"): row.value for row in sorted(rows, key=lambda row: row.value)}
    return lambda row: ceilings.get(row.text("residency"), 0.0) / 100


def _target(row: Row) -> str:
    words = {"same": "one address", "line": "one line", "warp": "one address a warp"}
    target = row.text("target")
    return f"{row.text('space')}, {words.get(target, target)}"


_LEVEL_NAMES = tuple(level_name(level) for level in LEVELS)

PANELS = (
    Panel(
        "latency", "A warp reads 32 particles, cheapest layout, alone", "cycles", "lower",
        _timed("layout_read", "warp_read_cycles", warps_per_sm="1", fields="all"),
        lambda row: level_name(row.text("residency")), known=_LEVEL_NAMES,
    ),
    Panel(
        "bandwidth", "Read bandwidth", "B/cycle/SM or core", "higher",
        _timed("bandwidth", "bandwidth_per_sm", operation="read"),
        lambda row: level_name(row.text("level")), known=_LEVEL_NAMES,
    ),
    Panel(
        "of_ceiling", "Useful bandwidth of layouts", "% of the device's own read bandwidth",
        "higher", _timed("layout_read", "useful_bandwidth", fields="all"),
        lambda row: f"{row.text('layout')}, {level_name(row.text('residency'))}",
        _ceiling, common=True,
    ),
    Panel(
        "arithmetic", "Arithmetic", "FLOP/cycle/SM or core", "higher",
        _timed("ceilings", "flops_per_second"), lambda row: row.text("arithmetic"), _cycles,
    ),
    Panel(
        "atomics", "Atomic additions", "1/cycle/SM or core", "higher",
        _timed("atomics", "atomic_rate", operation="add_int"), _target, _cycles,
    ),
    # In cycles of the core, where a CPU's own differ from those of its counter.
    Panel(
        "instructions", "Dependent instructions", "cycles", "lower",
        _timed(
            "instruction_cost", "operation_core_cycles", "operation_cycles",
            ilp="1", warps_per_sm="1",
        ),
        lambda row: row.text("operation"), common=True,
    ),
    Panel(
        "interactions", "The n-body ladder", "interactions/cycle/SM or core", "higher",
        lambda run: (best.row for best in best_cases(run) if best.row.valid),
        lambda row: ladder.rung_name(row.benchmark), _cycles,
    ),
)  # fmt: skip


def section(found: Devices) -> Section:
    """All that there is to say of devices side by side, a table for each unit."""
    title = f"Side by side:{SPACE}" + ", ".join(found.names)
    return Section(title, found.warnings, tuple(_table(found, group) for group in found.groups))


def _table(found: Devices, group: Group) -> Table:
    """One panel as a table: a column for each run, then each against the first."""
    lines = []
    for label, (first, *later) in group.lines:
        cells = [number(one.value) if one else "–" for one in (first, *later)]
        cells += [
            f"{one.value / first.value:.3g}×" if one and first and first.value else "–"
            for one in later
        ]
        lines.append((label, *cells))
    panel, ratios = group.panel, [f"{name}, over the first" for name in found.names[1:]]
    title = f"{panel.title} ({panel.unit}; {panel.better} is better)"
    header = ("", *found.names, *ratios)
    return table_of(panel.name, title, header, lines, range(1, len(header)))


def data(found: Devices) -> bytes:
    """The numbers of all panels as CSV, one line each."""
    columns = ("panel", "label", "unit", "run", "device", "value", "case", "quantity", "method")
    lines = (
        (
            group.panel.name, label, group.panel.unit, run.context.run, run.context.device.name,
            one.value, one.row.case, one.row.quantity, one.row.method,
        )
        for group in found.groups
        for label, numbers in group.lines
        for run, one in zip(found.runs, numbers, strict=True)
        if one
    )  # fmt: skip
    return as_csv(columns, lines)
