"""Strata's ReFrame checks on this machine by itself and through a Slurm of one node, on the CPU.

slurm_test.py STRATA SOURCE_FOLDER

Needs slurmctld, slurmd and munged (Debian: slurm-wlm, munge) and `reframe` (PyPI: ReFrame-HPC
4.10.4) on the PATH or beside the Python that STRATA_PYTHON names; is skipped without them. Slurm
runs in a temporary folder, under this user, on the loopback.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from collections.abc import Callable
from pathlib import Path

STRATA, SOURCE = (Path(argument).resolve() for argument in sys.argv[1:3])
CHECKS = SOURCE / "sweeps/reframe"
if python := os.environ.get("STRATA_PYTHON"):
    os.environ["PATH"] += f":{Path(python).absolute().parent}"
NEEDED = ("slurmctld", "slurmd", "munged", "reframe")
LACKING = [name for name in NEEDED if not shutil.which(name)]
PATIENCE = 600

CONFIGURATION = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmdPort={next_port}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
SlurmUser={user}
SlurmdUser={user}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
ReturnToService=2
KillWait=2
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus}
PartitionName=all Nodes={host} Default=YES State=UP
"""


def said(*words: str | Path) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def wait_until(what: str, holds: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > end:
            raise TimeoutError(what)
        time.sleep(0.2)


def free_ports() -> tuple[int, int]:
    with socket.socket() as one, socket.socket() as other:
        one.bind(("127.0.0.1", 0))
        other.bind(("127.0.0.1", 0))
        return one.getsockname()[1], other.getsockname()[1]


@unittest.skipIf(LACKING, f"not on the PATH: {', '.join(LACKING)}")
class Checks(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = Path(temporary.name)
        # The command `strata`, as after an installation.
        command = cls.folder / "bin/strata"
        command.parent.mkdir()
        command.symlink_to(STRATA)
        os.environ["PATH"] = f"{command.parent}:{os.environ['PATH']}"
        cls.start_slurm()

    @classmethod
    def start_slurm(cls) -> None:
        folder, user = cls.folder, said("id", "-un").strip()
        for name in ("state", "spool"):
            (folder / name).mkdir()
        (folder / "key").write_bytes(os.urandom(128))
        (folder / "key").chmod(0o600)
        folder.chmod(0o755)
        host, (port, next_port) = said("hostname", "-s").strip(), free_ports()
        text = CONFIGURATION.format(
            host=host, port=port, next_port=next_port, folder=folder, user=user, cpus=os.cpu_count()
        )
        (folder / "slurm.conf").write_text(text)
        os.environ["SLURM_CONF"] = str(folder / "slurm.conf")
        files = [
            f"--{option}={folder / name}"
            for option, name in {
                "key-file": "key",
                "socket": "munge.socket",
                "pid-file": "munged.pid",
                "log-file": "munged.log",
                "seed-file": "seed",
            }.items()
        ]
        cls.addClassCleanup(cls.stop_slurm)
        said("munged", "--force", *files)
        said("slurmctld")
        said("slurmd")
        wait_until("Slurm has an idle node", lambda: "idle" in said("sinfo", "-h"))

    @classmethod
    def stop_slurm(cls) -> None:
        for name in ("slurmd", "slurmctld", "munged"):
            file = cls.folder / f"{name}.pid"
            if file.exists():
                os.kill(int(file.read_text()), signal.SIGTERM)
                wait_until(f"{name} ends", lambda file=file: not file.exists())

    def setUp(self) -> None:
        # Not valid_share: the rows of a busy machine need not be valid.
        self.refer_to("sweeps: [quick]\nany: {failed_cases: [0, null, 0]}\n")

    def refer_to(self, text: str) -> None:
        (self.folder / "references.yaml").write_text(text)

    def reframe(
        self, partition: str, name: str, cases: str, act: str = "-r"
    ) -> subprocess.Popen[str]:
        self.report = self.folder / f"{name}.json"
        self.prefix = self.folder / name
        return subprocess.Popen(
            [
                *("reframe", "-C", CHECKS / "settings.py", "-c", CHECKS / "strata_checks.py"),
                *("--system", f"here:{partition}", "--prefix", self.prefix, "--nocolor"),
                *("--report-file", self.report, act),
                *("-S", "sweep=quick", "-S", f"options=--filter,{cases}"),
                *("-S", f"references={self.folder / 'references.yaml'}"),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=self.folder,
        )

    def check_of(self, process: subprocess.Popen[str]) -> dict[str, object]:
        out, _ = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 0, out)
        report = json.loads(self.report.read_text())
        [check] = report["runs"][-1]["testcases"]
        self.assertEqual(check["result"], "pass", out)
        [run] = self.prefix.glob("output/**/runs/*")
        said(STRATA, "validate", run)
        return check

    def test_on_this_machine_a_sweep_gives_its_numbers(self) -> None:
        check = self.check_of(self.reframe("local", "local", "timer_check|layout_traffic"))
        numbers = str(check["perfvalues"])
        for name in ("valid_share", "failed_cases", "counters"):
            self.assertIn(f"here:local:{name}", numbers)

    def test_the_check_of_pairs_has_cases_whatever_the_sweep(self) -> None:
        os.environ["STRATA_GPUS"] = "0 1"
        self.addCleanup(os.environ.pop, "STRATA_GPUS")
        process = self.reframe("local", "pairs", "timer_check", "--dry-run")
        process.communicate(timeout=PATIENCE)
        [job] = self.prefix.glob("stage/**/StrataPairs/rfm_job.sh")
        words = shlex.split(job.read_text().splitlines()[-1])
        samples = ["--set", "plan.max_samples=401", "--set", "plan.seconds_per_case=2"]
        wanted = ["all", "default", "--filter", "^micro/peer_copy/", *samples]
        self.assertEqual(words[1:], wanted)
        self.assertIn("benchmark: peer_copy\n", (SOURCE / "sweeps/default.yaml").read_text())

    def test_the_references_are_of_recorded_runs(self) -> None:
        text = (CHECKS / "references.yaml").read_text()
        devices = re.split(r"^(nvidia-\S+):  # (\S+)$", text, flags=re.MULTILINE)[1:]
        self.assertEqual(len(devices), 6)
        for device, run, block in zip(*[iter(devices)] * 3, strict=True):
            said_now = said(STRATA, "summary", "--json", SOURCE / "results" / device / run)
            numbers = json.loads(said_now)["numbers"]
            lines = re.findall(r"^  (.+): \[([^,]+), ", block, re.MULTILINE)
            self.assertGreater(len(lines), 8)
            for name, value in lines:
                ratio = float(value) / numbers[name]["value"]
                self.assertAlmostEqual(ratio, 1, delta=0.005, msg=f"{device} {name}")

    def test_a_number_beyond_its_reference_fails_the_check(self) -> None:
        self.refer_to("sweeps: [quick]\nany: {valid_share: [2, -0.4, null]}\n")
        process = self.reframe("local", "beyond", "timer_check")
        out, _ = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 1, out)
        self.assertRegex(out, r"failed to meet reference.*valid_share=[0-9.]+ 1")

    def test_a_job_that_is_killed_and_requeued_goes_on(self) -> None:
        process = self.reframe("slurm", "slurm", "instruction_cost|layout_read")

        def measured() -> int:
            lines = 0
            for file in self.prefix.glob("stage/**/runs/*/samples.jsonl"):
                lines += file.read_text().count("\n")
            return lines

        wait_until("some cases are measured", lambda: measured() > 5)
        job = said("squeue", "-h", "-o", "%i").split()[0]
        said("scontrol", "requeue", job)
        # Slurm waits two minutes before it starts it again, unless it is told to.
        wait_until("the job is back", lambda: "BeginTime" in said("squeue", "-h", "-o", "%r"))
        before = measured()
        said("scontrol", "update", f"JobId={job}", "StartTime=now")
        self.check_of(process)
        [stdout] = self.prefix.glob("output/**/rfm_job.out")
        self.assertIn("resuming runs/", stdout.read_text())
        [cases] = self.prefix.glob("output/**/runs/*/samples.jsonl")
        self.assertGreater(cases.read_text().count("\n"), before)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
