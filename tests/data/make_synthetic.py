"""Write the synthetic runs that the tests of the analysis read.

No number here was measured: a small formula gives latencies and bandwidths of a plausible shape, a
seeded generator gives them noise. Counts of the counted run follow from addresses, but for cases
that are made to go wrong. The devices are called 'Synthetic GPU' and 'Synthetic CPU' so that nobody
takes them for results. The standard library alone, and none of the code under test.

    python tests/data/make_synthetic.py             rewrite the runs beside this file
    python tests/data/make_synthetic.py --full DIR  a run of 1200 cases, to look at and to time
    python tests/data/make_synthetic.py --rows 1000000 DIR   a run of so many rows, to time
"""

import argparse
import csv
import itertools
import json
import math
import random
import statistics
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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

    version = 1

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
            "schema_version": self.version,
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

    def latest(self) -> dict[str, dict[str, Any]]:
        """The line that counts, of each case."""
        return {line["case"]: line for line in self.lines}

    def context(self, run: str, cases: list[str]) -> dict[str, Any]:
        return context_of(self.machine, run, cases)

    def write(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        latest = self.latest()
        context = self.context(folder.name, list(latest))
        (folder / "context.json").write_text(json.dumps(context, indent=1) + "\n", "utf-8")
        text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in self.lines)
        (folder / "samples.jsonl").write_text(text, "utf-8")
        with (folder / "measurements.csv").open("w", encoding="utf-8", newline="") as file:
            write_table(file, folder.name, self.machine.slug, latest.values())


# --- counts ---------------------------------------------------------------------------------------

LANES = 32
SECTOR = 32
LINE = 128
PITCH = {"aos": 28, "soa": 4, "aoas": 32, "soaoas": 16, "aosoa32": 4}
FIELD_BYTES = 1 << 20  # from one array of soa or soaoas to the next: whole lines
GENERATIONS = ("1.0-1.1", "1.2-1.3", "2.x", "3.x", "5.x-6.x", "7.x")

Access = list[tuple[int, int]]  # (address, width) of each lane


def reads(layout: str, fields: str) -> list[Access]:
    """The loads of one warp-read of particles 0 to 31."""
    pitch = PITCH[layout]
    if layout in ("aoas", "soaoas"):
        loads = 1 if (layout, fields) == ("soaoas", "posmass") else 2
        far = 16 if layout == "aoas" else FIELD_BYTES
        return [[(far * load + pitch * lane, 16) for lane in range(LANES)] for load in range(loads)]
    far = {"aos": 4, "soa": FIELD_BYTES, "aosoa32": LINE}[layout]
    names = range(7) if fields == "all" else (0, 1, 2, 6)
    return [[(far * name + pitch * lane, 4) for lane in range(LANES)] for name in names]


