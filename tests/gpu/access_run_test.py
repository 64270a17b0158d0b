"""Predicted is counted: `strata access --run` on random kernels, instruction by instruction.

python3 access_run_test.py path/to/strata [unittest flags]

STRATA_ACCESS_KERNELS says how many kernels; 60 without it. Seeds are fixed.

STRATA_ACCESS_PACKAGES names a folder of PTX and launches that tests/ptx/packages/generate.py wrote,
on a machine with a network: those kernels are counted as well.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

STRATA = sys.argv.pop(1)
KERNELS = int(os.environ.get("STRATA_ACCESS_KERNELS", "60"))
PACKAGES = os.environ.get("STRATA_ACCESS_PACKAGES", "")
WIDTHS = {
    "unsigned char": 1,
    "short": 2,
    "float": 4,
    "uint2": 8,
    "double": 8,
    "float4": 16,
}
VALUE = {"uint2": "{0}.x", "float4": "{0}.x"}
MADE = {"uint2": "make_uint2({0}, 1)", "float4": "make_float4({0}, 1, 2, 3)"}
ELEMENTS = 1 << 14  # of each buffer
TILE = 1 << 10  # elements of shared memory


class Kernel:
    """A kernel of random address expressions, guards, loops and widths, and its launch."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.name = f"kernel_{seed}"
        self.block = self.random.choice([(32, 1), (64, 1), (100, 1), (256, 1), (16, 8), (8, 4)])
        self.grid = self.random.choice([(1, 1), (3, 1), (16, 1), (4, 2)])
        self.types = [self.random.choice(list(WIDTHS)) for _ in range(2)]

    def leaf(self) -> str:
        names = [
            "threadIdx.x",
            "threadIdx.y",
            "blockIdx.x",
            "blockIdx.y",
            "blockDim.x",
            "i",
            "n",
        ]
        return self.random.choice([*names, "threadIdx.x", str(self.random.randrange(1, 70))])

    def expression(self, depth: int) -> str:
        if depth == 0:
            return self.leaf()
        left, right = self.expression(depth - 1), self.expression(depth - 1)
        shift = self.random.randrange(1, 7)
        number = self.random.randrange(2, 40)
        return self.random.choice(
            [
                f"({left} + {right})",
                f"({left} + {right})",
                f"({left} - {right})",
                f"({left} * {right})",
                f"({left} * {number}u)",
                f"({left} ^ {right})",
                f"({left} << {shift})",
                f"({left} >> {shift})",
                f"({left} / {number}u)",
                f"({left} % {number}u)",
                f"({left} < {right} ? {left} : {right})",
                f"({left} * 0x9E3779B9u)",  # wraps around
            ]
        )

    def index(self, elements: int) -> str:
        return f"{self.expression(self.random.randrange(1, 4))} & {elements - 1}u"

    def guard(self) -> str:
        return self.random.choice(
            [
                "",
                "",
                f"if ({self.leaf()} < {self.random.randrange(1, 90)}u) ",
                "if (threadIdx.x & 1) ",
            ]
        )

    def source(self) -> str:
        lines = []
        for _ in range(self.random.randrange(1, 4)):
            loaded = f"in[{self.index(ELEMENTS)}]"
            value = VALUE.get(self.types[0], "{0}").format(loaded)
            lines.append(f"    {self.guard()}sum += float({value});")
        if self.random.random() < 0.5:
            lines.append(f"    {self.guard()}tile[{self.index(TILE)}] = sum;")
            lines.append(f"    __syncwarp(); sum += tile[{self.index(TILE)}];")
        made = MADE.get(self.types[1], f"({self.types[1]})({{0}})")
        lines.append(f"    {self.guard()}out[{self.index(ELEMENTS)}] = {made.format('sum')};")
        turns = self.random.choice(["1u", "5u", "n", "threadIdx.x % 7u"])
        body = "\n".join(lines)
        return f"""
extern "C" __global__ void {self.name}({self.types[1]}* __restrict__ out,
                                       const {self.types[0]}* __restrict__ in, unsigned n) {{
  __shared__ volatile float tile[{TILE}];
  float sum = 0;
  for (unsigned i = 0; i < {turns}; ++i) {{
{body}
  }}
}}
"""

    def launch(self) -> str:
        return f"""schema: 1
kernel: {self.name}
grid: [{self.grid[0]}, {self.grid[1]}]
block: [{self.block[0]}, {self.block[1]}]
arguments:
  - {{bytes: {ELEMENTS * WIDTHS[self.types[1]]}}}
  - {{bytes: {ELEMENTS * WIDTHS[self.types[0]]}}}
  - 3
"""


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


class AccessRunTest(unittest.TestCase):
    def answer(self, folder: Path, kernels: list[Kernel]) -> Any:
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
        with tempfile.TemporaryDirectory() as folder:
            report = self.answer(Path(folder), kernels)
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
                ptx = str(launch.with_suffix(".ptx"))
                words = [
                    STRATA,
                    "access",
                    ptx,
                    "--launch",
                    str(launch),
                    "--run",
                    "--format",
                    "json",
                ]
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


if __name__ == "__main__":
    unittest.main()
