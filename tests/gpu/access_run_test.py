"""Predicted is counted: `strata access --run` on random kernels, instruction by instruction.

python3 access_run_test.py path/to/strata [unittest flags]

STRATA_ACCESS_KERNELS says how many kernels; 60 without it. Seeds are fixed. STRATA_ACCESS_JOBS says
how many commands run at a time; as many as there are cores without it, 16 at the most.

STRATA_ACCESS_PACKAGES names a folder of PTX and launches that tests/ptx/packages/generate.py wrote,
on a machine with a network: those kernels are counted as well. STRATA_ACCESS_PTX is the newest
version of PTX that the driver here takes.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from math import ceil
from pathlib import Path
from typing import Any, TypeVar

from random_kernels import ELEMENTS, Kernel

sys.path.append(str(Path(__file__).parents[1] / "ptx/packages"))
from coalescing import Judgement, predicted

STRATA = sys.argv.pop(1)
KERNELS = int(os.environ.get("STRATA_ACCESS_KERNELS", "60"))
JOBS = int(os.environ.get("STRATA_ACCESS_JOBS", str(min(16, os.cpu_count() or 1))))
PACKAGES = os.environ.get("STRATA_ACCESS_PACKAGES", "")
NEWEST_PTX = os.environ.get("STRATA_ACCESS_PTX", "9.0")
"""What the driver takes, that of CUDA 13.0 where nothing is said: the kernels use nothing newer."""


def as_the_driver_takes_it(ptx: str) -> str:
    """With a version that is not newer than NEWEST_PTX."""

    def older(found: re.Match[str]) -> str:
        stated, newest = (tuple(map(int, one.split("."))) for one in (found[1], NEWEST_PTX))
        return f".version {NEWEST_PTX}" if stated > newest else found[0]

    return re.sub(r"^\.version\s+(\d+\.\d+)", older, ptx, count=1, flags=re.MULTILINE)


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
        self.traced = 0
        self.wrong: list[str] = []
        self.left_out: list[str] = []
        self.unknown: list[str] = []
        self.with_launch = Judgement()
        """Whether an access needs more than its bytes side by side: as told, and as counted."""

    def add(self, report: Any, name: str = "") -> None:
        for kernel in report["kernels"]:
            reasons = {one["launch"]: one["not_counted"] for one in kernel["launches"]}
            for access in kernel["accesses"]:
                where = f"{name or kernel['name']}:{access['ptx_line']} {access['instruction']}"
                for launch in access["exact"]:
                    self.add_launch(launch, where, reasons[launch["launch"]])
                    self.judge(access, launch)

    def add_launch(self, launch: Any, where: str, reason: str | None) -> None:
        if not (launch["is_exact"] or launch["is_traced"]):
            self.unknown.append(f"{where}: {launch['doubt']}")
            return
        self.exact += launch["is_exact"]
        self.traced += launch["is_traced"]
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
        said, counted = moved_of(launch)
        says = "uncoalesced" if said > enough else "coalesced"
        if not (launch["is_exact"] or launch["is_traced"]):
            says = predicted(access)
        self.with_launch.verdicts[says, counted > enough] += 1

    def summary(self, kernels: int) -> str:
        return (
            f"{self.exact} exact and {self.traced} traced accesses of {kernels} kernels, "
            f"{len(self.wrong)} differ, {len(self.left_out)} cannot be compared, "
            f"{len(self.unknown)} are neither; uncoalesced or not, of "
            f"{self.with_launch.verdicts.total()} counted: precision "
            f"{self.with_launch.precision():.3f}, recall {self.with_launch.recall():.3f}"
        )


Part = TypeVar("Part")
Answer = tuple[Any, str]
"""What the command found, and what it said beside that."""


def answers(work: Callable[[Part], Answer], parts: Sequence[Part]) -> list[Answer]:
    """Of `work` on each part, JOBS at a time; alone for one that found no memory beside others."""
    with ThreadPoolExecutor(JOBS) as pool:
        found = list(pool.map(work, parts))
    for i, (_, said) in enumerate(found):
        if "OUT_OF_MEMORY" in said and JOBS > 1:
            print(f"again, alone: {said.splitlines()[0]}", flush=True)
            found[i] = work(parts[i])
    return found


class DataDependentKernel(Kernel):
    """One whose indices lie in a buffer of which nothing is told."""

    def index(self, elements: int) -> str:
        index = super().index(elements)
        if self.random.random() < 0.6:
            index = f"places[{super().index(ELEMENTS)}] & {elements - 1}u"
        return index

    def source(self) -> str:
        return super().source().replace("unsigned n) {", "unsigned n, const unsigned* places) {")

    def launch(self) -> str:
        return f"{super().launch()}  - {{bytes: {4 * ELEMENTS}}}\n"


class AccessRunTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def report(self, file: Path, launches: Sequence[Path]) -> Answer:
        words = [STRATA, "access", str(file), "--run", "--format", "json"]
        for launch in launches:
            words += ["--launch", str(launch)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        said = done.stderr if done.returncode == 0 else f"{done.stderr}exit {done.returncode}"
        return json.loads(done.stdout or '{"kernels": []}'), said.strip()

    def random_report(self, kernels: Sequence[Kernel]) -> Answer:
        folder = self.folder / kernels[0].name
        folder.mkdir(exist_ok=True)
        (folder / "random.cu").write_text("".join(kernel.source() for kernel in kernels))
        launches = [folder / f"{kernel.name}.yaml" for kernel in kernels]
        for file, kernel in zip(launches, kernels, strict=True):
            file.write_text(kernel.launch())
        return self.report(folder / "random.cu", launches)

    def compare_random(self, kernels: Sequence[Kernel]) -> Comparison:
        size = min(64, ceil(len(kernels) / JOBS))
        parts = [kernels[i : i + size] for i in range(0, len(kernels), size)]
        found, said = Comparison(), []
        for report, complaints in answers(self.random_report, parts):
            found.add(report)
            said += complaints.splitlines()
        print(found.summary(len(kernels)), flush=True)
        self.check(found, said)
        return found

    def check(self, found: Comparison, said: Sequence[str]) -> None:
        """Prints every line about what is not as it should be, then fails if there is any."""
        for line in (*said, *found.wrong, *found.left_out):
            print(line, flush=True)
        self.assertEqual(len(said), 0, "lines on stderr, above")
        self.assertEqual(len(found.wrong), 0, "accesses differ, above")
        # What ptxas leaves out of code that it does not optimise, no compiler should have written.
        self.assertLessEqual(100 * len(found.left_out), found.exact + found.traced)

    def test_what_is_predicted_of_every_access_is_counted(self) -> None:
        found = self.compare_random([Kernel(seed) for seed in range(KERNELS)])
        self.assertGreater(found.exact, 3 * KERNELS)

    def package_kernels(self) -> Iterator[Path]:
        for package in sorted(one for one in Path(PACKAGES).iterdir() if one.is_dir()):
            yield from sorted(package.glob("*.yaml"))

    def package_report(self, launch: Path) -> Answer:
        ptx = self.folder / f"{launch.parent.name}_{launch.stem}.ptx"
        made = launch.with_suffix(".ptx").read_text(encoding="utf-8")
        ptx.write_text(as_the_driver_takes_it(made), encoding="utf-8")
        return self.report(ptx, [launch])

    @unittest.skipUnless(PACKAGES, "STRATA_ACCESS_PACKAGES names no folder")
    def test_what_other_compilers_write_is_counted_as_predicted(self) -> None:
        launches = list(self.package_kernels())
        all_found, said = Comparison(), []
        packages: dict[str, tuple[Comparison, list[str]]] = {}
        reports = answers(self.package_report, launches)
        for launch, (report, complaints) in zip(launches, reports, strict=True):
            name = f"{launch.parent.name}/{launch.stem}"
            found, kernels = packages.setdefault(launch.parent.name, (Comparison(), []))
            kernels.append(name)
            for comparison in (found, all_found):
                comparison.add(report, name)
            said += [f"{name}: {line}" for line in complaints.splitlines()]
        for package, (found, kernels) in packages.items():
            print(f"{package}: {found.summary(len(kernels))}", flush=True)
        print(f"together: {all_found.summary(len(launches))}", flush=True)
        self.check(all_found, said)
        self.assertGreaterEqual(all_found.with_launch.precision(), 0.99)
        self.assertGreaterEqual(all_found.with_launch.recall(), 0.97)
        self.assertGreaterEqual(len(packages), 5)
        self.assertGreaterEqual(len(launches), 60)

    def test_what_is_traced_of_every_access_is_counted(self) -> None:
        found = self.compare_random([DataDependentKernel(1000 + seed) for seed in range(KERNELS)])
        self.assertGreater(found.traced, KERNELS)
        self.assertEqual(found.unknown, [])

    def test_a_record_without_room_is_reported(self) -> None:
        source = """
