"""What does each rung of n-body use of the machine, and how right is it?"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from strata.ladder import rungs as ladder
from strata.ladder import steps as ladder_steps
from strata.ladder.rungs import Cases, Step, rung_name
from strata.model import Cited, Sentence, Table, units
from strata.report.tables import ReportTable
from strata.report.tables._rates import NONE, cell, small
from strata.run import Case, Row, Run

TERA = 1e12


@dataclass(frozen=True, slots=True)
class _Line:
    """A rung by its best case, and what its columns are made of."""

    step: Step
    row: Row
    cases: Cases
    case: Case | None
    steps: Sequence[Step]

    def get(self, name: str) -> Row | None:
        """A valid row of the case."""
        row = self.cases.get(self.row, name)
        return row if row and row.valid else None

    def fact(self, name: str) -> object:
        """Of the record; None where it has none of the name."""
        return self.case.facts.get(name) if self.case else None


def _fact(line: _Line, name: str) -> Sentence:
    value = line.fact(name)
    return NONE if value is None else (units.fact(name, value),)


def _percent(line: _Line, name: str) -> Sentence:
    row = line.get(name)
    return cell(row, f"{row.value:.1f} %" if row else "")


def _number(line: _Line, name: str) -> Sentence:
    row = line.get(name)
    return cell(row, units.number(row.value) if row else "")


def _small(line: _Line, name: str) -> Sentence:
    row = line.get(name)
    return cell(row, small(row.value) if row else "")


def _share(line: _Line, part: str, whole: str) -> Sentence:
    """One count over another, in per cent; nothing of nothing is not told."""
    row, all_of_it = line.get(part), line.get(whole)
    if row is None or all_of_it is None or all_of_it.value <= 0:
        return NONE
    return cell(row, f"{100 * row.value / all_of_it.value:.1f} %")


def _l2_hits(line: _Line) -> Sentence:
    missed, asked = line.get("l2_load_miss_sectors"), line.get("l2_load_sectors")
    if missed is None or asked is None or asked.value <= 0:
        return NONE
    return cell(missed, f"{100 * max(0.0, 1 - missed.value / asked.value):.1f} %")


def _used(line: _Line) -> Sentence:
    sectors = line.get("l1_load_sectors")
    used = ladder_steps.bytes_used_per_sector(line.row, line.cases)
    return cell(sectors, units.number(used)) if used is not None else NONE


def _dram(line: _Line) -> Sentence:
    net = line.get("dram_bytes_per_interaction")
    if net:
        return cell(net, small(net.value))
    read, pairs = line.get("dram_read_bytes"), ladder.interactions(line.row)
    return cell(read, small(read.value / pairs)) if read and pairs else NONE


def _nominal(line: _Line) -> Sentence:
    row = line.get("nominal_flops_per_second")
    return cell(row, units.number(row.value / TERA) if row else "")


def _counted(line: _Line) -> Sentence:
    flops = line.get("flops_per_interaction")
    if flops is None or not line.row.valid:
        return NONE
    return cell(flops, units.number(flops.value * line.row.value / TERA))


def _over(line: _Line, rung: str) -> Sentence:
    """Over a rung of the same machine, at the same size."""
    base = next((step.row for step in line.steps if step.rung == rung), None)
    if base is None or not (base.valid and line.row.valid) or base.value <= 0:
        return NONE
    if ladder.place_of(base) != ladder.place_of(line.row):
        return NONE
    return (Cited(units.factor(line.row.value / base.value), line.row),)


COLUMNS: Mapping[str, Callable[[_Line], Sentence]] = {
    "registers": lambda line: _fact(line, "registers"),
    "shared memory": lambda line: _fact(line, "shared_bytes"),
    "threads": lambda line: _fact(line, "threads"),
    "occupancy": lambda line: _percent(line, "achieved_occupancy"),
    "sectors/request": lambda line: _number(line, "l1_sectors_per_request"),
    "bytes used/sector": _used,
    "L1 hits": lambda line: _share(line, "l1_load_hit_sectors", "l1_load_sectors"),
    "L2 hits": _l2_hits,
    "DRAM bytes/interaction": _dram,
    "issue slots used": lambda line: _percent(line, "issue_utilisation"),
    "nominal TFLOP/s": _nominal,
    "counted TFLOP/s": _counted,
    "relative RMS error": lambda line: _small(line, "relative_rms_error"),
    "largest error": lambda line: _small(line, "relative_maximum_error"),
    "over serial": lambda line: _over(line, "serial"),
    "over OpenMP": lambda line: _over(line, "openmp"),
}
DRIFTS = {"energy drift": "energy_drift", "momentum drift": "momentum_drift"}
"""Bodies move in `galaxies` alone: of the fastest valid case of that problem."""


def _drift(galaxies: Row | None, cases: Cases, name: str) -> Sentence:
    row = cases.get(galaxies, name) if galaxies else None
    if row is None or not row.valid:
        return NONE
    return cell(row, small(row.value))


def make(run: Run) -> Table | None:
    """Every rung by its best case; None without rungs.

    Errors are relative to the root mean square of all accelerations, drifts to all energy and to
    the sum of m|v|, over the steps of a sample. What no rung has has no column.
    """
    steps = ladder.steps(run.rows)
    if not steps:
        return None
    cases = Cases(run.rows)
    by_id = {case.id: case for case in run.cases}
    moving = [row for row in cases.having(ladder.RATE) if cases.get(row, "energy_drift")]
    galaxies = ladder.at_size(moving, "galaxies")
    header = ["rung", "best case", *COLUMNS, *DRIFTS]
    lines = []
    for step in steps:
        line = _Line(step, step.row, cases, by_id.get(step.row.case), steps)
        where = f"{ladder.size_words(step.row)}; " + ladder.axis_words(
            step.row, ladder.own_axes(step.row)
        )
        words: list[Sentence] = [(rung_name(step.rung),), (where,)]
        words += [make_cell(line) for make_cell in COLUMNS.values()]
        moved = ladder.best(galaxies[step.rung]) if step.rung in galaxies else None
        words += [_drift(moved, cases, name) for name in DRIFTS.values()]
        lines.append(words)
    kept = [at for at in range(len(header)) if at < 2 or any(line[at] != NONE for line in lines)]
    return Table(
        name="nbody_rungs",
        title="What each rung of n-body uses, and how right it is",
        header=tuple(header[at] for at in kept),
        rows=tuple(tuple(line[at] for at in kept) for line in lines),
        numeric=frozenset(range(2, len(kept))),
    )


TABLE = ReportTable(order=23, make=make)
