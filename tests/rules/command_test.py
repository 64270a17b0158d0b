"""The command as a user meets it: answers, exit codes and messages, on whatever this machine has.

command_test.py STRATA SOURCE_FOLDER [unittest flags]
"""

from __future__ import annotations

import csv
import fcntl
import hashlib
import json
import math
import os
import re
import shlex
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import unittest
from functools import cache
from pathlib import Path

STRATA = sys.argv[1]
SOURCE = Path(sys.argv[2])
PATIENCE = 900
"""Seconds after which a command counts as hung: with sanitizers, on a busy machine, it is slow."""

LOCKS = tempfile.TemporaryDirectory()
"""Device locks of this test alone, so that a run elsewhere on the machine is not in its way."""


def strata(
    *arguments: str, timeout: float = PATIENCE, cwd: str | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [STRATA, *arguments],
        capture_output=True,
        text=True,
        timeout=timeout,
        stdin=subprocess.DEVNULL,
        cwd=cwd,
        env={**os.environ, "TMPDIR": LOCKS.name, **environment},
        check=False,
    )


def has_gpu() -> bool:
    return subprocess.run(["sh", "-c", "nvidia-smi >/dev/null 2>&1"], check=False).returncode == 0


@cache
def has_bench() -> bool:
    """Whether this build has Google Benchmark; if not, `strata bench` reports it."""
    return "no Google Benchmark" not in strata("bench", "--benchmark_no_such_flag=1").stderr


