"""What `strata counters` says of chips that are not here, and the committed table of them all.

counters_command_test.py STRATA SOURCE_FOLDER
"""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

STRATA = sys.argv[1]
SOURCE = Path(sys.argv[2])
COMMITTED = SOURCE / "harness/counters/CHIPS.md"
SETS = sorted(file.stem for file in (SOURCE / "harness/counters/sets").glob("*.yaml"))


def counters(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [STRATA, "counters", *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        stdin=subprocess.DEVNULL,
        env={**os.environ, **environment},
        check=False,
    )


def library(text: str) -> str:
    found = re.search(r"CUPTI \d+", text)
    return found.group() if found else ""


class Counters(unittest.TestCase):
    def refused(self, status: int, expected: tuple[str, ...], *arguments: str) -> None:
        answer = counters(*arguments)
        self.assertEqual(answer.returncode, status, answer.stderr)
        self.assertEqual(answer.stdout, "")
        self.assertEqual(len(answer.stderr.strip().splitlines()), 1, answer.stderr)
        for word in expected:
            self.assertIn(word, answer.stderr)

    def test_the_committed_table_is_what_the_command_makes(self) -> None:
        answer = counters("--all-chips", "--format", "markdown")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        committed = COMMITTED.read_text(encoding="utf-8")
        if library(committed) != library(answer.stdout):
            self.skipTest(f"committed with {library(committed)}, here is {library(answer.stdout)}")
        self.assertEqual(
            committed,
            answer.stdout,
            f"make it anew: {STRATA} counters --all-chips --format markdown > {COMMITTED}",
        )

    def test_every_chip_has_every_set(self) -> None:
        answer = json.loads(counters("--all-chips", "--format", "json").stdout)
        described = [chip for chip in answer["chips"] if "unavailable" not in chip]
        self.assertGreaterEqual(len(described), 29)
        for chip in described:
            self.assertEqual(sorted(one["set"] for one in chip["sets"]), SETS)
            for one in chip["sets"]:
                counted = [q for q in one["quantities"] if q["metric"]]
                self.assertGreaterEqual(2 * len(counted), len(one["quantities"]), chip["chip"])
                self.assertGreaterEqual(one["passes"], 1)
                self.assertLessEqual(one["passes"], chip["passes"])

    def test_each_format_says_the_same_of_one_chip(self) -> None:
        text = json.loads(counters("--chip", "GB202", "--format", "json").stdout)["chips"][0]
        rows = list(
            csv.DictReader(counters("--chip", "GB202", "--format", "csv").stdout.splitlines())
        )
        quantities = [(one["set"], q) for one in text["sets"] for q in one["quantities"]]
        self.assertEqual(len(rows), len(quantities))
        for row, (name, quantity) in zip(rows, quantities, strict=True):
            self.assertEqual(row["set"], name)
            self.assertEqual(row["quantity"], quantity["name"])
            self.assertEqual(row["metric"], quantity["metric"] or "")
            self.assertEqual(row["meaning"], quantity["meaning"])
        for style in ("table", "markdown"):
            shown = counters("--chip", "GB202", "--format", style).stdout
            for _, quantity in quantities:
                self.assertIn(quantity["name"], shown)
                self.assertIn(quantity["metric"] or "absent", shown)
            self.assertIn("fbpa__dram_read_bytes.sum (fallback)", shown)

    def test_only_what_was_asked_for_is_shown_and_memory_is_always_counted(self) -> None:
        one = json.loads(
            counters("shared", "dram__bytes.sum", "--chip", "GH100", "--format", "json").stdout
        )["chips"][0]
        self.assertEqual([each["set"] for each in one["sets"]], ["shared", "metrics"])
        raw = one["sets"][1]["quantities"][0]
        self.assertEqual((raw["name"], raw["unit"]), ("dram__bytes.sum", "B"))
        memory = json.loads(counters("memory", "--chip", "GH100", "--format", "json").stdout)
        self.assertGreater(one["passes"], memory["chips"][0]["passes"])

    def test_a_file_of_ones_own_is_a_set(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "mine.yaml"
            file.write_text(
                "schema: 1\ntitle: tags\nquantities:\n  - name: tags\n    unit: tag\n"
                "    meaning: looked up\n    metrics: [l1tex__no_such.sum, l1tex__t_requests.sum]\n"
            )
            self.refused(2, ("mine.yaml:7:", "l1tex__no_such.sum"), str(file), "--chip", "GH100")
            file.write_text(file.read_text().replace("l1tex__no_such.sum, ", ""))
            answer = counters(str(file), "--chip", "GH100")
            self.assertEqual(answer.returncode, 0, answer.stderr)
            self.assertIn("l1tex__t_requests.sum", answer.stdout)

    def test_metrics_of_a_chip_are_listed_by_expression(self) -> None:
        answer = counters("--chip", "GH100", "--metrics", "^dram__bytes")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertIn("dram__bytes_read", answer.stdout)
        self.assertNotIn("l1tex", answer.stdout)
        self.refused(2, ("--metrics", "GH100"), "--chip", "GH100", "--metrics", "^nothing$")
        self.refused(2, ("--metrics",), "--chip", "GH100", "--metrics", "(")

    def test_bad_requests_are_refused_in_one_line(self) -> None:
        self.refused(2, ("'GH10'", "did you mean 'GH100'"), "--chip", "GH10")
        self.refused(2, ("'memry'", "did you mean 'memory'"), "memry", "--chip", "GH100")
        self.refused(
            2,
            ("dram__byte_read.sum", "did you mean", "'dram__bytes_read.sum'"),
            "dram__byte_read.sum",
            "--chip",
            "GH100",
        )
        self.refused(2, ("no known chip",), "no__metric.sum", "--all-chips")
        self.refused(2, ("no_such.yaml",), "./no_such.yaml", "--chip", "GH100")
        self.refused(2, ("--format",), "--chip", "GH100", "--format", "xml")
        self.refused(2, ("--device host",), "--device", "host")
        self.refused(3, ("GV11B", "NOT_SUPPORTED"), "--chip", "GV11B")

    def test_without_libcupti_that_is_said_and_how_to_get_it(self) -> None:
        for library in ("/no/such/libcupti.so", str(COMMITTED)):
            answer = counters("--chip", "GH100", STRATA_CUPTI=library)
            self.assertEqual(answer.returncode, 3, answer.stdout)
            self.assertEqual(len(answer.stderr.strip().splitlines()), 1, answer.stderr)
            for word in ("no libcupti", library, "strata-gpu[counters]"):
                self.assertIn(word, answer.stderr)

    def test_without_a_gpu_no_chip_is_assumed(self) -> None:
        answer = counters(CUDA_VISIBLE_DEVICES="")
        self.assertEqual(answer.returncode, 3, answer.stdout)
        self.assertEqual(answer.stdout, "")
        self.assertEqual(len(answer.stderr.strip().splitlines()), 1, answer.stderr)
        for word in ("no GPU", "--chip", "GH100"):
            self.assertIn(word, answer.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
