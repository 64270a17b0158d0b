"""Fail when a source includes what its folder may not know about.

One way only: core knows nothing of devices, benchmarks never know each other's suites, and no
third-party header reaches nvcc.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

CORE = {"harness/core"}
NBODY = {"nbody", "nbody/problem", "nbody/reference"}
MAY_INCLUDE = {
    "harness/core": CORE,
    "harness/layout": CORE | {"harness/layout"},
    "harness/host": CORE | {"harness/host"},
    "harness/device": CORE | {"harness/host", "harness/device"},
    "harness/counters": CORE | {"harness/device", "harness/counters"},
    "harness/runner": CORE | {"harness/host", "harness/runner"},
    "harness/cli": CORE
    | {"harness/host", "harness/layout", "harness/runner", "harness/cli"}
    | NBODY,
    "micro/pattern": CORE | {"harness/layout", "micro/pattern"},
    "nbody/problem": CORE | {"harness/layout", "nbody/problem"},
    "nbody/reference": CORE | {"nbody/problem", "nbody/reference"},
    "nbody/host": CORE | {"harness/host", "harness/layout"} | NBODY | {"nbody/host"},
    "nbody/rungs": CORE | {"harness/device", "harness/layout"} | NBODY | {"nbody/rungs"},
    "nbody": CORE | {"harness/host", "harness/device", "harness/layout"} | NBODY,
    "micro": CORE | {"harness/host", "harness/device", "harness/layout", "micro/pattern", "micro"},
}
# Compiled by g++ alone on any machine.
HOST_ONLY = {
    "harness/core",
    "harness/layout",
    "harness/host",
    "harness/runner",
    "harness/cli",
    "micro/pattern",
    "nbody/problem",
    "nbody/reference",
    "nbody/host",
}
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)
CUDA = re.compile(r"cuda|cupti|nvml|nvtx")
THIRD_PARTY = re.compile(r"fmt/|nlohmann/|yaml-cpp/|CLI/|benchmark/|gtest/|gmock/")


def violations(root: Path) -> Iterator[str]:
    for folder, allowed in MAY_INCLUDE.items():
        for source in sorted((root / folder).glob("*")):
            if source.suffix not in {".hpp", ".cpp", ".cu", ".cuh"}:
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
    found = list(violations(root))
    seen = sum(1 for folder in MAY_INCLUDE for _ in (root / folder).glob("*.[ch]*"))
    if seen < 30:
        found.append(f"only {seen} sources found under {root}: the rules look in the wrong place")
    print("\n".join(found) or f"{seen} sources keep the rules")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
