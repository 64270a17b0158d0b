"""`strata access --run` on a device that pretends: many launches share a worker, and one that
crashes, hangs or cannot be counted beside others costs nobody else's counts.

    python3 counting_test.py path/to/strata_counting [unittest flags]
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Sequence
from pathlib import Path
from typing import Any

STRATA = Path(sys.argv.pop(1)).resolve()
FOLDER = Path(__file__).resolve().parent
PATIENCE = 600
"""Seconds after which a command counts as hung."""

KERNEL = """
.visible .entry {name}(.param .u64 out) {{
  .reg .b32 %r<3>;
  .reg .b64 %rd<4>;
  .reg .f32 %f<2>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  {load}
  st.global.f32 [%rd3], %f1;
  ret;
}}
"""
LOAD = "ld.global.f32 %f1, [%rd3];"


class CountingTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.log = self.folder / "log"

    def launch(self, kernel: str, name: str, more: str = "") -> str:
        file = self.folder / f"{name}.yaml"
        text = (
            f"schema: 1\nkernel: {kernel}\n{more}grid: 2\nblock: 64\narguments: [{{bytes: 256}}]\n"
        )
        file.write_text(text, encoding="utf-8")
        return str(file)

    def ptx(self, name: str, kernels: Sequence[str], load: str = LOAD) -> str:
        file = self.folder / name
        text = ".version 8.0\n.target sm_90\n.address_size 64\n"
        text += "".join(KERNEL.format(name=kernel, load=load) for kernel in kernels)
        file.write_text(text, encoding="utf-8")
        return str(file)

    def run_access(
        self, files: Sequence[str], launches: Sequence[str], device: str = "", seconds: int = 60
    ) -> subprocess.CompletedProcess[str]:
        words = [str(STRATA), "access", *files, "--run", "--format", "json"]
        words += ["--seconds", str(seconds)]
        for launch in launches:
            words += ["--launch", launch]
        environment = {**os.environ, "PATH": f"{FOLDER}:{os.environ['PATH']}"}
        environment |= {"STRATA_FAKE_LOG": str(self.log)}
        if device:
            environment["STRATA_FAKE_COUNTS"] = device
        return subprocess.run(
            words,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
            env=environment,
        )

    def workers(self, what: str = "counts") -> list[list[str]]:
        """The kernels that each worker launched, in order."""
        found: dict[str, list[str]] = {}
        for line in self.log.read_text(encoding="utf-8").splitlines():
            process, did, *kernel = line.split()
            if did == what:
                found.setdefault(process, []).extend(kernel)
        return list(found.values())

    def not_counted(self, done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
        """By kernel: why its launch was not counted; all others are, and as predicted."""
        found = {}
        for kernel in json.loads(done.stdout)["kernels"]:
            (launch,) = kernel["launches"]
            found[kernel["name"]] = launch["not_counted"]
            for access in kernel["accesses"]:
                (exact,) = access["exact"]
                self.assertEqual("counted" in exact, launch["not_counted"] is None)
                if launch["not_counted"] is None:
                    self.assertTrue(exact["counted"]["as_predicted"], access["instruction"])
        return found

    def count(self, kernels: Sequence[str], device: str = "", seconds: int = 60) -> Any:
        file = self.ptx("all.ptx", kernels)
        launches = [self.launch(kernel, kernel) for kernel in kernels]
        return self.run_access([file], launches, device, seconds)

    def test_one_worker_counts_all_launches_of_a_file(self) -> None:
        kernels = [f"kernel{i}" for i in range(20)]
        done = self.count(kernels)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.not_counted(done), dict.fromkeys(kernels))
        twice = [name for name in kernels for _ in range(2)]
        self.assertEqual(self.workers(), [twice], "optimised and as it stands, in order")

    def test_one_worker_counts_launches_of_several_files(self) -> None:
        files = [self.ptx(f"{name}.ptx", ["same"]) for name in "abc"]
        launches = [self.launch("same", name, f"input: {name}.ptx\n") for name in "cab"]
        done = self.run_access(files, launches)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        found = json.loads(done.stdout)["kernels"]
        for kernel, name in zip(found, "abc", strict=True):
            self.assertEqual(Path(kernel["input"]).name, f"{name}.ptx")
            self.assertEqual(Path(kernel["launches"][0]["launch"]).name, f"{name}.yaml")
            self.assertIsNone(kernel["launches"][0]["not_counted"])
        self.assertEqual(len(self.workers()), 1)

    def test_a_launch_that_crashes_fails_or_hangs_costs_itself_only(self) -> None:
        kernels = ["a", "crash", "b", "c", "fail", "d", "hang", "e"]
        done = self.count(kernels, seconds=3)
        self.assertEqual(done.returncode, 1)
        found = self.not_counted(done)
        self.assertIn("killed by signal 6", found.pop("crash"))
        self.assertIn("the kernel failed", found.pop("fail"))
        self.assertIn("did not finish within 3 s", found.pop("hang"))
        self.assertEqual(found, dict.fromkeys("abcde"))
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), 3, "a line for each")
        # What failed behind others was tried first in a worker of its own, and no more.
        self.assertEqual(
            [worker for worker in self.workers() if worker[0] in ("crash", "hang")],
            [["crash"], ["hang"]],
        )

    def test_a_first_launch_that_crashes_is_not_tried_again(self) -> None:
        done = self.count(["crash", "a"])
        self.assertEqual(done.returncode, 1)
        self.assertEqual(self.workers(), [["crash"], ["a", "a"]])

    def test_a_context_that_counts_once_is_made_anew_for_each_launch(self) -> None:
        for beyond in ("memory", "nothing", "twice"):
            with self.subTest(beyond):
                self.log.unlink(missing_ok=True)
                kernels = ["a", "b", "c"]
                done = self.count(kernels, f"1 1000 {beyond}")
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertEqual(self.not_counted(done), dict.fromkeys(kernels))
                # The second is tried twice: from then on the worker knows.
                self.assertEqual(self.workers(), [["a", "a", "a", "b", "b", "c", "c"]])

    def test_a_process_that_counts_so_many_is_replaced_in_time(self) -> None:
        for beyond in ("memory", "nothing", "twice", "crash"):
            with self.subTest(beyond):
                self.log.unlink(missing_ok=True)
                kernels = ["a", "b", "c", "d"]
                done = self.count(kernels, f"1000 2 {beyond}")
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertEqual(self.not_counted(done), dict.fromkeys(kernels))
                first, *others = self.workers()
                self.assertEqual(first[:3], ["a", "a", "b"])
                self.assertEqual(others[0][:2], ["b", "b"])
                # That worker had been given all; those after it know how many they can count.
                self.assertEqual(others[-1], ["d", "d"])
                self.assertLessEqual(len(others), 4)

    def mend(self, name: str) -> tuple[dict[str, Any], subprocess.CompletedProcess[str]]:
        """What becomes of the kernel `bytes`, with this name, in a launch of 64 blocks."""
        kernels = (FOLDER.parent / "data/access/mend.ptx").read_text(encoding="utf-8")
        file = self.folder / "mend.ptx"
        file.write_text(re.sub(r"\bbytes(?=\(|_param)", name, kernels), encoding="utf-8")
        launch = self.folder / "launch.yaml"
        buffers = "  - {bytes: 4096}\n" * 3
        launch.write_text(
            f"schema: 1\nkernel: ^{name}$\ngrid: 64\nblock: 64\narguments:\n{buffers}  - u32 4096\n"
        )
        words = [str(STRATA), "access", "mend", str(file), "--kernel", f"^{name}$", "--run"]
        environment = {**os.environ, "PATH": f"{FOLDER}:{os.environ['PATH']}"}
        done = subprocess.run(
            [*words, "--launch", str(launch), "--format", "json"],
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
            env=environment | {"STRATA_FAKE_LOG": str(self.log)},
        )
        return json.loads(done.stdout)["kernels"][0], done

    def test_the_fastest_change_is_kept(self) -> None:
        said, done = self.mend("bytes")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(said["state"], "optimized")
        self.assertIn("16 threads in one", said["change"])
        tried = {one["change"]: one["mended_seconds"] for one in said["tried"]}
        self.assertEqual(len(tried), 4)
        self.assertEqual(min(tried, key=lambda change: tried[change]), "threads=16")
        self.assertEqual(self.log.read_text().count("tries"), 4)

    def test_a_kernel_that_no_change_makes_faster_stays(self) -> None:
        said, done = self.mend("slow_bytes")
        self.assertEqual((done.returncode, said["state"]), (0, "unchanged"))
        self.assertIn("it is slower", said["why"])

    def test_a_change_that_leaves_other_bytes_fails(self) -> None:
        said, done = self.mend("other_bytes")
        self.assertEqual((done.returncode, said["state"]), (1, "failed"))
        self.assertIn("3 bytes differ on the device", done.stderr)

    def test_a_change_that_crashes_is_not_kept(self) -> None:
        said, done = self.mend("crash_bytes")
        self.assertEqual((done.returncode, said["state"]), (0, "unchanged"))
        self.assertEqual(len(said["tried"]), 4)

    def test_where_nobody_may_count_one_line_says_so_and_the_rest_stands(self) -> None:
        kernels = ["a", "b", "c"]
        done = self.count(kernels, "0 0 memory")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stderr, "strata: nothing was counted: nobody may count here; ask\n")
        self.assertEqual(self.workers(), [["a"]], "nobody else is tried")
        for kernel in json.loads(done.stdout)["kernels"]:
            self.assertTrue(all(one["exact"][0]["is_exact"] for one in kernel["accesses"]))

    def test_ptx_that_ptxas_refuses_is_bad_input(self) -> None:
        done = self.count(["a", "refused"])
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)


if __name__ == "__main__":
    unittest.main()
