#!/usr/bin/env python3
"""Do the counters that Strata reads in its process agree with those that ncu reads from outside?

A few cases are counted twice: by `strata run --counters`, and by ncu around `strata bench
--counters external`, which launches the same work in the same state, inside an NVTX range. Counts
of requests, sectors and instructions that depend only on the kernel must be identical. Counts that
depend on time or on other traffic, such as hits and bytes from memory, must agree within 0.5 %, or
within twice the variation between several runs of Strata itself.

Exit status: 0 all agree; 1 some differ; 2 bad input; 3 nothing can be counted here.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

AGREE, DISAGREE, BAD_INPUT, CANNOT_COUNT = 0, 1, 2, 3

#: Relative to the larger value, for inexact counts.
TOLERANCE = 0.005
SECTOR_BYTES = 32

LAYOUTS = ("aos", "soa", "soaoas")
RESIDENCIES = ("l1", "l2", "dram")
#: One case of each: every level, layouts with one, two and seven arrays, patterns with few and with
#: many sectors, wide and narrow loads, and the chain of single loads.
DEFAULT_CASES = (
    r"/timer_check/",
    *(
        rf"/layout_read/.*block_size=128/cores=all/fields=all/layout={layout}/residency={level}/"
        r"warps_per_sm=4$"
        for level in RESIDENCIES
        for layout in LAYOUTS
    ),
    r"/coalescing/.*misalignment=0/permutation=identity/stride=1/width=4$",
    r"/coalescing/.*misalignment=0/permutation=identity/stride=7/width=4$",
    r"/coalescing/.*misalignment=0/permutation=identity/stride=32/width=4$",
    r"/coalescing/.*misalignment=0/permutation=identity/stride=3/width=16$",
    r"/coalescing/.*misalignment=1/permutation=identity/stride=1/width=4$",
    r"/coalescing/.*misalignment=0/permutation=random/stride=2/width=8$",
)

#: Determined by the kernel's instructions and load addresses, independent of other work.
EXACT = re.compile(
    r"(l1tex__t_(requests|sectors)_(?!.*_lookup_)"
    r"|sm(sp)?__(sass_)?(thread_)?inst_executed"
    r"|sm(sp)?__(ctas|warps|threads)_launched)"
    r".*\.sum$"
)
#: Traffic beyond L1, and hits: a few sectors of it are from other work or another time. If nearly
#: everything in a case is served before that level, those few are all that there is, so they are
#: compared relative to the requests to L1.
TRAFFIC = re.compile(r"(lts__t_sectors|dram__|fbpa__|l1tex__t_sectors_.*_lookup_).*\.sum$")
#: Memory traffic of other work, including ncu itself: up to 41 KiB were observed.
FROM_MEMORY = re.compile(r"(dram__|fbpa__).*bytes.*\.sum$")
STRAY_BYTES = 64 * 1024
L1_SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
#: By default, ncu scales units for readability.
SCALED = re.compile(r"[KMGT](byte|sector|request|inst|cycle)")


class CheckError(Exception):
    """Ends the check; the message is one line."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class Reading:
    """A number as ncu printed it."""

    value: float
    resolution: float  # half of the last digit printed; 0 for a whole number


@dataclass(frozen=True, slots=True)
class Kernel:
    """A row of ncu's raw page."""

    name: str
    ranges: str  # the NVTX ranges around its launch, as ncu prints them
    readings: Mapping[str, Reading]


@dataclass(frozen=True, slots=True)
class Comparison:
    """One metric of one case, counted twice."""

    case: str
    metric: str
    inside: float
    outside: float
    allowed: float  # absolute

    @property
    def agrees(self) -> bool:
        return abs(self.inside - self.outside) <= self.allowed

    @property
    def difference(self) -> float:
        """Relative to the larger one."""
        larger = max(abs(self.inside), abs(self.outside))
        return abs(self.inside - self.outside) / larger if larger > 0 else 0.0


def parse_reading(text: str) -> Reading | None:
    """A number with thousands separators; nothing for "n/a" and other text."""
    try:
        number = Decimal(text.replace(",", "").strip())
    except InvalidOperation:
        return None
    exponent = number.as_tuple().exponent
    if not isinstance(exponent, int):  # NaN, infinity
        return None
    return Reading(float(number), 0.5 * 10.0**exponent if exponent < 0 else 0.0)


