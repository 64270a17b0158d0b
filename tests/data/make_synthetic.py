"""Write the synthetic runs that the tests of the analysis read.

No number here was measured: a small formula gives latencies and bandwidths of a plausible shape, a
seeded generator gives them noise. The devices are called 'Synthetic GPU' and 'Synthetic CPU' so
that nobody takes them for results. The standard library alone, and none of the code under test.

    python tests/data/make_synthetic.py             rewrite the runs beside this file
    python tests/data/make_synthetic.py --full DIR  a run of 1200 cases, to look at and to time
"""

import argparse
import csv
import json
import math
import random
import statistics
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent

SAMPLES = 9
RANK = 2  # of 9: the table of order-statistic intervals of the median at 95 % gives (2, 8)

LAYOUTS = ("aos", "soa", "aoas", "soaoas", "aosoa32")
LOADS = {  # wide loads, and the sectors that 32 lanes touch, for (all fields, position and mass)
    "aos": {"all": (7, 196), "posmass": (4, 112)},
    "soa": {"all": (7, 28), "posmass": (4, 16)},
    "aoas": {"all": (2, 32), "posmass": (2, 32)},
    "soaoas": {"all": (2, 32), "posmass": (1, 16)},
    "aosoa32": {"all": (7, 28), "posmass": (4, 16)},
}
USEFUL_BYTES = {"all": 28, "posmass": 16}


@dataclass(frozen=True, slots=True)
class Machine:
    """A made-up device: latency in cycles and cycles per sector of each level, and its words."""

    backend: str
    slug: str
    name: str
    clock_hz: float
    cores: int
    levels: Mapping[str, tuple[float, float]]
    unit: str
    kernel_method: str
    outer_method: str
    timer_methods: Sequence[str]


GPU = Machine(
    backend="cuda",
    slug="synthetic-gpu",
    name="Synthetic GPU",
    clock_hz=1.98e9,
    cores=132,
    levels={"l1": (33, 0.25), "l2": (270, 0.55), "dram": (620, 1.7)},
    unit="cycle",
    kernel_method="clock64_slope",
    outer_method="event_slope",
    timer_methods=("clock64_slope", "event_slope", "graph_slope"),
)

CPU = Machine(
    backend="host",
    slug="synthetic-cpu",
    name="Synthetic CPU",
    clock_hz=2.4e9,
    cores=2,
    levels={"l1": (5, 1.2), "l2": (15, 1.6), "l3": (60, 2.4), "dram": (240, 6.0)},
    unit="tsc_cycle",
    kernel_method="tsc_slope",
    outer_method="monotonic_slope",
    timer_methods=("tsc_slope", "monotonic_slope"),
)


def case_id(benchmark: str, backend: str, params: Mapping[str, str]) -> str:
    pairs = (f"{key}={value}" for key, value in sorted(params.items()))
    return "/".join(["micro", benchmark, backend, *pairs])


def rounded(value: float) -> float:
    return float(f"{value:.5g}")