extern "C" __global__ void gather(float* out, const float* in, const unsigned* places) {
  float sum = 0;
  for (unsigned i = 0; i < 100; ++i)
    sum += in[places[(blockIdx.x * blockDim.x + threadIdx.x + i) & 4095u] & 4095u];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
"""
        launch = """schema: 1
kernel: gather
grid: [64]
block: [256]
arguments: [{bytes: 65536}, {bytes: 16384}, {bytes: 16384}]
"""
        (self.folder / "gather.cu").write_text(source)
        (self.folder / "gather.yaml").write_text(launch)
        words = [STRATA, "access", str(self.folder / "gather.cu"), "--run", "--format", "json"]
        words += ["--launch", str(self.folder / "gather.yaml")]
        small = subprocess.run(
            [*words, "--megabytes", "8"], capture_output=True, text=True, check=False
        )
        whole = subprocess.run(words, capture_output=True, text=True, check=False)
        self.assertEqual(small.returncode, 1)
        self.assertIn("not traced: thread 0 recorded", small.stderr)
        self.assertIn("MiB would hold them", small.stderr)
        self.assertNotIn('"is_traced": true', small.stdout)
        self.assertEqual(whole.returncode, 0, whole.stderr)
        self.assertIn('"is_traced": true', whole.stdout)


if __name__ == "__main__":
    unittest.main()