def parse_raw_page(text: str) -> list[Kernel]:
    """The kernels of `ncu --csv --page raw`, in launch order.

    Lines of ncu itself ("==PROF== …") may appear before, between and after the rows.
    """
    rows = list(csv.reader(line for line in text.splitlines() if line.startswith('"')))
    start = next((i for i, row in enumerate(rows) if "ID" in row and "Kernel Name" in row), None)
    if start is None:
        reasons = [
            line for line in text.splitlines() if line.startswith(("==ERROR==", "==WARNING=="))
        ]
        raise CheckError(f"ncu gave no table: {' '.join(reasons) or 'and no reason'}", CANNOT_COUNT)
    header = rows[start]
    metrics = [i for i, name in enumerate(header) if "__" in name and "." in name]
    stacks = [i for i, name in enumerate(header) if "Push/Pop_Range" in name]
    kernels = []
    for number, row in enumerate(rows[start + 1 :], start=1):
        if len(row) != len(header):
            message = f"row {number} of ncu's table has {len(row)} fields, the header {len(header)}"
            raise CheckError(message, BAD_INPUT)
        if row[header.index("ID")] == "":
            refuse_scaled_units({header[i]: row[i] for i in metrics})
            continue
        found = {header[i]: parse_reading(row[i]) for i in metrics}
        kernels.append(
            Kernel(
                name=row[header.index("Kernel Name")],
                ranges=" ".join(row[i] for i in stacks),
                readings={name: value for name, value in found.items() if value is not None},
            )
        )
    return kernels


def refuse_scaled_units(units: Mapping[str, str]) -> None:
    for metric, unit in units.items():
        if SCALED.match(unit):
            message = f"ncu gives {metric} in {unit}, rounded; expected --print-units base"
            raise CheckError(message, BAD_INPUT)


def kernels_of_cases(kernels: Sequence[Kernel], cases: Sequence[str]) -> dict[str, Kernel]:
    """The kernel to compare for each case: the last of its two.

    A case launches its kernel twice: with nothing to read, which gives its overhead, and then with
    all of its work. The case is identified by the NVTX range, otherwise by the order of launches.
    """
    by_range = {case: [k for k in kernels if f":{case}:" in k.ranges] for case in cases}
    if sum(len(found) for found in by_range.values()) != len(kernels):
        by_range = {case: list(kernels[2 * i : 2 * i + 2]) for i, case in enumerate(cases)}
        if len(kernels) != 2 * len(cases):
            message = f"ncu saw {len(kernels)} kernels, expected two for each of {len(cases)} cases"
            raise CheckError(message, DISAGREE)
    for case, found in by_range.items():
        if len(found) != 2:
            message = f"{case}: ncu saw {len(found)} kernels, expected two: overhead and work"
            raise CheckError(message, DISAGREE)
    return {case: found[1] for case, found in by_range.items()}


def allowed_difference(metric: str, inside: float, outside: Reading, l1_sectors: float) -> float:
    """The allowed difference of the two, in the unit of the metric."""
    if EXACT.match(metric):
        return 0.0
    scale = max(abs(inside), abs(outside.value))
    if TRAFFIC.match(metric):
        unit = SECTOR_BYTES if "bytes" in metric else 1
        scale = max(scale, l1_sectors * unit)
    allowed = TOLERANCE * scale + outside.resolution
    return max(allowed, STRAY_BYTES) if FROM_MEMORY.match(metric) else allowed


def compare(case: str, inside: Sequence[Mapping[str, float]], outside: Kernel) -> list[Comparison]:
    """Compares every common metric; `inside` has one element per run of Strata.

    Counts that vary between runs of Strata itself may differ as much from ncu; for example the
    sectors that cross between the halves of L2, which depend on the address of an allocation.
    """
    comparisons = []
    for metric in inside[0]:
        values = [counts[metric] for counts in inside]
        if metric not in outside.readings:
            continue
        value = statistics.median_low(values)
        l1_sectors = inside[0].get(L1_SECTORS, 0.0)
        allowed = allowed_difference(metric, value, outside.readings[metric], l1_sectors)
        if not EXACT.match(metric):
            allowed = max(allowed, 2 * (max(values) - min(values)))
        elif len(set(values)) > 1:
            raise CheckError(f"{case}: {metric} differs between runs: {values}", DISAGREE)
        comparisons.append(
            Comparison(
                case=case,
                metric=metric,
                inside=value,
                outside=outside.readings[metric].value,
                allowed=allowed,
            )
        )
    return comparisons