class Writer:
    """Collects the lines of one run and writes its folder."""

    def __init__(self, machine: Machine, seed: int) -> None:
        self.machine = machine
        self.random = random.Random(seed)  # noqa: S311  (noise, not a secret)
        self.lines: list[dict[str, Any]] = []

    def samples(self, value: float, spread: float = 0.003) -> list[float]:
        return [rounded(value * (1 + self.random.uniform(-spread, spread))) for _ in range(SAMPLES)]

    def measurement(
        self, quantity: str, unit: str, method: str, value: float, *, noisy: bool = False
    ) -> dict[str, Any]:
        samples = self.samples(value, 0.2 if noisy else 0.003)
        detail = "half-width 9.1 % > 1 %" if noisy else "half-width 0.2 % <= 1 %"
        return {
            "quantity": quantity,
            "unit": unit,
            "provenance": "timed",
            "method": method,
            "samples": samples,
            "noise": {"verdict": "failed" if noisy else "passed", "detail": detail},
        }

    def line(self, benchmark: str, params: Mapping[str, str], **members: Any) -> dict[str, Any]:
        line = {
            "schema_version": 1,
            "kind": "case",
            "case": case_id(benchmark, self.machine.backend, params),
            "suite": "micro",
            "benchmark": benchmark,
            "backend": self.machine.backend,
            "params": dict(sorted(params.items())),
            "status": "measured",
            "reason": "",
            "started": "2026-01-01T00:00:00Z",
            "seconds": 0.081,
            "facts": {},
            "gates": [],
            "measurements": [],
        }
        return line | members

    def layout_read(self, params: Mapping[str, str], *, skew: float = 1.0) -> dict[str, Any]:
        """One case. `skew` other than 1 makes the two timers disagree."""
        machine, fields = self.machine, params["fields"]
        loads, sectors = LOADS[params["layout"]][fields]
        latency, per_sector = machine.levels[params["residency"]]
        warps, block = int(params["warps_per_sm"]), int(params["block_size"])
        crowd = 1.25 if params["cores"] == "all" and params["residency"] == "dram" else 1.0
        idle = latency + 4.5 * loads + 0.6 * per_sector * sectors
        busy = warps * per_sector * sectors * crowd * (1 + 0.05 * math.log2(block / 32 + 1))
        cycles = (idle**4 + busy**4) ** 0.25
        cores = machine.cores if params["cores"] == "all" else 1
        reads = warps * 32 * cores / cycles * machine.clock_hz
        inner, outer, unit = machine.kernel_method, machine.outer_method, machine.unit
        slowest = cycles * 1.06
        quantities = [
            ("warp_read_cycles", unit, inner, cycles),
            ("warp_read_cycles_p5", unit, inner, cycles * 0.96),
            ("warp_read_cycles_p95", unit, inner, cycles * 1.05),
            ("warp_read_cycles_slowest", unit, inner, slowest),
            ("warp_read_cycles_slowest", unit, outer, slowest * skew),
            ("warp_read_time", "s", inner, cycles / machine.clock_hz),
            ("grid_time", "s", outer, 4096 * slowest / machine.clock_hz),
            ("useful_bandwidth", "B/s", outer, reads * USEFUL_BYTES[fields]),
            ("reads_per_second", "1/s", outer, reads),
            ("core_clock", "Hz", inner, machine.clock_hz),
        ]
        if warps == 1:
            quantities.append(("arithmetic_cycles", unit, inner, 4.2 * loads))
        apart = f"{100 * (skew - 1):+.2f} %"
        verdict = "passed" if abs(skew - 1) <= 0.02 else "failed"
        return self.line(
            "layout_read",
            params,
            facts={"reads_per_warp": 1024},
            gates=[
                {"gate": "result", "verdict": "passed", "detail": "warp sums equal the host's"},
                {"gate": "timer", "verdict": verdict, "detail": f"{outer} is {apart} off {inner}"},
                {
                    "gate": "level",
                    "verdict": "unverified",
                    "detail": "level unverified: no counters",
                },
            ],
            measurements=[self.measurement(*quantity) for quantity in quantities],
        )

    def timer_check(self, level: str) -> dict[str, Any]:
        machine = self.machine
        return self.line(
            "timer_check",
            {"residency": level},
            gates=[{"gate": "timer", "verdict": "passed", "detail": "within 2 %"}],
            measurements=[
                self.measurement("load_cycles", machine.unit, method, machine.levels[level][0])
                for method in machine.timer_methods
            ],
        )

    def write(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        latest = {line["case"]: line for line in self.lines}
        context = context_of(self.machine, folder.name, list(latest))
        (folder / "context.json").write_text(json.dumps(context, indent=1) + "\n", "utf-8")
        text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in self.lines)
        (folder / "samples.jsonl").write_text(text, "utf-8")
        with (folder / "measurements.csv").open("w", encoding="utf-8", newline="") as file:
            write_table(file, folder.name, self.machine.slug, latest.values())


