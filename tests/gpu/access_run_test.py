"""Predicted is counted: `strata access --run` on random kernels, instruction by instruction.

python3 access_run_test.py path/to/strata [unittest flags]

STRATA_ACCESS_KERNELS says how many kernels; 60 without it. Seeds are fixed.

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
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from random_kernels import ELEMENTS, Kernel

STRATA = sys.argv.pop(1)
KERNELS = int(os.environ.get("STRATA_ACCESS_KERNELS", "60"))
PACKAGES = os.environ.get("STRATA_ACCESS_PACKAGES", "")
NEWEST_PTX = os.environ.get("STRATA_ACCESS_PTX", "9.0")
"""What the driver takes, that of CUDA 13.0 where nothing is said: the kernels use nothing newer."""


def as_the_driver_takes_it(ptx: str) -> str:
    """With a version that is not newer than NEWEST_PTX."""

    def older(found: re.Match[str]) -> str:
        stated, newest = (tuple(map(int, one.split("."))) for one in (found[1], NEWEST_PTX))
        return f".version {NEWEST_PTX}" if stated > newest else found[0]

    return re.sub(r"^\.version\s+(\d+\.\d+)", older, ptx, count=1, flags=re.MULTILINE)


class Comparison:
    """Exact accesses of reports with `--run`, and those that were counted otherwise."""

    def __init__(self) -> None:
        self.exact = 0
        self.wrong: list[tuple[str, str, Any]] = []

    def add(self, report: Any, name: str = "") -> None:
        for kernel in report["kernels"]:
            for access in kernel["accesses"]:
                for launch in access["exact"]:
                    if not launch["is_exact"]:
                        continue
                    self.exact += 1
                    if not launch["counted"]["as_predicted"]:
                        where = f"{name or kernel['name']}:{access['ptx_line']}"
                        self.wrong.append((where, access["instruction"], launch))


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

    def answer(self, folder: Path, kernels: Sequence[Kernel]) -> Any:
        (folder / "random.cu").write_text("".join(kernel.source() for kernel in kernels))
        words = [
            STRATA,
            "access",
            str(folder / "random.cu"),
            "--run",
            "--format",
            "json",
        ]
        for kernel in kernels:
            file = folder / f"{kernel.name}.yaml"
            file.write_text(kernel.launch())
            words += ["--launch", str(file)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        return json.loads(done.stdout)

    def test_what_is_predicted_of_every_access_is_counted(self) -> None:
        kernels = [Kernel(seed) for seed in range(KERNELS)]
        report = self.answer(self.folder, kernels)
        found = Comparison()
        found.add(report)
        self.assertGreater(found.exact, 3 * KERNELS)
        print(
            f"{found.exact} exact accesses of {KERNELS} kernels, {len(found.wrong)} differ",
            flush=True,
        )
        self.assertEqual(found.wrong, [])

    @unittest.skipUnless(PACKAGES, "STRATA_ACCESS_PACKAGES names no folder")
    def test_what_other_compilers_write_is_counted_as_predicted(self) -> None:
        wrong = []
        for package in sorted(one for one in Path(PACKAGES).iterdir() if one.is_dir()):
            found, kernels = Comparison(), 0
            for launch in sorted(package.glob("*.yaml")):
                ptx = self.folder / f"{package.name}_{launch.stem}.ptx"
                made = launch.with_suffix(".ptx").read_text(encoding="utf-8")
                ptx.write_text(as_the_driver_takes_it(made), encoding="utf-8")
                words = [STRATA, "access", str(ptx), "--launch", str(launch), "--run"]
                words += ["--format", "json"]
                done = subprocess.run(words, capture_output=True, text=True, check=False)
                with self.subTest(kernel=f"{package.name}/{launch.stem}"):
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                    found.add(json.loads(done.stdout), f"{package.name}/{launch.stem}")
                    kernels += 1
            print(
                f"{package.name}: {found.exact} exact accesses of {kernels} kernels, "
                f"{len(found.wrong)} differ",
                flush=True,
            )
            wrong += found.wrong
        self.assertEqual(wrong, [])

    def test_what_is_traced_of_every_access_is_counted(self) -> None:
        kernels = [DataDependentKernel(1000 + seed) for seed in range(KERNELS)]
        report = self.answer(self.folder, kernels)
        wrong, traced, neither = [], 0, []
        for kernel in report["kernels"]:
            for access in kernel["accesses"]:
                for launch in access["exact"]:
                    if not (launch["is_exact"] or launch["is_traced"]):
                        neither.append((kernel["name"], access["instruction"], launch))
                        continue
                    traced += launch["is_traced"]
                    if not launch["counted"]["as_predicted"]:
                        wrong.append((kernel["name"], access["instruction"], launch))
        self.assertGreater(traced, KERNELS)
        print(
            f"{traced} traced accesses of {KERNELS} kernels, {len(wrong)} differ",
            flush=True,
        )
        self.assertEqual(neither, [])
        self.assertEqual(wrong, [])

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
