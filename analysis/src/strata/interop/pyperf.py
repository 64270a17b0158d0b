"""pyperf's JSON (version 1.0): a run out of ours; `pyperf compare_to A.json B.json` takes two.

A case is a benchmark by its id, in seconds, and all of its samples are one run of pyperf: what the
export to Google Benchmark has as `real_time`; the metadata `strata_quantity` names it. Left out are
rows that are not valid, which the format cannot mark, and times of 0, which pyperf refuses.
"""

import json

from strata.interop.google_benchmark import PER_SECOND, time_of
from strata.run import Run, grouped


def _benchmarks(run: Run) -> list[dict[str, object]]:
    by_case = grouped(run.rows, lambda row: row.case)
    times = {case: time for case, rows in by_case.items() if (time := time_of(rows))}
    return [
        {"metadata": {"name": case, "strata_quantity": words},
         "runs": [{"values": [sample / PER_SECOND["ns"] for sample in nanoseconds]}]}
        for case, (_, nanoseconds, words) in times.items()
        if min(nanoseconds) > 0
    ]  # fmt: skip


def losses(run: Run) -> str:
    """What the format cannot hold of a run, counted by reason; empty if it holds all values."""
    lost = len(run.rows) - len(_benchmarks(run))
    why = "because the format holds one valid time above 0 for each case"
    return f"{lost:,} of {len(run.rows):,} rows not exported, {why}" if lost else ""


def encode(run: Run) -> bytes:
    """What pyperf would have written of `run`; times in seconds, every sample kept."""
    context, benchmarks = run.context, _benchmarks(run)
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
