"""`strata access capture` on a program: its launches are read back, exact, and counted the same.

python3 access_capture_test.py path/to/strata path/to/captured_program [unittest flags]
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

STRATA = sys.argv.pop(1)
PROGRAM = sys.argv.pop(1)


def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*map(str, words)], capture_output=True, text=True, check=False)


class CaptureTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = Path(folder.name) / "captured"

    def capture(self, *flags: str) -> str:
        done = run(STRATA, "access", "capture", "--out", self.out, *flags, "--", PROGRAM)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        alone = run(PROGRAM)
        self.assertEqual(done.stdout.splitlines()[0], alone.stdout.strip())
        return done.stdout

    def test_each_kernel_and_shape_has_a_launch_file(self) -> None:
        output = self.capture()
        names = sorted(path.name for path in self.out.glob("*.yaml"))
        self.assertEqual(names, ["gather-1.yaml", "strided-1.yaml", "strided-2.yaml"])
        self.assertIn("3 launches", output)
        text = (self.out / "gather-1.yaml").read_text()
        self.assertIn("grid: [40, 1, 1]\nblock: [128, 1, 1]\n", text)
        self.assertIn("u32 5000", text)
        self.assertIn("of: param_1", text)  # the output lies behind the input
        self.assertIn("bytes: 20000", text)
        self.assertIn("file: gather-1.", text)

    def report(self, *flags: str) -> Any:
        words = self.capture().splitlines()[-1].split()
        self.assertEqual(words[:2], ["strata", "access"])
        done = run(STRATA, *words[1:], "--kernel", "gather|strided", "--format", "json", *flags)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        found = json.loads(done.stdout)["kernels"]
        return [
            (access, launch)
            for kernel in found
            for access in kernel["accesses"]
            for launch in access["exact"]
        ]

    def test_what_was_captured_is_exact(self) -> None:
        launches = self.report()
        # Two loads and a store of gather; two loads and a store of strided, in two shapes.
        self.assertEqual(len(launches), 9)
        for access, launch in launches:
            self.assertTrue(launch["is_exact"], (access["instruction"], launch))
            self.assertEqual(launch["lanes"], 5000)
            self.assertEqual(launch["outside"], 0)

    def test_what_was_captured_is_counted_as_it_is_predicted(self) -> None:
        for access, launch in self.report("--run"):
            self.assertIn("counted", launch, access["instruction"])
            self.assertTrue(launch["counted"]["as_predicted"], (access["instruction"], launch))

    def test_content_beyond_the_bound_is_not_kept(self) -> None:
        self.capture("--megabytes", "0")
        self.assertEqual(list(self.out.glob("*.bin")), [])
        self.assertNotIn("file:", (self.out / "gather-1.yaml").read_text())

    def test_a_full_disk_is_told(self) -> None:
        # The driver writes files of its own, such as what it compiles, and must not die of them
        # before the library writes any. That the library ignores the signal itself, the host tests.
        words = "trap '' XFSZ; ulimit -f 8; export CUDA_CACHE_DISABLE=1; "
        words += f"exec {STRATA} access capture --out {self.out} -- {PROGRAM}"
        done = run("bash", "-c", words)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("File too large", done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)

    def test_a_program_without_cuda_is_told(self) -> None:
        done = run(STRATA, "access", "capture", "--out", self.out, "--", "true")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("made no CUDA driver call", done.stderr)
        self.assertFalse(self.out.exists())


if __name__ == "__main__":
    unittest.main()