def parse_context(text: str) -> list[str]:
    """The metrics that a run counted, from its context.json."""
    counters: Mapping[str, Any] = json.loads(text).get("counters", {})
    metrics = [str(quantity["metric"]) for quantity in counters.get("quantities", [])]
    if counters.get("state") != "counted" or not metrics:
        why = [str(counters.get(key, "")) for key in ("reason", "mend")]
        reason = "; ".join(part for part in why if part) or "the run records no reason"
        raise CheckError(f"strata counted nothing: {reason}", CANNOT_COUNT)
    return metrics


def parse_counts(lines: Iterator[str], metrics: Sequence[str]) -> dict[str, dict[str, float]]:
    """Case → metric → count of the whole work, from samples.jsonl."""
    wanted = set(metrics)
    counts = {}
    for line in lines:
        record = json.loads(line)
        if record["kind"] != "counts":
            continue
        if record["status"] != "measured":
            raise CheckError(f"{record['case']}: not counted: {record['reason']}", DISAGREE)
        counts[str(record["case"])] = {
            str(m["method"]): float(m["samples"][0])
            for m in record["measurements"]
            if m["provenance"] == "counted" and m["method"] in wanted
        }
    return counts


def table(comparisons: Sequence[Comparison]) -> Iterator[str]:
    """Lines for people."""
    width = max(len(one.metric) for one in comparisons)
    case = ""
    for one in comparisons:
        if one.case != case:
            case = one.case
            yield case
        rule = "exact" if one.allowed == 0 else f"± {one.allowed:.6g}"
        yield (
            f"  {'ok  ' if one.agrees else 'FAIL'}  {one.metric:<{width}}  {one.inside:>18.10g}"
            f"  {one.outside:>18.10g}  {100 * one.difference:8.4f} %  {rule}"
        )


def choose_cases(known: Sequence[str], patterns: Sequence[str]) -> list[str]:
    """Cases of the sweep: all that match the filter, or one for each default."""
    if patterns:
        chosen = [case for case in known if any(re.search(p, case) for p in patterns)]
    else:
        firsts = [next((c for c in known if re.search(p, c)), None) for p in DEFAULT_CASES]
        wanted = {case for case in firsts if case is not None}
        chosen = [case for case in known if case in wanted]  # in the order of the sweep
    if not chosen:
        raise CheckError("no case of the sweep matches; strata list --cases shows them", BAD_INPUT)
    return chosen


def sweep_of(cases: Sequence[str]) -> str:
    """The text of a sweep that holds these cases and no others."""
    lines = ["schema: 1", "name: ncu_check", "cases:"]
    for case in cases:
        _, benchmark, _, *params = case.split("/")
        axes = ", ".join(f"{name}: [{value}]" for name, value in (p.split("=") for p in params))
        lines += [f"  - benchmark: {benchmark}"]
        if axes:
            lines += [f"    axes: {{{axes}}}"]
    return "\n".join(lines) + "\n"


def call(command: Sequence[str], timeout: float = 600) -> str:
    """What the command wrote. Thousands are parted in one way, whatever the locale."""
    environment = {**os.environ, "LC_ALL": "C"}
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=timeout, env=environment
    )
    if done.returncode != 0:
        output = (done.stderr.strip() or done.stdout.strip()).splitlines()
        line = output[-1] if output else "and printed nothing"
        status = CANNOT_COUNT if done.returncode == CANNOT_COUNT else BAD_INPUT
        raise CheckError(f"{command[0]} ended with {done.returncode}: {line}", status)
    return done.stdout


def count_inside(
    options: argparse.Namespace, cases: Sequence[str]
) -> tuple[list[str], dict[str, dict[str, float]]]:
    """The metrics, and what Strata counted of them."""
    with tempfile.TemporaryDirectory() as folder:
        sweep = Path(folder) / "cases.yaml"
        sweep.write_text(sweep_of(cases), encoding="utf-8")
        command = [options.strata, "run", str(sweep), "--device", options.device, "--quiet"]
        command += ["--counters", options.counters]
        run = Path(call([*command, "--out", folder]).strip().splitlines()[-1])
        metrics = parse_context((run / "context.json").read_text(encoding="utf-8"))
        with (run / "samples.jsonl").open(encoding="utf-8") as lines:
            return metrics, parse_counts(iter(lines), metrics)


