"""Check a run folder against its contract beyond what loading it already demands.

`measurements.csv` must be what `samples.jsonl` gives, row for row, and the folder, the context and
the samples must speak of the same run.
"""

import math
from collections.abc import Iterator
from dataclasses import fields

from strata.records import (
    CONTEXT_FILE,
    MEASUREMENTS_FILE,
    SAMPLES_FILE,
    Row,
    Run,
    one_line,
    params_text,
)

RELATIVE_TOLERANCE = 1e-12
"""Two writers may round the last digits differently; anything more is another number."""

_NUMBERS = ("value", "ci_low", "ci_high", "minimum", "maximum")


def findings(run: Run) -> tuple[str, ...]:
    """What breaks the contract, one line each; empty when the run keeps it."""
    return tuple(map(one_line, (*_context(run), *_plan(run), *_table(run))))


def _context(run: Run) -> Iterator[str]:
    context, name = run.context, run.folder.resolve().name
    if context.run != name:
        yield f"{CONTEXT_FILE}: run is {context.run}, but the folder is called {name}"
    if context.started > (context.finished or context.started):
        yield f"{CONTEXT_FILE}: finished {context.finished} before it started {context.started}"
    if context.state == "complete" and context.finished is None:
        yield f"{CONTEXT_FILE}: the run is complete but has no time of finishing"
    for case in run.cases:
        if case.backend != context.backend:
            yield f"{SAMPLES_FILE}: {case.id} ran on {case.backend}, the run on {context.backend}"


def _plan(run: Run) -> Iterator[str]:
    planned = run.context.sweep.cases
    known, done = set(planned), {case.id for case in run.cases}
    if len(known) != len(planned):
        twice = next(case for case in planned if planned.count(case) > 1)
        yield f"{CONTEXT_FILE}: the sweep lists {twice} twice"
    for case in run.cases:
        if case.id not in known:
            yield f"{SAMPLES_FILE}: {case.id} is no case of the sweep in {CONTEXT_FILE}"
    missing = [case for case in planned if case not in done]
    if missing and run.context.state == "complete":
        yield (
            f"{SAMPLES_FILE}: the run is complete, but {len(missing)} of {len(planned)} cases are "
            f"missing, the first of them {missing[0]}"
        )


def _table(run: Run) -> Iterator[str]:
    if run.table is None:
        return
    written = {row.key: row for row in run.table}
    expected = {row.key: row for row in run.rows}
    for key, row in expected.items():
        if key not in written:
            yield f"{MEASUREMENTS_FILE}: no row for {_named(row)}, which {SAMPLES_FILE} holds"
        else:
            yield from _difference(written[key], row)
    for key, row in written.items():
        if key not in expected:
            yield f"{MEASUREMENTS_FILE}: a row for {_named(row)}, which {SAMPLES_FILE} lacks"


def _difference(written: Row, expected: Row) -> Iterator[str]:
    for name in (field.name for field in fields(Row) if field.compare):
        found, wanted = getattr(written, name), getattr(expected, name)
        if name in _NUMBERS and found is not None and wanted is not None:
            same = math.isclose(found, wanted, rel_tol=RELATIVE_TOLERANCE)
        else:
            same = found == wanted
        if not same:
            if name == "params":
                found, wanted = params_text(found), params_text(wanted)
            yield (
                f"{MEASUREMENTS_FILE}: {_named(expected)}: {name} is {found!r}, "
                f"the samples give {wanted!r}"
            )


def _named(row: Row) -> str:
    return f"{row.quantity} by {row.method} of {row.case}"
