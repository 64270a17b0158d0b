"""The command as a user meets it: answers, exit codes and messages, on whatever this machine has.

command_test.py STRATA SOURCE_FOLDER
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
        for word in ("doctor", "list", "run", "bench", "counters", "model", "report", "130"):
            self.assertIn(word, answer.stdout)
        self.assertNotIn("\n  roofline ", answer.stdout, "absent until it works")

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
        if not any("layout_read" in case for case in cuda):
            self.skipTest("this build has no CUDA part")
        shared = {case for case in cuda if "block_size=32/cores=all" in case}
        self.assertGreater(len(shared), 50)
        self.assertLessEqual(shared, translated)

    def model(self, *arguments: str) -> dict[tuple[str, ...], dict[str, str]]:
        """The rows of `strata model` by their leading words: all that is text."""
        answer = strata("model", "--format", "csv", *arguments)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        rows = list(csv.DictReader(answer.stdout.splitlines()))
        words = [name for name in rows[0] if name in ("generation", "layout", "fields", "pattern")]
        found = {tuple(row[name] for name in words): row for row in rows}
        self.assertEqual(len(found), len(rows), "no row twice")
        return found

    def test_model_predicts_every_layout_on_every_generation(self) -> None:
        rows = self.model()
        self.assertEqual(len(rows), 6 * 5 * 2)
        # Siegel et al., Figures 3 and 9: 7 reads of 32 single words; 2 of 4 wide transactions.
        aos = rows["1.0-1.1", "aos", "all"]
        self.assertEqual((aos["transactions"], aos["bytes_moved"]), ("224", "7168"))
        self.assertEqual(rows["1.0-1.1", "soaoas", "all"]["transactions"], "8")
        self.assertEqual(rows["7.x", "soa", "all"]["moved_over_used"], "1")
        self.assertEqual(rows["7.x", "soa", "all"]["wavefronts_at_least"], "7")
        self.assertEqual(rows["2.x", "soa", "all"]["wavefronts_at_least"], "")

    def test_model_narrows_to_what_is_asked_for(self) -> None:
        one = ("--layout", "aoas", "--fields", "posmass")
        self.assertEqual(set(self.model(*one, "--generation", "3.x")), {("3.x", "aoas", "posmass")})
        # A compute capability stands for its generation.
        self.assertEqual(set(self.model(*one, "--generation", "9.0")), {("7.x", "aoas", "posmass")})
        several = self.model("--layout", "soa,aos", "--generation", "1.3,8.x")
        self.assertEqual(len(several), 2 * 2 * 2)

    def test_model_tells_the_sectors_of_a_pattern(self) -> None:
        def sectors(*arguments: str) -> int:
            (row,) = self.model("--generation", "9.0", *arguments).values()
            return int(row["sectors"])

        self.assertEqual(sectors("--width", "4"), 4)
        self.assertEqual(sectors("--width", "4", "--stride", "2"), 8)
        self.assertEqual(sectors("--width", "4", "--offset", "1"), 5)
        self.assertEqual(sectors("--width", "8", "--permutation", "random"), 8)
        self.assertEqual(sectors("--width", "1", "--stride", "0"), 1)

    def test_model_says_the_same_in_every_format(self) -> None:
        rows = self.model()
        table = strata("model").stdout
        document = json.loads(strata("model", "--format", "json").stdout)
        self.assertEqual(len(document["predictions"]), len(rows))
        for one in document["predictions"]:
            row = rows[one["generation"], one["layout"], one["fields"]]
            for name in row.keys() - {"generation", "layout", "fields"}:
                said = float(row[name]) if row[name] else None  # null in JSON
                self.assertEqual(said, one[name], name)
            self.assertIn(f"{one['transactions']}", table)
        # Each rule and its source stand below the table, however its lines are broken.
        text = " ".join(table.split())
        for generation in document["generations"]:
            self.assertIn(generation["rule"], text)
            self.assertIn(generation["source"], text)
        self.assertLessEqual(max(map(len, table.splitlines())), 100)

    def test_model_explains_itself(self) -> None:
        answer = strata("model", "--help")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        for word in ("--layout", "--generation", "--stride", "--format", "compute capability"):
            self.assertIn(word, answer.stdout)

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
            ["run", "--resume", "/no/such/run", "--counters", "memory"],
            ["run", "quick", "--device", "host", "--counters", ""],
            ["run", "quick", "--device", "host", "--counters", "memory,"],
            ["run", "quick", "--device", "host", "--counters", "memory,none"],
            ["run", "quick", "--device", "host", "--counters", "auto", "--counters", "memory"],
            ["bench", "--benchmark_no_such_flag=1"],
            ["model", "--layout", "aoss"],
            ["model", "--fields", "velocity"],
            ["model", "--generation", "1.x"],
            ["model", "--format", "xml"],
            ["model", "--width", "3"],
            ["model", "--width", "four"],
            ["model", "--width", "4", "--stride", "-1"],
            ["model", "--width", "4", "--permutation", "shuffled"],
            ["model", "--stride", "2"],
            ["model", "--width", "4", "--layout", "soa"],
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
            "--filter",
            "layout_read",
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
        self.assertEqual(context["schema_version"], 2)
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

    def counted_on_the_host(self, *flags: str) -> tuple[dict, list[str], str]:
        """What a run on the CPU says of its counters: context, lines about them, last words."""
        answer = strata(
            "run", "quick", "--device", "host", "--out", str(self.out), "--filter", "timer_check",
            "--set", "plan.min_samples=6", "--set", "plan.max_samples=6", *flags,
        )  # fmt: skip
        self.assertEqual(answer.returncode, 0, answer.stderr)
        *_, words, folder = answer.stdout.strip().splitlines()
        context = json.loads((Path(folder) / "context.json").read_text())
        lines = (Path(folder) / "samples.jsonl").read_text().splitlines()
        self.assertEqual({json.loads(line)["kind"] for line in lines}, {"case"})
        told = [line for line in answer.stderr.splitlines() if "counted" in line]
        return context["counters"], told, words

    def test_a_cpu_has_no_counters_and_a_run_says_so_where_they_were_asked_for(self) -> None:
        counters, told, words = self.counted_on_the_host()
        self.assertEqual((counters["asked"], counters["state"]), (["auto"], "unavailable"))
        self.assertIn("read on GPUs only", counters["reason"])
        self.assertIn("read on GPUs only", words)
        self.assertEqual(told, [])
        counters, told, _ = self.counted_on_the_host("--counters", "memory")
        self.assertEqual((counters["asked"], counters["state"]), (["memory"], "unavailable"))
        self.assertEqual(len(told), 1)
        self.assertIn("read on GPUs only", told[0])

    def test_a_run_without_counters_says_that_nobody_asked(self) -> None:
        counters, told, words = self.counted_on_the_host("--counters", "none")
        self.assertEqual((counters["asked"], counters["state"]), (["none"], "not_asked"))
        self.assertEqual(counters["reason"], "")
        self.assertIn("not asked for", words)
        self.assertEqual(told, [])

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

    def test_bench_without_the_counters_that_were_asked_for_ends_in_one_line(self) -> None:
        for counters, device, code, word in (
            ("memory", "host", 3, "counters"),
            ("external", "host", 3, ""),
            ("external,memory", "host", 2, "external"),
        ):
            answer = strata("bench", "--device", device, "--counters", counters)
            self.assertEqual(answer.returncode, code, answer.stderr)
            self.assertEqual(len(answer.stderr.strip().splitlines()), 1, answer.stderr)
            self.assertIn(word, answer.stderr)

    def test_the_analysis_commands_reach_python_and_pass_its_exit_code_on(self) -> None:
        answer = strata("report", "/no/such/run", STRATA_PYTHON=sys.executable)
        self.assertNotEqual(answer.returncode, 0)
        missing = strata("report", "x", STRATA_PYTHON="/no/such/python")
        self.assertEqual(missing.returncode, 2)
        self.assertIn("STRATA_PYTHON", missing.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