def count_outside(
    options: argparse.Namespace, cases: Sequence[str], metrics: Sequence[str]
) -> list[Kernel]:
    """What ncu counts: the whole command once for each pass, caches and clocks left alone."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "ncu.csv"
        sweep = Path(folder) / "cases.yaml"
        sweep.write_text(sweep_of(cases), encoding="utf-8")
        command = [options.ncu, "--replay-mode", "application", "--cache-control", "none"]
        command += ["--clock-control", "none", "--nvtx", "--nvtx-include", "counted/"]
        command += ["--metrics", ",".join(metrics), "--csv", "--page", "raw"]
        command += ["--print-units", "base", "--log-file", str(log)]
        command += [options.strata, "bench", "--sweep", str(sweep), "--device", options.device]
        command += ["--counters", "external"]
        try:
            call(command)
        except CheckError as error:
            lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
            errors = [line for line in lines if line.startswith("==ERROR==")]
            raise CheckError(" ".join([str(error), *errors]), CANNOT_COUNT) from error
        return parse_raw_page(log.read_text(encoding="utf-8"))


def check(options: argparse.Namespace) -> int:
    listed = call([options.strata, "list", "--cases", options.sweep, "--backend", "cuda"])
    cases = choose_cases(listed.split(), options.filter)
    metrics, inside = count_inside(options, cases)
    runs = [inside, *(count_inside(options, cases)[1] for _ in range(options.runs - 1))]
    # The others do not fit on this device.
    counted = [case for case in cases if all(case in run for run in runs)]
    if not counted:
        raise CheckError("strata counted none of the cases", DISAGREE)
    outside = kernels_of_cases(count_outside(options, counted, metrics), counted)
    comparisons = []
    for case in counted:
        found = compare(case, [run[case] for run in runs], outside[case])
        if not found:
            raise CheckError(f"{case}: no metric was counted by both", DISAGREE)
        comparisons += found
    print("\n".join(table(comparisons)))
    shared = {one.metric for one in comparisons}
    for metric in metrics:
        if metric not in shared:
            print(f"not counted by both: {metric}")
    failed = sum(not one.agrees for one in comparisons)
    print(
        f"{len(counted)} cases, {len(shared)} metrics: {len(comparisons) - failed} of "
        f"{len(comparisons)} agree"
    )
    return DISAGREE if failed else AGREE


def built_command() -> str:
    """The newest build of this tree, or the command on the PATH."""
    built = Path(__file__).parents[1].glob("build/*/bin/strata")
    newest = max(built, key=lambda file: file.stat().st_mtime, default=None)
    return str(newest) if newest else "strata"


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--strata", default=built_command(), help="the command (%(default)s)")
    parser.add_argument("--ncu", default="ncu", help="Nsight Compute's command (%(default)s)")
    parser.add_argument("--device", default="cuda:0", help="(%(default)s)")
    parser.add_argument("--sweep", default="default", help="where cases are from (%(default)s)")
    parser.add_argument(
        "--runs", type=int, default=3, help="runs of Strata, for their spread (%(default)s)"
    )
    parser.add_argument("--counters", default="memory", help="sets, metrics (%(default)s)")
    parser.add_argument(
        "--filter", action="append", default=[], metavar="RE", help="cases; not the usual few"
    )
    return parser.parse_args(arguments)


def require_commands(options: argparse.Namespace) -> None:
    if shutil.which(options.ncu) is None:
        message = f"{options.ncu} is not there; Nsight Compute has it, --ncu FILE names it"
        raise CheckError(message, CANNOT_COUNT)
    if shutil.which(options.strata) is None:
        raise CheckError(f"{options.strata} is not there; build it first", BAD_INPUT)


def main(arguments: Sequence[str]) -> int:
    options = parse_arguments(arguments)
    try:
        require_commands(options)
        return check(options)
    except CheckError as error:
        print(f"ncu_check: {error}", file=sys.stderr)
        return error.status
    except (OSError, ValueError, LookupError, subprocess.TimeoutExpired) as error:
        print(f"ncu_check: {type(error).__name__}: {error}", file=sys.stderr)
        return BAD_INPUT


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
