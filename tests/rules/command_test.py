"""The command as a user meets it: answers, exit codes and messages, on whatever this machine has.

command_test.py STRATA SOURCE_FOLDER
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

STRATA = sys.argv[1]
SOURCE = Path(sys.argv[2])


def strata(
    *arguments: str, timeout: float = 120, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [STRATA, *arguments],
        capture_output=True,
        text=True,
        timeout=timeout,
        stdin=subprocess.DEVNULL,
        env={**os.environ, **environment},
        check=False,
    )


def has_gpu() -> bool:
    return subprocess.run(["sh", "-c", "nvidia-smi >/dev/null 2>&1"], check=False).returncode == 0


class Command(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.out = Path(self.folder.name)

    def refused(self, text: str | bytes, *expected: str) -> None:
        file = self.out / "sweep.yaml"
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        answer = strata("run", str(file), "--device", "host", "--out", str(self.out / "runs"))
        self.assertEqual(answer.returncode, 2, answer.stderr)
        lines = answer.stderr.strip().splitlines()
        self.assertEqual(len(lines), 1, answer.stderr)
        self.assertIn("sweep.yaml", lines[0])
        for word in expected:
            self.assertIn(word, lines[0])
        self.assertFalse((self.out / "runs").exists(), "nothing is made for a refused sweep")

    def test_help_names_every_subcommand_and_the_exit_codes(self) -> None:
        answer = strata("--help")
        self.assertEqual(answer.returncode, 0)
        for word in ("doctor", "list", "run", "bench", "report", "130"):
            self.assertIn(word, answer.stdout)
        for later in ("roofline", "counters", "model"):
            self.assertNotIn(f"\n  {later} ", answer.stdout, "absent until it works")

    def test_doctor_ends_well_and_says_what_is_missing(self) -> None:
        answer = strata("doctor")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertIn("GPU", answer.stdout)
        if not has_gpu():
            self.assertIn("absent", answer.stdout)

    def test_list_shows_each_benchmark_with_its_question(self) -> None:
        answer = strata("list")
        self.assertEqual(answer.returncode, 0)
        self.assertIn("micro/layout_read", answer.stdout)
        self.assertIn("micro/timer_check", answer.stdout)
        self.assertIn("?", answer.stdout)

    def test_list_shows_the_same_cases_for_both_backends_apart_from_the_backend(self) -> None:
        cuda = set(strata("list", "--cases", "default", "--backend", "cuda").stdout.split())
        host = set(strata("list", "--cases", "default", "--backend", "host").stdout.split())
        translated = {
            case.replace("/host/", "/cuda/") for case in host if "residency=l3" not in case
        }
        if not cuda:
            self.skipTest("this build has no CUDA part")
        shared = {case for case in cuda if "block_size=32/cores=all" in case}
        self.assertGreater(len(shared), 50)
        self.assertLessEqual(shared, translated)

    def test_a_gpu_that_is_not_there_is_refused_in_one_line(self) -> None:
        answer = strata("run", "quick", "--device", "cuda:99", "--out", str(self.out))
        self.assertEqual(answer.returncode, 3, answer.stderr)
        self.assertEqual(len(answer.stderr.strip().splitlines()), 1, answer.stderr)
        self.assertEqual(list(self.out.iterdir()), [])

    def test_bad_flags_are_refused(self) -> None:
        for arguments in (
            ["run", "--no-such-flag"],
            ["frobnicate"],
            [],
            ["run", "--device", "tpu"],
            ["run", "--set", "layout_read.layouts=aos"],
            ["run", "no_such_sweep"],
            ["run", "quick", "--device", "host", "--filter", "("],
            ["run", "quick", "--device", "host", "--filter", "matches-nothing"],
            ["run", "--resume", "/no/such/run"],
            ["bench", "--benchmark_no_such_flag=1"],
        ):
            answer = strata(*arguments)
            self.assertEqual(answer.returncode, 2, f"{arguments}: {answer.stderr}")
            self.assertEqual(len(answer.stderr.strip().splitlines()), 1, answer.stderr)

    def test_bad_sweeps_are_refused_with_file_and_line(self) -> None:
        head = "schema: 1\nname: x\ncases:\n  - benchmark: layout_read\n"
        self.refused(head + "    axis: {}\n", ":5:", "axes")
        self.refused(head + "    axes:\n      layout: aos\n", ":6:")
        self.refused(head + "    axes:\n      layout: []\n", ":6:")
        self.refused(head + "    axes:\n      layout: [aos, aos]\n", ":6:", "aos")
        self.refused(head + "    axes:\n      layout: [aos]\n      layout: [soa]\n", ":7:")
        self.refused(head + "    axes:\n      layout: [" + "a" * 10_000_000 + "]\n", ":6:")

    def test_a_sweep_that_is_not_text_is_refused_with_file_and_line(self) -> None:
        self.refused(b"schema: 1\nname: \xff\xfe\n", ":2:", "UTF-8")

    def test_a_dry_run_prints_the_cases_and_makes_nothing(self) -> None:
        answer = strata(
            "run", "quick", "--device", "host", "--dry-run", "--out", str(self.out / "r")
        )
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertIn("micro/layout_read/host/", answer.stdout)
        self.assertFalse((self.out / "r").exists())

    def run_small(self) -> Path:
        answer = strata(
            "run",
            "quick",
            "--device",
            "host",
            "--out",
            str(self.out),
            "--set",
            "layout_read.layout=soa,aos",
            "--set",
            "layout_read.residency=l1",
            "--set",
            "plan.min_samples=6",
            "--set",
            "plan.max_samples=6",
        )
        self.assertEqual(answer.returncode, 0, answer.stderr)
        folder = Path(answer.stdout.strip().splitlines()[-1])
        self.assertTrue(folder.is_dir(), answer.stdout)
        return folder

    def test_a_small_run_leaves_a_complete_folder(self) -> None:
        folder = self.run_small()
        context = json.loads((folder / "context.json").read_text())
        self.assertEqual(context["schema_version"], 1)
        self.assertEqual(context["state"], "complete")
        self.assertEqual(context["backend"], "host")
        cases = [
            json.loads(line)["case"] for line in (folder / "samples.jsonl").read_text().splitlines()
        ]
        self.assertEqual(cases, context["sweep"]["cases"])
        header, *rows = (folder / "measurements.csv").read_text().splitlines()
        self.assertTrue(
            header.startswith("run,device,backend,suite,benchmark,case,params,quantity")
        )
        self.assertGreater(len(rows), len(cases))

    def test_bench_answers_as_a_google_benchmark_program(self) -> None:
        answer = strata(
            "bench",
            "--device",
            "host",
            "--benchmark_filter=timer_check",
            "--benchmark_format=json",
            "--benchmark_repetitions=2",
        )
        self.assertEqual(answer.returncode, 0, answer.stderr)
        report = json.loads(answer.stdout)
        runs = [one for one in report["benchmarks"] if one["run_type"] == "iteration"]
        self.assertEqual(len(runs), 2)
        self.assertIn("load_cycles:tsc_slope", runs[0])
        self.assertIn("device", report["context"])
        listed = strata("bench", "--device", "host", "--benchmark_list_tests").stdout
        self.assertIn("micro/layout_read/host/", listed)

    def test_the_analysis_commands_reach_python_and_pass_its_exit_code_on(self) -> None:
        answer = strata("report", "/no/such/run", STRATA_PYTHON=sys.executable)
        self.assertNotEqual(answer.returncode, 0)
        missing = strata("report", "x", STRATA_PYTHON="/no/such/python")
        self.assertEqual(missing.returncode, 2)
        self.assertIn("STRATA_PYTHON", missing.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
