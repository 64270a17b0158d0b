"""How far to trust a run: what its gates said, and what it did not measure."""

from collections import Counter, defaultdict
from collections.abc import Mapping

from strata.run import Case, Run, Verdict


def gate_counts(run: Run) -> Mapping[str, Counter[Verdict]]:
    """How often each gate gave each verdict: cases for case gates, rows for the noise gate."""
    counts: dict[str, Counter[Verdict]] = defaultdict(Counter)
    for case in run.cases:
        for gate in (*case.gates, *(measurement.noise for measurement in case.measurements)):
            counts[gate.name][gate.verdict] += 1
    return dict(sorted(counts.items()))


def unmeasured(run: Run) -> tuple[Case, ...]:
    """The cases that were skipped or failed, each with its reason."""
    return tuple(case for case in run.cases if case.status != "measured")


def pending(run: Run) -> tuple[str, ...]:
    """The case ids of the sweep that the run has not come to yet."""
    done = {case.id for case in run.cases}
    return tuple(case for case in run.context.sweep.cases if case not in done)
