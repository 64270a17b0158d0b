"""End to end: no fault, at whatever time it comes, loses or doubles a case of a run, and each is
named.

    python3 random_fault_test.py path/to/strata_faulty [unittest flags]

STRATA_FAULT_REPEATS: how often each kind of fault comes; without it, a third of the kinds come
once. STRATA_FAULT_SEED: other times.
"""

import contextlib
import ctypes
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from supervised import PATIENCE, TIME_LIMIT, Run, SupervisedTest, children, main, wait_for

SOUND = "exit 0, complete"
INTERRUPTED = "exit 130, interrupted"
REFUSED = r"exit 1, (running|aborted)\n(?s:.*)"
LOST = r"exit 1, complete\n(?s:.*)"
FAULTS = {
    "run SIGKILL": "exit -9, running",
    "run SIGTERM": INTERRUPTED,
    "run SIGINT": INTERRUPTED,
    "run SIGHUP": INTERRUPTED,
    "run SIGQUIT": "exit -3, running",
    "run SIGABRT": "exit -6, running",
    "worker SIGKILL": LOST + r"worker killed by signal 9 \(SIGKILL\)",
    "worker SIGTERM": LOST + r"worker killed by signal 15 \(SIGTERM\)",
    "worker SIGSEGV": LOST + r"worker killed by signal 11 \(SIGSEGV\)",
    "worker SIGBUS": LOST + r"worker killed by signal 7 \(SIGBUS\)",
    "worker SIGFPE": LOST + r"worker killed by signal 8 \(SIGFPE\)",
    "worker SIGSTOP": LOST + "time limit: no result after 2 s",
    "worker SIGXCPU": LOST + r"worker killed by signal 24 \(SIGXCPU\)",
    "worker out of time": LOST + r"worker killed by signal 24 \(SIGXCPU\)",
    "worker out of memory": LOST + "std::bad_alloc",
    "device lost": r"exit 3, aborted\n(?s:.*)the device has fallen off the bus",
    "run stopped beyond its limit": SOUND,
    "files limited": REFUSED + "File too large; raise the limit",
    "descriptors limited": REFUSED + "Too many open files",
    "disk full": REFUSED + "No space left on device; free some space",
    "folder read-only": REFUSED + "Permission denied; choose a writable folder",
    "clock forward": SOUND,
    "clock back": SOUND,
    "reader gone": SOUND,
    "two in one folder": SOUND,
    "two on one device": SOUND,
    "requeued": "exit 130, ",
    "killed and resumed at once": "exit -9, ",
    "torn line": "exit -9, running",
    "samples truncated": REFUSED + "samples.jsonl: was changed while this run wrote it",
    "samples replaced": REFUSED + "samples.jsonl: was replaced while this run wrote it",
    "samples appended to": REFUSED + "samples.jsonl: was changed while this run wrote it",
    "stale temporary files": SOUND,
}
"""What the run that met the fault says: exit status, state, messages, reasons of its cases."""

TIME_LIMITS = {"worker SIGSTOP": 2, "run stopped beyond its limit": 2, "worker out of time": 60}
"""Of cases whose run waits for it, or whose cases compute."""

SPECIAL_CASES = {"worker out of time": "busy", "worker out of memory": "hungry"}
"""What the slow cases are instead."""

AT_ONCE = ("requeued", "killed and resumed at once")
"""The run is resumed while it may still be ending."""

PR_CAPBSET_DROP, CAP_DAC_OVERRIDE = 24, 1


