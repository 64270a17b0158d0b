#!/usr/bin/env python3
"""Would a test notice? Mutants of the program, each of which must make a named test fail.

    tools/mutate.py [AREA|NAME...] [--jobs N]

An area is a file tests/mutants/AREA.toml. Each table in it changes one place of one file:

    [ties_are_kept]
    file = "harness/record/statistics.cpp"
    from = 'a < b'          # occurs exactly once in the file; three quotes allow several lines
    to = 'a <= b'
    gtest = "Statistics.*"  # a filter; or pytest = "tests/analysis/test_x.py", ctest = "code.ptx",
                            # access = "AccessRecord.*": a filter of access_tests; and
                            # neighbours, of neighbours_tests; fstat, of fstat_tests
    survives = "why no test can notice"  # only for an equivalent mutant

Keys above the first table apply to each mutant without its own. Names of several tests are
separated by blanks. What is built: host_tests of the preset host for gtest, access_tests of it for
access, neighbours_tests and fstat_tests of it for theirs, ptx of the preset cuda for ctest. Each
job works in a copy of the tree below build/mutants and keeps its build folder there, so that a
later run compiles little. tests/analysis/test_mutants.py checks that each mutant still fits the
sources.

Exit status: 0 every mutant is killed or explained; 1 one survived, was killed although explained,
or is in error (does not apply, does not build); 2 bad input, or a test fails without any mutant.
"""

from __future__ import annotations

import argparse
import filecmp
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).resolve().parents[1]
GTESTS = {
    "gtest": "host_tests",
    "access": "access_tests",
    "neighbours": "neighbours_tests",
    "fstat": "fstat_tests",
}
RUNNERS = ("pytest", *GTESTS, "ctest")
KEYS = {"file", "from", "to", "survives", *RUNNERS}
VERDICTS = ("killed", "explained", "survived", "error")
PATIENCE = "300"  # seconds; a test that takes longer has noticed the mutant
CONFIGURE = {
    "host": ["-DSTRATA_WERROR=OFF"],  # a mutant may leave a name unused
    "cuda": ["-DSTRATA_WERROR=OFF", "-DCMAKE_CUDA_ARCHITECTURES=90-real"],
}


@dataclass(frozen=True)
class Mutant:
    area: str
    name: str
    file: str
    before: str
    after: str
    runner: str
    tests: tuple[str, ...]
    survives: str

    def mutated(self, text: str) -> str:
        if (count := text.count(self.before)) != 1:
            raise ValueError(f"{self.file} holds `from` {count} times, not once")
        return text.replace(self.before, self.after)


def read(area: Path) -> Iterator[Mutant]:
    tables = tomllib.loads(area.read_text(encoding="utf-8"))
    common = {key: value for key, value in tables.items() if not isinstance(value, dict)}
    for name, own in tables.items():
        if not isinstance(own, dict):
            continue
        entry = common | own
        runners = [runner for runner in RUNNERS if runner in entry]
        wrong = (entry.keys() - KEYS) | ({"file", "from", "to"} - entry.keys())
        if wrong or len(runners) != 1:
            raise ValueError(f"{area.name}: {name}: wrong or missing keys: {wrong or RUNNERS}")
        yield Mutant(
            *(area.stem, name, entry["file"], entry["from"], entry["to"], runners[0]),
            tests=tuple(entry[runners[0]].split()),
            survives=entry.get("survives", ""),
        )


def mutants(root: Path) -> list[Mutant]:
    return [one for area in sorted((root / "tests/mutants").glob("*.toml")) for one in read(area)]


