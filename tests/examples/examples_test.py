"""The examples of CONTRIBUTING.md are as short as it says, are listed, and measure.

examples_test.py STRATA PAGE
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
MOST_LINES = 80
SWEEP = """schema: 1
name: examples
plan: {warmups: 0, min_samples: 6, max_samples: 6, relative_half_width: 0.5}
cases:
  - benchmark: division
  - benchmark: serial_soa
    axes: {problem: [single], systems: [1], bodies: [256]}
"""


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
        found = {name: code.count("\n") for name, code in BLOCK.findall(PAGE.read_text())}
        self.assertEqual(found.pop("micro/CMakeLists.txt"), 1)
        self.assertEqual(len(found), 2, "a benchmark and a rung")
        for name, lines in found.items():
            self.assertLessEqual(lines, MOST_LINES, name)

    def test_they_are_listed(self) -> None:
        listed = self.strata("list")
        self.assertIn("micro/division", listed)
        self.assertIn("serial_soa", listed)

    def test_they_measure_and_what_comes_out_is_right(self) -> None:
        sweep = self.folder / "sweep.yaml"
        sweep.write_text(SWEEP)
        out = self.strata("run", str(sweep), "--device", "host", "--out", str(self.folder / "runs"))
        run = Path(out.strip().splitlines()[-1])
        cases = [json.loads(line) for line in (run / "samples.jsonl").read_text().splitlines()]
        self.assertEqual([case["status"] for case in cases], ["measured"] * 3)
        for case in cases:
            verdicts = {gate["gate"]: gate["verdict"] for gate in case["gates"]}
            self.assertEqual(verdicts["result"], "passed", case["case"])
        with (run / "measurements.csv").open(newline="") as file:
            quantities = {row["quantity"] for row in csv.DictReader(file)}
        self.assertIn("division_cycles", quantities)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
