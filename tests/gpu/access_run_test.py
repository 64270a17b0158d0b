"""Predicted is counted: `strata access --run` on random kernels, instruction by instruction.

python3 access_run_test.py path/to/strata [unittest flags]

STRATA_ACCESS_KERNELS: number of kernels (default 60). Seeds are fixed. STRATA_ACCESS_JOBS: number
of commands that run at a time (default: as many as there are cores, at most 16).

STRATA_ACCESS_PACKAGES names a folder of PTX and launches that tests/ptx/packages/generate.py wrote,
on a machine with a network: those kernels are counted as well. STRATA_ACCESS_PTX is the newest
version of PTX that the driver here takes.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
import unittest
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

from access_comparison import Answer, Comparison, answers, in_parts, report
from random_kernels import ELEMENTS, Kernel

STRATA = sys.argv.pop(1)
KERNELS = int(os.environ.get("STRATA_ACCESS_KERNELS", "60"))
PACKAGES = os.environ.get("STRATA_ACCESS_PACKAGES", "")
NEWEST_PTX = os.environ.get("STRATA_ACCESS_PTX", "9.0")
"""What the driver takes, by default that of CUDA 13.0: the kernels use nothing newer."""


def as_the_driver_takes_it(ptx: str) -> str:
    """With a version that is not newer than NEWEST_PTX."""

    def older(found: re.Match[str]) -> str:
        stated, newest = (tuple(map(int, one.split("."))) for one in (found[1], NEWEST_PTX))
        return f".version {NEWEST_PTX}" if stated > newest else found[0]

    return re.sub(r"^\.version\s+(\d+\.\d+)", older, ptx, count=1, flags=re.MULTILINE)


SHARED_OPERATIONS = {
    "add": "seen = atomicAdd(&words[at], seen);",
    "most": "seen = atomicMax(&words[at], seen);",
    "exchange": "seen = atomicExch(&words[at], seen);",
    "swap": "seen = atomicCAS(&words[at], 0u, seen);",
    "add_only": "atomicAdd(&words[at], seen);",
    "wide_load": "seen += sum(reinterpret_cast<uint4*>(words)[at]);",
}
"""Accesses of shared memory whose cost depends on which lanes have one address."""

SHARED_PLACES = ((32, 1, 0), (1, 0, 0), (2, 1, 0), (4, 1, 0), (32, 32, 0), (2, 32, 0), (8, 32, 1))
"""Of a lane: (lane % a) * b + (lane / a) * c, so in a row, at one place, at a few, in one bank."""

SHARED_LANES = (
    *(0xFFFFFFFF, 0x0000FFFF, 0x55555555, 0x33333333, 0x00010001, 0x80000001, 0x80000100),
    *(0x01000401, 0x06004000, 0x40000108, 0x00110011, 0x00030003, 0x00050003, 0x08421084),
)


def shared_source() -> str:
    """A kernel for each operation: a statement for each set of lanes and places."""

    def statement(operation: str, lanes: int, a: int, b: int, c: int) -> str:
        at = f"(threadIdx.x % {a}u) * {b}u + (threadIdx.x / {a}u) * {c}u"
        some = f"if (({lanes:#x}u >> threadIdx.x & 1u) != 0)"
        return f"  {some} {{ const unsigned at = {at}; {operation} }}"

    helper = "__device__ unsigned sum(uint4 of) { return of.x + of.y + of.z + of.w; }"
    return helper + "".join(
        f"""