class Tree:
    """A copy of the sources that may be changed."""

    def __init__(self, folder: Path, cores: int) -> None:
        self.folder, self.cores = folder, cores
        listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        output = subprocess.run(listing, cwd=ROOT, capture_output=True, check=True).stdout.decode()
        files = {name for name in output.split("\0") if (ROOT / name).is_file()}
        for path in [path for path in folder.rglob("*") if path.is_file()]:
            here = path.relative_to(folder)
            if here.parts[0] != "build" and str(here) not in files:
                path.unlink()
        for name in files:
            copy = folder / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            if not (copy.is_file() and filecmp.cmp(ROOT / name, copy, shallow=False)):
                shutil.copy(ROOT / name, copy)  # newer than the build of a mutant

    def run(self, *command: str, patience: str = PATIENCE) -> tuple[int, str]:
        launcher = {"CMAKE_CXX_COMPILER_LAUNCHER": "ccache"} if shutil.which("ccache") else {}
        # No compiled modules: a module changed twice in a second looks unchanged.
        own = launcher | {
            "PYTHONPATH": f"{self.folder}/analysis/src",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        own |= {"CCACHE_BASEDIR": str(self.folder), "CCACHE_NOHASHDIR": "1"}
        done = subprocess.run(
            ["timeout", patience, *command], cwd=self.folder, env=os.environ | own, check=False,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        return done.returncode, done.stdout.decode(errors="replace")

    def test(self, runner: str, tests: Iterable[str]) -> tuple[str, str]:
        """`passed`, `failed` or `error`, and what was printed."""
        if runner == "pytest":
            how = ("-m", "pytest", "-c", "analysis/pyproject.toml", "-xq", "-p", "no:cacheprovider")
            status, output = self.run(sys.executable, *how, *tests)
            return {0: "passed", 1: "failed", 124: "failed"}.get(status, "error"), output
        program = GTESTS.get(runner)
        preset, target = ("host", program) if program else ("cuda", "ptx")
        commands = [["cmake", "--build", "--preset", preset, f"-j{self.cores}", "--target", target]]
        if not (self.folder / f"build/{preset}/build.ninja").is_file():
            commands.insert(0, ["cmake", "--preset", preset, *CONFIGURE[preset]])
        for command in commands:
            status, output = self.run(*command, patience="0")
            if status != 0:
                return "error", output
        names = "|".join(map(re.escape, tests))
        tested = ["ctest", "--preset", preset, "-R", f"^({names})$"]
        if program:
            tested = [f"build/host/bin/{program}", f"--gtest_filter={':'.join(tests)}"]
        status, output = self.run(*tested)
        return "failed" if status else "passed", output

    def judge(self, one: Mutant) -> tuple[str, str]:
        path = self.folder / one.file
        try:
            text = path.read_text(encoding="utf-8")
            path.write_text(one.mutated(text), encoding="utf-8")
        except (OSError, ValueError) as error:
            return "error", str(error)
        outcome, output = self.test(one.runner, one.tests)
        path.write_text(text, encoding="utf-8")
        if outcome == "passed":
            return "explained" if one.survives else "survived", ""
        if outcome == "failed" and one.survives:
            return "error", f"killed, although explained: {one.survives}"
        return ("killed", "") if outcome == "failed" else ("error", output)


def table(verdicts: Sequence[tuple[Mutant, str]]) -> Iterator[str]:
    """The number of each verdict, by area."""
    yield f"{'area':20}{'mutants':>10}" + "".join(f"{verdict:>10}" for verdict in VERDICTS)
    for area in [*sorted({one.area for one, _ in verdicts}), "all"]:
        found = Counter(verdict for one, verdict in verdicts if area in (one.area, "all"))
        counts = (found.total(), *(found[verdict] for verdict in VERDICTS))
        yield f"{area:20}" + "".join(f"{count:10}" for count in counts)


def main() -> int:
    parser = argparse.ArgumentParser(description="Mutants, each of which must make a test fail.")
    parser.add_argument("names", nargs="*", metavar="AREA|NAME", help="all without")
    parser.add_argument("--jobs", type=int, default=1, help="trees that work side by side")
    options = parser.parse_args()
    try:
        every = mutants(ROOT)
    except ValueError as error:
        parser.error(str(error))
    if unknown := {*options.names} - {name for one in every for name in (one.area, one.name)}:
        parser.error(f"no area or mutant is named {', '.join(sorted(unknown))}")
    chosen = [one for one in every if not options.names or {one.area, one.name} & {*options.names}]
    trees: SimpleQueue[Tree] = SimpleQueue()
    for i in range(options.jobs):
        trees.put(Tree(ROOT / f"build/mutants/{i}", max(1, (os.cpu_count() or 1) // options.jobs)))

    tree = trees.get()
    for runner in {one.runner for one in chosen}:
        some = [one for one in chosen if one.runner == runner]
        tests = sorted({test for one in some for test in one.tests})
        outcome, output = tree.test(runner, tests)
        if outcome != "passed":
            print(f"{output}\nmutate.py: {runner} fails without any mutant", file=sys.stderr)
            return 2
    trees.put(tree)

    def judged(one: Mutant) -> tuple[Mutant, str]:
        tree = trees.get()
        begin = time.monotonic()
        verdict, why = tree.judge(one)
        trees.put(tree)
        print(f"{verdict:10}{time.monotonic() - begin:6.1f} s  {one.area}: {one.name}", flush=True)
        if verdict in ("survived", "error"):
            print(f"  {one.file}: {one.before!r} -> {one.after!r}\n{why[-2000:]}", flush=True)
        return one, verdict

    with ThreadPoolExecutor(options.jobs) as pool:
        verdicts = list(pool.map(judged, chosen))
    print("\n".join(table(verdicts)))
    return int(any(verdict in ("survived", "error") for _, verdict in verdicts))


if __name__ == "__main__":
    sys.exit(main())