def write_table(file: Any, run: str, device: str, lines: Iterable[dict[str, Any]]) -> None:
    """The table, from the order statistics of nine samples."""
    writer = csv.writer(file)
    writer.writerow(
        [
            *("run", "device", "backend", "suite", "benchmark", "case", "params", "quantity"),
            *("unit", "provenance", "method", "value", "ci_low", "ci_high", "minimum"),
            *("maximum", "samples", "valid", "reasons"),
        ]
    )
    for line in lines:
        for measurement in line["measurements"]:
            ordered = sorted(measurement["samples"])
            gates = [*line["gates"], {"gate": "noise", **measurement["noise"]}]
            told = [g for g in gates if g["verdict"] in ("failed", "unverified")]
            writer.writerow(
                [
                    run,
                    device,
                    *(line[key] for key in ("backend", "suite", "benchmark", "case")),
                    ";".join(f"{key}={value}" for key, value in line["params"].items()),
                    *(measurement[key] for key in ("quantity", "unit", "provenance", "method")),
                    repr(statistics.median(ordered)),
                    repr(ordered[RANK - 1]),
                    repr(ordered[-RANK]),
                    repr(ordered[0]),
                    repr(ordered[-1]),
                    len(ordered),
                    "false" if any(g["verdict"] == "failed" for g in gates) else "true",
                    "; ".join(f"{g['gate']}: {g['detail']}" for g in told),
                ]
            )


def context_of(machine: Machine, run: str, cases: list[str]) -> dict[str, Any]:
    cuda = machine.backend == "cuda"
    facts: dict[str, Any] = {"synthetic": True}
    if cuda:
        facts |= {
            "sm_count": machine.cores,
            "l2_bytes": 62914560,
            "compute_capability": "9.0",
            "memory_bytes": 150754820096,
            "ecc": True,
            "mig": False,
        }
    caches = [(1, "Data", 32768), (2, "Unified", 2097152), (3, "Unified", 67108864)]
    return {
        "schema_version": 1,
        "run": run,
        "strata": {
            "version": "0.1.0",
            "commit": "unknown",
            "dirty": True,
            "source_digest": "sha256:synthetic",
            "build_type": "Release",
            "compiler": "none: synthetic data",
            "cuda_compiler": "none: synthetic data" if cuda else None,
            "flags": "",
            "cuda_architectures": "90" if cuda else None,
        },
        "started": "2026-01-01T00:00:00Z",
        "finished": "2026-01-01T00:01:00Z",
        "state": "complete",
        "command": ["python", "tests/data/make_synthetic.py"],
        "backend": machine.backend,
        "device": {
            "slug": machine.slug,
            "name": machine.name,
            "uuid": "GPU-00000000-0000-0000-0000-000000000000" if cuda else None,
            **facts,
        },
        "host": {
            "cpu": "Synthetic CPU",
            "cores": 2,
            "os": "none: synthetic data",
            "kernel": "0.0.0",
            "memory_bytes": 17179869184,
            "caches": [
                {"level": level, "type": kind, "bytes": size, "line_bytes": 64}
                for level, kind, size in caches
            ],
        },
        "libraries": {"cuda_driver": "13.0", "cuda_runtime": "13.0"} if cuda else {},
        "sweep": {
            "name": "synthetic",
            "file": "make_synthetic.py",
            "digest": "sha256:synthetic",
            "plan": {"warmups": 1, "min_samples": SAMPLES, "max_samples": SAMPLES},
            "cases": cases,
        },
        "clocks": {
            "before": {"sm_clock_hz": 1.98e9, "temperature_celsius": 41},
            "after": {"sm_clock_hz": 1.98e9, "temperature_celsius": 44},
        }
        if cuda
        else None,
        "timer": {"globaltimer_step_seconds": 3.2e-08} if cuda else {"tsc_hz": machine.clock_hz},
    }


def plan(
    levels: Iterable[str],
    fields: Iterable[str],
    points: Sequence[tuple[str, int, int]],
) -> list[dict[str, str]]:
    """Every layout at every level; `points` are (cores, warps per SM, block size)."""
    return [
        {
            "layout": layout,
            "fields": which,
            "residency": level,
            "cores": cores,
            "warps_per_sm": str(warps),
            "block_size": str(block),
        }
        for level in levels
        for which in fields
        for layout in LAYOUTS
        for cores, warps, block in points
    ]


