"""How much of the PTX in a folder `strata access` follows, and whether its verdicts are right.

    python3 tests/ptx/packages/coalescing.py STRATA FOLDER

FOLDER has a folder a package, as generate.py writes them: NAME.ptx, and NAME.yaml for a launch.
An access needs more than it must where its requests move more sectors than as many bytes side by
side, or take more passes through the banks. Whether it does is told by its exact numbers, which are
worked out from every address of the launch; the proof, which knows no launch, is judged by them.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Json = dict[str, Any]
FOLLOWED_SPACES = ("global", "shared")


def is_followed(access: Json) -> bool:
    """Proved, or exact in a launch."""
    proved = access["verdict"] not in ("unknown", "unmodelled")
    return proved or any(one["is_exact"] for one in access["exact"])


def needs_more(exact: Json) -> bool | None:
    """Than as many bytes next to each other; nothing where no request was made."""
    if exact["space"] == "shared":
        if exact["ideal_wavefronts"] == 0:
            return None
        return bool(exact["wavefronts"] > exact["ideal_wavefronts"])
    if not exact.get("traffic") or exact["contiguous_sectors"] == 0:
        return None
    return bool(exact["traffic"][0]["sectors"] > exact["contiguous_sectors"])


def predicted(access: Json) -> str:
    """What is said without a launch: proved, or so with the usual numbers, or an open question."""
    usual = access["usual"]
    return str(usual["verdict"] if usual else access["verdict"])


@dataclass
class Judgement:
    """Counts over accesses; `verdicts` by what was predicted and what is so."""

    kernels: int = 0
    accesses: int = 0
    outside: int = 0
    """Accesses in launches that the assumptions of their proof leave out."""
    proved: int = 0
    followed: int = 0
    verdicts: Counter[tuple[str, bool]] = field(default_factory=Counter)
    decided: int = 0
    """Accesses of `verdicts` that are proved coalesced or uncoalesced, whatever is usual."""
    refused: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def add(self, other: Judgement) -> None:
        self.kernels += other.kernels
        self.accesses += other.accesses
        self.outside += other.outside
        self.proved += other.proved
        self.followed += other.followed
        self.verdicts += other.verdicts
        self.decided += other.decided
        self.refused += other.refused
        self.wrong += other.wrong

    def share(self, part: int) -> float:
        return part / self.accesses if self.accesses else 1.0

    def precision(self) -> float:
        right = self.verdicts["uncoalesced", True]
        said = right + self.verdicts["uncoalesced", False]
        return right / said if said else 1.0

    def recall(self) -> float:
        there = sum(count for (_, is_so), count in self.verdicts.items() if is_so)
        return self.verdicts["uncoalesced", True] / there if there else 1.0


def across(launch: Path) -> int:
    """Threads of a block along x."""
    found = re.search(r"^block: \[(\d+)", launch.read_text(encoding="utf-8"), re.MULTILINE)
    return int(found[1]) if found else 0


def judged(strata: str, ptx: Path) -> Judgement:
    launch = ptx.with_suffix(".yaml")
    words = [strata, "access", str(ptx), "--format", "json"]
    words += ["--launch", str(launch)] if launch.exists() else []
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    found = Judgement()
    is_even = "blockDim.x is a multiple of 32"
    even = not launch.exists() or across(launch) % 32 == 0
    if done.returncode != 0 or done.stderr:
        found.refused.append(f"{ptx}: exit status {done.returncode}: {done.stderr.strip()}")
        return found
    for kernel in json.loads(done.stdout)["kernels"]:
        found.kernels += 1
        for access in kernel["accesses"]:
            if access["space"] not in FOLLOWED_SPACES:
                continue
            found.accesses += 1
            found.proved += access["verdict"] not in ("unknown", "unmodelled")
            found.followed += is_followed(access)
            says = predicted(access)
            for exact in access["exact"]:
                truth = needs_more(exact) if exact["is_exact"] else None
                if truth is None:
                    continue
                proved = access["proved"]
                takes_rows = is_even in proved["assumptions"] if proved else access["usual"]
                if takes_rows and not even:
                    found.outside += 1
                    continue
                found.verdicts[says, truth] += 1
                found.decided += access["verdict"] in ("coalesced", "uncoalesced")
                if (says == "uncoalesced") != truth:
                    found.wrong.append(
                        f"{ptx.parent.name}/{ptx.stem}:{access['ptx_line']} "
                        f"{access['instruction']}: {says}, needs more: {truth}; {access['reason']}"
                    )
    return found


def by_package(strata: str, folder: Path) -> Iterator[tuple[str, Judgement]]:
    with ThreadPoolExecutor(max_workers=2) as pool:
        for package in sorted(one for one in folder.iterdir() if one.is_dir()):
            total = Judgement()
            files = sorted(package.glob("*.ptx"))
            for one in pool.map(lambda ptx: judged(strata, ptx), files):
                total.add(one)
            if files:
                yield package.name, total


LEAST_FOLLOWED = 0.75
"""Of the accesses of each package: proved, or exact in a launch."""
LEAST_PRECISION = 0.95
LEAST_RECALL = 0.93
"""Of all packages together, without a launch."""

GENERATED = "random"
"""Kernels of random expressions: told, but no measure of what people write."""

COLUMNS = (
    "package",
    "kernels",
    "accesses",
    "proved",
    "or exact",
    "judged",
    "by proof",
    "left out",
    "precision",
    "recall",
)


def row(name: str, one: Judgement) -> tuple[str, ...]:
    return (
        name,
        str(one.kernels),
        str(one.accesses),
        f"{one.share(one.proved):.1%}",
        f"{one.share(one.followed):.1%}",
        str(one.verdicts.total()),
        str(one.decided),
        str(one.outside),
        f"{one.precision():.3f}",
        f"{one.recall():.3f}",
    )


def main() -> int:
    strata, folder, *options = sys.argv[1:]
    packages = dict(by_package(strata, Path(folder)))
    together = Judgement()
    generated = packages.pop(GENERATED, None)
    for one in packages.values():
        together.add(one)
    lines = [COLUMNS, *(row(*one) for one in packages.items()), row("together", together)]
    lines += [row(GENERATED, generated)] if generated else []
    for line in lines:
        print(f"{line[0]:9}", *(f"{cell:>9}" for cell in line[1:]))
    if "--wrong" in options:
        print("\n".join(together.wrong + (generated.wrong if generated else [])))
    print("\n".join(together.refused), end="")
    broken = [
        f"{name}: {one.share(one.followed):.1%} followed, expected {LEAST_FOLLOWED:.0%}"
        for name, one in packages.items()
        if one.share(one.followed) < LEAST_FOLLOWED
    ]
    if together.precision() < LEAST_PRECISION or together.recall() < LEAST_RECALL:
        broken.append(f"expected precision {LEAST_PRECISION} and recall {LEAST_RECALL}")
    if not together.kernels:
        broken.append(f"{folder}: no kernels; make them with generate.py")
    print("\n".join(broken), end="")
    return 1 if together.refused or broken else 0


if __name__ == "__main__":
    sys.exit(main())
