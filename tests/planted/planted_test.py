"""Kernels with one defect each, run on a GPU: a named check of the run refuses each.

    planted_test.py STRATA_PLANTED STRATA

Prints a table: defect, checks that refuse it, case and details. STRATA, without a defect, must pass
the same checks.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple


class Defect(NamedTuple):
    """The cases of a benchmark whose kernel has a defect, and the checks that may refuse them."""

    name: str
    benchmark: str
    axes: str
    checks: tuple[str, ...]


DEFECTS = (
    Defect(
        "dependence removed",
        "atomics",
        "space: [shared, global]; operation: [add_int, add_float, add_int64]; returns: [yes];"
        " target: [same, disjoint]",
        ("dependence",),
    ),
    Defect(
        "loads serialised",
        "bandwidth",
        "level: [shared, l1, l2, dram]; operation: [read, copy]; width: [4, 16];"
        " block_size: [512]; blocks_per_sm: [2]; in_flight: [4]",
        ("dependence",),
    ),
    Defect(
        "half of the work",
        "distributed_shared",
        "measure: [latency]; cluster: [2]; distance: [1]; warps: [1]",
        ("result",),
    ),
    Defect(
        "wrong level",
        "coalescing",
        "width: [4]; stride: [1, 4]; misalignment: [0]; permutation: [identity]",
        ("level", "model"),
    ),
    Defect("wrong width", "clock_under_load", "mix: [memory]; seconds: [0.1]", ("result",)),
    Defect("second chain", "instruction_cost", "operation: [ffma]; ilp: [1]; warps_per_sm: [1]",
           ("result", "dependence")),
    Defect("clock read early", "timer_check", "residency: [l1]", ("timer", "clock")),
    Defect(
        "stale result",
        "bank_conflicts",
        "operation: [load]; pattern: [stride]; width: [4]; stride: [1, 32]",
        ("limit", "model", "timer"),
    ),
    Defect(
        "idle SM",
        "issue_mix",
        "partner: [none]; multiply_adds: [4]",
        ("placement", "result"),
    ),
    Defect(
        "wrong stride",
        "stride_gather",
        "level: [l2]; pattern: [strided]; width: [4]; stride: [2]; misalignment: [0];"
        " locality: [32]",
        ("result",),
    ),
    Defect("warm instead of evicted", "l2_partition", "", ("model",)),
    # Of the sums, none shows the sectors of an access: counters do.
    Defect(
        "accesses transposed",
        "short_words",
        "element: [1]; order: [coalesced]; group: [4, 16]; access: [apart]",
        ("model",),
    ),
    # A fence empties L1. At other levels nothing but the time shows it.
    Defect(
        "fence in the loop",
        "layout_read",
        "residency: [l1]; layout: [soa, soaoas]; fields: [posmass]; cores: [all];"
        " block_size: [256]; warps_per_sm: [8]",
        ("level", "model"),
    ),
)  # fmt: skip
#: An instruction that changes no result is no gate's: selftest finds that two benchmarks disagree.
EXTRA = Defect("extra instruction", "ceilings", "", ("fp32 multiply-adds",))

Record = dict[str, Any]


def run_cases(program: str, folder: Path) -> dict[str, dict[str, list[Record]]]:
    """The records of the cases of all defects, by benchmark and case: timed and counted ones."""
    sweep = folder / "planted.yaml"
    entries = "".join(
        f"  - benchmark: {one.benchmark}\n"
        + (f"    axes: {{{one.axes.replace(';', ',')}}}\n" if one.axes else "")
        for one in DEFECTS
    )
    sweep.write_text(f"schema: 1\nname: planted\ncases:\n{entries}", encoding="utf-8")
    command = [program, "run", str(sweep), "--device", "cuda:0", "--out", str(folder / "runs")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    files = list((folder / "runs").glob("*/samples.jsonl"))
    if len(files) != 1:
        raise SystemExit(f"{' '.join(command)}: {done.returncode}\n{done.stdout}{done.stderr}")
    found: dict[str, dict[str, list[Record]]] = {}
    for line in files[0].read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        found.setdefault(record["benchmark"], {}).setdefault(record["case"], []).append(record)
    return found


def failed(records: list[Record]) -> dict[str, str]:
    """The failed checks of a case, with their details."""
    gates = {
        gate["gate"]: gate["detail"]
        for record in records
        for gate in record.get("gates", ())
        if gate["verdict"] == "failed"
    }
    for record in records:
        if record["status"] == "failed":  # the reason has the checks: "result (…), clock (…)"
            gates |= dict.fromkeys(re.findall(r"(\w+) \(", record["reason"]), record["reason"])
    return gates


def claims(program: str, folder: Path) -> dict[str, str]:
    """What selftest proves of each claim."""
    file = folder / "selftest.json"
    command = [program, "selftest", "--device", "cuda:0", "--quiet", "--json", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if not file.exists():
        raise SystemExit(f"{' '.join(command)}: {done.returncode}\n{done.stdout}{done.stderr}")
    found = json.loads(file.read_text(encoding="utf-8"))["claims"]
    return {one["claim"]: f"{one['proof']}: {one['seen']}" for one in found}


def judge(defect: Defect, cases: dict[str, list[Record]], *, planted: bool) -> list[str]:
    """Diagnostics of one defect: a case that no check refuses, or a right one that is refused."""
    problems = []
    if not cases:
        problems.append(f"{defect.name}: no case of {defect.benchmark} was run")
    for case, records in cases.items():
        seen = failed(records)
        caught = sorted(set(defect.checks) & set(seen))
        details = "; ".join(f"{name} ({detail})" for name, detail in seen.items()) or "nothing"
        if planted:
            print(f"{defect.name:24} | {', '.join(caught) or '-':20} | {case}: {details}")
        if planted and not caught:
            problems.append(f"{defect.name}: {case} passes {', '.join(defect.checks)}")
        if not planted and caught:
            problems.append(f"no defect: {case} fails {details}")
    return problems


def main() -> int:
    planted, right = sys.argv[1:]
    problems = []
    with tempfile.TemporaryDirectory() as name:
        for program in (planted, right):
            folder = Path(name) / Path(program).name
            folder.mkdir()
            found = run_cases(program, folder)
            for defect in DEFECTS:
                cases = found.get(defect.benchmark, {})
                problems += judge(defect, cases, planted=program == planted)
        proof = claims(planted, Path(name)).get(EXTRA.checks[0], "not claimed")
        print(f"{EXTRA.name:24} | {EXTRA.checks[0]:20} | selftest: {proof}")
        if not proof.startswith("failed"):
            problems.append(f"{EXTRA.name}: selftest: {proof}")
    print("\n".join(problems) or "a check refuses every defect")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
