"""What `strata access optimize` makes of the kernels of other packages, as two tables of Markdown.

mending.py path/to/strata FOLDER

FOLDER is what generate.py wrote: PTX and launches by package. A gain is that of the model, for the
launch: the cycles that an SM takes for requests, sectors and wavefronts. Nothing runs on a GPU.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

REASONS = {
    "no change of its accesses asks for less": "no change asks for less",
    "a launch would take the original": "the launch fails a check, such as a size or an alignment",
    "memory of a block or a thread": "the address of shared or local memory is in a register",
    "volatile": "volatile accesses",
    "acq_rel": "acquire and release",
    "nothing tells where it leads": "a load may see another thread's store",
    "it may lie outside of": "an address of shared memory is not proved to be inside",
    "is of no known multiple": "the alignment of shared memory is not known",
    "an instruction that is not followed": "asynchronous copies, matrix instructions",
    "between the lanes": "shuffles",
}
"""What a reason contains: in words of the table."""


def mended(strata: str, launch: Path) -> list[Any]:
    words = [strata, "access", "mend", str(launch.with_suffix(".ptx")), "--launch", str(launch)]
    done = subprocess.run([*words, "--format", "json"], capture_output=True, text=True, check=True)
    kernels: list[Any] = json.loads(done.stdout)["kernels"]
    return kernels


def in_words(reason: str) -> str:
    return next((words for part, words in REASONS.items() if part in reason), reason)


def main() -> None:
    strata, folder = sys.argv[1], Path(sys.argv[2])
    reasons: Counter[str] = Counter()
    print("| compiler | kernels | optimized | modelled gain, times | unchanged | refused |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    together: Counter[str] = Counter()
    for package in sorted(one for one in folder.iterdir() if one.name != "random"):
        if not any(package.glob("*.yaml")):
            continue
        states: Counter[str] = Counter()
        gains = []
        for launch in sorted(package.glob("*.yaml")):
            for kernel in mended(strata, launch):
                states[kernel["state"]] += 1
                if kernel["state"] == "optimized":
                    gains.append(kernel["before"]["cycles"] / kernel["after"]["cycles"])
                else:
                    reasons[in_words(kernel["why"])] += 1
        gain = f"{min(gains):.1f} to {max(gains):.1f}" if gains else ""
        counts = f"{states['unchanged']} | {states['refused']}"
        print(f"| {package.name} | {states.total()} | {states['mended']} | {gain} | {counts} |")
        together += states
    counts = f"{together['unchanged']} | {together['refused']}"
    print(f"| together | {together.total()} | {together['mended']} | | {counts} |")
    print("\n| why a kernel stays as it is | kernels |\n| --- | ---: |")
    for reason, number in reasons.most_common():
        print(f"| {reason} | {number} |")


if __name__ == "__main__":
    main()
