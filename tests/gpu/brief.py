"""Print what a run's gates found, and how two runs on one device agree.

    brief.py RUN [RUN2]

Standard library only, so that it works on a machine with nothing installed.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections import Counter
from pathlib import Path
from typing import Any


def cases(run: Path) -> dict[str, dict[str, Any]]:
    """Return the last record of each case, timed and counted ones apart."""
    lines = (run / "samples.jsonl").read_text(encoding="utf-8").splitlines()
    records = map(json.loads, lines)
    return {f"{record['case']} ({record['kind']})": record for record in records}


def describe(run: Path) -> None:
    """Print how often each gate passed and failed, and which cases failed one."""
    gates: Counter[str] = Counter()
    noisy: Counter[str] = Counter()
    failed: list[str] = []
    rows = 0
    for record in cases(run).values():
        gates[f"status {record['status']} {record['reason']}".strip()] += 1
        for gate in record.get("gates", []):
            gates[f"{gate['gate']} {gate['verdict']}"] += 1
            if gate["verdict"] == "failed":
                failed.append(f"{record['case']}: {gate['gate']}: {gate['detail']}")
        for row in record.get("measurements", []):
            rows += 1
            if row["noise"]["verdict"] == "failed":
                noisy[f"noise failed {row['quantity']} {row['method']}"] += 1
    print(f"{run.name}: {rows} rows")
    for name, count in sorted(gates.items()) + sorted(noisy.items()):
        print(f"  {count:6} {name}")
    for line in failed[:12]:
        print(f"  {line}")


def compare(first: Path, second: Path) -> None:
    """Print how many medians of two runs agree within 1 %, by quantity."""
    a, b = cases(first), cases(second)
    changes: dict[str, list[float]] = {}
    worst: list[tuple[float, str]] = []
    for case in a.keys() & b.keys():
        rows_of = [
            {(m["quantity"], m["method"]): m["samples"] for m in record.get("measurements", [])}
            for record in (a[case], b[case])
        ]
        for key in rows_of[0].keys() & rows_of[1].keys():
            before, after = (statistics.median(rows[key]) for rows in rows_of)
            change = abs(after - before) / max(abs(after), abs(before), sys.float_info.min)
            changes.setdefault("/".join(key), []).append(change)
            if key[0] == "warp_read_cycles":
                worst.append((change, case))
    for key, values in sorted(changes.items()):
        within = sum(value <= 0.01 for value in values) / len(values)
        print(f"  {100 * within:6.1f} % of {len(values)} medians within 1 %: {key}")
    for change, case in sorted(worst, reverse=True)[:8]:
        print(f"  {100 * change:6.2f} % {case}")


if __name__ == "__main__":
    runs = [Path(argument) for argument in sys.argv[1:]]
    for one in runs:
        describe(one)
    if len(runs) == 2:
        compare(*runs)
