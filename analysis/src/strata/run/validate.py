"""Check a run folder against its contract beyond what loading already requires.

`measurements.csv` must equal the rows of `samples.jsonl`, and the folder, the context and the
samples must belong to the same run.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

from strata.run.files import (
    CONTEXT_FILE,
    MEASUREMENTS_FILE,
    RESUME,
    REWRITE,
    SAMPLES_FILE,
    RunError,
    one_line,
)
from strata.run.rows import COLUMNS, NUMBERS, one_of, params_text
from strata.run.run import Run
from strata.run.schema import Axis, Provenance

TOLERANCE = 1e-12
"""Relative: two writers may round the last digits differently; more is another number."""


def findings(run: Run) -> tuple[str, ...]:
    """Violations of the contract, one line each; empty if there are none.

    Raises `RunError` if the table cannot be read.
    """
    run = run.recorded
    cases = [
        f"{name}: found {found}; expected {expected}" for name, found, expected, _ in _cases(run)
    ]
    return tuple(map(one_line, (*_context(run), *cases, *_plan(run), *_table(run))))


KINDS: tuple[Provenance, ...] = ("timed", "counted", "modelled", "reported", "published")


class Validity(NamedTuple):
    """How many rows of a kind there are, and how many of them are valid."""

    kind: str
    rows: int
    valid: int


def validity(run: Run) -> tuple[Validity, ...]:
    """Timed, counted and other rows apart: counts are hardly ever invalid, and dilute a share."""
    rows = Counter((row.provenance, row.valid) for row in run.rows)
    return tuple(
        Validity(kind, rows[kind, True] + rows[kind, False], rows[kind, True]) for kind in KINDS
    )


def refuse_repeated(runs: Sequence[Run]) -> None:
    """Raises `RunError` if one of `runs` is given twice."""
    names = Counter(run.context.run for run in runs)
    for run in runs:
        if names[name := run.context.run] > 1:
            found = f"the run {name} twice"
            raise RunError(run.folder, found=found, expected="each run once", fix="give it once")


def refuse_unusable(run: Run) -> None:
    """Raises `RunError` for a run that loads, but is not suitable for conclusions.

    Without a row there is nothing to show. A run that claims to be complete but lacks cases was
    truncated after it was written, which a page would not show; a table with rows of other runs or
    devices is no longer the table of these samples. Other `findings` can be named on a page.
    """
    run = run.recorded
    for name, found, expected, fix in chain(_cases(run), _rows(run)):
        raise RunError(run.folder / name, found=found, expected=expected, fix=fix)


_Faults = Iterator[tuple[str, str, str, str]]
"""The file, what was found in it, what was expected, how to fix it."""


def _cases(run: Run) -> _Faults:
    context = run.context
    if run.pending and context.state == "complete":
        found = f"{len(run.cases)} of the {len(context.sweep.cases)} cases of a complete run"
        expected = f"every case, including {run.pending[0]}"
        yield SAMPLES_FILE, found, expected, "fetch the file again, because it was truncated"
    expected = f"cases on {context.backend} only, as in {CONTEXT_FILE}"
    for case in run.cases:
        if case.backend != context.backend:
            found = f"the case {case.id} on {case.backend}"
            yield SAMPLES_FILE, found, expected, "keep the results of each device in a separate run"


def _rows(run: Run) -> _Faults:
    context, expected = run.context, "at least one measured case"
    if not run.rows:
        why = next((f" ({case.status}: {case.reason})" for case in run.cases if case.reason), "")
        yield SAMPLES_FILE, f"0 rows in {len(run.cases)} cases{why}", expected, RESUME
    identity = {"run": context.run, "device": context.device.slug, "backend": context.backend}
    for row in () if run.table is run.rows else run.table or ():
        for name, own in identity.items():
            if (found := getattr(row, name)) != own:
                expected = f"rows of {own} only, as in {CONTEXT_FILE}"
                yield MEASUREMENTS_FILE, f"a row of the {name} {found}", expected, REWRITE


def _context(run: Run) -> Iterator[str]:
    context, name = run.context, run.folder.resolve().name
    if context.run != name:
        yield f"{CONTEXT_FILE}: run is {context.run}, but the folder is called {name}"
    if context.started > (context.finished or context.started):
        yield f"{CONTEXT_FILE}: finished {context.finished} before it started {context.started}"
    if context.state == "complete" and context.finished is None:
        yield f"{CONTEXT_FILE}: the run is complete but has no end time"


PLAN = {
    "warmups": (0, 1000), "min_samples": (6, 100_000), "max_samples": (6, 100_000),
    "visits": (1, 100), "relative_half_width": (0, 1),
    "seconds_per_case": (0, 86_400), "time_limit": (0, 86_400),
}  # fmt: skip
"""Bounds of the numbers of a plan, as in harness/case/sweep.cpp."""


def _plan(run: Run) -> Iterator[str]:
    sweep = run.context.sweep
    for name, (least, most) in PLAN.items():
        number = sweep.plan.get(name, most)
        if not isinstance(number, int | float) or not least <= number <= most:
            yield f"{CONTEXT_FILE}: {name} of the plan is {number!r}; expected {least} to {most}"
    for case in dict.fromkeys(sweep.cases):
        yield from (
            f"{CONTEXT_FILE}: the case {case} of the sweep: {why}" for why in _odd(run, case)
        )
    planned = Counter(sweep.cases)
    case, times = next(iter(planned.most_common(1)), ("", 0))
    if times > 1:
        yield f"{CONTEXT_FILE}: the sweep lists {case} twice"
    for measured in run.cases:
        if measured.id not in planned:
            yield f"{SAMPLES_FILE}: {measured.id} is not a case of the sweep in {CONTEXT_FILE}"


def _odd(run: Run, case: str) -> Iterator[str]:
    """Why no sweep of the device has a case, by the declarations of the run."""
    _, benchmark, backend, *params = [*case.split("/"), "", ""]
    if backend != run.context.backend:
        yield f"not on {run.context.backend}"
    known = run.context.benchmarks.get(benchmark)
    axes = {axis.name: axis for axis in known.axes} if known else {}
    for param in filter(None, params):
        name, _, value = param.partition("=")
        axis = axes.get(name)
        if axes and (axis is None or not _is_on(axis, value)):
            yield f"{param} is no value of an axis"


def _is_on(axis: Axis, value: str) -> bool:
    if axis.minimum is None or axis.maximum is None:
        return axis.choices is None or value in axis.choices
    return value.isdecimal() and axis.minimum <= int(value) <= axis.maximum


def _table(run: Run) -> Iterator[str]:
    if run.table is None or run.table is run.rows:
        return
    written = {row.key: row for row in run.table}
    expected = {row.key: row for row in run.rows}
    for key, row in (expected | written).items():
        if key not in written:
            yield f"{MEASUREMENTS_FILE}: no row for {one_of(row)}, which {SAMPLES_FILE} holds"
        elif key not in expected:
            yield f"{MEASUREMENTS_FILE}: a row for {one_of(row)}, which {SAMPLES_FILE} lacks"
        else:
            for name in COLUMNS:
                found, wanted = getattr(row, name), getattr(expected[key], name)
                if not _equal(name, found, wanted):
                    if name == "params":
                        found, wanted = params_text(found), params_text(wanted)
                    difference = f"{name} is {found!r}, the samples give {wanted!r}"
                    yield f"{MEASUREMENTS_FILE}: {one_of(row)}: {difference}"


def _equal(name: str, found: Any, wanted: Any) -> bool:
    numbers = name in NUMBERS and None not in (found, wanted)
    return bool(found == wanted or (numbers and math.isclose(found, wanted, rel_tol=TOLERANCE)))
