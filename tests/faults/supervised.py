"""What the tests of supervision share: they start runs of a program that misbehaves, and read what
is left of them. The program is the first word of the command line.
"""

import contextlib
import csv
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

STRATA = Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else None
PATIENCE = 300
"""Seconds after which a process that should have ended counts as hung."""

TIME_LIMIT = 5
"""Of a case: far more than any that is well needs, even on a busy machine."""


def sweep_text(entries: list[tuple[Iterable[int], list[str]]], time_limit: float) -> str:
    cases = "".join(
        f"""  - benchmark: fault
    axes: {{index: [{", ".join(map(str, indices))}], kind: [{", ".join(kinds)}]}}
"""
        for indices, kinds in entries
    )
    return f"""schema: 1
name: faults
plan:
  {{warmups: 0, min_samples: 6, max_samples: 6, relative_half_width: 0.5,
   seconds_per_case: 0.1, time_limit: {time_limit}}}
cases:
{cases}"""


def wait_for(condition: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {PATIENCE} s in vain for {what}")
        time.sleep(0.01)


def children(pid: int) -> list[int]:
    """The children of a process that run a worker."""
    found = []
    with contextlib.suppress(FileNotFoundError):
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            with contextlib.suppress(OSError):
                if b"worker" in Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0"):
                    found.append(int(child))
    return found


def is_alive(pid: int) -> bool:
    """Whether it still runs: a zombie that nobody has waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


class Run:
    """A run folder, read without the harness."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.context = json.loads((folder / "context.json").read_text())

    def lines(self) -> list[dict]:
        whole, _, torn = (self.folder / "samples.jsonl").read_bytes().rpartition(b"\n")
        assert not torn, f"a torn line was left: {torn[:80]!r}"
        return [json.loads(line) for line in whole.splitlines()]

    def cases(self, kind: str = "case") -> dict[str, dict]:
        """The last line of each case that was timed, or of those that were counted ("counts")."""
        return {line["case"]: line for line in self.lines() if line["kind"] == kind}

    def by_kind(self, kind: str = "case") -> dict[str, dict]:
        return {line["params"]["kind"]: line for line in self.cases(kind).values()}

    def rows(self) -> list[dict[str, str]]:
        with (self.folder / "measurements.csv").open(newline="") as file:
            return list(csv.DictReader(file))


class SupervisedTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="strata-faults-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        # Its own lock, so that a run elsewhere on this machine is not in the way.
        self.environment = os.environ | {"TMPDIR": str(self.folder)}
        self.processes: list[subprocess.Popen] = []
        self.addCleanup(self.end_all)

    def end_all(self) -> None:
        for process in self.processes:
            if process.poll() is None:
                process.kill()
                process.wait()
            for stream in (process.stdout, process.stderr):
                if stream:
                    stream.close()
        self.processes.clear()

    def sweep(
        self, kinds: list[str], indices: range = range(1), time_limit: float = TIME_LIMIT
    ) -> str:
        return self.sweep_of([(indices, kinds)], time_limit)

    def sweep_of(self, entries: list[tuple[Iterable[int], list[str]]], time_limit: float) -> str:
        """A file. Each entry: the indices of its cases, and their kinds."""
        path = self.folder / "sweep.yaml"
        path.write_text(sweep_text(entries, time_limit))
        return str(path)

    def start(self, *words: str, prepare: Callable[[], None] | None = None) -> subprocess.Popen:
        def become_a_plain_child() -> None:
            # A shell that started us in the background, or nohup, made us ignore them, and our
            # children too.
            for one in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
                signal.signal(one, signal.SIG_DFL)
            if prepare:
                prepare()

        process = subprocess.Popen(
            [STRATA, "run", *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            cwd=self.folder,
            env=self.environment,
            preexec_fn=become_a_plain_child,  # noqa: PLW1509  this driver has one thread
        )
        self.processes.append(process)
        return process

    def start_sweep(self, sweep: str, *words: str, **kwargs) -> subprocess.Popen:
        return self.start(
            sweep, "--device", "host", "--out", str(self.folder / "runs"), *words, **kwargs
        )

    def end(self, process: subprocess.Popen, *statuses: int) -> Run:
        """The run of a process that ends with one of these statuses and names its folder."""
        out, err = process.communicate(timeout=PATIENCE)
        self.assertIn(process.returncode, statuses, f"stdout:\n{out}\nstderr:\n{err}")
        return Run(Path(out.splitlines()[-1]))

    def run_sweep(self, sweep: str, *words: str, status: int = 0) -> Run:
        return self.end(self.start_sweep(sweep, *words), status)

    def resume(self, folder: Path, *statuses: int) -> Run:
        return self.end(self.start("--resume", str(folder), "--device", "host"), *statuses)

    def run_folder(self) -> Path:
        """The folder of the only run, once it is there."""
        wait_for(lambda: list((self.folder / "runs").glob("*/context.json")), "a run folder")
        return next((self.folder / "runs").iterdir())

    def wait_for_lines(self, count: int) -> Path:
        folder = self.run_folder()
        samples = folder / "samples.jsonl"
        wait_for(lambda: samples.read_bytes().count(b"\n") >= count, f"{count} finished cases")
        return folder

    def validate(self, runs: list[Path], counts: str) -> None:
        """`counts`: a pattern, such as "9 cases, 6 rows". One command for all runs: its start takes
        longer than reading them."""
        done = subprocess.run(
            [STRATA, "validate", *runs], capture_output=True, text=True, check=False
        )
        if re.search("ModuleNotFoundError|make setup", done.stderr):
            self.skipTest("not validated: the analysis package does not start")
        lines = done.stdout.splitlines()
        self.assertEqual(len(lines), len(runs), done.stderr)
        for run, line in zip(runs, lines, strict=True):
            sound = rf"sound \({counts}; valid: [a-z0-9 ,]+\)"
            self.assertRegex(line, f"^{re.escape(str(run))}: {sound}$")

    @contextlib.contextmanager
    def tiny_disk(self, name: str, size: str) -> Iterator[Path]:
        disk = self.folder / name
        disk.mkdir(exist_ok=True)
        mounted = (
            shutil.which("mount")
            and os.geteuid() == 0
            and not subprocess.run(
                ["mount", "-t", "tmpfs", "-o", f"size={size}", "strata-test", disk],
                capture_output=True,
                check=False,
            ).returncode
        )
        if not mounted:
            self.skipTest("only root may mount a small disk")
        try:
            yield disk
        finally:
            subprocess.run(["umount", "-l", disk], check=True)


def main() -> None:
    if STRATA is None or not os.access(STRATA, os.X_OK):
        sys.exit(f"usage: {Path(sys.argv[0]).name} path/to/strata_faulty [unittest flags]")
    unittest.main(verbosity=2)
