"""Reports of `strata access --run`: what is predicted of each access beside what was counted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

sys.path.append(str(Path(__file__).parents[1] / "ptx/packages"))
from coalescing import Judgement, predicted

LONGEST_EXPRESSION = 1000
"""`max_expression_length` of harness/base/text.hpp."""

JOBS = int(os.environ.get("STRATA_ACCESS_JOBS", str(min(16, os.cpu_count() or 1))))


def moved_of(launch: Any) -> tuple[int, int]:
    """What is predicted of an access that was counted, and what was counted."""
    if launch["space"] == "shared":
        return launch["wavefronts"], launch["counted"]["wavefronts"]
    unit = "local_sectors" if launch["space"] == "local" else "sectors"
    return launch["traffic"][0]["sectors"], launch["counted"][unit]


class Comparison:
    """Accesses of reports with `--run`, and lines about those that were counted otherwise."""

    def __init__(self) -> None:
        self.exact = 0
        self.wrong: list[str] = []
        self.left_out: list[str] = []
        self.unknown: list[str] = []
        self.with_launch = Judgement()
        """Whether an access needs more than its bytes side by side: as predicted and as counted."""

    def add(self, report: Any, name: str = "") -> None:
        for kernel in report["kernels"]:
            reasons = {one["launch"]: one["not_counted"] for one in kernel["launches"]}
            for access in kernel["accesses"]:
                where = f"{name or kernel['name']}:{access['ptx_line']} {access['instruction']}"
                for launch in access["exact"]:
                    self.add_launch(launch, where, reasons[launch["launch"]])
                    self.judge(access, launch)

    def add_launch(self, launch: Any, where: str, reason: str | None) -> None:
        if not launch["is_exact"]:
            self.unknown.append(f"{where}: {launch['doubt']}")
            return
        self.exact += launch["is_exact"]
        if "not_counted" in launch:
            self.left_out.append(f"{where}: {launch['not_counted']}")
        elif "counted" not in launch:
            self.wrong.append(f"{where}: {reason or 'not counted'}")
        elif not launch["counted"]["as_predicted"]:
            predicted, counted = moved_of(launch)
            executed = launch["counted"]["executed"]
            self.wrong.append(
                f"{where}: {launch['space']}, predicted {predicted} in {launch['warps']} requests, "
                f"counted {counted} in {executed}"
            )

    def judge(self, access: Any, launch: Any) -> None:
        enough = launch.get("contiguous_sectors", 0)
        if launch["space"] == "shared":
            enough = launch["ideal_wavefronts"]
        if "counted" not in launch or enough == 0:
            return
        modelled, counted = moved_of(launch)
        verdict = "uncoalesced" if modelled > enough else "coalesced"
        if not launch["is_exact"]:
            verdict = predicted(access)
        self.with_launch.verdicts[verdict, counted > enough] += 1

    def summary(self, kernels: int) -> str:
        return (
            f"{self.exact} exact accesses of {kernels} kernels, "
            f"{len(self.wrong)} differ, {len(self.left_out)} cannot be compared, "
            f"{len(self.unknown)} are neither; uncoalesced or not, of "
            f"{self.with_launch.verdicts.total()} counted: precision "
            f"{self.with_launch.precision():.3f}, recall {self.with_launch.recall():.3f}"
        )


Part = TypeVar("Part")
Answer = tuple[Any, str]
"""The command's findings, and its other output."""


def answers(work: Callable[[Part], Answer], parts: Sequence[Part]) -> list[Answer]:
    """Of `work` on each part, JOBS at a time; alone for one that found no memory beside others."""
    with ThreadPoolExecutor(JOBS) as pool:
        found = list(pool.map(work, parts))
    for i, (_, output) in enumerate(found):
        if "OUT_OF_MEMORY" in output and JOBS > 1:
            print(f"again, alone: {output.splitlines()[0]}", flush=True)
            found[i] = work(parts[i])
    return found


def report(strata: str, files: Iterable[Path], launches: Iterable[Path], *flags: str) -> Answer:
    """Of one command, which counts all of these launches."""
    words = [strata, "access", *map(str, files), "--run", "--format", "json", *flags]
    for launch in launches:
        words += ["--launch", str(launch)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    output = done.stderr if done.returncode == 0 else f"{done.stderr}exit {done.returncode}"
    return json.loads(done.stdout or '{"kernels": []}'), output.strip()


def as_expressions(names: Iterable[str]) -> Iterator[list[str]]:
    """Parts whose names, joined as an expression, are no longer than Strata matches."""
    part: list[str] = []
    for name in names:
        if part and sum(map(len, part)) + len(part) + len(name) > LONGEST_EXPRESSION - len("^()$"):
            yield part
            part = []
        part.append(name)
    yield part


def in_parts(all_of_them: Sequence[Part], most: int) -> list[Sequence[Part]]:
    """One for each of the commands that run at a time, or more where they would be too large."""
    size = max(1, min(most, -(-len(all_of_them) // JOBS)))
    return [all_of_them[i : i + size] for i in range(0, len(all_of_them), size)]
