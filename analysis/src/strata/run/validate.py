"""Check a run folder against its contract beyond what loading it already demands.

`measurements.csv` must be what `samples.jsonl` gives, row for row, and the folder, the context and
the samples must speak of the same run.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from strata.run.files import (
    CONTEXT_FILE,
    MEASUREMENTS_FILE,
    RESUME,
    REWRITE,
    SAMPLES_FILE,
    RunError,
    one_line,
)
from strata.run.rows import COLUMNS, Row, params_text
from strata.run.run import Run
from strata.run.table import NUMBERS, one_of

RELATIVE_TOLERANCE = 1e-12
"""Two writers may round the last digits differently; anything more is another number."""


def findings(run: Run) -> tuple[str, ...]:
    """What breaks the contract, one line each; empty when the run keeps it.

    Raises `RunError` where the table cannot be read.
    """
    return tuple(map(one_line, (*_context(run), *_plan(run), *_table(run))))


def refuse_repeated(runs: Sequence[Run]) -> None:
    """Raises `RunError` where one of `runs` is given twice."""
    names = Counter(run.context.run for run in runs)
    for run in runs:
        name = run.context.run
        if names[name] > 1:
            found = f"the run {name} twice"
            raise RunError(run.folder, found=found, expected="each run once", mend="name it once")


def refuse_unusable(run: Run) -> None:
    """Raises `RunError` for a run that loads, but that nothing should be drawn from.

    Without a row there is nothing to show. A run that says it is complete and lacks cases was cut
    off after it was written, and a page would not tell; a table with rows of other runs or devices
    is no longer the table of these samples. What else `findings` finds, a page can name.
    """
    context, path = run.context, run.folder / SAMPLES_FILE
    said = {"run": context.run, "device": context.device.slug, "backend": context.backend}
    found = ""
    if run.pending and context.state == "complete":
        found = f"{len(run.cases)} of the {len(context.sweep.cases)} cases of a complete run"
        expected = f"every case, {run.pending[0]} too"
        mend = "fetch the file again: it was cut off; or measure again"
    elif not run.rows:
        unmeasured = [case for case in run.cases if case.status != "measured"]
        why = f" ({unmeasured[0].status}: {unmeasured[0].reason})" if unmeasured else ""
        found, expected = f"0 rows in {len(run.cases)} cases{why}", "at least one measured case"
        mend = RESUME
    elif run.table is not run.rows and (
        others := [
            (name, row)
            for row in run.table or ()
            for name in said
            if getattr(row, name) != said[name]
        ]
    ):
        name, row = others[0]
        found = f"a row of the {name} {getattr(row, name)}"
        expected, mend = f"rows of {said[name]} alone, as {CONTEXT_FILE} says", REWRITE
        path = run.folder / MEASUREMENTS_FILE
    elif foreign := [case for case in run.cases if case.backend != context.backend]:
        found = f"the case {foreign[0].id} on {foreign[0].backend}"
        expected = f"cases on {context.backend} alone, as {CONTEXT_FILE} says"
        mend = "keep what each device measured in a run of its own; measure again"
    if found:
        raise RunError(path, found=found, expected=expected, mend=mend)


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
    planned = Counter(run.context.sweep.cases)
    for case, times in planned.items():
        if times > 1:
            yield f"{CONTEXT_FILE}: the sweep lists {case} twice"
            break
    for measured in run.cases:
        if measured.id not in planned:
            yield f"{SAMPLES_FILE}: {measured.id} is no case of the sweep in {CONTEXT_FILE}"
    if run.pending and run.context.state == "complete":
        yield (
            f"{SAMPLES_FILE}: the run is complete, but {len(run.pending)} of "
            f"{len(run.context.sweep.cases)} cases are missing, the first of them {run.pending[0]}"
        )


def _table(run: Run) -> Iterator[str]:
    if run.table is None or run.table is run.rows:
        return
    written = {row.key: row for row in run.table}
    expected = {row.key: row for row in run.rows}
    for key, row in expected.items():
        if key in written:
            yield from _difference(written[key], row)
        else:
            yield f"{MEASUREMENTS_FILE}: no row for {one_of(row)}, which {SAMPLES_FILE} holds"
    for key, row in written.items():
        if key not in expected:
            yield f"{MEASUREMENTS_FILE}: a row for {one_of(row)}, which {SAMPLES_FILE} lacks"


def _difference(written: Row, expected: Row) -> Iterator[str]:
    for name in COLUMNS:
        found, wanted = getattr(written, name), getattr(expected, name)
        if name in NUMBERS and None not in (found, wanted):
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
