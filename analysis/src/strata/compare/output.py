"""Which runs are compared: the first with each later one, and all of them side by side."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from msgspec import structs

from strata.compare import devices, words
from strata.compare.changes import Comparison, Settings, compare
from strata.compare.conditions import kinship
from strata.compare.sections import Section
from strata.run import Run, RunError
from strata.run.validate import refuse_repeated


def only(run: Run, names: Sequence[str]) -> Run:
    """The run with the rows of the benchmarks or suites `names`, or all; may raise `RunError`."""
    if not names:
        return run
    known = {row.benchmark for row in run.rows}
    for name in names:
        if name not in known | {row.suite for row in run.rows}:
            expected = f"a benchmark of the run ({', '.join(sorted(known))}) or a suite"
            found, mend = f"no row of {name}", "name another"
            raise RunError(run.folder, found=found, expected=expected, mend=mend)
    kept = tuple(row for row in run.rows if row.benchmark in names or row.suite in names)
    return structs.replace(run, rows=kept)


def compared(
    runs: Sequence[Run],
    settings: Settings,
    *,
    same: Sequence[Run] = (),
    beside: Sequence[str] = (),
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


def share(text: str) -> float:
    """A size such as `2%` or `0.02`; raises ValueError for others, `2` included."""
    size = re.fullmatch(r"(\d*\.?\d+) ?(%?)", text.strip(), re.ASCII)
    if not size or (not size[2] and float(size[1]) >= 1):
        raise ValueError(f"found the size {text!r}; expected one like 2% or 0.02")
    return float(size[1]) / (100 if size[2] else 1)


def without_power(found: Sequence[Comparison]) -> Iterator[str]:
    """The comparisons that could not have seen a change of the size that their settings name."""
    if not found:
        yield "no two runs of one device were compared"
    for one in found:
        if not one.has_power:
            yield f"{words.title(one)}: {words.power(one)}"


def sections(found: Sequence[Comparison], beside: devices.Devices | None) -> tuple[Section, ...]:
    """The sections: one for each comparison, then one for the devices side by side."""
    changes = tuple(words.section(one) for one in found)
    return (*changes, devices.section(beside)) if beside else changes