def pieces(access: Access, size: int) -> set[int]:
    """The pieces of `size` bytes that some lane touches."""
    return {
        place
        for address, width in access
        for place in range(address // size, (address + width - 1) // size + 1)
    }


def moved(generation: str, access: Access) -> int:
    """Bytes that one load moves: roughly the rules of each generation, enough for a picture."""
    halves = (access[: LANES // 2], access[LANES // 2 :])
    if generation == "1.0-1.1":
        return sum(
            width * len(half)
            if all(at == half[0][0] + width * lane for lane, (at, _) in enumerate(half))
            and half[0][0] % (width * len(half)) == 0
            else max(32, width) * len(half)
            for half in halves
            for width in [half[0][1]]
        )
    if generation == "1.2-1.3":
        return sum(SECTOR * len(pieces(half, SECTOR)) for half in halves)
    if generation == "2.x":
        return LINE * len(pieces(access, LINE))
    return SECTOR * len(pieces(access, SECTOR))


def count(quantity: str, unit: str, value: float, method: str = "cupti_net") -> dict[str, Any]:
    """One sample, counted unless the method is the model's."""
    return {
        "quantity": quantity,
        "unit": unit,
        "provenance": "modelled" if method == "coalescing_model" else "counted",
        "method": method,
        "samples": [value],
        "noise": {"verdict": "not_applicable", "detail": ""},
    }


def gate(name: str, verdict: str, detail: str) -> dict[str, str]:
    return {"gate": name, "verdict": verdict, "detail": detail}


class CountingWriter(Writer):
    """A run of schema version 2: lines of counts behind the lines of cases."""

    version = 2

    def counts(self, line: dict[str, Any], **members: Any) -> dict[str, Any]:
        """What the counting phase found of a line."""
        return line | {"kind": "counts", "facts": {}, "gates": [], "measurements": []} | members

    def refused(self, line: dict[str, Any], status: str, reason: str) -> dict[str, Any]:
        return self.counts(line, status=status, reason=reason)

    def layout_counts(
        self, line: dict[str, Any], *, extra: int = 0, warm: float = 0.0
    ) -> dict[str, Any]:
        """Counts of a case of layout_read: `extra` sectors too many, `warm` of L2's found in L1."""
        params = line["params"]
        level, loads = params["residency"], reads(params["layout"], params["fields"])
        sectors = sum(len(pieces(load, SECTOR)) for load in loads)
        distinct = len(set().union(*(pieces(load, SECTOR) for load in loads)))
        predicted = 1.0 if level == "l1" else 1 - distinct / sectors
        l1 = min(1.0, predicted + warm + (0 if level == "l1" else self.random.uniform(0, 0.003)))
        seen = sectors + extra
        found = [
            count("l1_load_sectors", "sector", 1e6 * seen, "l1tex__t_sectors_op_ld.sum"),
            count("requests_per_read", "request", len(loads)),
            count("requests_per_read", "request", len(loads), "coalescing_model"),
            count("sectors_per_read", "sector", seen),
            count("sectors_per_read", "sector", sectors, "coalescing_model"),
            count("sectors_per_request", "sector", seen / len(loads)),
            count("sectors_per_request", "sector", sectors / len(loads), "coalescing_model"),
            count("l1_hit_share", "1", rounded(l1)),
            count("l1_hit_share", "1", predicted, "coalescing_model"),
        ]
        if level != "l1":
            l2 = self.random.uniform(0.996, 1) if level == "l2" else self.random.uniform(0, 0.004)
            found.append(count("l2_hit_share", "1", rounded(l2)))
            found.append(count("dram_share", "1", rounded(1 - l2)))
        right = abs(l1 - predicted) <= 0.01
        shown = f"L1 served {100 * l1:.2f} % of the sectors (predicted {100 * predicted:.2f} %)"
        both = f"{seen}000000 sectors counted, {sectors}000000 predicted"
        return self.counts(
            line,
            facts={"overhead_sectors": 12},
            gates=[
                gate("model", "failed" if extra else "passed", both),
                gate("level", "passed" if right else "failed", shown),
                gate("result", "passed", "warp sums equal the host's, counted"),
            ],
            measurements=found,
        )

    def coalescing(
        self, width: int, stride: int, misalignment: int = 0, permutation: str = "identity"
    ) -> list[dict[str, Any]]:
        """One case, timed and counted."""
        access = [(width * (stride * lane + misalignment), width) for lane in range(LANES)]
        sectors = len(pieces(access, SECTOR))
        cycles = (4.0**4 + (0.55 * sectors) ** 4) ** 0.25
        params = {
            "width": f"{width}",
            "stride": f"{stride}",
            "misalignment": f"{misalignment}",
            "permutation": permutation,
        }
        useful = self.machine.cores * LANES * width / cycles * self.machine.clock_hz
        line = self.line(
            "coalescing",
            params,
            gates=[gate("level", "unverified", "level unverified: not counted yet")],
            measurements=[
                self.measurement("warp_load_cycles", "cycle", "clock64_slope", cycles),
                self.measurement("warp_load_cycles", "cycle", "event_slope", cycles),
                self.measurement("useful_bandwidth", "B/s", "event_slope", useful),
            ],
        )
        counts = self.counts(
            line,
            gates=[
                gate("model", "passed", f"{sectors} sectors counted, {sectors} predicted"),
                gate("level", "passed", "L2 99.9 %"),
            ],
            measurements=[
                count("sectors_per_request", "sector", sectors),
                count("sectors_per_request", "sector", sectors, "coalescing_model"),
            ],
        )
        return [line, counts]

    def layout_traffic(self, generation: str, layout: str, fields: str) -> dict[str, Any]:
        """One case of the model alone."""
        loads = reads(layout, fields)
        total = sum(moved(generation, load) for load in loads)
        used = LANES * USEFUL_BYTES[fields]
        sectors = sum(len(pieces(load, SECTOR)) for load in loads)
        values = [
            ("bytes_moved_per_read", "B", total),
            ("bytes_used_per_read", "B", used),
            ("moved_over_used", "1", total / used),
            ("requests_per_read", "request", len(loads)),
            ("sectors_per_read", "sector", sectors),
        ]
        return self.line(
            "layout_traffic",
            {"generation": generation, "layout": layout, "fields": fields},
            measurements=[count(*value, method="coalescing_model") for value in values],
        )

    def latest(self) -> dict[str, dict[str, Any]]:
        result: dict[str, dict[str, Any]] = {}
        for line in self.lines:
            if line["kind"] == "case":
                result[line["case"]] = line
            else:
                result[line["case"]] = merged(result[line["case"]], line)
        return result

    def context(self, run: str, cases: list[str]) -> dict[str, Any]:
        metric = "l1tex__t_sectors_op_ld.sum"
        return super().context(run, cases) | {
            "schema_version": 2,
            "counters": {
                "asked": ["auto"],
                "state": "counted",
                "reason": "",
                "mend": "",
                "chip": "GX000",
                "sets": ["memory"],
                "passes": 3,
                "quantities": [
                    {
                        "name": "l1_load_sectors",
                        "metric": metric,
                        "unit": "sector",
                        "meaning": "sectors that loads asked of L1",
                        "set": "memory",
                    }
                ],
                "absent": ["memory.dram_row_hits: this chip has no dram__row_hits.sum"],
                "counting_seconds": 1.25,
                "timing_seconds": 26.5,
            },
        }


def merged(timed: dict[str, Any], counted: dict[str, Any]) -> dict[str, Any]:
    """The two lines of a case as one, by the words of results/schema/README.md."""
    if counted["status"] != "measured":
        why = f"level unverified: counting {counted['status']}: {counted['reason']}"
        gates = [
            g | {"detail": why} if (g["gate"], g["verdict"]) == ("level", "unverified") else g
            for g in timed["gates"]
        ]
        return timed | {"gates": gates}
    by_name = {g["gate"]: g for g in timed["gates"]}
    for g in counted["gates"]:
        known = by_name.get(g["gate"])
        if known is None or known["verdict"] in ("unverified", "not_applicable"):
            by_name[g["gate"]] = g
        elif g["verdict"] == "failed" and known["verdict"] == "failed":
            by_name[g["gate"]] = known | {"detail": f"{known['detail']}; {g['detail']}"}
        elif g["verdict"] == "failed":
            by_name[g["gate"]] = g
    return timed | {
        "gates": list(by_name.values()),
        "measurements": timed["measurements"] + counted["measurements"],
    }


def write_table(file: Any, run: str, device: str, lines: Iterable[dict[str, Any]]) -> None:
    """The table, from the order statistics of nine samples; a count is one, without an interval."""
    writer = csv.writer(file)
    writer.writerow(
        [
            *("run", "device", "backend", "suite", "benchmark", "case", "params", "quantity"),
            *("unit", "provenance", "method", "value", "ci_low", "ci_high", "minimum"),
            *("maximum", "samples", "valid", "reasons"),
        ]
    )
    write_rows(writer, run, device, lines)


def write_rows(writer: Any, run: str, device: str, lines: Iterable[dict[str, Any]]) -> None:
    """The rows of the table that `lines` give."""
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
                    repr(ordered[RANK - 1]) if len(ordered) == SAMPLES else "",
                    repr(ordered[-RANK]) if len(ordered) == SAMPLES else "",
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


def counted_gpu(folder: Path) -> None:
    """A run with counters, and all that may befall a count: skipped, failed, wrong, superseded."""
    writer = CountingWriter(GPU, seed=32)
    points = [("all", 1, 32), ("all", 8, 256), ("all", 64, 256)]
    places = plan(GPU.levels, ["all"], points) + plan(GPU.levels, ["posmass"], points[1:2])
    reads_of_layouts = [writer.layout_read(params) for params in places]
    writer.lines += [writer.timer_check("l1"), *reads_of_layouts]
    writer.lines += [
        writer.layout_traffic(generation, layout, fields)
        for generation in GENERATIONS
        for layout in LAYOUTS
        for fields in ("all", "posmass")
    ]
    odd: dict[tuple[str, ...], Callable[[dict[str, Any]], dict[str, Any]]] = {
        ("aoas", "all", "dram", "64"): lambda line: writer.refused(line, "failed", "time limit"),
        ("aosoa32", "all", "dram", "64"): lambda line: writer.refused(line, "skipped", "too big"),
        ("soa", "all", "l2", "8"): lambda line: writer.layout_counts(line, warm=0.31),
        ("soaoas", "all", "l2", "64"): lambda line: writer.layout_counts(line, extra=1),
    }
    for line in reads_of_layouts:
        params = line["params"]
        place = (params["layout"], params["fields"], params["residency"], params["warps_per_sm"])
        writer.lines.append(odd.get(place, writer.layout_counts)(line))
    for width in (1, 2, 4, 8, 16):
        for stride in (1, 2, 3, 4, 5, 7, 8, 12, 16, 24, 32, 33, 64, 128):
            writer.lines += writer.coalescing(width, stride)
        for misalignment in (1, 2, 4, 8, 16, 31):
            writer.lines += writer.coalescing(width, 1, misalignment)
    for order in ("reversed", "random"):
        writer.lines += writer.coalescing(4, 1, permutation=order)
    writer.lines.append(reads_of_layouts[0])  # measured again by a resumed run, not counted since
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


METRICS = 52
"""Counts of a case of a large run, beside its ten timed quantities and the counts of its loads."""


def large(folder: Path, rows: int) -> None:
    """A run of `rows` rows, written case by case: a full sweep of layouts, then points of a plane.

    A case has about 65 rows, as those of a recorded run with counters have.
    """
    folder.mkdir(parents=True, exist_ok=True)
    writer = CountingWriter(GPU, seed=65)
    cases: list[str] = []
    left = rows
    with (
        (folder / "samples.jsonl").open("w", encoding="utf-8") as samples,
        (folder / "measurements.csv").open("w", encoding="utf-8", newline="") as table,
    ):
        write_table(table, folder.name, GPU.slug, [])
        columns = csv.writer(table)
        for line, counted in large_cases(writer):
            line["measurements"] = line["measurements"][:left]
            counted["measurements"] = counted["measurements"][: left - len(line["measurements"])]
            both = merged(line, counted)
            for one in (line, counted):
                samples.write(json.dumps(one, separators=(",", ":")) + "\n")
            write_rows(columns, folder.name, GPU.slug, [both])
            cases.append(line["case"])
            left -= len(both["measurements"])
            if not left:
                break
    context = writer.context(folder.name, cases)
    (folder / "context.json").write_text(json.dumps(context, indent=1) + "\n", "utf-8")


def large_cases(writer: CountingWriter) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Cases without end, each as it was timed and as it was counted."""
    points = [("all", warps, block) for warps in (1, 2, 4, 8, 16, 32, 64) for block in (32, 256)]
    for params in plan(GPU.levels, ["all", "posmass"], points):
        line = writer.layout_read(params, skew=1 + writer.random.gauss(0, 0.004))
        yield line, with_metrics(writer, writer.layout_counts(line))
    for place in itertools.count():
        params = {"column": str(place % 1000), "row": str(place // 1000)}
        cycles = 40 + writer.random.expovariate(0.01)
        line = writer.line(
            "plane",
            params,
            gates=[gate("level", "unverified", "level unverified: not counted yet")],
            measurements=[
                writer.measurement(f"{name}_cycles", "cycle", method, cycles * factor)
                for name, factor in (("load", 1), ("store", 2), ("copy", 3), ("warp", 4), ("sm", 5))
                for method in ("clock64_slope", "event_slope")
            ],
        )
        counted = writer.counts(line, gates=[gate("level", "passed", "L2 99.9 %")], measurements=[])
        yield line, with_metrics(writer, counted)


def with_metrics(writer: CountingWriter, counted: dict[str, Any]) -> dict[str, Any]:
    """The counts of a case, and those of a chip's own metrics beside them."""
    counted["measurements"] += [
        count(f"metric_{number:02}", "1", writer.random.randrange(10**6), "cupti")
        for number in range(METRICS)
    ]
    return counted


def main() -> int:
    parser = argparse.ArgumentParser(description="Write the synthetic runs.")
    parser.add_argument("--full", type=Path, metavar="DIR", help="write one full run under DIR")
    parser.add_argument(
        "--rows", nargs=2, metavar=("ROWS", "DIR"), help="write one run of so many rows under DIR"
    )
    arguments = parser.parse_args()
    if arguments.rows:
        rows, folder = arguments.rows
        large(Path(folder) / f"synthetic-gpu-20260303T000000Z-{rows}", int(rows))
    elif arguments.full:
        full(arguments.full / "synthetic-gpu-20260101T000000Z-full")
    else:
        small_gpu(HERE / "synthetic-gpu-20260101T000000Z-0000000")
        small_host(HERE / "synthetic-cpu-20260101T000000Z-0000000")
        counted_gpu(HERE / "synthetic-gpu-20260202T000000Z-0000000")
    return 0


if __name__ == "__main__":
    sys.exit(main())