needs_bench = unittest.skipUnless(has_bench(), "built without Google Benchmark")


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
        words = ("doctor", "list", "run", "selftest", "counters", "model", "nbody")
        ladders = ("neighbours", "fstat", "ladder")
        forwarded = ("report", "roofline", "compare", "map", "fleet", "summary", "ask", "validate",
                     "export", "submit", "import")  # fmt: skip
        for word in (*words, *ladders, "access", *forwarded):
            self.assertIn(f"\n  {word} ", answer.stdout)
        self.assertEqual("\n  bench " in answer.stdout, has_bench())
        self.assertIn("130", answer.stdout)

    @staticmethod
    def short(filter_: str, out: Path) -> tuple[str, ...]:
        """A run on the CPU of a few cases with few samples."""
        return (
            "run", "quick", "--device", "host", "--out", str(out), "--filter", filter_,
            "--set", "plan.min_samples=6", "--set", "plan.max_samples=6",
        )  # fmt: skip

    def test_a_run_ends_with_its_first_numbers_unless_it_is_to_be_quiet(self) -> None:
        for more, times in (((), 1), (("--quiet",), 0)):
            run = self.short("latency_vs_footprint.*footprint=2048/", self.out)
            answer = strata(*run, *more, STRATA_PYTHON="/no/such/python")
            self.assertEqual(answer.returncode, 0, answer.stderr)
            self.assertEqual(answer.stdout.count("\nL1 latency  "), times, answer.stdout)

    def test_the_selftest_catches_every_wrong_experiment(self) -> None:
        table = self.out / "table.json"
        answer = strata("selftest", "--device", "host", "--quiet", "--json", str(table))
        found = json.loads(table.read_text())
        by_proof: dict[str, list[str]] = {"held": [], "failed": [], "unproved": []}
        for one in found["claims"]:
            by_proof[one["proof"]].append(one["claim"])
        # On a busy machine a claim about time may be unproved, but not wrong.
        self.assertEqual(by_proof["failed"], [], answer.stdout)
        self.assertEqual(answer.returncode, 3 if by_proof["unproved"] else 0, answer.stdout)
        caught = [one["proof"] for one in found["claims"] if one["kind"] == "control"]
        self.assertEqual(caught, ["held"] * 4, answer.stdout)
        self.assertEqual(len(re.findall("^caught ", answer.stdout, re.MULTILINE)), 4, answer.stdout)
        self.assertEqual({one["kind"] for one in found["claims"]},
                         {"known_answer", "control", "agreement", "same_twice"})  # fmt: skip
        self.assertEqual(list(Path(LOCKS.name).glob("strata-selftest-*")), [])
        self.assertNotIn("controls/", strata("list").stdout)

    def test_doctor_ends_well_and_says_what_is_missing(self) -> None:
        answer = strata("doctor")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertIn("GPU", answer.stdout)
        if not has_gpu():
            self.assertIn("absent", answer.stdout)
        found = json.loads(strata("doctor", "--json").stdout)
        for one in found["gpu"] + found["cpu"]:
            self.assertIn(f"{one['state']:<6}  {one['what']}: {one['detail']}", answer.stdout)

    def test_list_shows_each_benchmark_with_its_question(self) -> None:
        answer = strata("list")
        self.assertEqual(answer.returncode, 0)
        lines = answer.stdout.splitlines()
        self.assertLessEqual(len(lines), 50, "a screen")
        self.assertLessEqual(max(map(len, lines)), 100)
        (layouts,) = [line for line in lines if line.startswith("  layout_read ")]
        self.assertIn("What does it cost to read a particle", layouts)
        self.assertIn("strata list nbody", answer.stdout)
        rungs = strata("list", "nbody").stdout.splitlines()
        self.assertIn(f"{len(rungs)} benchmarks: strata list nbody", answer.stdout)

    def test_list_shows_the_values_that_a_backend_does_not_have(self) -> None:
        answer = strata("list", "bandwidth")
        self.assertIn("How many bytes per second", answer.stdout)
        self.assertRegex(answer.stdout, r"axis +level: .*\n.*\n +not on host: shared\n")
        described = json.loads(strata("list", "bandwidth", "--json").stdout)["bandwidth"]
        self.assertEqual(described["backends"]["host"]["missing_values"]["level"], ["shared"])
        self.assertIn("l2", described["axes"][0]["choices"])
        for words in (("list", "bandwith"), ("list", "bandwith", "--json")):
            answer = strata(*words)
            self.assertEqual(answer.returncode, 2)
            self.assertIn("did you mean 'bandwidth'", answer.stderr)

    def test_list_shows_the_same_cases_for_both_backends_apart_from_the_backend(self) -> None:
        cuda = set(strata("list", "--cases", "default", "--backend", "cuda").stdout.split())
        host = set(strata("list", "--cases", "default", "--backend", "host").stdout.split())
        translated = {
            case.replace("/host/", "/cuda/") for case in host if "residency=l3" not in case
        }
        if not any("layout_read" in case for case in cuda):
            self.skipTest("this build is without CUDA")
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
        # A compute capability selects its generation.
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
                value = float(row[name]) if row[name] else None  # null in JSON
                self.assertEqual(value, one[name], name)
            self.assertIn(f"{one['transactions']}", table)
        # Each rule and its source are below the table, in any lines.
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

    def nbody(self, *arguments: str | Path, code: int = 0) -> str:
        """What `strata nbody` prints; when it refuses its input, the one line with the reason."""
        answer = strata("nbody", *map(str, arguments))
        self.assertEqual(answer.returncode, code, answer.stderr)
        if code != 2:
            return answer.stdout
        self.assertEqual(len(answer.stderr.strip().splitlines()), 1, answer.stderr)
        return answer.stderr

    def bodies(self, name: str = "bodies", *arguments: str) -> Path:
        file = self.out / name
        self.nbody("generate", "--systems", "2", "--bodies", "65", *arguments, file)
        return file

    @staticmethod
    def signed(content: bytes) -> bytes:
        """A file of bodies with the checksum that belongs to it."""
        start, rest = content[:48], content[80:]
        return start + hashlib.sha256(start + bytes(32) + rest).digest() + rest

    def test_nbody_makes_the_same_bodies_from_the_same_seed(self) -> None:
        one, again, other = self.bodies(), self.bodies("again"), self.bodies("b", "--seed", "7")
        self.assertEqual(one.read_bytes(), again.read_bytes())
        self.assertEqual(self.signed(one.read_bytes()), one.read_bytes())
        self.assertIn("all 130 agree", self.nbody("verify", one, again, "--tolerance", "0"))
        self.assertIn("seed (2009 and 7)", self.nbody("verify", one, other, code=1))
        single = self.out / "single"
        self.nbody("generate", "--problem", "single", "--bodies", "130", single)
        self.assertEqual(single.stat().st_size - one.stat().st_size, 130 * 4, "masses")

    def test_nbody_replaces_a_file_only_when_asked(self) -> None:
        file = self.bodies()
        self.assertIn("--overwrite", self.nbody("generate", file, code=2))
        moved = ("reference", file, file, "--steps", "1")
        self.assertIn("--overwrite", self.nbody(*moved, code=2))
        self.assertIn("steps 1", self.nbody(*moved, "--overwrite"))
        self.assertEqual([one.name for one in self.out.iterdir()], [file.name])

    def test_nbody_verify_compares_what_was_moved_in_parts_with_what_was_moved_at_once(
        self,
    ) -> None:
        file, half, whole, parts = (self.bodies(), *(self.out / name for name in "hwp"))
        self.nbody("reference", file, half, "--steps", "3")
        self.nbody("reference", half, parts, "--steps", "3")
        self.nbody("reference", file, whole, "--steps", "6")
        # Between the parts all is rounded to single precision.
        self.assertIn("all 130 agree", self.nbody("verify", parts, whole, "--tolerance", "1e-6"))
        self.nbody("verify", parts, whole, "--tolerance", "0", code=1)
        self.assertIn("steps (3 and 6)", self.nbody("verify", half, whole, code=1))

    def test_nbody_verify_says_which_body_differs_first_and_which_most(self) -> None:
        file = self.bodies()
        content = bytearray(file.read_bytes())
        for body, axis, number in ((66, 3, 50.0), (67, 1, 2.0), (129, 2, 3.0)):
            struct.pack_into("<f", content, 80 + 4 * (6 * body + axis), number)
        changed = self.out / "changed"
        changed.write_bytes(self.signed(bytes(content)))
        output = " ".join(self.nbody("verify", changed, file, code=1).split())
        self.assertIn("positions 2 of 130 differ by more than", output)
        self.assertIn("first body 2 of system 1;", output)
        self.assertRegex(output, r"largest difference [\d.]+, of body 64 of system 1 velocities")
        self.assertIn("velocities 1 of 130 differ", output)
        self.assertIn("first body 1 of system 1;", output)

    def test_nbody_refuses_a_damaged_file_in_one_line(self) -> None:
        file = self.bodies()
        content = file.read_bytes()
        damaged = self.out / "damaged"
        for bad, word in (
            (b"", "STRATANB"),
            (b"neither bodies\nnor anything else" * 9, "STRATANB"),
            (content[:-1], "truncated"),
            (content + b"\n", "extra bytes"),
            (content[:100] + b"\0" + content[101:], "checksum"),
            (self.signed(content[:12] + b"\2" + content[13:]), "version 2"),
            (self.signed(content[:-4] + struct.pack("<f", math.nan)), "nan"),
        ):
            damaged.write_bytes(bad)
            output = self.nbody("verify", damaged, file, code=2)
            self.assertIn("damaged:", output)
            self.assertIn(word, output)

    def test_nbody_drops_the_two_highest_and_lowest_of_36_runs(self) -> None:
        runs = self.out / "runs"
        runs.write_text("\n".join(["1e9", "-5", "900", "0", *map(str, range(1, 33))]))
        trimmed, median = self.nbody("trimmed-mean", runs).splitlines()
        self.assertIn(
            f"mean 16.5, standard deviation {statistics.stdev(range(1, 33)):.6g}", trimmed
        )
        self.assertIn("median      16.5, 95 % interval 10 to 23: of all 36", median)
        runs.write_text("1\n2\n3\n4\n5\n")
        self.assertIn("mean 3, standard deviation unknown", self.nbody("trimmed-mean", runs))
        runs.write_text("1\n2\n3\n4\n")
        self.assertIn("too few", self.nbody("trimmed-mean", runs, code=2))
        runs.write_text("1\n2\n3 s\n4\n5\n")
        self.assertIn("runs:3: '3 s'", self.nbody("trimmed-mean", runs, code=2))

    def test_nbody_reads_the_times_of_36_runs_of_a_program(self) -> None:
        program = self.out / "program"
        count = self.out / "count"
        program.write_text(
            f'#!/bin/sh\necho run >> {count}\necho "$1 time: $(wc -l < {count}) s, rate: 2.5e9"\n'
        )
        program.chmod(0o755)
        trimmed, _ = self.nbody("trimmed-mean", "--", program, "--gpu").splitlines()
        self.assertIn("mean 18.5, standard deviation", trimmed)
        self.assertEqual(len(count.read_text().splitlines()), 36)
        rates = self.nbody("trimmed-mean", "--runs", "6", "--pattern", "rate: (.*)", program)
        self.assertIn("mean 2.5e+09, standard deviation 0: 6 without", rates)
        for words, complaint in (
            (("--pattern", "nothing([0-9]+)"), "its output has no time"),
            (("--pattern", "rate: .*"), "0 groups"),
            (("--pattern", "rate(: .*)"), "no number"),
            (("--pattern", "("), "no regular expression"),
        ):
            output = self.nbody("trimmed-mean", *words, "--", program, code=2)
            self.assertIn(complaint, output)
        self.assertIn(
            "exited with status 1", self.nbody("trimmed-mean", "--", "false", "x", code=2)
        )

    def test_bench_writes_the_bodies_that_a_rung_moved(self) -> None:
        sweep = self.out / "sweep.yaml"
        result = self.out / "result"
        words = ("bench", "--sweep", str(sweep), "--device", "host", "--write-result", str(result))
        text = (
            "schema: 1\nname: one\nplan: {warmups: 0, min_samples: 6, max_samples: 6, "
            "relative_half_width: 0.9, seconds_per_case: 0.001, time_limit: 60, visits: 1}\n"
            "cases:\n  - benchmark: serial\n    axes: {problem: [PROBLEM], systems: [SYSTEMS], "
            "bodies: [65]}\n"
        )
        sweep.write_text(text.replace("PROBLEM", "single").replace("SYSTEMS", "1"))
        answer = strata(*words)
        self.assertEqual(answer.returncode, 2)
        self.assertIn("no case moved bodies", answer.stderr)
        sweep.write_text(text.replace("PROBLEM", "galaxies").replace("SYSTEMS", "2"))
        self.assertEqual(strata(*words).returncode, 0)
        (steps,) = struct.unpack_from("<I", result.read_bytes(), 28)
        reference = self.out / "reference"
        self.nbody("reference", self.bodies(), reference, "--steps", str(steps))
        self.assertIn("all 130 agree", self.nbody("verify", result, reference))
        self.assertIn("exists already", strata(*words).stderr)

    def test_nbody_tells_the_ladder_rung_by_rung(self) -> None:
        text = self.nbody("ladder")
        rungs = re.findall(r"^(\w+) \((CPU|GPU)\)$", text, re.MULTILINE)
        self.assertGreater(len(rungs), 10)
        before = re.findall(r"^  before    (.+)$", text, re.MULTILINE)
        self.assertEqual(len(before), len(rungs))
        first = "none: it is the first"
        self.assertEqual(before.count(first), 2)
        self.assertLessEqual(set(before) - {first}, {name for name, _ in rungs})
        for label in ("question", "change", "source", "expected"):
            lines = re.findall(rf"^  {label} +\S", text, re.MULTILINE)
            self.assertEqual(len(lines), len(rungs), label)
        self.assertLessEqual(max(map(len, text.splitlines())), 100)

    def test_every_ladder_is_told_by_its_suite(self) -> None:
        summary = strata("ladder").stdout
        suites = re.findall(r"^(\w+) +\d+ rungs on a CPU, \d+ on a GPU$", summary, re.MULTILINE)
        self.assertEqual(suites, ["fstat", "nbody", "neighbours"])
        self.assertEqual(strata("ladder", "nbody").stdout, self.nbody("ladder"))
        rungs = re.findall(r"^(\w+) \(CPU\)$", strata("ladder", "neighbours").stdout, re.MULTILINE)
        self.assertEqual(rungs[:3], [f"neighbours_{r}" for r in ("serial", "openmp", "cpu_grid")])
        answer = strata("ladder", "neighbour")
        self.assertEqual(answer.returncode, 2)
        self.assertEqual(len(answer.stderr.strip().splitlines()), 1, answer.stderr)
        self.assertIn("did you mean 'neighbours'?", answer.stderr)

    def neighbours(self, *arguments: str | Path, code: int = 0) -> str:
        """What `strata neighbours` prints; when it refuses, the one line with the reason."""
        return self.printed("neighbours", *arguments, code=code)

    def printed(self, *arguments: str | Path, code: int) -> str:
        """What a command prints; when it refuses, the one line with the reason."""
        answer = strata(*map(str, arguments))
        self.assertEqual(answer.returncode, code, answer.stderr)
        if code != 2:
            return " ".join(answer.stdout.split())
        self.assertEqual(len(answer.stderr.strip().splitlines()), 1, answer.stderr)
        return answer.stderr

    def test_neighbours_are_generated_searched_and_compared(self) -> None:
        agents, found, other = (self.out / name for name in ("agents", "found", "other"))
        self.neighbours("generate", "--problem", "list", "--agents", "300", agents)
        self.assertIn("300 agents of list, uniform", self.neighbours("reference", agents, found))
        output = self.neighbours("verify", found, found)
        self.assertIn("places all 300 agree", output)
        self.assertIn("neighbours all 300 agents have the same neighbours", output)
        self.assertIn(
            "one of the files has no neighbours", self.neighbours("verify", agents, found)
        )
        # A neighbour of agent 0 is another one.
        content = bytearray(found.read_bytes())
        counts = 96 + 300 * 7 * 4
        first, length = counts + 300 * 4, struct.unpack_from("<I", content, counts)[0]
        ids = struct.unpack_from(f"<{length}I", content, first)
        instead = next(number for number in range(299, 0, -1) if number not in ids)
        struct.pack_into(f"<{length}I", content, first, *sorted((*ids[:-1], instead)))
        other.write_bytes(self.signed(bytes(content)))
        self.assertIn(
            "1 of 300 agents have other neighbours", self.neighbours("verify", other, found, code=1)
        )

    def test_neighbours_move_in_parts_as_at_once(self) -> None:
        agents, half, parts, whole = (self.out / name for name in ("a", "h", "p", "w"))
        self.neighbours("generate", "--agents", "500", "--spread", "clustered", agents)
        self.neighbours("reference", agents, half, "--steps", "2")
        self.neighbours("reference", half, parts, "--steps", "1")
        self.neighbours("reference", agents, whole, "--steps", "3")
        self.assertIn("places all 500 agree", self.neighbours("verify", parts, whole))
        self.assertIn("steps (2 and 3)", self.neighbours("verify", half, whole, code=1))

    def test_a_file_of_agents_and_one_of_bodies_are_told_apart(self) -> None:
        agents = self.out / "agents"
        self.neighbours("generate", "--agents", "10", agents)
        self.assertIn("strata neighbours", self.nbody("verify", agents, agents, code=2))
        bodies = self.bodies()
        self.assertIn("strata nbody", self.neighbours("verify", bodies, bodies, code=2))

    def fstat(self, *arguments: str | Path, code: int = 0) -> str:
        """What `strata fstat` prints; when it refuses, the one line with the reason."""
        return self.printed("fstat", *arguments, code=code)

    def test_an_f_statistic_is_generated_summed_and_compared(self) -> None:
        seen, summed, other = (self.out / name for name in ("seen", "summed", "other"))
        few = ("--sky", "1", "--cells", "2", "--stacks", "1", "--frequencies", "3")
        self.fstat("generate", *few, seen)
        self.assertIn("6 results", self.fstat("reference", seen, summed))
        self.assertIn("has no results", self.fstat("verify", seen, summed, code=2))
        output = self.fstat("verify", summed, summed)
        self.assertIn("header the same: 1 sky points × 2 cells", output)
        self.assertEqual(output.count(" result "), 3, output)
        # The last 2F is another one.
        content = bytearray(summed.read_bytes())
        (two_f,) = struct.unpack_from("<d", content, len(content) - 8)
        struct.pack_into("<d", content, len(content) - 8, two_f * 1.01)
        other.write_bytes(self.signed(bytes(content)))
        self.assertIn("2F", self.fstat("verify", other, summed, code=1))
        self.fstat("verify", other, summed, "--tolerance", "0.01")
        self.fstat("generate", *few, "--seed", "1", "--overwrite", seen)
        self.fstat("reference", seen, other, "--overwrite")
        output = self.fstat("verify", other, summed, code=1)
        self.assertIn("seed (1 and 2008)", output.split("they differ in", 1)[1])

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
            ["run", "full", "--device", "host", "--set", "neighbours_constant.cells=26"],
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
            ["nbody"],
            ["nbody", "generate"],
            ["nbody", "generate", "--problem", "galaxy", "x"],
            ["nbody", "generate", "--bodies", "0", "x"],
            ["nbody", "generate", "--bodies", "4000000000", "x"],
            ["nbody", "generate", "--seed", "-1", "x"],
            ["nbody", "generate", "--seed", str(2**64), "x"],
            ["nbody", "generate", "--problem", "single", "--systems", "2", "x"],
            ["nbody", "generate", "--overwrite", "/dev/null"],
            ["nbody", "reference", "/no/such/file", "x", "--steps", "1"],
            ["nbody", "verify", "/no/such/file", "/no/such/file"],
            ["nbody", "verify", "--tolerance", "nan", "x", "x"],
            ["neighbours"],
            ["neighbours", "generate", "--problem", "boid", "x"],
            ["neighbours", "generate", "--spread", "even", "x"],
            ["neighbours", "generate", "--agents", "0", "x"],
            ["neighbours", "generate", "--agents", "4000000000", "x"],
            ["neighbours", "generate", "--radius", "0", "x"],
            ["neighbours", "generate", "--radius", "-1", "x"],
            ["neighbours", "generate", "--radius", "nan", "x"],
            ["neighbours", "generate", "--world", "3", "x"],
            ["neighbours", "generate", "--world", "nan", "x"],
            ["neighbours", "generate", "--seed", "-1", "x"],
            ["neighbours", "generate", "--seed", str(2**64), "x"],
            ["neighbours", "generate", "--overwrite", "/dev/null"],
            ["neighbours", "reference", "/no/such/file", "x"],
            ["neighbours", "verify", "/no/such/file", "/no/such/file"],
            ["neighbours", "verify", "--tolerance", "nan", "x", "x"],
            ["fstat"],
            ["fstat", "generate", "--sky", "0", "x"],
            ["fstat", "generate", "--frequencies", "4097", "x"],
            ["fstat", "generate", "--detectors", "0", "x"],
            ["fstat", "generate", "--seed", "-1", "x"],
            ["fstat", "generate", "--seed", str(2**64), "x"],
            ["fstat", "reference", "/no/such/file", "x"],
            ["fstat", "verify", "--tolerance", "nan", "x", "x"],
            ["ladder", "micro"],
            ["nbody", "trimmed-mean", "/no/such/file"],
            ["nbody", "trimmed-mean"],
            ["nbody", "trimmed-mean", "/dev/zero"],
            ["nbody", "verify", "/dev/zero", "/dev/zero"],
            ["run", "/dev/zero"],
            ["run", "--filter", "(?=" * 20 + "x" + ")" * 20, "--device", "host"],
            ["run", "--resume", ""],
            ["run", "--resume", "/no/such/run", "--set", "plan.min_samples=9"],
            ["run", "--resume", "/no/such/run", "--filter", "x"],
            ["run", "--resume", "/no/such/run", "quick"],
            ["run", "--resume", "/no/such/run", "--out", "x"],
            ["bench", "--device", "host", "--benchmark_filter=no_such_thing"],
        ):
            answer = strata(*arguments)
            self.assertEqual(answer.returncode, 2, f"{arguments}: {answer.stderr}")
            lines = [line for line in answer.stderr.splitlines() if line.startswith("strata: ")]
            self.assertEqual(len(lines), 1, answer.stderr)

    @needs_bench
    def test_bench_refuses_a_malformed_filter_in_one_line(self) -> None:
        for filter_ in ("(", "-(", "[", "a{2,1}", "(?=" * 20 + "x" + ")" * 20):
            answer = strata("bench", "--device", "host", f"--benchmark_filter={filter_}")
            self.assertEqual(answer.returncode, 2, answer.stderr)
            self.assertEqual(len(answer.stderr.splitlines()), 1, answer.stderr)
            self.assertIn("--benchmark_filter", answer.stderr)

    def test_a_pipe_is_no_input(self) -> None:
        ptx = SOURCE / "tests" / "data" / "ptx" / "nvcc_inlined.ptx"
        pipe = self.out / "pipe.yaml"
        content = self.out / "content.yaml"
        os.mkfifo(pipe)
        for name in ("pipe.ptx", "pipe.cu", "pipe"):
            os.mkfifo(self.out / name)
        launch = (ptx.parent / "energies.yaml").read_text()
        content.write_text(re.sub(r"\{bytes: (\d+).*\}", r"{bytes: \1, file: pipe}", launch))
        self.assertIn("file: pipe", content.read_text())
        mended = ("access", "mend", ptx, "--change", "group=16")
        for arguments in (
            ("run", pipe),
            ("list", "--cases", pipe),
            *([("bench", "--sweep", pipe)] if has_bench() else []),
            ("nbody", "verify", pipe, pipe),
            ("nbody", "reference", pipe, self.out / "x", "--steps", "1"),
            ("nbody", "trimmed-mean", pipe),
            ("neighbours", "reference", pipe, self.out / "x"),
            ("neighbours", "verify", pipe, pipe),
            ("fstat", "reference", pipe, self.out / "x"),
            ("fstat", "verify", pipe, pipe),
            ("access", self.out / "pipe.ptx"),
            ("access", self.out / "pipe.cu"),
            ("access", self.out / "pipe"),
            ("access", ptx, "--launch", pipe),
            ("access", ptx, "--launch", content),
            (*mended, "--launch", pipe),
            ("access", "mend", self.out / "pipe.ptx", "--change", "group=16"),
        ):
            with self.subTest(arguments=arguments):
                output = self.printed(*arguments, code=2)
                self.assertIn("is a pipe or a device", output)
        self.assertEqual(len([*self.out.iterdir()]), 5, "nothing is made")

    def test_only_regular_files_are_replaced(self) -> None:
        ptx = SOURCE / "tests" / "data" / "access" / "mend.ptx"
        precious = self.out / "precious"
        precious.write_text("precious")
        for name, make in (
            ("link", lambda file: file.symlink_to(precious)),
            ("pipe", os.mkfifo),
            ("folder", Path.mkdir),
        ):
            folder = self.out / f"of-{name}"
            folder.mkdir()
            for file in (folder / "mend.mended.ptx", self.out / f"{name}.json"):
                make(file)
            for arguments in (
                ("access", "mend", ptx, "--change", "scale: threads=4", "--out", folder),
                ("selftest", "--device", "host", "--quiet", "--json", self.out / f"{name}.json"),
            ):
                with self.subTest(arguments=arguments):
                    message = self.printed(*arguments, code=2)
                    self.assertIn(f"is a {name}", message)
                    self.assertIn("expected a file that may be created or replaced", message)
        self.assertEqual(precious.read_text(), "precious")

    def test_unknown_words_get_a_suggestion(self) -> None:
        for arguments, expected in (
            (("rum", "quick", "--device", "host"), "no command 'rum': did you mean 'run'?"),
            (("run", "--filer", "x"), "run has no option '--filer': did you mean '--filter'?"),
            (("run", "--filer=x"), "run has no option '--filer=x': did you mean '--filter'?"),
            (("nbody", "verfy", "a", "b"), "nbody has no command 'verfy': did you mean 'verify'?"),
            (("doctor", "now"), "doctor has no argument 'now'"),
            (("list", "--cases", ""), "tried it as a file"),
            (("run", "quick", "--device", "host", "--counters", "memroy"),
             "no counter set 'memroy'"),
            (("model", "--generation", "13.7"), "no GPU has compute capability '13.7'"),
            (("model", "--generation", "4.0"), "no GPU has compute capability '4.0'"),
        ):  # fmt: skip
            with self.subTest(arguments=arguments):
                self.assertIn(expected, self.printed(*arguments, code=2))

    def test_counters_of_a_chip_need_a_build_with_cupti_but_no_gpu(self) -> None:
        answer = strata("counters", "--chip", "GH100")
        if answer.returncode == 0:
            self.skipTest("this build has CUPTI")
        self.assertEqual(answer.returncode, 3)
        self.assertIn("CUPTI, which needs no GPU, but", answer.stderr)

    def test_a_trimmed_mean_of_the_largest_numbers_is_finite(self) -> None:
        runs = self.out / "runs"
        largest = ["1e308"] * 4 + ["-1e308"] * 4
        for numbers, expected in (
            (["1.5e308"] * 8, "mean 1.5e+308, standard deviation 0:"),
            (largest, "mean 0, standard deviation 1.1547e+308:"),
        ):
            runs.write_text("\n".join(numbers))
            self.assertIn(expected, self.nbody("trimmed-mean", runs).replace("\n" + " " * 12, " "))

    def test_output_that_is_lost_fails_the_command(self) -> None:
        for arguments in (
            ("doctor",), ("ladder",), ("list",), ("--version",), ("--help",), ("nbody", "ladder"),
            ("run", "quick", "--device", "host", "--dry-run"),
            self.short("timer_check", self.out),
        ):  # fmt: skip
            with self.subTest(arguments=arguments), Path("/dev/full").open("w") as full:
                answer = subprocess.run(
                    [STRATA, *arguments], stdout=full, stderr=subprocess.PIPE, text=True,
                    timeout=PATIENCE, check=False, env={**os.environ, "TMPDIR": LOCKS.name},
                )  # fmt: skip
                self.assertEqual(answer.returncode, 1, answer.stderr)
                self.assertIn("No space left on device", answer.stderr)

    def sweep(self, cases: str) -> Path:
        file = self.out / "sweep.yaml"
        plan = "plan: {min_samples: 6, max_samples: 6, seconds_per_case: 0.1}\n"
        file.write_text("schema: 1\nname: mine\n" + plan + "cases:\n" + cases)
        return file

    def test_what_the_device_cannot_run_is_named_and_counted(self) -> None:
        sweep = self.sweep(
            "  - benchmark: timer_check\n"
            "  - benchmark: request_merging\n"
            "  - benchmark: latency_vs_footprint\n    axes: {space: [global_ca, texture]}\n"
            "  - benchmark: layout_read\n"
            "    axes: {residency: [l1], block_size: [32, 64], warps_per_sm: [2], cores: [one],"
            " layout: [soa], fields: [all]}\n"
        )
        run = ("run", str(sweep), "--device", "host", "--out", str(self.out))
        no_blocks = "a CPU core has no blocks: it is measured at block_size 32"
        expected = [
            "strata: dropped latency_vs_footprint: a GPU has several address spaces, a CPU has one",
            f"strata: dropped layout_read.block_size=64: {no_blocks}",
        ]
        for more in (("--dry-run",), (), ("--quiet",)):
            answer = strata(*run, *more)
            self.assertEqual(answer.returncode, 0, answer.stderr)
            dropped = [line for line in answer.stderr.splitlines() if ": dropped " in line]
            self.assertTrue(dropped.pop().startswith("strata: dropped request_merging: "))
            self.assertEqual(dropped, expected)
            output = answer.stderr if "--dry-run" in more else answer.stdout
            self.assertIn("3 dropped", output)
        folder = answer.stdout.strip().splitlines()[-1]
        context = json.loads((Path(folder) / "context.json").read_text())
        self.assertEqual(len(context["sweep"]["dropped"]), 3)
        self.assertIn("3 dropped", strata("run", "--resume", folder).stdout)
        self.assertEqual(strata("validate", folder).returncode, 0)
        listed = strata("list", "--cases", str(sweep), "--backend", "host")
        lists = ("bench", "--sweep", str(sweep), "--device", "host", "--benchmark_list_tests")
        for answer in (listed, strata(*lists)) if has_bench() else (listed,):
            self.assertEqual(answer.returncode, 0, answer.stderr)
            self.assertEqual([x for x in answer.stderr.splitlines() if x in expected], expected)

    def test_a_sweep_of_nothing_that_the_device_can_run_finds_no_device(self) -> None:
        sweep = self.sweep("  - benchmark: latency_vs_footprint\n    axes: {space: [texture]}\n")
        for more in (("--dry-run",), ()):
            answer = strata("run", str(sweep), "--device", "host", "--out", str(self.out), *more)
            self.assertEqual(answer.returncode, 3, answer.stderr)
            dropped, reason = answer.stderr.splitlines()
            self.assertIn("dropped latency_vs_footprint: a GPU has several", dropped)
            self.assertIn("this device can run none of its cases", reason)
        self.assertEqual([*self.out.iterdir()], [sweep])

    def test_a_built_in_sweep_names_its_dropped_items_in_a_dry_run_only(self) -> None:
        run = (*self.short("timer_check", self.out),)
        answer = strata(*run)
        (line,) = [one for one in answer.stderr.splitlines() if "--dry-run lists them" in one]
        count = int(re.search(r"(\d+) benchmarks and values of sweep 'quick'", line)[1])
        listed = strata(*run, "--dry-run").stderr.splitlines()
        self.assertEqual(len([one for one in listed if ": dropped " in one]), count)
        self.assertIn(f"{count} dropped", answer.stdout)

    def test_a_forged_context_is_not_resumed(self) -> None:
        folder = self.run_small()
        context = folder / "context.json"
        whole = context.read_text()
        foreign = "micro/timer_check/cuda/target=l1"
        stride = "micro/latency_vs_footprint/host/cores=one/footprint=4096/space=memory/stride=0"

        def case(name: str) -> dict:
            return {"sweep": {"cases": [*json.loads(whole)["sweep"]["cases"], name]}}

        for change, expected in (
            ({"run": "../../../evil"}, "expected the name of the run folder"),
            (case(foreign), "not of the backend of the run"),
            (case(stride), "a value of each axis"),
            (case("micro/no_such/host"), "no such benchmark"),
            ({"sweep": {"plan": {"time_limit": -5}}}, "time_limit of its plan is -5"),
            ({"sweep": {"plan": {"min_samples": -3}}}, "min_samples of its plan is -3"),
        ):
            forged = json.loads(whole)
            for key, value in change.items():
                if not isinstance(value, dict):
                    forged[key] = value
                    continue
                for inner, new in value.items():
                    old = forged[key][inner]
                    forged[key][inner] = {**old, **new} if isinstance(new, dict) else new
            context.write_text(json.dumps(forged))
            with self.subTest(expected=expected):
                self.assertIn(expected, self.printed("run", "--resume", folder, code=2))

    @needs_bench
    def test_bench_does_not_warn_of_the_build_of_google_benchmark(self) -> None:
        answer = strata("bench", "--sweep", "quick", "--device", "host",
                        "--benchmark_filter=timer_check")  # fmt: skip
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertIn("Run on (", answer.stderr)
        self.assertNotIn("DEBUG", answer.stderr)

    def test_bad_sweeps_are_refused_with_file_and_line(self) -> None:
        head = "schema: 1\nname: x\ncases:\n  - benchmark: layout_read\n"
        self.refused(head + "    axis: {}\n", ":5:", "axes")
        self.refused(head + "    axes:\n      layout: aos\n", ":6:")
        self.refused(head + "    axes:\n      layout: []\n", ":6:")
        self.refused(head + "    axes:\n      layout: [aos, aos]\n", ":6:", "aos")
        self.refused(head + "    axes:\n      layout: [aos]\n      layout: [soa]\n", ":7:")
        self.refused(head + "    axes:\n      layout: [" + "a" * 1_000_000 + "]\n", ":6:")
        self.refused(head + "#" * 10_000_000, "more than 1048576 bytes")

    def test_a_sweep_that_is_not_text_is_refused_with_file_and_line(self) -> None:
        self.refused(b"schema: 1\nname: \xff\xfe\n", ":2:", "UTF-8")

    def test_a_dry_run_prints_the_cases_and_makes_nothing(self) -> None:
        answer = strata(
            "run", "quick", "--device", "host", "--dry-run", "--out", str(self.out / "r")
        )
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertIn("micro/layout_read/host/", answer.stdout)
        self.assertFalse((self.out / "r").exists())

    @classmethod
    @cache
    def small_run(cls) -> Path:
        """A run of one case that is measured and twelve that are only computed: made once."""
        out = tempfile.TemporaryDirectory()
        cls.addClassCleanup(out.cleanup)
        answer = strata(
            *cls.short("layout_traffic|layout_read/.*/cores=one/fields=all", Path(out.name)),
            "--set", "layout_traffic.layout=soa", "--set", "layout_read.layout=soa",
            "--set", "layout_read.residency=l1",
        )  # fmt: skip
        assert answer.returncode == 0, answer.stderr
        return Path(answer.stdout.strip().splitlines()[-1])

    def run_small(self) -> Path:
        """A copy of it, which the test may change."""
        made = self.small_run()
        return Path(shutil.copytree(made, self.out / made.name))

    def test_a_small_run_leaves_a_complete_folder(self) -> None:
        folder = self.run_small()
        context = json.loads((folder / "context.json").read_text())
        self.assertEqual(context["schema_version"], 3)
        self.assertEqual(context["bounds"]["timer"]["value"], 0.02)
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

    def test_steps_are_divided_into_phases_on_a_cpu_that_nobody_named(self) -> None:
        answer = strata(
            "run", "quick", "--out", str(self.out), "--filter", "/neighbours_cpu_vectors/",
            "--set", "neighbours_cpu_vectors.agents=4096",
            "--set", "plan.min_samples=6", "--set", "plan.max_samples=6", CUDA_VISIBLE_DEVICES="",
        )  # fmt: skip
        self.assertEqual(answer.returncode, 0, answer.stderr)
        samples = Path(answer.stdout.strip().splitlines()[-1]) / "samples.jsonl"
        lines = [json.loads(line) for line in samples.read_text().splitlines()]
        timed = [line for line in lines if line["kind"] == "case"]
        self.assertEqual({line["status"] for line in timed}, {"measured"}, timed)
        traced = [line for line in lines if line["kind"] == "trace"]
        self.assertEqual([line["status"] for line in traced], ["measured"], traced)
        names = [row["quantity"] for row in traced[0]["measurements"]]
        self.assertIn("phase_search", names)

    @staticmethod
    def tree(folder: Path) -> dict[str, str]:
        """What each file below a folder holds, and where each link leads."""
        return {
            str(file.relative_to(folder)): str(file.readlink())
            if file.is_symlink()
            else hashlib.sha256(file.read_bytes()).hexdigest()
            for file in folder.rglob("*")
            if file.is_symlink() or file.is_file()
        }

    def test_a_dry_resume_changes_nothing(self) -> None:
        folder = self.run_small()
        samples, outside = folder / "samples.jsonl", self.out / "outside"
        with samples.open("ab") as file:
            file.write(b'{"schema_version": 3, "ki')
        torn = self.tree(self.out)
        answer = strata("run", "--resume", str(folder), "--dry-run")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertIn("the last line was truncated", answer.stderr)
        self.assertEqual(self.tree(self.out), torn)
        samples.rename(outside)
        samples.symlink_to(outside)
        linked = self.tree(self.out)
        answer = strata("run", "--resume", str(folder), "--dry-run")
        self.assertEqual(answer.returncode, 2, answer.stderr)
        self.assertEqual(len(answer.stderr.splitlines()), 1, answer.stderr)
        self.assertIn("samples.jsonl: is a link", answer.stderr)
        self.assertEqual(self.tree(self.out), linked)

    def test_a_packed_run_is_resumed_after_what_strata_advises(self) -> None:
        folder = self.run_small()
        for name in ("samples.jsonl", "measurements.csv"):
            subprocess.run(["gzip", folder / name], check=True)
        answer = strata("run", "--resume", str(folder))
        self.assertEqual(answer.returncode, 2, answer.stderr)
        advice = answer.stderr.strip().partition("; expected uncompressed files: ")[2]
        self.assertTrue(advice.startswith("gunzip "), answer.stderr)
        subprocess.run(shlex.split(advice), check=True)
        for command in (("run", "--resume"), ("validate",)):
            answer = strata(*command, str(folder))
            self.assertEqual(answer.returncode, 0, answer.stdout + answer.stderr)

    def test_a_run_is_completed_on_the_ground_that_it_was_begun_on(self) -> None:
        folder = self.run_small()
        self.assertEqual(strata("run", "--resume", str(folder), "--dry-run").returncode, 0)
        context = folder / "context.json"
        whole = context.read_text()
        for part, name, value, word in (
            ("strata", "source_digest", "sha256:0", "other kernel sources"),
            ("strata", "build_type", "Other", "another build type"),
            ("strata", "flags", "-O9", "other compiler flags"),
            ("strata", "compiler", "cc 1", "another compiler"),
            ("strata", "cuda_compiler", "nvcc 1", "another CUDA compiler"),
            ("strata", "cuda_architectures", "1", "other GPU architectures"),
            ("host", "cpu", "8086", "another CPU"),
            ("host", "cores", 4096, "other cores"),
            ("host", "cpu_limit", 0.125, "another limit on CPU time"),
            ("host", "caches", [], "other caches"),
            ("host", "kernel", "0.1", "another kernel"),
        ):
            changed = json.loads(whole)
            changed[part][name] = value
            context.write_text(json.dumps(changed))
            before = {file.name: file.read_bytes() for file in folder.iterdir()}
            answer = strata("run", "--resume", str(folder))
            self.assertEqual(answer.returncode, 2, answer.stderr)
            self.assertIn(f"was started with {word} ('", answer.stderr)
            self.assertEqual(len(answer.stderr.splitlines()), 1, answer.stderr)
            after = {file.name: file.read_bytes() for file in folder.iterdir()}
            self.assertEqual(after, before, "nothing is changed")

    def test_an_anonymous_run_names_neither_folders_nor_arguments(self) -> None:
        sweep = self.out / "secret" / "mine.yaml"
        sweep.parent.mkdir()
        text = "schema: 1\nname: x\nplan: {min_samples: 6, max_samples: 6}\n"
        sweep.write_text(text + "cases:\n  - benchmark: layout_traffic\n")
        for flags, known in (((), True), (("--anonymous",), False)):
            answer = strata("run", str(sweep), "--device", "host", "--out", str(self.out), *flags)
            self.assertEqual(answer.returncode, 0, answer.stderr)
            folder = Path(answer.stdout.strip().splitlines()[-1])
            self.assertEqual("secret" in (folder / "context.json").read_text(), known)
            again = strata("run", "--resume", str(folder))
            self.assertEqual(again.returncode, 0, again.stderr)
        self.assertIn("records", strata("run", "--help").stdout)

    @needs_bench
    def test_bench_measures_no_device_that_a_run_measures(self) -> None:
        (lock,) = self.locks()
        with lock.open() as held:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            answer = strata("bench", "--device", "host", "--benchmark_filter=timer_check")
            self.assertEqual(answer.returncode, 3, answer.stderr)
            self.assertIn("is being measured by", answer.stderr)

    def locks(self) -> list[Path]:
        self.run_small()
        return list(Path(LOCKS.name).glob("strata-*.lock"))

    def counted_on_the_host(self, *flags: str) -> tuple[dict, list[str], str]:
        """Counters of a run on the CPU: context, lines about them, last words."""
        answer = strata(*self.short("timer_check", self.out), *flags)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        *_, words, folder = answer.stdout.strip().splitlines()
        context = json.loads((Path(folder) / "context.json").read_text())
        lines = (Path(folder) / "samples.jsonl").read_text().splitlines()
        self.assertEqual({json.loads(line)["kind"] for line in lines}, {"case"})
        counting_lines = [line for line in answer.stderr.splitlines() if "counted" in line]
        return context["counters"], counting_lines, words

    def test_a_cpu_has_no_counters_and_a_run_says_so_where_they_were_asked_for(self) -> None:
        counters, counting_lines, words = self.counted_on_the_host()
        self.assertEqual((counters["asked"], counters["state"]), (["auto"], "unavailable"))
        self.assertIn("available on GPUs only", counters["reason"])
        self.assertIn("available on GPUs only", words)
        self.assertEqual(counting_lines, [])
        counters, counting_lines, _ = self.counted_on_the_host("--counters", "memory")
        self.assertEqual((counters["asked"], counters["state"]), (["memory"], "unavailable"))
        self.assertEqual(len(counting_lines), 1)
        self.assertIn("available on GPUs only", counting_lines[0])

    def test_a_run_without_counters_says_that_nobody_asked(self) -> None:
        counters, counting_lines, words = self.counted_on_the_host("--counters", "none")
        self.assertEqual((counters["asked"], counters["state"]), (["none"], "not_asked"))
        self.assertEqual(counters["reason"], "")
        self.assertIn("not requested", words)
        self.assertEqual(counting_lines, [])

    def bench(self, filter_: str, *flags: str) -> tuple[list[dict], list[dict], dict]:
        """Repetitions, statistics and context of what `strata bench` measures on the CPU."""
        answer = strata(
            "bench", "--sweep", "quick", "--device", "host", f"--benchmark_filter={filter_}",
            "--benchmark_format=json", *flags,
        )  # fmt: skip
        self.assertEqual(answer.returncode, 0, answer.stderr)
        report = json.loads(answer.stdout)
        rows = report["benchmarks"]
        repetitions = [one for one in rows if one["run_type"] == "iteration"]
        return repetitions, [one for one in rows if one not in repetitions], report["context"]

    @needs_bench
    def test_bench_answers_as_a_google_benchmark_program(self) -> None:
        _, _, context = self.bench("timer_check", "--benchmark_repetitions=2")
        self.assertIn("device", context)
        listed = strata("bench", "--device", "host", "--benchmark_list_tests").stdout
        self.assertIn("micro/layout_read/host/", listed)

    @needs_bench
    def test_each_sample_of_bench_is_a_repetition(self) -> None:
        for flags, count in (
            (("--set", "plan.min_samples=9"), 9),
            (("--benchmark_repetitions=12",), 12),
            (("--benchmark_repetitions=2", "--benchmark_min_time=0.01"), 2),
            (("--benchmark_enable_random_interleaving=1", "--benchmark_min_warmup_time=0.01"), 7),
        ):
            with self.subTest(flags=flags):
                runs, summaries, _ = self.bench("timer_check", *flags)
                self.assertEqual([one["repetition_index"] for one in runs], [*range(count)])
                seconds = [one["real_time"] / 1e9 for one in runs]
                for one, time in zip(runs, seconds, strict=True):
                    by_cycles = one["load_cycles:tsc_slope"] / one["core_clock"]
                    self.assertAlmostEqual(time / by_cycles, 1, places=9)
                self.assertGreater(len(set(seconds)), 1, "not one number for all of them")
                (mean,) = (one for one in summaries if one["aggregate_name"] == "mean")
                self.assertAlmostEqual(mean["real_time"] / 1e9 / statistics.fmean(seconds), 1)
                labels = {one.get("label", "") for one in runs}
                self.assertEqual(len(labels), 1, "judged once, by all samples")
                self.assertNotIn("too few", labels.pop())

    @needs_bench
    def test_what_a_case_has_once_is_in_every_repetition_of_bench(self) -> None:
        runs, _, _ = self.bench("layout_traffic.*layout=aos", "--benchmark_repetitions=3")
        cases = {one["run_name"] for one in runs}
        self.assertEqual(len(runs), 3 * len(cases))
        for case in cases:
            for key in ("bytes_moved_per_read", "real_time"):
                values = [one[key] for one in runs if one["run_name"] == case]
                self.assertGreater(values[0], 0)
                self.assertEqual(values, [values[0]] * 3)

    @needs_bench
    def test_bench_refuses_numbers_of_repetitions_in_one_line(self) -> None:
        for number in ("0", "-1", "x", "", "1e3", "100001"):
            answer = strata("bench", "--device", "host", f"--benchmark_repetitions={number}")
            self.assertEqual(answer.returncode, 2, answer.stderr)
            self.assertEqual(len(answer.stderr.splitlines()), 1, answer.stderr)
            self.assertIn("from 1 to 100000", answer.stderr)

    @needs_bench
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

    def test_nothing_in_the_working_folder_is_run(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for name in ("strata", "jinja2", "msgspec"):
                Path(folder, f"{name}.py").write_text("open('was_run', 'w').close()\n")
            strata("report", "/no/such/run", cwd=folder, STRATA_PYTHON=sys.executable)
            run = strata(*self.short("timer_check", self.out), cwd=folder).stdout.splitlines()[-1]
            answer = strata("summary", run, cwd=folder)
            self.assertIn("\ncases measured ", answer.stdout, "the summary was made")
            self.assertEqual(3, len([*Path(folder).iterdir()]))

    def test_the_analysis_commands_reach_python_and_pass_its_exit_code_on(self) -> None:
        answer = strata("report", "/no/such/run", STRATA_PYTHON=sys.executable)
        self.assertNotEqual(answer.returncode, 0)
        missing = strata("report", "x", STRATA_PYTHON="/no/such/python")
        self.assertEqual(missing.returncode, 2)
        self.assertIn("STRATA_PYTHON", missing.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[3:]])
