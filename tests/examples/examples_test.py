"""The examples of CONTRIBUTING.md are as short as it says, are listed, and measure.

examples_test.py STRATA PAGE DEVICE
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from extract import BLOCK

STRATA = sys.argv[1]
PAGE = Path(sys.argv[2])
DEVICE = sys.argv[3]
MOST_LINES = 80
PLAN = """schema: 1
name: examples
plan: {warmups: 0, min_samples: 6, max_samples: 6, relative_half_width: 0.5}
cases:
"""
OF_CPU = """  - benchmark: division
  - benchmark: serial_soa
    axes: {problem: [single], systems: [1], bodies: [256]}
"""
OF_GPU = "  - benchmark: warp_load\n"
QUANTITY = "division_cycles" if DEVICE == "host" else "warp_load_cycles"


class Examples(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def strata(self, *words: str) -> str:
        answer = subprocess.run(
            [STRATA, *words],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            # Device locks of its own: a run elsewhere is not in the way.
            env={**os.environ, "TMPDIR": str(self.folder)},
            check=False,
        )
        self.assertEqual(answer.returncode, 0, answer.stderr)
        return answer.stdout

    def test_an_example_is_one_short_file_and_one_line(self) -> None:
        # The figure of the page is the analysis's; its own tests run it.
        blocks = [
            (name, code)
            for name, code in BLOCK.findall(PAGE.read_text())
            if not name.startswith("analysis/")
        ]
        found = {name: code.count("\n") for name, code in blocks}
        self.assertEqual(found.pop("micro/CMakeLists.txt"), 2, "a line for each benchmark")
        contracts = {name for name in found if name.startswith("tests/ptx/contracts/")}
        self.assertEqual(len(contracts), 1, "a contract for each benchmark of a GPU")
        self.assertEqual(len(found.keys() - contracts), 4, "two benchmarks, a rung and its entry")
        for name, lines in found.items():
            self.assertLessEqual(lines, MOST_LINES, name)

    def test_they_are_listed(self) -> None:
        listed = self.strata("list")
        self.assertIn("  division ", listed)
        self.assertIn("serial_soa", self.strata("list", "nbody"))

    def test_they_measure_and_what_comes_out_is_right(self) -> None:
        sweep = self.folder / "sweep.yaml"
        sweep.write_text(PLAN + (OF_CPU if DEVICE == "host" else OF_GPU))
        out = self.strata("run", str(sweep), "--device", DEVICE, "--out", str(self.folder / "runs"))
        run = Path(out.strip().splitlines()[-1])
        cases = [json.loads(line) for line in (run / "samples.jsonl").read_text().splitlines()]
        measured = [case for case in cases if case["status"] == "measured"]
        self.assertGreaterEqual(len(measured), 3)
        for case in measured:
            verdicts = {gate["gate"]: gate["verdict"] for gate in case["gates"]}
            self.assertEqual(verdicts["result"], "passed", case["case"])
            for gate in ("placement", "code", "model", "level"):
                self.assertNotEqual(verdicts.get(gate), "failed", case["case"])
        with (run / "measurements.csv").open(newline="") as file:
            quantities = {row["quantity"] for row in csv.DictReader(file)}
        self.assertIn(QUANTITY, quantities)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
