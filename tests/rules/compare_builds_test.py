"""tools/compare_builds.sh with programs that stand in for strata and cuobjdump.

compare_builds_test.py SOURCE_FOLDER
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(sys.argv[1]).resolve()

STRATA = """#!/bin/sh
echo "$(basename $(dirname $(dirname "$0"))) $*" >> "{log}"
[ "$1" = compare ] && {{ echo "the power"; exit {verdict}; }}
exit {status}
"""
CUOBJDUMP = """#!/bin/sh
for file; do :; done
cat "$file.sass"
"""
#: A listing as cuobjdump prints it. A kernel's name has a hash and a number of its compilation.
LISTING = """Fatbin elf code:
arch = sm_90
		Function : _ZN6strata10async_copy{length}{name}5fetchEv
        /*0000*/                   S2R R1, SR_TID.X ;     /* 0x00 */
        /*0010*/                   {opcode} R2, R1 ;      /* 0x00 */
		Function : _ZN6strata8coalescing4readEv
        /*0000*/                   EXIT ;                 /* 0x00 */
"""


def listing(opcode: str, digits: str, line: str) -> str:
    name = f"_GLOBAL__N__{digits}_13_async_copy_cu_{digits}_{line}"
    return LISTING.format(length=len(name), name=name, opcode=opcode)


class CompareBuilds(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name).resolve()
        self.log = self.folder / "log"
        self.program(self.folder / "tools" / "cuobjdump", CUOBJDUMP)

    def program(self, path: Path, text: str) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
        return path

    def build(self, name: str, code: str, status: int = 0, verdict: int = 0) -> Path:
        text = STRATA.format(log=self.log, status=status, verdict=verdict)
        path = self.program(self.folder / name / "bin" / "strata", text)
        Path(f"{path}.sass").write_text(code, encoding="utf-8")
        return path.parent.parent

    def compare(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        path = f"{self.folder / 'tools'}{os.pathsep}{os.environ['PATH']}"
        return subprocess.run(
            [SOURCE / "tools" / "compare_builds.sh", *arguments],
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def calls(self) -> list[str]:
        return self.log.read_text(encoding="utf-8").splitlines() if self.log.exists() else []

    def test_runs_the_changed_benchmarks_of_both_builds_alternately(self) -> None:
        old = self.build("before", listing("IMAD", "1b2c3d4e", "27776"))
        new = self.build("after", listing("FADD", "5f607182", "5220"))
        out = self.folder / "out"
        done = self.compare(old, new, "--rounds", "2", "--out", out, "--", "--device", "cuda:1")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("the power", done.stdout)
        power = "compare --require-power 2%"
        run = "run quick --filter ^[a-z]+/(async_copy)/ --counters none --out"
        same = f"--same {out}/old.2 --same {out}/new.2"
        self.assertEqual(
            self.calls(),
            [
                f"before {run} {out}/old.1 --device cuda:1",
                f"after {run} {out}/new.1 --device cuda:1",
                f"before {run} {out}/old.2 --device cuda:1",
                f"after {run} {out}/new.2 --device cuda:1",
                f"after {power} {same} --out {out}/comparison {out}/old.1 {out}/new.1",
            ],
        )

    def test_runs_nothing_if_only_the_names_of_kernels_differ(self) -> None:
        old = self.build("before", listing("IMAD", "1b2c3d4e", "27776"))
        new = self.build("after", listing("IMAD", "5f607182", "5220"))
        done = self.compare(old, new, "--out", self.folder / "out")
        self.assertEqual(done.returncode, 0)
        self.assertIn("no kernel of a benchmark differs", done.stdout)
        self.assertEqual(self.calls(), [])

    def test_has_the_exit_code_of_the_comparison(self) -> None:
        old = self.build("before", "", status=1)
        for verdict in (0, 1, 2):
            new = self.build("after", "", status=1, verdict=verdict)
            out = self.folder / f"out{verdict}"
            done = self.compare(old, new, "--only", "atomics,tlb", "--power", "5%", "--out", out)
            self.assertEqual(done.returncode, verdict)
        self.assertIn("--filter ^[a-z]+/(atomics|tlb)/", self.calls()[0])
        self.assertIn("--require-power 5%", self.calls()[-1])

    def test_ends_if_a_run_fails(self) -> None:
        new = self.build("after", "")
        done = self.compare(
            self.build("before", "", status=3),
            new,
            "--only",
            "tlb",
            "--out",
            self.folder / "out",
        )
        self.assertEqual((done.returncode, len(self.calls())), (2, 1))

    def test_refuses_wrong_usage_in_one_line(self) -> None:
        build = self.build("before", "")
        for arguments, words in (
            ((build,), "usage"),
            ((build, self.folder / "nothing"), "not a program"),
            ((build, build, "--rounds", "1"), "--rounds 1"),
            ((build, build, "--rounds"), "needs a value"),
            ((build, build, "--fast", "1"), "unknown option"),
            ((build, build, "--only", "tlb", "--out", self.folder), "exists"),
            (
                (build, build, "--out", self.folder / "new"),
                "--only",
            ),  # without machine code
        ):
            done = self.compare(*arguments)
            self.assertEqual(done.returncode, 2)
            self.assertEqual(len(done.stderr.splitlines()), 1)
            self.assertIn(words, done.stderr)
        self.assertEqual(self.calls(), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
