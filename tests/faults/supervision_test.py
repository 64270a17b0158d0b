"""End to end: whatever happens to a worker, to the run or to the disk, a run loses at most the case
in flight, says so, and resumes to the same set of cases.

    python3 supervision_test.py path/to/strata_faulty [unittest flags]
"""

import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import time
from pathlib import Path

from supervised import PATIENCE, STRATA, Run, SupervisedTest, children, is_alive, main, wait_for


class SupervisionTest(SupervisedTest):
    # --- what a benchmark can do ---

    def test_each_misbehaving_case_loses_only_itself_and_says_how(self) -> None:
        kinds = ["ok", "crash", "abort", "exit", "throw", "skip", "slow", "chatter", "fill"]
        run = self.run_sweep(self.sweep(kinds, range(2)), status=1)
        self.assertEqual(
            list(run.cases()), run.context["sweep"]["cases"], "each case, in its order"
        )
        self.assertEqual(len(run.lines()), 2 * len(kinds))
        reasons = {
            "crash": r"^worker killed by signal 11 \(SIGSEGV\)",
            "abort": r"^worker killed by signal 6 \(SIGABRT\).*the benchmark's last words",
            "exit": r"^worker exited with status 3 during this case",
            "throw": r"the benchmark's own message",
            "fill": r"not a finite number",
        }
        for line in run.lines():
            kind = line["params"]["kind"]
            with self.subTest(line["case"]):
                if kind in reasons:
                    self.assertEqual(line["status"], "failed")
                    self.assertRegex(line["reason"], reasons[kind])
                    self.assertNotIn("\n", line["reason"])
                elif kind == "skip":
                    self.assertEqual(
                        (line["status"], line["reason"]),
                        ("skipped", "this device has no such thing"),
                    )
                else:
                    self.assertEqual(line["status"], "measured", line["reason"])
        self.assertEqual(run.context["state"], "complete")
        self.assertEqual(
            [row["case"] for row in run.rows()],
            [
                case
                for case in run.context["sweep"]["cases"]
                if re.search("kind=(ok|slow|chatter)$", case)
            ],
        )

    def test_a_hang_is_ended_at_its_time_limit_and_named(self) -> None:
        run = self.run_sweep(self.sweep(["ok", "hang", "slow"], time_limit=2), status=1)
        self.assertEqual(run.by_kind()["hang"]["status"], "failed")
        self.assertIn("time limit: no result after 2 s", run.by_kind()["hang"]["reason"])
        self.assertLess(run.by_kind()["hang"]["seconds"], 10)
        self.assertEqual(run.by_kind()["slow"]["status"], "measured")

    def test_what_a_benchmark_prints_reaches_neither_stdout_nor_the_run(self) -> None:
        process = self.start_sweep(self.sweep(["chatter"], range(3)))
        out, err = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 0, err)
        self.assertNotIn("####", out + err)
        self.assertEqual(len(Run(Path(out.splitlines()[-1])).lines()), 3)

    def test_bench_runs_a_case_once_however_many_repetitions_report_it(self) -> None:
        written = self.folder / "bench.json"
        command = [str(STRATA), "bench", "--sweep", self.sweep(["chatter", "throw", "skip"])]
        command += ["--device", "host", "--benchmark_repetitions=4", f"--benchmark_out={written}"]
        answer = subprocess.run(
            command, env=self.environment, capture_output=True, timeout=PATIENCE, check=False
        )
        if b"no Google Benchmark" in answer.stderr:
            self.skipTest("built without Google Benchmark")
        self.assertEqual(answer.returncode, 1, answer.stderr)
        self.assertEqual(answer.stdout.count(b"#" * 200), 2000, "what one run of chatter prints")
        rows = json.loads(written.read_text())["benchmarks"]
        reasons = [row.get("error_message") for row in rows]
        self.assertEqual(reasons.count("failed: the benchmark's own message"), 4)
        self.assertEqual(reasons.count("skipped: this device has no such thing"), 4)
        self.assertEqual([row["answer"] for row in rows if "answer" in row][:4], [0] * 4)

    # --- what can happen to a worker ---

    def test_a_worker_killed_from_outside_loses_only_its_case(self) -> None:
        process = self.start_sweep(self.sweep(["slow"], range(8)))
        self.wait_for_lines(3)
        wait_for(lambda: children(process.pid), "a worker")
        os.kill(children(process.pid)[0], signal.SIGKILL)
        run = self.end(process, 0, 1)  # 0: it died between two cases
        failed = [line for line in run.lines() if line["status"] == "failed"]
        self.assertLessEqual(len(failed), 1)
        for line in failed:
            self.assertIn("worker killed by signal 9 (SIGKILL)", line["reason"])
        self.assertEqual(list(run.cases()), run.context["sweep"]["cases"])
        self.assertEqual(len(run.lines()), 8)

    def test_a_stopped_and_continued_run_loses_nothing(self) -> None:
        process = self.start_sweep(self.sweep(["slow"], range(8), time_limit=2))
        self.wait_for_lines(2)
        process.send_signal(signal.SIGSTOP)
        time.sleep(2.5)  # longer than a case may take
        process.send_signal(signal.SIGCONT)
        run = self.end(process, 0)
        self.assertEqual(len(run.lines()), 8)

    # --- what can happen to the run ---

    def test_an_interrupted_run_resumes_to_the_cases_of_an_uninterrupted_one(self) -> None:
        kinds = ["ok", "slow", "crash", "skip"]
        whole = self.run_sweep(self.sweep(kinds, range(4)), status=1)
        whole_cases, whole_rows = set(whole.cases()), [row["case"] for row in whole.rows()]
        shutil.rmtree(self.folder / "runs")
        random.seed(20261121)
        for attempt, delay in enumerate([0.0, *(random.uniform(0, 0.5) for _ in range(4))]):
            with self.subTest(delay=delay):
                process = self.start_sweep(self.sweep(kinds, range(4)))
                folder = self.run_folder()
                wait_for(lambda pid=process.pid: children(pid), "a worker")
                time.sleep(delay)
                process.send_signal(signal.SIGTERM if attempt % 2 else signal.SIGINT)
                run = self.end(process, 130)
                self.assertEqual(run.context["state"], "interrupted")
                self.assertIsNotNone(run.context["finished"])
                self.assertLess(len(run.cases()), len(whole_cases))
                self.assertEqual(
                    {row["case"] for row in run.rows()},
                    {line["case"] for line in run.lines() if line["status"] == "measured"},
                )
                self.assertFalse([line for line in run.lines() if "signal 9" in line["reason"]])
                run = self.resume(folder, 1)
                self.assertEqual(set(run.cases()), whole_cases)
                self.assertEqual(run.context["state"], "complete")
                self.assertEqual(len(run.context["resumed"]), 1)
                keys = [(row["case"], row["quantity"], row["method"]) for row in run.rows()]
                self.assertEqual(len(keys), len(set(keys)), "a row twice")
                self.assertEqual([row["case"] for row in run.rows()], whole_rows)
            shutil.rmtree(self.folder / "runs")

    def test_a_second_interrupt_ends_at_once_and_still_resumes(self) -> None:
        process = self.start_sweep(self.sweep(["slow"], range(6)))
        folder = self.wait_for_lines(1)
        workers = children(process.pid)
        for _ in range(20):
            if process.poll() is not None:
                break
            process.send_signal(signal.SIGINT)
        process.wait(PATIENCE)
        self.assertEqual(process.returncode, 130)
        wait_for(lambda: not any(map(is_alive, workers)), "the worker's end")
        self.assertEqual(len(self.resume(folder, 0).cases()), 6)

    def test_a_killed_run_leaves_no_worker_and_resumes(self) -> None:
        process = self.start_sweep(self.sweep(["slow"], range(6)))
        folder = self.wait_for_lines(1)
        workers = children(process.pid)
        self.assertTrue(workers)
        process.kill()
        process.wait()
        wait_for(lambda: not any(map(is_alive, workers)), "the worker's end")
        self.assertEqual(Run(folder).context["state"], "running", "nobody could say otherwise")
        before = Run(folder).lines()
        run = self.resume(folder, 0)
        self.assertEqual(run.lines()[: len(before)], before, "what was there stays")
        self.assertEqual(list(run.cases()), run.context["sweep"]["cases"])
        self.assertEqual(len(run.lines()), 6)

    def test_a_torn_last_line_is_cut_off_and_its_case_measured_again(self) -> None:
        whole = self.run_sweep(self.sweep(["ok"], range(4)))
        samples = whole.folder / "samples.jsonl"
        lines = samples.read_bytes().splitlines(keepends=True)
        for torn in (b"{", lines[3][:40], lines[3][:-1]):
            with self.subTest(bytes=len(torn)):
                samples.write_bytes(b"".join(lines[:3]) + torn)
                process = self.start("--resume", str(whole.folder), "--device", "host")
                _, err = process.communicate(timeout=PATIENCE)
                self.assertEqual(process.returncode, 0, err)
                self.assertRegex(err, rf"truncated.*its {len(torn)} bytes are dropped")
                self.assertEqual(len(Run(whole.folder).lines()), 4)
                self.assertEqual(len(Run(whole.folder).rows()), 4)

    def test_a_complete_run_resumes_to_itself(self) -> None:
        whole = self.run_sweep(self.sweep(["ok", "skip"], range(2)))
        again = self.resume(whole.folder, 0)
        self.assertEqual(again.lines(), whole.lines())
        self.assertEqual(again.rows(), whole.rows())
        self.assertEqual(again.context["clocks"], whole.context["clocks"])

    def test_a_resumed_run_tries_failed_cases_again_and_the_last_line_counts(self) -> None:
        run = self.run_sweep(self.sweep(["ok", "crash"]), status=1)
        run = self.resume(run.folder, 1)
        self.assertEqual([line["params"]["kind"] for line in run.lines()], ["ok", "crash", "crash"])
        self.assertEqual(len(run.rows()), 1)

    # --- what can happen when it is counted ---

    def test_counting_comes_after_the_timing_and_adds_to_it(self) -> None:
        run = self.run_sweep(self.sweep(["ok", "skip"], range(2)), "--counters", "fake")
        self.assertEqual(
            [line["kind"] for line in run.lines()], ["case"] * 4 + ["counts"] * 2, "never mixed"
        )
        self.assertEqual({line["schema_version"] for line in run.lines()}, {3})
        counters = run.context["counters"]
        self.assertEqual(
            (counters["asked"], counters["state"], counters["reason"], counters["chip"]),
            (["fake"], "counted", "", "FAKE"),
        )
        self.assertEqual([quantity["metric"] for quantity in counters["quantities"]], ["fake.sum"])
        self.assertEqual(
            [(row["quantity"], row["provenance"], row["reasons"]) for row in run.rows()],
            [("answer", "modelled", ""), ("counted_answer", "counted", "")] * 2,
        )

    def test_each_case_that_misbehaves_while_counted_keeps_its_timing_and_says_how(self) -> None:
        kinds = ["ok", "counting-crash", "counting-throw", "counting-hang", "counting-skip"]
        kinds += ["counting-time", "slow"]
        process = self.start_sweep(self.sweep(kinds, time_limit=2), "--counters", "fake", "--quiet")
        out, err = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 1, err)
        run = Run(Path(out.splitlines()[-1]))
        self.assertEqual({line["status"] for line in run.cases().values()}, {"measured"})
        reasons = {
            "counting-crash": r"worker killed by signal 11 \(SIGSEGV\)",
            "counting-throw": "the profiler's own message",
            "counting-hang": "time limit: no result after 2 s",
            "counting-time": "the benchmark timed counted_answer while it was counted",
        }
        rows = {row["params"].rpartition("kind=")[2]: row for row in run.rows()}
        for kind, line in run.by_kind("counts").items():
            with self.subTest(kind):
                if kind in reasons:
                    self.assertEqual(line["status"], "failed")
                    self.assertRegex(line["reason"], reasons[kind])
                    self.assertRegex(err, f"failed: .*kind={kind}: counting: .*{reasons[kind]}")
                    self.assertIn("level unverified: counting failed: ", rows[kind]["reasons"])
                elif kind == "counting-skip":
                    self.assertEqual(line["status"], "skipped")
                    self.assertIn("counting skipped: there is nothing", rows[kind]["reasons"])
                else:
                    self.assertEqual(line["status"], "measured", line["reason"])
                    self.assertEqual(rows[kind]["quantity"], "counted_answer")
        self.assertEqual(len(run.by_kind("counts")), len(kinds))
        self.assertEqual({row["valid"] for row in run.rows()}, {"true"})
        self.assertEqual(len(err.splitlines()), len(reasons), err)
        self.assertRegex(out, r"2 counted in .* \(timing took .* s\), 1 skipped, 4 failed")

    def test_counters_that_cannot_be_had_cost_one_line_and_nothing_else(self) -> None:
        sweep = self.sweep(["ok"], range(3))
        plain = self.run_sweep(sweep, "--counters", "none")
        self.assertEqual(plain.context["counters"]["state"], "not_asked")
        for name, reason, mend in (
            ("held", "another profiler holds the counters", "end it"),
            ("withdrawn", "somebody took the counters away", "take them back"),
            ("crashing", "worker killed by signal 11 (SIGSEGV)", "see strata doctor"),
            ("auto", "this is a test", "none is needed"),
        ):
            with self.subTest(name):
                process = self.start_sweep(sweep, "--counters", name, "--quiet")
                out, err = process.communicate(timeout=PATIENCE)
                self.assertEqual(process.returncode, 0, err)
                run = Run(Path(out.splitlines()[-1]))
                counters = run.context["counters"]
                self.assertEqual(
                    (counters["asked"], counters["state"]), ([name], "unavailable"), counters
                )
                self.assertIn(reason, counters["reason"])
                self.assertEqual(counters["mend"], mend)
                self.assertIn(reason, out)
                # Who asks for nothing hears of nothing; withdrawn they are only after the start.
                told = name in ("held", "crashing")
                self.assertEqual(len(err.splitlines()), int(told), err)
                self.assertEqual(reason in err, told)
                self.assertEqual(run.context["state"], "complete")
                self.assertEqual([line["kind"] for line in run.lines()], ["case"] * 3)
                self.assertEqual(
                    [self.timing_of(line) for line in run.lines()],
                    [self.timing_of(line) for line in plain.lines()],
                    "the same timings, apart from the note",
                )

    @staticmethod
    def timing_of(line: dict) -> dict:
        """A line without what differs from run to run, and without the note on its level."""
        text = json.dumps(line | {"started": "", "seconds": 0, "crc32": ""})
        return json.loads(re.sub(r'"level unverified: [^"]*"', '""', text))

    def test_a_bad_name_is_refused_before_anything_is_timed(self) -> None:
        for names in ("memroy", "fake,", "none,fake"):
            with self.subTest(names):
                process = self.start_sweep(self.sweep(["ok"]), "--counters", names)
                _, err = process.communicate(timeout=PATIENCE)
                self.assertEqual(process.returncode, 2, err)
                self.assertEqual(len(err.splitlines()), 1, err)
                self.assertIn("--counters", err)
                self.assertFalse((self.folder / "runs").exists())

    def start_counting(self, indices: range) -> tuple[subprocess.Popen, Path]:
        """A run that has timed everything and is in the midst of counting."""
        process = self.start_sweep(self.sweep(["slow"], indices), "--counters", "fake")
        return process, self.wait_for_lines(len(indices) + 2)

    def expect_whole(self, run: Run, indices: range) -> None:
        self.assertEqual(list(run.cases()), run.context["sweep"]["cases"])
        self.assertEqual(set(run.cases("counts")), set(run.cases()))
        self.assertEqual(len(run.lines()), 2 * len(indices), "nothing was done twice")
        self.assertEqual(len(run.rows()), 2 * len(indices))
        self.assertEqual(run.context["state"], "complete")
        self.assertEqual(run.context["counters"]["state"], "counted")
        self.assertEqual(run.context["counters"]["asked"], ["fake"])

    def test_a_run_killed_while_counting_resumes_to_the_same_set(self) -> None:
        process, folder = self.start_counting(range(5))
        workers = children(process.pid)
        process.kill()
        process.wait()
        wait_for(lambda: not any(map(is_alive, workers)), "the worker's end")
        self.assertEqual(Run(folder).context["state"], "running", "nobody could say otherwise")
        self.assertEqual(Run(folder).context["counters"]["state"], "counted")
        self.expect_whole(self.resume(folder, 0), range(5))

    def test_a_run_interrupted_while_counting_resumes_to_the_same_set(self) -> None:
        process, folder = self.start_counting(range(5))
        process.send_signal(signal.SIGINT)
        run = self.end(process, 130)
        self.assertEqual(run.context["state"], "interrupted")
        self.assertEqual(len(run.cases()), 5)
        self.assertLess(len(run.cases("counts")), 5)
        self.expect_whole(self.resume(folder, 0), range(5))

    def test_a_counting_worker_killed_from_outside_loses_only_its_case(self) -> None:
        process, _ = self.start_counting(range(5))
        wait_for(lambda: children(process.pid), "a worker")
        os.kill(children(process.pid)[0], signal.SIGKILL)
        run = self.end(process, 0, 1)  # 0: it died between two cases
        failed = [line for line in run.lines() if line["status"] == "failed"]
        self.assertLessEqual(len(failed), 1)
        for line in failed:
            self.assertEqual(line["kind"], "counts")
            self.assertIn("worker killed by signal 9 (SIGKILL)", line["reason"])
        self.assertEqual(set(run.cases("counts")), set(run.cases()))

    def test_a_complete_run_resumes_to_itself_with_its_counts(self) -> None:
        whole = self.run_sweep(self.sweep(["ok", "counting-skip"]), "--counters", "fake")
        again = self.resume(whole.folder, 0)
        self.assertEqual(again.lines(), whole.lines())
        self.assertEqual(again.rows(), whole.rows())
        self.assertEqual(again.context["counters"], whole.context["counters"])

    def test_a_failed_count_is_tried_again_and_its_timing_is_not(self) -> None:
        run = self.run_sweep(self.sweep(["counting-throw"]), "--counters", "fake", status=1)
        run = self.resume(run.folder, 1)
        self.assertEqual([line["kind"] for line in run.lines()], ["case", "counts", "counts"])

    def test_counters_are_those_that_the_run_was_begun_with(self) -> None:
        run = self.run_sweep(self.sweep(["ok"]), "--counters", "none")
        process = self.start("--resume", str(run.folder), "--counters", "fake")
        _, err = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 2, err)
        self.assertIn("omit this option", err)

    # --- what can happen around it ---

    def test_a_full_disk_ends_the_run_with_one_line_and_what_was_written_stays(self) -> None:
        sweep = self.sweep(["ok"], range(40))
        room = 12 * 1024  # for the context and for about half of the records

        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))

        process = self.start_sweep(sweep, "--quiet", prepare=limit)
        _, err = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 1, err)
        self.assertEqual(len(err.splitlines()), 1, err)
        self.assertRegex(
            err,
            r"(samples\.jsonl|context\.json|measurements\.csv): only .*File too large; .*--resume",
        )
        folder = self.run_folder()
        written = Run(folder).lines()
        self.assertFalse(list(folder.glob(".*")), "a temporary file was left")
        run = self.resume(folder, 0)
        self.assertEqual(run.lines()[: len(written)], written)
        self.assertEqual(list(run.cases()), run.context["sweep"]["cases"])

    def test_a_disk_that_is_really_full_is_named(self) -> None:
        with self.tiny_disk("disk", "48k") as disk:
            process = self.start(
                self.sweep(["ok"], range(99)), "--device", "host", "--out", str(disk), "--quiet"
            )
            _, err = process.communicate(timeout=PATIENCE)
            self.assertEqual(process.returncode, 1, err)
            self.assertEqual(len(err.splitlines()), 1, err)
            self.assertIn("No space left on device; free some space", err)
            for folder in disk.glob("*/samples.jsonl"):
                Run(folder.parent).lines()

    def test_a_reader_that_leaves_does_not_end_the_run(self) -> None:
        process = self.start_sweep(self.sweep(["slow"], range(4)))
        process.stdout.close()
        process.stderr.close()
        process.stdout = process.stderr = None
        process.wait(PATIENCE)
        self.assertEqual(process.returncode, 0)
        run = Run(self.run_folder())
        self.assertEqual((run.context["state"], len(run.rows())), ("complete", 4))

    def test_two_runs_never_measure_one_device_at_once(self) -> None:
        first = self.start_sweep(self.sweep(["slow"], range(10)))
        self.wait_for_lines(1)
        second = self.start_sweep(self.sweep(["ok"]), "--quiet")
        out, err = second.communicate(timeout=PATIENCE)
        self.assertEqual(second.returncode, 3, err)
        self.assertEqual(len(err.splitlines()), 1, err)
        self.assertIn(f"being measured by process {first.pid}", err)
        self.assertEqual(out, "")
        self.assertEqual(
            len(list((self.folder / "runs").iterdir())), 1, "no folder for a refused run"
        )
        self.end(first, 0)

    def test_a_closed_stdin_and_inherited_descriptors_do_no_harm(self) -> None:
        def close_stdin() -> None:
            os.close(0)

        run = self.end(self.start_sweep(self.sweep(["ok"], range(2)), prepare=close_stdin), 0)
        self.assertEqual(len(run.lines()), 2)


if __name__ == "__main__":
    main()
