"""What does each n-body rung use of the machine, and how accurate is it?"""

from collections.abc import Callable, Mapping

from strata.ladder import rungs as ladder
from strata.ladder.best import best_cases
from strata.ladder.launch import bytes_used_per_sector
from strata.ladder.rungs import Cases, case_words, rung_name
from strata.model.text import NONE, Sentence, Table, table, told
from strata.model.units import number
from strata.report.tables import _cells
from strata.report.tables._cells import percent, small
from strata.run import Row, Run

ORDER = 221

TERA = 1e12


def make(run: Run) -> Table | None:
    """Every rung by its best case; None without rungs. Columns without any value are left out.

    Errors are relative to the root mean square of all accelerations; drifts to the total energy and
    to the sum of m|v|, over the steps of a sample: of the fastest valid case of `galaxies`, the
    only problem whose bodies move.
    """
    found, cases = best_cases(run), Cases(run, valid=True)
    bases = {one.rung: one.row for one in found}
    lines = [_line(one.row, cases, bases) for one in found]
    title = "What each rung of n-body uses, and how right it is"
    return table("nbody_rungs", title, lines, words=("rung", "best case"), blank=())


def _line(row: Row, cases: Cases, bases: Mapping[str, Row]) -> dict[str, Sentence]:
    def get(name: str, write: Callable[[float], str]) -> Sentence:
        return told(cases.get(row, name), write)

    def hits(part: str, whole: str, share: Callable[[float], float] = float) -> Sentence:
        """One count relative to another, in per cent; empty for 0 of 0."""
        every = cases.get(row, whole)
        if every is None or every.value <= 0:
            return NONE
        asked = every.value
        return get(part, lambda value: percent(100 * share(value / asked)))

    def over(rung: str) -> Sentence:
        """Relative to a rung of the same machine, at the same size."""
        base = bases.get(rung)
        same = base and ladder.place_of(base) == ladder.place_of(row)
        return _cells.over(row, base) if same else NONE

    def drift(name: str) -> Sentence:
        moving = [one for one in cases.having(ladder.RATE) if cases.get(one, name)]
        rows = ladder.at_size(moving, "galaxies").get(row.benchmark)
        return told(cases.get(ladder.best(rows), name) if rows else None, small)

    used = bytes_used_per_sector(row, cases)
    counted = get("flops_per_interaction", lambda value: number(value * row.value / TERA))
    return {
        "rung": (rung_name(row.benchmark),),
        "best case": (case_words(row),),
        "registers": _cells.fact(row, "registers", cases),
        "shared memory": _cells.fact(row, "shared_bytes", cases),
        "threads": _cells.fact(row, "threads", cases),
        "occupancy": get("achieved_occupancy", percent),
        "sectors/request": get("l1_sectors_per_request", number),
        "bytes used/sector": get("l1_load_sectors", lambda _: number(used)) if used else NONE,
        "L1 hits": hits("l1_load_hit_sectors", "l1_load_sectors"),
        "L2 hits": hits(
            "l2_load_miss_sectors", "l2_load_sectors", lambda missed: max(0.0, 1 - missed)
        ),
        "DRAM bytes/interaction": _cells.dram_bytes(row, cases),
        "issue slots used": get("issue_utilisation", percent),
        "nominal TFLOP/s": get("nominal_flops_per_second", lambda value: number(value / TERA)),
        "counted TFLOP/s": counted if row.valid else NONE,
        "relative RMS error": get("relative_rms_error", small),
        "largest error": get("relative_maximum_error", small),
        "over serial": over("serial"),
        "over OpenMP": over("openmp"),
        "energy drift": drift("energy_drift"),
        "momentum drift": drift("momentum_drift"),
    }
