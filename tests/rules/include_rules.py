"""Fail when a source includes what its folder may not know about.

One way only: what is measured knows nothing of devices, benchmarks never know each other's suites,
only the command knows them all, and no third-party header reaches nvcc. Folders form no circle;
`include_rules.py ROOT --graph` prints what each of them includes.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

BASE = {"harness/base", "harness/case", "harness/record", "harness/model"}
MEASURE = BASE | {"harness/counters", "harness/measure"}
CPU = MEASURE | {"harness/cpu"}
CUDA_ROOM = CPU | {"harness/cuda"}
MICRO = CUDA_ROOM | {"micro/pattern"}
COMMON = {"nbody/common"}
GRAVITY = COMMON | {f"nbody/gravity{room}" for room in ("", "/problem", "/reference")}
ACCESS = {"harness/base", "harness/model", "harness/access"}
AGENTS = ("problem", "reference")
PARTS = ("", "/problem", "/reference", "/model")
NEIGHBOURS = COMMON | {f"nbody/neighbours{part}" for part in PARTS}
FSTAT = COMMON | {f"nbody/fstat{part}" for part in PARTS}
LADDERS = GRAVITY | NEIGHBOURS | FSTAT
MAY_INCLUDE = {
    "harness/base": {"harness/base"},
    "harness/case": {"harness/base", "harness/case"},
    "harness/record": {"harness/base", "harness/case", "harness/record"},
    "harness/model": BASE,
    "harness/access": ACCESS | {"harness/case"},
    "harness/access/optimize": ACCESS | {"harness/case", "harness/access/optimize"},
    "harness/access/command": CPU
    | ACCESS
    | {"harness/access/optimize", "harness/access/command", "harness/cli", "harness/run"},
    "harness/capture": {"harness/base", "harness/capture", "harness/record"},
    "harness/profile": BASE | {"harness/capture", "harness/profile"},
    "harness/counters": BASE | {"harness/counters"},
    "harness/measure": MEASURE,
    "harness/cpu": CPU,
    "harness/cuda": CUDA_ROOM,
    "harness/run": CPU | {"harness/run"},
    "harness/cli": CPU | {"harness/run", "harness/cli", "harness/profile"} | LADDERS,
    "micro/pattern": BASE | {"micro/pattern"},
    **{
        f"micro/{room}": MICRO | {f"micro/{room}"}
        for room in ("latency", "bandwidth", "access", "compute", "transfer", "sync", "controls")
    },
    "micro/energy": MICRO | {"micro/energy"},
    "nbody/common": CUDA_ROOM | COMMON,
    "nbody/gravity/problem": MEASURE | {"nbody/gravity/problem"},
    "nbody/gravity/reference": BASE | {f"nbody/gravity/{room}" for room in AGENTS},
    "nbody/gravity/host": CPU | GRAVITY | {"nbody/gravity/host"},
    "nbody/gravity/rungs": CUDA_ROOM | GRAVITY | {"nbody/gravity/rungs"},
    "nbody/gravity": CUDA_ROOM | GRAVITY,
    "nbody/neighbours/problem": MEASURE | {"nbody/neighbours/problem"},
    "nbody/neighbours/reference": BASE | {f"nbody/neighbours/{room}" for room in AGENTS},
    "nbody/neighbours/model": BASE | {f"nbody/neighbours/{room}" for room in (*AGENTS, "model")},
    "nbody/neighbours/host": CPU | NEIGHBOURS | {"nbody/neighbours/host"},
    "nbody/neighbours/rungs": CUDA_ROOM | NEIGHBOURS | {"nbody/neighbours/rungs"},
    "nbody/neighbours": CUDA_ROOM | NEIGHBOURS,
    "nbody/fstat/problem": MEASURE | {"nbody/fstat/problem"},
    **{
        f"nbody/fstat/{room}": BASE | {"nbody/fstat/problem", f"nbody/fstat/{room}"}
        for room in ("reference", "model")
    },
    "nbody/fstat/host": CPU | FSTAT | {"nbody/fstat/host"},
    "nbody/fstat/rungs": CUDA_ROOM | FSTAT | {"nbody/fstat/rungs"},
    "nbody/fstat": CUDA_ROOM | FSTAT,
}
# Compiled by g++ alone on any machine.
HOST_ONLY = {
    *BASE,
    "harness/access",
    "harness/access/optimize",
    "harness/access/command",
    "harness/counters",
    "harness/measure",
    "harness/cpu",
    "harness/run",
    "harness/cli",
    "micro/pattern",
    "nbody/gravity/problem",
    "nbody/gravity/reference",
    "nbody/gravity/host",
    "nbody/neighbours/problem",
    "nbody/neighbours/reference",
    "nbody/neighbours/model",
    "nbody/neighbours/host",
    "nbody/fstat/problem",
    "nbody/fstat/reference",
    "nbody/fstat/model",
    "nbody/fstat/host",
}
SUFFIXES = {".hpp", ".cpp", ".cu", ".cuh"}
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)
CUDA = re.compile(r"cuda|cub/|cupti|nvml|nvtx")
THIRD_PARTY = re.compile(r"fmt/|nlohmann/|yaml-cpp/|CLI/|benchmark/|gtest/|gmock/")


def gaps(root: Path) -> Iterator[str]:
    """Complain of folders without a rule, and of a rule that lets nbody into what is below it."""
    for top in ("harness", "micro", "nbody"):
        folders = {str(path.parent.relative_to(root)) for path in (root / top).rglob("*.[ch]*")}
        for folder in sorted(folders - MAY_INCLUDE.keys()):
            yield f"{folder}: no rule lists what it may include"
    for folder, allowed in MAY_INCLUDE.items():
        suites = {room for room in allowed if room.startswith("nbody")}
        if suites and folder != "harness/cli" and not folder.startswith("nbody"):
            yield f"{folder} may include {suites}: only the command sees every suite"


def includes(root: Path) -> dict[str, set[str]]:
    """The folders that the sources of each folder include, other than itself."""
    graph: dict[str, set[str]] = {}
    for folder in MAY_INCLUDE:
        sources = [one for one in (root / folder).glob("*") if one.suffix in SUFFIXES]
        found = (INCLUDE.findall(one.read_text(encoding="utf-8")) for one in sources)
        targets = {
            str(Path(target).parent) for one in found for quote, target in one if quote == '"'
        }
        graph[folder] = targets - {folder, "."}
    return graph


def circles(graph: dict[str, set[str]]) -> Iterator[str]:
    """Remove folders that include none of the others, one after the other; the rest is a circle."""
    left = dict(graph)
    while free := [folder for folder, targets in left.items() if not targets & left.keys()]:
        for folder in free:
            del left[folder]
    for folder, targets in left.items():
        yield f"{folder} is in a circle: it includes {', '.join(sorted(targets & left.keys()))}"


def violations(root: Path) -> Iterator[str]:
    for folder, allowed in MAY_INCLUDE.items():
        for source in sorted((root / folder).glob("*")):
            if source.suffix not in SUFFIXES:
                continue
            for quote, target in INCLUDE.findall(source.read_text(encoding="utf-8")):
                where = f"{source.relative_to(root)} includes {target}"
                if quote == '"' and str(Path(target).parent) not in allowed:
                    yield f"{where}: {folder} may not"
                if folder in HOST_ONLY and (CUDA.match(target) or target.endswith(".cuh")):
                    yield f"{where}: {folder} is host-only"
                if THIRD_PARTY.match(target) and source.suffix != ".cpp":
                    yield f"{where}: third-party headers stay in .cpp files"


def main() -> int:
    root = Path(sys.argv[1])
    graph = includes(root)
    if "--graph" in sys.argv:
        for folder, targets in graph.items():
            print(f"{folder}: {', '.join(sorted(targets))}")
    found = [*gaps(root), *violations(root), *circles(graph)]
    seen = sum(1 for folder in MAY_INCLUDE for _ in (root / folder).glob("*.[ch]*"))
    if seen < 30:
        found.append(f"only {seen} sources found under {root}: the rules look in the wrong place")
    print("\n".join(found) or f"{seen} sources keep the rules")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
