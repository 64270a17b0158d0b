"""`strata access capture` on a program that pretends to use CUDA: its launch is read back, exact.

python3 capture_command_test.py STRATA FAKE_PROGRAM SOURCE_FOLDER [unittest flags]
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

STRATA = sys.argv.pop(1)
PROGRAM = sys.argv.pop(1)
PTX = Path(sys.argv.pop(1)) / "tests" / "data" / "ptx" / "nvcc_inlined.ptx"


class CaptureTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = Path(folder.name) / "captured"

    def capture(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        command = [STRATA, "access", "capture", "--out", str(self.out), "--", *map(str, words)]
        return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)

    def test_the_command_that_it_prints_gives_exact_numbers(self) -> None:
        done = self.capture(PROGRAM, PTX)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        program, told, command = done.stdout.splitlines()
        self.assertEqual(program, "done")
        self.assertEqual(told, f"1 launches, 1 modules with PTX in {self.out}")
        names = sorted(path.name for path in self.out.iterdir())
        self.assertEqual(names, ["energies-1.0.bin", "energies-1.yaml", "module-1.ptx"])
        self.assertEqual((self.out / "module-1.ptx").read_text(), PTX.read_text())
        words = command.split()
        self.assertEqual(words[:2], ["strata", "access"])
        read = subprocess.run(
            [STRATA, *words[1:], "--format", "json"], capture_output=True, text=True, check=False
        )
        self.assertEqual(read.returncode, 0, read.stderr)
        (kernel,) = json.loads(read.stdout)["kernels"]
        moved = [access["exact"][0]["traffic"][0]["requests"] for access in kernel["accesses"]]
        self.assertEqual(moved, [32] * 5)
        for access in kernel["accesses"]:
            self.assertTrue(access["exact"][0]["is_exact"])
            self.assertEqual(access["exact"][0]["lanes"], 1000)

    def test_what_two_processes_launch_is_read_by_one_command(self) -> None:
        done = self.capture("sh", "-c", f"{PROGRAM} {PTX} && {PROGRAM} {PTX}")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        _, _, told, command = done.stdout.splitlines()
        self.assertEqual(told, f"2 launches, 2 modules with PTX in {self.out}")
        read = subprocess.run(
            [STRATA, *command.split()[1:], "--format", "json"],
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual((read.returncode, read.stderr), (0, ""))
        first, second = json.loads(read.stdout)["kernels"]
        self.assertEqual([len(first["launches"]), len(second["launches"])], [2, 0])

    def test_a_program_that_fails_is_told_and_keeps_what_it_launched(self) -> None:
        done = self.capture(PROGRAM, PTX, "3")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr, f"strata: {PROGRAM} exited with status 3\n")
        self.assertTrue((self.out / "energies-1.yaml").exists())

    def test_a_program_without_cuda_is_told(self) -> None:
        done = self.capture("true")
        self.assertEqual(done.returncode, 2)
        self.assertIn("true: made no CUDA driver call", done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1)
        self.assertFalse(self.out.exists())

    def test_a_full_disk_is_told(self) -> None:
        limited = f"ulimit -f 4; exec {STRATA} access capture --out {self.out} -- {PROGRAM} {PTX}"
        done = subprocess.run(
            ["bash", "-c", limited], capture_output=True, text=True, timeout=300, check=False
        )
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn("File too large", done.stderr)


if __name__ == "__main__":
    unittest.main()