def small_gpu(folder: Path) -> None:
    """All that a report must cope with: failed gates, a skip, a failure, a superseded line."""
    writer = Writer(GPU, seed=2009)
    points = [("one", 1, 32), ("all", 1, 32), ("all", 8, 32), ("all", 8, 256), ("all", 64, 256)]
    writer.lines += [writer.timer_check(level) for level in GPU.levels]
    for params in plan(GPU.levels, ["all"], points) + plan(GPU.levels, ["posmass"], points[::4]):
        place = (params["layout"], params["fields"], params["residency"], params["cores"])
        warps = params["warps_per_sm"]
        if place == ("aosoa32", "all", "dram", "one"):
            line = writer.layout_read(params, skew=1.043)
        elif (*place, warps) == ("soa", "all", "l2", "all", "64"):
            line = writer.layout_read(params)
            line["measurements"][0] = writer.measurement(
                "warp_read_cycles", "cycle", "clock64_slope", 1200.0, noisy=True
            )
        elif (*place, warps) == ("aosoa32", "posmass", "l1", "all", "64"):
            reason = "the working set of 64 warps does not fit in L1"
            line = writer.line("layout_read", params, status="skipped", reason=reason)
        elif (*place, warps) == ("aos", "posmass", "dram", "all", "64"):
            line = writer.line("layout_read", params, status="failed", reason="time limit of 60 s")
        else:
            line = writer.layout_read(params)
        writer.lines.append(line)
    first = writer.lines[3]
    crashed = first | {"status": "failed", "reason": "worker crashed", "measurements": []}
    writer.lines.insert(3, crashed)  # measured later, by a resumed run: the later line wins
    writer.write(folder)


def small_host(folder: Path) -> None:
    """A host run: TSC cycles, four levels, one block size."""
    writer = Writer(CPU, seed=1)
    points = [("one", 1, 32), ("all", 1, 32), ("all", 4, 32), ("all", 16, 32)]
    writer.lines += [writer.timer_check(level) for level in CPU.levels]
    writer.lines += [writer.layout_read(params) for params in plan(CPU.levels, ["all"], points[:2])]
    loaded = plan(CPU.levels, ["all", "posmass"], points[2:])
    some = [params for params in loaded if params["layout"] in LAYOUTS[:2]]
    writer.lines += [writer.layout_read(params) for params in some]
    writer.write(folder)


def full(folder: Path) -> None:
    """As many cases as a full sweep has."""
    writer = Writer(GPU, seed=7)
    points = [("one", warps, 32) for warps in (1, 2, 4, 8, 16, 32, 48, 64)]
    points += [("all", warps, 32) for warps in (1, 2, 4, 8, 16, 32, 48, 64)]
    points += [("all", warps, 128) for warps in (4, 8, 16, 32, 48, 64)]
    points += [("all", warps, 256) for warps in (8, 16, 32, 48, 64)]
    points += [("all", warps, 1024) for warps in (32, 64)]
    for params in plan(GPU.levels, ["all", "posmass"], points):
        skew = 1 + writer.random.gauss(0, 0.006)
        writer.lines.append(writer.layout_read(params, skew=skew))
    writer.lines += [writer.timer_check(level) for level in GPU.levels]
    writer.write(folder)


def main() -> int:
    parser = argparse.ArgumentParser(description="Write the synthetic runs.")
    parser.add_argument("--full", type=Path, metavar="DIR", help="write one full run under DIR")
    arguments = parser.parse_args()
    if arguments.full:
        full(arguments.full / "synthetic-gpu-20260101T000000Z-full")
    else:
        small_gpu(HERE / "synthetic-gpu-20260101T000000Z-0000000")
        small_host(HERE / "synthetic-cpu-20260101T000000Z-0000000")
    return 0


if __name__ == "__main__":
    sys.exit(main())
