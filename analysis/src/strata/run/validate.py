"""Check a run folder against its contract beyond what loading it already demands.

`measurements.csv` must be what `samples.jsonl` gives, row for row, and the folder, the context and
the samples must speak of the same run.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from strata.run import (
    COLUMNS,
    CONTEXT_FILE,
    MEASUREMENTS_FILE,
    RESUME,
    REWRITE,
    SAMPLES_FILE,
    Row,
    Run,
    RunError,
    one_line,
    params_text,
)
from strata.run.table import NUMBERS, one_of

RELATIVE_TOLERANCE = 1e-12
"""Two writers may round the last digits differently; anything more is another number."""


def findings(run: Run) -> tuple[str, ...]:
    """What breaks the contract, one line each; empty when the run keeps it."""
    return tuple(map(one_line, (*_context(run), *_plan(run), *_table(run))))


def refuse_repeated(runs: Sequence[Run]) -> None:
    """Raises `RunError` where one of `runs` is given twice."""
    names = Counter(run.context.run for run in runs)
    for run in runs:
        if names[run.context.run] > 1:
            raise RunError(
                run.folder,
                found=f"the run {run.context.run} twice",
                expected="each run once",
                mend="name it once",
            )


def refuse_unusable(run: Run) -> None:
    """Raises `RunError` for a run that loads, but that nothing should be drawn from.

    Without a row there is nothing to show. A run that says it is complete and lacks cases was cut
    off after it was written, and a page would not tell; a table with rows of other runs or devices
    is no longer the table of these samples. What else `findings` finds, a page can name.
    """
    samples, table = run.folder / SAMPLES_FILE, run.folder / MEASUREMENTS_FILE
    missing = _missing(run)
    if missing and run.context.state == "complete":
        raise RunError(
            samples,
            found=f"{len(run.cases)} of the {len(run.context.sweep.cases)} cases of a complete run",
            expected=f"every case, {missing[0]} too",
            mend="fetch the file again: it was cut off; or measure again",
        )
    if not run.rows:
        unmeasured = [case for case in run.cases if case.status != "measured"]
        why = f" ({unmeasured[0].status}: {unmeasured[0].reason})" if unmeasured else ""
        raise RunError(
            samples,
            found=f"0 rows in {len(run.cases)} cases{why}",
            expected="at least one case that was measured",
            mend=RESUME,
        )
    context = run.context
    for row in () if run.table is None or run.table is run.rows else run.table:
        for name, found, expected in (
            ("run", row.run, context.run),
            ("device", row.device, context.device.slug),
            ("backend", row.backend, context.backend),
        ):
            if found != expected:
                raise RunError(
                    table,
                    found=f"a row of the {name} {found}",
                    expected=f"rows of {expected} alone, as {CONTEXT_FILE} says",
                    mend=REWRITE,
                )
    for case in run.cases:
        if case.backend != context.backend:
            raise RunError(
                samples,
                found=f"the case {case.id} on {case.backend}",
                expected=f"cases on {context.backend} alone, as {CONTEXT_FILE} says",
                mend="keep what each device measured in a run of its own; measure again",
            )


def _missing(run: Run) -> list[str]:
    done = {case.id for case in run.cases}
    return [case for case in run.context.sweep.cases if case not in done]


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
    known = set(planned)
    if len(known) != len(planned):
        twice = next(case for case, times in Counter(planned).items() if times > 1)
        yield f"{CONTEXT_FILE}: the sweep lists {twice} twice"
    for case in run.cases:
        if case.id not in known:
            yield f"{SAMPLES_FILE}: {case.id} is no case of the sweep in {CONTEXT_FILE}"
    missing = _missing(run)
    if missing and run.context.state == "complete":
        yield (
            f"{SAMPLES_FILE}: the run is complete, but {len(missing)} of {len(planned)} cases are "
            f"missing, the first of them {missing[0]}"
        )


def _table(run: Run) -> Iterator[str]:
    if run.table is None or run.table is run.rows:
        return
    written = {row.key: row for row in run.table}
    expected = {row.key: row for row in run.rows}
    for key, row in expected.items():
        if key not in written:
            yield f"{MEASUREMENTS_FILE}: no row for {one_of(row)}, which {SAMPLES_FILE} holds"
        else:
            yield from _difference(written[key], row)
    for key, row in written.items():
        if key not in expected:
            yield f"{MEASUREMENTS_FILE}: a row for {one_of(row)}, which {SAMPLES_FILE} lacks"


def _difference(written: Row, expected: Row) -> Iterator[str]:
    for name in COLUMNS:
        found, wanted = getattr(written, name), getattr(expected, name)
        if name in NUMBERS and found is not None and wanted is not None:
            same = math.isclose(found, wanted, rel_tol=RELATIVE_TOLERANCE)
        else:
            same = found == wanted
        if not same:
            if name == "params":
                found, wanted = params_text(found), params_text(wanted)
            yield (
                f"{MEASUREMENTS_FILE}: {one_of(expected)}: {name} is {found!r}, "
                f"the samples give {wanted!r}"
            )
