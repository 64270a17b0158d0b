"""How far to trust a run: what its gates said, and what it did not measure."""

from collections import Counter, defaultdict
from collections.abc import Mapping

from strata.run import Case, Gate, Noise, Run, Verdict


def gate_counts(run: Run) -> Mapping[str, Counter[Verdict]]:
    """How often each gate gave each verdict: cases for case gates, rows for the noise gate."""
    counts: dict[str, Counter[Verdict]] = defaultdict(Counter)
    for case in run.cases:
        gates: list[Gate | Noise] = [*case.gates, *(one.noise for one in case.measurements)]
        for gate in gates:
            counts[gate.name][gate.verdict] += 1
    return dict(sorted(counts.items()))


def unmeasured(run: Run) -> tuple[Case, ...]:
    """The cases that were skipped or failed, each with its reason."""
    return tuple(case for case in run.cases if case.status != "measured")
