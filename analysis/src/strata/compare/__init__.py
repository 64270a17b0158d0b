"""Two or more runs compared: what changed on a device, and how devices differ.

    from pathlib import Path
    from strata.compare import compare
    from strata.run import load_run

    found = compare(load_run(Path("before")), load_run(Path("after")))
    print(found.verdicts()["slower"])
    for change in found.flagged().itertuples():
        print(change.verdict, change.before.case, change.change)

The command `strata compare` does this and writes tables, a figure and a page.
"""

from collections.abc import Sequence
from dataclasses import replace

from msgspec import structs

from strata.compare import devices
from strata.compare.changes import Comparison, Settings, better, compare
from strata.compare.conditions import differences, kinship
from strata.run import Run, RunError
from strata.run.validate import refuse_repeated

__all__ = [
    "Comparison", "Settings", "better", "compare", "compare_all", "differences", "kinship", "only",
]  # fmt: skip


def only(run: Run, names: Sequence[str]) -> Run:
    """The run with the rows of the benchmarks or suites `names`, or all; may raise `RunError`."""
    if not names:
        return run
    known = {row.benchmark for row in run.rows}
    for name in names:
        if name not in known | {row.suite for row in run.rows}:
            expected = f"a benchmark of the run ({', '.join(sorted(known))}) or a suite"
            found, fix = f"no row of {name}", "name another"
            raise RunError(run.folder, found=found, expected=expected, fix=fix)
    kept = tuple(row for row in run.rows if row.benchmark in names or row.suite in names)
    return structs.replace(run, rows=kept)


def compare_all(
    runs: Sequence[Run], settings: Settings, *, same: Sequence[Run] = (), beside: Sequence[str] = ()
) -> tuple[tuple[Comparison, ...], devices.Devices | None]:
    """The first run against each later one of its device or model, and all runs side by side.

    The latter is None if all are of one model, without published devices `beside`. The declared
    rate of false alarms holds for all comparisons together. Raises `RunError` if a run is given
    twice or the runs have nothing in common, ValueError for an unknown published device.
    """
    refuse_repeated([*runs, *same])
    first, *later = runs
    related = [run for run in later if kinship(first.context, run.context) != "other"]
    each = replace(settings, false_alarm=settings.false_alarm / max(len(related), 1))
    found = tuple(compare(first, run, each, same=same) for run in related)
    several = beside or len(related) < len(later)
    return found, devices.side_by_side(runs, beside) if several else None