def prepare() -> None:
    """A process without core files, and root without the right to write where nobody may."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, 0, 0, 0)


def limit(pid: int, what: int, value: int) -> None:
    resource.prlimit(pid, what, (value, resource.prlimit(pid, what)[1]))


class RandomFaultTest(SupervisedTest):
    def setUp(self) -> None:
        super().setUp()
        # Signals kill, as they do a program without a sanitizer.
        self.environment["ASAN_OPTIONS"] = "handle_segv=0:handle_sigbus=0:handle_sigfpe=0"
        self.kept = self.folder / "kept"

    def test_no_fault_at_any_time_loses_or_doubles_a_case(self) -> None:
        random.seed(os.environ.get("STRATA_FAULT_SEED", "15"))
        repeats = int(os.environ.get("STRATA_FAULT_REPEATS", "0"))
        began = time.monotonic()
        faults = [*FAULTS] * repeats or [*FAULTS][1::3]
        for fault in faults:
            with self.subTest(fault):
                self.survive(fault)
            self.end_all()
            shutil.rmtree(self.folder / "runs", ignore_errors=True)
        self.validate(sorted(self.kept.glob("met/*/*")), r"[0-9] cases, [0-6] rows(, [a-z]+)?")
        runs = sorted(self.kept.glob("resumed/*/*"))
        self.validate(runs, "9 cases, 6 rows")
        took = time.monotonic() - began
        print(f"{len(runs)} runs met {len(faults)} faults, {len({*faults})} kinds, in {took:.0f} s")

    def survive(self, fault: str) -> None:
        """Until a run names the fault: between two cases no worker is missed, and after the last
        nothing is.
        """
        for _ in range(5):
            full = fault == "disk full"
            with self.tiny_disk("runs", "1m") if full else contextlib.nullcontext():
                said = self.meet(fault)
            shutil.rmtree(self.folder / "runs")
            if re.match(FAULTS[fault], said):
                return
            self.assertRegex(said, f"^{SOUND}\n", "expected its reason, or a run that missed it")
        self.fail(f"no run named the fault: {said}")

    def meet(self, fault: str) -> str:
        """What a run says that meets the fault at a random time, and is resumed."""
        sweep = self.sweep(
            ["ok", "skip", SPECIAL_CASES.get(fault, "slow")],
            range(3),
            time_limit=TIME_LIMITS.get(fault, TIME_LIMIT),
        )
        process = self.start_sweep(sweep, prepare=prepare)
        folder = self.wait_for_lines(1)
        time.sleep(random.uniform(0, 0.4))
        with contextlib.ExitStack() as mend:
            with contextlib.suppress(ProcessLookupError, FileNotFoundError):  # it has ended
                self.strike(fault, process, folder, mend)
            if fault not in AT_ONCE:
                said = self.said_by(process, folder)
        if fault not in AT_ONCE:
            shutil.copytree(folder, self.place("met", fault) / folder.name)
        before = self.whole_lines(folder)
        self.resume_whole(folder, refusals=50 if fault in AT_ONCE else 0)
        if fault in AT_ONCE:
            said = self.said_by(process, folder)
        run = Run(folder)
        self.assertEqual(set(run.cases()), set(run.context["sweep"]["cases"]), "a case was lost")
        self.assertEqual(run.lines()[: len(before)], before, "a finished case was lost")
        done = [line["case"] for line in run.lines() if line["status"] != "failed"]
        lost = 3 if fault == "worker out of memory" else 1  # that worker goes on, and stays limited
        self.assertLessEqual(len(run.lines()) - len(done), lost, "more than the case in flight")
        if fault != "samples appended to":
            self.assertEqual(len(done), len(set(done)), "a case was measured twice")
        for line in run.lines():
            self.assertEqual(bool(line["reason"]), line["status"] != "measured", line)
        self.assertEqual(run.context["state"], "complete")
        self.assertFalse((self.folder / "victim").exists())
        shutil.move(folder, self.place("resumed", fault))
        return said

    def place(self, state: str, fault: str) -> Path:
        """For a run that is validated when all have ended."""
        (self.kept / state).mkdir(parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(prefix=f"{fault}-", dir=self.kept / state))

    def said_by(self, process: subprocess.Popen, folder: Path) -> str:
        """Exit status, state, messages, and the reasons of the cases that failed."""
        err = process.communicate(timeout=PATIENCE)[1] if process.stderr else ""
        status = process.wait(PATIENCE)
        reasons = [
            line["reason"] for line in self.whole_lines(folder) if line["status"] == "failed"
        ]
        state = Run(folder).context["state"]
        return "\n".join([f"exit {status}, {state}", *reasons, err])

    def resume_whole(self, folder: Path, refusals: int) -> None:
        """At most so many are refused, because the run is still ending."""
        for left in range(refusals, -1, -1):
            again = self.start("--resume", str(folder), "--device", "host")
            out, err = again.communicate(timeout=PATIENCE)
            if again.returncode == 0 or left == 0:
                break
            self.assertRegex(err, "another process is writing this run|being measured by process")
        self.assertEqual(again.returncode, 0, f"{out}\n{err}")

    def worker_of(self, process: subprocess.Popen) -> int:
        wait_for(lambda: children(process.pid) or process.poll() is not None, "a worker")
        return next(iter(children(process.pid)), process.pid)

    def strike(  # noqa: C901, PLR0912  a table of what to do
        self, fault: str, process: subprocess.Popen, folder: Path, mend: contextlib.ExitStack
    ) -> None:
        samples = folder / "samples.jsonl"
        match fault.split():
            case ["run", name]:
                process.send_signal(getattr(signal, name))
            case ["run", "stopped", "beyond", "its", "limit"]:
                process.send_signal(signal.SIGSTOP)
                time.sleep(2.5)
                process.send_signal(signal.SIGCONT)
            case ["worker", "out", "of", "time"]:
                limit(self.worker_of(process), resource.RLIMIT_CPU, 1)
            case ["worker", "out", "of", "memory"]:
                worker = self.worker_of(process)
                pages = int(Path(f"/proc/{worker}/statm").read_text().split()[0])
                limit(worker, resource.RLIMIT_AS, pages * resource.getpagesize() + (64 << 20))
            case ["worker", name]:
                os.kill(self.worker_of(process), getattr(signal, name))
            case ["device", "lost"]:
                self.put("lost", "", mend)
                os.kill(self.worker_of(process), signal.SIGKILL)
            case ["files", "limited"]:
                limit(process.pid, resource.RLIMIT_FSIZE, samples.stat().st_size + 99)
            case ["descriptors", "limited"]:
                limit(process.pid, resource.RLIMIT_NOFILE, 4)
            case ["disk", "full"]:
                filler = folder.parent / "filler"
                mend.callback(filler.unlink)
                with contextlib.suppress(OSError):
                    filler.write_bytes(bytes(2 << 20))
            case ["folder", "read-only"]:
                mend.callback(folder.chmod, folder.stat().st_mode)
                folder.chmod(0o555)
            case ["clock", "forward"]:
                self.put("clock", "86400", mend)
            case ["clock", "back"]:
                self.put("clock", "-86400", mend)
                process.wait(PATIENCE)
                second = self.start("--resume", str(folder))
                self.assertEqual(second.wait(PATIENCE), 2)
                self.assertIn("the clock of this machine is at", second.stderr.read())
            case ["reader", "gone"]:
                process.stdout.close()
                process.stderr.close()
                process.stdout = process.stderr = None
            case ["two", "in", "one", "folder"]:
                with self.stopped(process):
                    second = self.start("--resume", str(folder))
                    self.assertEqual(second.wait(PATIENCE), 2)
                    self.assertIn("another process is writing this run", second.stderr.read())
            case ["two", "on", "one", "device"]:
                with self.stopped(process):
                    second = self.start_sweep(str(self.folder / "sweep.yaml"))
                    self.assertEqual(second.wait(PATIENCE), 3)
                    self.assertIn(f"measured by process {process.pid}", second.stderr.read())
            case ["requeued"]:
                process.terminate()
            case ["killed", "and", "resumed", "at", "once"]:
                process.kill()
            case ["torn", "line"]:
                process.kill()
                process.wait()
                with samples.open("ab") as file:
                    file.write(b'{"schema_version": 2, "ki')
            case ["samples", "truncated"]:
                os.truncate(samples, samples.stat().st_size * 2 // 3)
            case ["samples", "replaced"]:
                copy = folder / "copy"
                shutil.copy(samples, copy)
                copy.rename(samples)
            case ["samples", "appended", "to"]:
                with samples.open("ab") as file:
                    file.write(samples.read_bytes().splitlines(keepends=True)[0])
            case ["stale", "temporary", "files"]:
                for name in (".context.json.new", ".measurements.csv.new"):
                    with contextlib.suppress(FileExistsError):
                        (folder / name).symlink_to(self.folder / "victim")
            case _:
                raise AssertionError(fault)

    def put(self, name: str, text: str, mend: contextlib.ExitStack) -> None:
        """A file that tells the program what has happened."""
        fresh = self.folder / f"{name}.new"
        fresh.write_text(text)
        mend.callback(fresh.rename(self.folder / name).unlink)

    @contextlib.contextmanager
    def stopped(self, process: subprocess.Popen) -> Iterator[None]:
        """So that it does not end meanwhile."""
        process.send_signal(signal.SIGSTOP)
        if process.poll() is not None:
            raise ProcessLookupError
        yield
        process.send_signal(signal.SIGCONT)

    @staticmethod
    def whole_lines(folder: Path) -> list[dict]:
        """Those that the first process left, as far as it was not the fault that tore the last."""
        whole = (folder / "samples.jsonl").read_bytes().rpartition(b"\n")[0]
        return [json.loads(line) for line in whole.splitlines()]


if __name__ == "__main__":
    main()
