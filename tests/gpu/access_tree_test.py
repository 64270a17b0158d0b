"""Every kernel that `strata run quick` launches is counted as it is predicted.

python3 access_tree_test.py path/to/strata [unittest flags]

The run is captured, and of each kernel its smallest launch is counted. STRATA_ACCESS_PROGRAM names
another program to capture, with its arguments. It must hold PTX: the presets `gpu` and `all-major`
make it.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Sequence
from math import prod
from pathlib import Path

from access_comparison import Answer, Comparison, answers, as_expressions, report

STRATA = sys.argv.pop(1)
PROGRAM = shlex.split(os.environ.get("STRATA_ACCESS_PROGRAM", ""))
MEGABYTES = 64
"""Of content for each launch. A chain of loads crashes where its links are other ones."""
SECONDS = 20
"""Of a launch. Some kernels wait for the host, which is not there when they are counted."""
LEAST_PRECISION = 0.99
LEAST_RECALL = 0.97
"""Of accesses that need more than as many bytes side by side, predicted with a launch."""
LEAST_COUNTED = 0.8
"""Of the kernels that were launched: the others need the host, or each other, to end."""


def smallest_launches(captured: Path) -> dict[str, Path]:
    """By kernel: the launch with the fewest threads of those that have content for all buffers."""
    found: dict[str, tuple[tuple[bool, int], Path]] = {}
    for file in sorted(captured.glob("*.yaml")):
        text = file.read_text(encoding="utf-8")
        kernel = re.search(r"^kernel: '(.*)'$", text, re.MULTILINE)
        extents = re.findall(r"^(?:grid|block): \[(.*)\]$", text, re.MULTILINE)
        if kernel is None:
            raise ValueError(f"{file}: no kernel")
        threads = prod(int(number) for extent in extents for number in extent.split(","))
        is_open = re.search(r"\{bytes: (?![^}]*(?:file|fill))", text) is not None
        size = (is_open, threads)
        if kernel[1] not in found or size < found[kernel[1]][0]:
            found[kernel[1]] = (size, file)
    return {kernel: file for kernel, (_, file) in found.items()}


class TreeTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_every_kernel_that_a_run_launches_is_counted_as_predicted(self) -> None:
        captured = self.folder / "captured"
        words = [STRATA, "access", "capture", "--out", str(captured)]
        words += ["--megabytes", str(MEGABYTES), "--"]
        # Counters would be a second tool of CUPTI's.
        run = [STRATA, "run", "quick", "--device", "cuda:0", "--counters", "none"]
        run += ["--out", str(self.folder / "runs")]
        # They launch each system by itself, and all launches alike.
        run += ["--set", "naive.systems=1", "--set", "tiled.systems=1"]
        words += PROGRAM or run
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        print(done.stderr[-2000:], flush=True)
        files = [path for path in captured.iterdir() if path.suffix in (".ptx", ".fatbin")]
        if not files:
            self.skipTest(f"{words[0]} holds no PTX: configure with the preset gpu")
        launches = smallest_launches(captured)
        print(f"{len(launches)} kernels in {len(files)} modules", flush=True)
        self.assertGreater(len(launches), 0)

        def counted(kernels: Sequence[str]) -> Answer:
            only = ["--kernel", f"^({'|'.join(kernels)})$", "--seconds", str(SECONDS)]
            return report(STRATA, sorted(files), [launches[one] for one in kernels], *only)

        found = Comparison()
        failed: list[str] = []
        done_with: set[str] = set()
        """Launch files."""
        for counted_report, problems in answers(counted, list(as_expressions(launches))):
            failed += problems.splitlines()
            for kernel in counted_report["kernels"]:
                files_of_it = {
                    launch["launch"]
                    for launch in kernel["launches"]
                    if launch["not_counted"] is None
                }
                if files_of_it:
                    done_with |= files_of_it
                    found.add({"kernels": [kernel]})
        print(found.summary(len(done_with)), flush=True)
        for line in (*failed, *found.wrong, *found.left_out, *found.unknown):
            print(line, flush=True)
        for kernel, file in launches.items():
            if str(file) not in done_with:
                print(f"not counted: {kernel}", flush=True)
        self.assertEqual(found.wrong, [], "accesses differ, above")
        self.assertGreaterEqual(found.with_launch.precision(), LEAST_PRECISION)
        self.assertGreaterEqual(found.with_launch.recall(), LEAST_RECALL)
        self.assertGreaterEqual(len(done_with), LEAST_COUNTED * len(launches))


if __name__ == "__main__":
    unittest.main()
