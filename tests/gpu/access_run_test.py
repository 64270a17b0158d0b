"""Predicted is counted: `strata access --run` on random kernels, instruction by instruction.

python3 access_run_test.py path/to/strata [unittest flags]

STRATA_ACCESS_KERNELS says how many kernels; 60 without it. Seeds are fixed.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Sequence
from pathlib import Path
from typing import Any

STRATA = sys.argv.pop(1)
KERNELS = int(os.environ.get("STRATA_ACCESS_KERNELS", "60"))
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
        with tempfile.TemporaryDirectory() as folder:
            report = self.answer(Path(folder), kernels)
        wrong, exact = [], 0
        for kernel in report["kernels"]:
            for access in kernel["accesses"]:
                for launch in access["exact"]:
                    if not launch["is_exact"]:
                        continue
                    exact += 1
                    if not launch["counted"]["as_predicted"]:
                        wrong.append((kernel["name"], access["instruction"], launch))
        self.assertGreater(exact, 3 * KERNELS)
        print(
            f"{exact} exact accesses of {KERNELS} kernels, {len(wrong)} differ",
            flush=True,
        )
        self.assertEqual(wrong, [])

    def test_what_is_traced_of_every_access_is_counted(self) -> None:
        kernels = [DataDependentKernel(1000 + seed) for seed in range(KERNELS)]
        with tempfile.TemporaryDirectory() as folder:
            report = self.answer(Path(folder), kernels)
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
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "gather.cu").write_text(source)
            (folder / "gather.yaml").write_text(launch)
            words = [STRATA, "access", str(folder / "gather.cu"), "--run", "--format", "json"]
            words += ["--launch", str(folder / "gather.yaml")]
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