extern "C" __global__ void {name}(unsigned* out) {{
  __shared__ __align__(16) unsigned words[4096];
  for (unsigned i = threadIdx.x; i < 4096; i += 32) words[i] = 0;
  __syncthreads();
  unsigned seen = threadIdx.x + 1;
{statements}
  __syncthreads();
  out[threadIdx.x] = seen + words[threadIdx.x];
}}
"""
        for name, operation in SHARED_OPERATIONS.items()
        for statements in [
            "\n".join(
                statement(operation, lanes, *place)
                for lanes, place in product(SHARED_LANES, SHARED_PLACES)
            )
        ]
    )


class DataDependentKernel(Kernel):
    """One whose indices are in a buffer."""

    def index(self, elements: int) -> str:
        index = super().index(elements)
        if self.random.random() < 0.6:
            index = f"places[{super().index(ELEMENTS)}] & {elements - 1}u"
        return index

    def source(self) -> str:
        return super().source().replace("unsigned n) {", "unsigned n, const unsigned* places) {")

    def launch(self) -> str:
        return f"{super().launch()}  - {{bytes: {4 * ELEMENTS}, fill: random 7, element: 4}}\n"


class AccessRunTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def random_report(self, kernels: Sequence[Kernel]) -> Answer:
        folder = self.folder / kernels[0].name
        folder.mkdir(exist_ok=True)
        (folder / "random.cu").write_text("".join(kernel.source() for kernel in kernels))
        launches = [folder / f"{kernel.name}.yaml" for kernel in kernels]
        for file, kernel in zip(launches, kernels, strict=True):
            file.write_text(kernel.launch())
        return report(STRATA, [folder / "random.cu"], launches)

    def compare_random(self, kernels: Sequence[Kernel]) -> Comparison:
        found, problems = Comparison(), []
        for counted_report, complaints in answers(self.random_report, in_parts(kernels, 64)):
            found.add(counted_report)
            problems += complaints.splitlines()
        print(found.summary(len(kernels)), flush=True)
        self.check(found, problems)
        return found

    def check(self, found: Comparison, problems: Sequence[str]) -> None:
        """Prints every line about what is not as it should be, then fails if there is any."""
        for line in (*problems, *found.wrong, *found.left_out):
            print(line, flush=True)
        self.assertEqual(len(problems), 0, "lines on stderr, above")
        self.assertEqual(len(found.wrong), 0, "accesses differ, above")
        # No compiler should write accesses that ptxas removes even without optimisation.
        self.assertLessEqual(100 * len(found.left_out), found.exact)

    def test_what_is_predicted_of_every_access_is_counted(self) -> None:
        found = self.compare_random([Kernel(seed) for seed in range(KERNELS)])
        self.assertGreater(found.exact, 3 * KERNELS)

    def test_lanes_with_one_address_in_shared_memory_are_counted_as_predicted(self) -> None:
        (self.folder / "shared.cu").write_text(shared_source())
        launches = [self.folder / f"{name}.yaml" for name in SHARED_OPERATIONS]
        for launch in launches:
            launch.write_text(
                f"schema: 1\nkernel: ^{launch.stem}$\ngrid: 1\nblock: 32\n"
                "arguments: [{bytes: 128}]\n"
            )

        def counted(part: Sequence[Path]) -> Answer:
            return report(STRATA, [self.folder / "shared.cu"], part)

        found, problems = Comparison(), []
        for counted_report, complaints in answers(counted, in_parts(launches, 1)):
            found.add(counted_report)
            problems += complaints.splitlines()
        print(found.summary(len(launches)), flush=True)
        self.check(found, problems)
        self.assertGreater(found.exact, 500)
        # 16 bytes in some lanes, of which no rule is known to hold.
        self.assertLessEqual(len(found.unknown), 30)

    def package_kernels(self) -> Iterator[Path]:
        for package in sorted(one for one in Path(PACKAGES).iterdir() if one.is_dir()):
            yield from sorted(package.glob("*.yaml"))

    def package_report(self, launches: Sequence[Path]) -> Answer:
        """Of a few kernels in one command; each alone where it refuses one of them."""
        files, copies = [], []
        for launch in launches:
            name = f"{launch.parent.name}-{launch.stem}"
            files.append(self.folder / f"{name}.ptx")
            copies.append(self.folder / f"{name}.yaml")
            made = launch.with_suffix(".ptx").read_text(encoding="utf-8")
            files[-1].write_text(as_the_driver_takes_it(made), encoding="utf-8")
            text = launch.read_text(encoding="utf-8")
            copies[-1].write_text(f"{text}input: {name}.ptx\n", encoding="utf-8")
        counted_report, problems = report(STRATA, files, copies)
        if len(launches) == 1 or "exit 2" not in problems:
            return counted_report, problems
        each = [self.package_report([launch]) for launch in launches]
        kernels = [kernel for one, _ in each for kernel in one["kernels"]]
        return {"kernels": kernels}, "\n".join(problems for _, problems in each if problems)

    @unittest.skipUnless(PACKAGES, "STRATA_ACCESS_PACKAGES names no folder")
    def test_what_other_compilers_write_is_counted_as_predicted(self) -> None:
        launches = list(self.package_kernels())
        all_found, problems = Comparison(), []
        packages: dict[str, tuple[Comparison, set[str]]] = {}
        for counted_report, complaints in answers(self.package_report, in_parts(launches, 16)):
            problems += complaints.splitlines()
            for kernel in counted_report["kernels"]:
                package, name = Path(kernel["input"]).stem.split("-", 1)
                found, kernels = packages.setdefault(package, (Comparison(), set()))
                kernels.add(name)
                for comparison in (found, all_found):
                    comparison.add({"kernels": [kernel]}, f"{package}/{name}")
        for package, (found, kernels) in packages.items():
            print(f"{package}: {found.summary(len(kernels))}", flush=True)
        print(f"together: {all_found.summary(len(launches))}", flush=True)
        self.check(all_found, problems)
        self.assertGreaterEqual(all_found.with_launch.precision(), 0.99)
        self.assertGreaterEqual(all_found.with_launch.recall(), 0.97)
        self.assertGreaterEqual(len(packages), 5)
        self.assertGreaterEqual(len(launches), 60)

    def test_accesses_that_depend_on_given_contents_are_counted(self) -> None:
        found = self.compare_random([DataDependentKernel(1000 + seed) for seed in range(KERNELS)])
        self.assertGreater(found.exact, 3 * KERNELS)
        self.assertEqual(found.unknown, [])


if __name__ == "__main__":
    unittest.main()
