"""`strata profile` on a program that pretends to use CUDA: what it writes, prints and keeps.

python3 profile_command_test.py STRATA PROFILED_PROGRAM SOURCE_FOLDER [unittest flags]
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

STRATA = sys.argv.pop(1)
PROGRAM = sys.argv.pop(1)
SOURCE = Path(sys.argv.pop(1))
SCALE = "_Z5scaleILi4EEvPfi"
HAS_ANALYSIS = (
    subprocess.run([STRATA, "validate", "--help"], capture_output=True, check=False).returncode == 0
)
TWO_KERNELS = ("launch", SCALE, "8", "20", "5000", "launch", "gather", "64", "5", "1000")


class ProfileTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = Path(folder.name) / "runs"

    def profile(
        self,
        *words: str,
        flags: tuple[str, ...] = (),
        program: tuple[str, ...] = (PROGRAM,),
        table: bool = False,
    ) -> subprocess.CompletedProcess[str]:
        command = [STRATA, "profile", "--out", str(self.out), *flags, "--", *program, *words]
        environment = os.environ if table else {**os.environ, "STRATA_PYTHON": "true"}
        return subprocess.run(
            command, capture_output=True, text=True, timeout=300, check=False, env=environment
        )

    def run_folder(self) -> Path:
        (folder,) = self.out.iterdir()
        return folder

    def rows(self, folder: Path | None = None) -> dict[tuple[str, str], dict[str, str]]:
        table = (folder or self.run_folder()) / "measurements.csv"
        with table.open(newline="") as file:
            return {(row["benchmark"], row["quantity"]): row for row in csv.DictReader(file)}

    def test_times_and_counts_of_kernels_are_those_of_its_launches(self) -> None:
        done = self.profile(*TWO_KERNELS, "copy", "4096", "print", "hello", "exit", "3")
        self.assertEqual((done.returncode, done.stdout), (3, "hello\n"), done.stderr)
        rows = self.rows()
        scale = rows["scale", "gpu_time"]
        self.assertEqual(scale["params"], "block=128x1x1;grid=8x1x1;template=4")
        self.assertEqual((float(scale["value"]), scale["provenance"]), (5e-6, "timed"))
        self.assertEqual(float(rows["scale", "launches"]["value"]), 20)
        self.assertAlmostEqual(float(rows["scale", "total_time"]["value"]), 1e-4)
        self.assertEqual(float(rows["memory_copies", "bytes"]["value"]), 4096)
        self.assertEqual(float(rows["device_timeline", "gaps"]["value"]), 25)
        counted = rows["gather", "dram_read_bytes"]
        self.assertEqual((float(counted["value"]), counted["samples"]), (64, "3"))
        self.assertEqual(counted["provenance"], "counted")
        # CUPTI of the program does not know this one: a missing row.
        self.assertNotIn(("gather", "sm_cycles"), rows)

    @unittest.skipUnless(HAS_ANALYSIS, "no Python with the analysis package: set STRATA_PYTHON")
    def test_the_run_is_sound_and_its_table_names_the_kernels(self) -> None:
        done = self.profile(*TWO_KERNELS, table=True)
        self.assertIn("scale<4> 8·128", done.stderr)
        self.assertIn("gather", done.stderr)
        folder = str(self.run_folder())
        for command in ("validate", "summary", "report"):
            words = [STRATA, command, folder]
            if command == "report":
                words += ["--formats", "svg"]
            read = subprocess.run(words, capture_output=True, text=True, check=False)
            self.assertEqual(read.returncode, 0, read.stderr)

    def test_arguments_and_environment_are_recorded_on_request_only(self) -> None:
        os.environ["STRATA_TEST_SECRET"] = "mysecret"
        self.addCleanup(os.environ.pop, "STRATA_TEST_SECRET")
        self.profile(*TWO_KERNELS, "print", "private")
        text = (self.run_folder() / "context.json").read_text()
        self.assertNotIn("private", text)
        self.assertNotIn("mysecret", text)
        self.out = self.out.with_name("with-command")
        self.profile(*TWO_KERNELS, "print", "private", flags=("--record-command",))
        text = (self.run_folder() / "context.json").read_text()
        self.assertIn("private", text)
        self.assertIn("STRATA_TEST_SECRET=mysecret", text)

    def test_only_the_kernels_with_the_most_time_are_counted(self) -> None:
        done = self.profile(*TWO_KERNELS, flags=("--top", "1", "--launches", "2"))
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = self.rows()
        self.assertEqual(rows["scale", "dram_read_bytes"]["samples"], "2")
        self.assertNotIn(("gather", "dram_read_bytes"), rows)
        samples = (self.run_folder() / "samples.jsonl").read_text().splitlines()
        (why,) = [
            line["reason"]
            for line in map(json.loads, samples)
            if line["kind"] == "counts" and line["benchmark"] == "gather"
        ]
        self.assertEqual(why, "it takes little of the time")

    def test_counts_have_the_times_of_their_own_launches(self) -> None:
        sizes = ("launch", "mixed", "8", "4", "1000", "launch", "mixed", "8", "4", "3000")
        done = self.profile(*sizes)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = map(json.loads, (self.run_folder() / "samples.jsonl").read_text().splitlines())
        (timed,) = [one for one in lines if one["benchmark"] == "mixed" and one["kind"] == "case"]
        samples = {one["quantity"]: one["samples"] for one in timed["measurements"]}
        # Of eight launches the third, fifth and seventh are counted.
        self.assertEqual(samples["paired_time"], [1e-6, 3e-6, 3e-6])

    def test_a_kernel_of_a_graph_is_named_as_not_counted(self) -> None:
        done = self.profile(*TWO_KERNELS, "graph", "graphed")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("graphed", (self.run_folder() / "samples.jsonl").read_text())
        self.assertIn("a graph launches it", (self.run_folder() / "samples.jsonl").read_text())

    def test_launches_into_a_graph_are_not_replayed(self) -> None:
        done = self.profile("capturing", *TWO_KERNELS)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("launches into graphs are not counted", done.stderr)
        self.assertNotIn(("scale", "dram_read_bytes"), self.rows())

    @unittest.skipUnless(HAS_ANALYSIS, "no Python with the analysis package: set STRATA_PYTHON")
    def test_without_permission_there_are_times_and_the_command_that_grants_it(self) -> None:
        done = self.profile("refuse", *TWO_KERNELS, table=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("no counters: ", done.stderr)
        self.assertIn("NVreg_RestrictProfilingToAdminUsers", done.stderr)
        self.assertEqual(float(self.rows()["scale", "gpu_time"]["value"]), 5e-6)
        self.assertNotIn(("scale", "dram_read_bytes"), self.rows())

    def test_another_profiler_is_one_clear_line(self) -> None:
        done = self.profile("taken", *TWO_KERNELS)
        self.assertEqual(done.returncode, 0)
        self.assertIn("another profiler is in it", done.stderr)
        self.assertFalse(self.out.exists())

    def test_what_was_collected_survives_every_end(self) -> None:
        ends = {
            "_exit": (("_exit", "7"), 7),
            "abort": (("abort",), 134),
            "kill": (("sleep", "2500", "kill"), 137),
            "fork": (("fork",), 0),
        }
        for name, (words, status) in ends.items():
            with self.subTest(name):
                self.out = self.out.with_name(name)
                done = self.profile(*TWO_KERNELS, *words)
                self.assertEqual(done.returncode, status, done.stderr)
                self.assertEqual(float(self.rows()["scale", "launches"]["value"]), 20)
                self.assertEqual(float(self.rows()["gather", "launches"]["value"]), 5)

    def test_a_signal_to_strata_ends_the_program_and_keeps_its_times(self) -> None:
        words = ["--", PROGRAM, *TWO_KERNELS, "print", "ready", "sleep", "60000"]
        command = [STRATA, "profile", "--out", str(self.out), *words]
        environment = {**os.environ, "STRATA_PYTHON": "true"}
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env=environment
        ) as process:
            assert process.stdout is not None
            self.assertEqual(process.stdout.readline(), "ready\n")
            process.terminate()
            self.assertEqual(process.wait(timeout=60), 143)
        self.assertEqual(float(self.rows()["scale", "launches"]["value"]), 20)

    def test_each_process_is_a_run(self) -> None:
        both = f"{PROGRAM} launch a 1 3 1000; {PROGRAM} launch a 1 4 1000"
        done = self.profile(program=("sh", "-c", both))
        self.assertEqual(done.returncode, 0, done.stderr)
        launches = [self.rows(folder)["a", "launches"]["value"] for folder in self.out.iterdir()]
        self.assertEqual(sorted(map(float, launches)), [3, 4])

    def test_launches_of_many_threads_are_counted_one_at_a_time(self) -> None:
        done = self.profile("threads", "4", flags=("--launches", "20"))
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        self.assertEqual(float(self.rows()["spin", "launches"]["value"]), 40)
        self.assertEqual(self.rows()["spin", "dram_read_bytes"]["samples"], "20")

    def test_many_launches_take_bounded_memory(self) -> None:
        done = self.profile("launch", "many", "1", "100000", "1000")
        self.assertEqual(done.returncode, 0, done.stderr)
        row = self.rows()["many", "gpu_time"]
        self.assertEqual(row["samples"], "100")
        self.assertEqual(float(self.rows()["many", "launches"]["value"]), 100000)

    def test_programs_without_kernels_keep_their_status(self) -> None:
        for words, what in (((), "made no CUDA driver call"), (("cuda",), "launched no kernel")):
            done = self.profile(*words, "exit", "5")
            self.assertEqual(done.returncode, 5)
            self.assertIn(what, done.stderr)
            self.assertFalse(self.out.exists())

    def test_bad_input_is_refused_in_one_line(self) -> None:
        for flags, program, expected in (
            ((), ("/no/such/program",), "no such program"),
            (("--kernel", "("), (PROGRAM,), "--kernel"),
        ):
            done = self.profile(flags=flags, program=program)
            self.assertEqual(done.returncode, 2)
            self.assertIn(expected, done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1)


if __name__ == "__main__":
    unittest.main()
