"""`strata profile` on a GPU: exact counts of a small program, which notices nothing.

python3 profile_test.py STRATA CAPTURED_PROGRAM [unittest flags]
"""

from __future__ import annotations

import csv
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

STRATA = sys.argv.pop(1)
PROGRAM = sys.argv.pop(1)
WORK = 5000  # threads with work
THREADS = 5120


class ProfileOnGpu(unittest.TestCase):
    def test_operations_and_threads_of_every_kernel_are_exact(self) -> None:
        alone = subprocess.run([PROGRAM], capture_output=True, text=True, timeout=60, check=True)
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [STRATA, "profile", "--out", folder, "--", PROGRAM],
                capture_output=True,
                text=True,
                timeout=300,
                check=False,
            )
            self.assertEqual((done.returncode, done.stdout), (0, alone.stdout), done.stderr)
            (run,) = Path(folder).iterdir()
            with (run / "measurements.csv").open(newline="") as file:
                rows = {
                    (row["benchmark"], row["params"], row["quantity"]): row
                    for row in csv.DictReader(file)
                }
        kernels = {
            ("gather", "block=128x1x1;grid=40x1x1"): (3, 0),
            ("strided", "block=128x1x1;grid=40x1x1"): (1, WORK),
            ("strided", "block=64x1x1;grid=80x1x1"): (1, WORK),
        }
        for (name, shape), (launches, additions) in kernels.items():
            with self.subTest(name, shape=shape):
                values = {
                    quantity: float(row["value"])
                    for (benchmark, params, quantity), row in rows.items()
                    if (benchmark, params) == (name, shape)
                }
                self.assertEqual(values["launches"], launches)
                self.assertEqual(values["fp32_add"], additions)
                self.assertEqual(values["launched_threads"], THREADS)
                self.assertGreater(values["gpu_time"], 0)
                self.assertGreater(values["paired_time"], 0)


if __name__ == "__main__":
    unittest.main()
