"""pyperf's JSON (version 1.0): a run out of ours; `pyperf compare_to A.json B.json` takes two.

A case is a benchmark by its id, in seconds: `grid_time`, else the first quantity in seconds, else
cycles by the clock that was measured beside them; its metadata `strata_quantity` names it. That
is what the export to Google Benchmark has as `real_time`. All samples of a case are one run of
pyperf. What did not pass its gates is left out, since the format has no word for it, and so is a
case with a sample that is not above 0, which pyperf refuses.
"""

import json
from collections.abc import Sequence

from strata.interop.google_benchmark import PER_SECOND, time_of
from strata.run import Row, Run, grouped


def _time(rows: Sequence[Row]) -> tuple[Row, list[float], str] | None:
    time = time_of(rows)
    return time if time and min(time[1]) > 0 else None


def losses(run: Run) -> str:
    """What the format cannot hold of a run, counted by reason; empty if it holds all values."""
    times = sum(
        _time(rows) is not None for rows in grouped(run.rows, lambda row: row.case).values()
    )
    if times == len(run.rows):
        return ""
    why = "because the format holds one valid time above 0 for each case"
    return f"{len(run.rows) - times:,} of {len(run.rows):,} rows not exported, {why}"


def encode(run: Run) -> bytes:
    """What pyperf would have written of `run`; times in seconds, every sample kept."""
    context = run.context
    benchmarks = []
    for case, rows in grouped(run.rows, lambda row: row.case).items():
        if time := _time(rows):
            _, nanoseconds, told = time
            values = [one / PER_SECOND["ns"] for one in nanoseconds]
            metadata = {"name": case, "strata_quantity": told}
            benchmarks.append({"metadata": metadata, "runs": [{"values": values}]})
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
