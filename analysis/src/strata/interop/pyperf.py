"""pyperf's JSON (version 1.0): a run out of ours; `pyperf compare_to A.json B.json` takes two.

A case is a benchmark by its id, in seconds: `grid_time`, else the first quantity in seconds, else
cycles by the clock that was measured beside them; its metadata `strata_quantity` names it. That
is what the export to Google Benchmark has as `real_time`. All samples of a case are one run of
pyperf. What did not pass its gates is left out, since the format has no word for it, and so is a
case with a sample that is not above 0, which pyperf refuses.
"""

import json

from strata.interop.google_benchmark import PER_SECOND, time_of
from strata.run import Run, grouped


def _times(run: Run) -> dict[str, tuple[list[float], str]]:
    """Seconds of each case, and what they are."""
    by_case = grouped(run.rows, lambda row: row.case)
    times = {case: time for case, rows in by_case.items() if (time := time_of(rows))}
    return {
        case: ([sample / PER_SECOND["ns"] for sample in nanoseconds], words)
        for case, (_, nanoseconds, words) in times.items()
        if min(nanoseconds) > 0
    }


def losses(run: Run) -> str:
    """What the format cannot hold of a run, counted by reason; empty if it holds all values."""
    lost = len(run.rows) - len(_times(run))
    why = "because the format holds one valid time above 0 for each case"
    return f"{lost:,} of {len(run.rows):,} rows not exported, {why}" if lost else ""


def encode(run: Run) -> bytes:
    """What pyperf would have written of `run`; times in seconds, every sample kept."""
    context = run.context
    benchmarks = [
        {"metadata": {"name": case, "strata_quantity": words}, "runs": [{"values": seconds}]}
        for case, (seconds, words) in _times(run).items()
    ]
    metadata = {
        "unit": "second",
        "date": context.started.replace("T", " ").removesuffix("Z"),
        "strata_device": context.device.name,
        "strata_run": context.run,
        "strata_version": context.build.version,
        "strata_commit": context.build.commit,
        "strata_left_out": f"{len(run.cases) - len(benchmarks)} of {len(run.cases)} cases",
    }
    # An empty word or a break of a line is refused.
    metadata = {name: text for name, word in metadata.items() if (text := " ".join(word.split()))}
    data = {"benchmarks": benchmarks, "metadata": metadata, "version": "1.0"}
    return f"{json.dumps(data, ensure_ascii=False, allow_nan=False)}\n".encode()
