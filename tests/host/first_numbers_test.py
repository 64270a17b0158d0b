"""The numbers at the end of `strata run` are those of `strata summary`, for every recorded run.

first_numbers_test.py PROGRAM SOURCE_FOLDER
"""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import zlib
from pathlib import Path

PROGRAM = sys.argv[1]
SOURCE = Path(sys.argv[2])
PYTHON = os.environ.get("STRATA_PYTHON", sys.executable)
RUNS = sorted(path.parent for path in (SOURCE / "tests/data").glob("*/context.json"))
COPIES = SOURCE / "results/nvidia-h100-80gb-hbm3/nvidia-h100-80gb-hbm3-20261122T213744Z-c491cab"
"""Its copies are faster than its reads of L2."""


def content(run: Path, name: str) -> bytes:
    """A file of a recorded run, which may be compressed."""
    packed = run / f"{name}.gz"
    return gzip.decompress(packed.read_bytes()) if packed.exists() else (run / name).read_bytes()


#: Of the present schema.
TEMPLATE = json.loads((SOURCE / "tests/data" / RUNS[2].name / "context.json").read_bytes())
assert TEMPLATE["schema_version"] == 3


def context(run: Path) -> str:
    """What the numbers depend on in the context of a run, in the present schema."""
    recorded = json.loads((run / "context.json").read_bytes())
    sweep = {**TEMPLATE["sweep"], "cases": recorded["sweep"]["cases"]}
    kept = {name: recorded[name] for name in ("run", "backend", "device")}
    return json.dumps({**TEMPLATE, **kept, "sweep": sweep})


def sealed(line: bytes) -> bytes:
    """A line of samples.jsonl with the checksum that older runs lack."""
    body = line.removesuffix(b"}")
    return line if b'"crc32"' in line else b'%s,"crc32":"%08x"}' % (body, zlib.crc32(body))


def table(text: str) -> dict[str, str]:
    """Values by label."""
    cells = [re.split(" {2,}", line) for line in text.splitlines()]
    return {row[0]: row[1] for row in cells}


#: As recorded: not judged again by the rules of strata.model.truth, which came later.
SUMMARY = """
import json, sys
from pathlib import Path
from strata.model import plain
from strata.report.headlines import bandwidths, core_clock, fp32_ceiling, latencies, nbody
from strata.run import load_run
PARTS = latencies, bandwidths, fp32_ceiling, nbody, core_clock
def values(path):
    run = load_run(Path(path))
    return {one.what: plain(one.value) for part in PARTS for one in part(run)}
print(json.dumps({run: values(run) for run in sys.argv[1:]}))
"""


def cut(run: Path, folder: Path) -> Path:
    """The bandwidths and copies of a run, in a folder of the same name."""
    kept = re.compile(r"micro/(bandwidth|async_copy)/")
    cases = json.loads((run / "context.json").read_bytes())
    cases["sweep"]["cases"] = [case for case in cases["sweep"]["cases"] if kept.match(case)]
    lines = content(run, "samples.jsonl").splitlines(keepends=True)
    small = folder / run.name
    small.mkdir()
    (small / "context.json").write_text(json.dumps(cases))
    found = b'"case":"(%s)' % kept.pattern.encode()
    (small / "samples.jsonl").write_bytes(b"".join(x for x in lines if re.search(found, x)))
    return small


def summaries(runs: list[Path]) -> dict[str, dict[str, str]]:
    """What the analysis package shows of each run."""
    done = subprocess.run(
        [PYTHON, "-c", SUMMARY, *map(str, runs)], capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": f"{SOURCE / 'analysis/src'}"},
    )  # fmt: skip
    if "No module named" in done.stderr:
        raise unittest.SkipTest(f"{PYTHON} lacks the packages of the analysis")
    return json.loads(re.sub(r"\\u00a0|\\u202f", " ", done.stdout))


class FirstNumbers(unittest.TestCase):
    def test_every_recorded_run_gives_the_numbers_of_its_summary(self) -> None:
        self.maxDiff = None
        self.compare(RUNS, 25)

    def test_copies_may_be_faster_than_reads(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            small = cut(COPIES, Path(folder))
            self.assertEqual(self.compare([small], 2)["L2 bandwidth, reading"], "8.28 TB/s")

    def compare(self, runs: list[Path], least: int) -> dict[str, str]:
        """The numbers of the last run; more than `least` of all are the same on both sides."""
        compared, expected = 0, summaries(runs)
        found: dict[str, str] = {}
        for run in runs:
            with self.subTest(run.name), tempfile.TemporaryDirectory() as folder:
                Path(folder, "context.json").write_text(context(run))
                lines = content(run, "samples.jsonl").splitlines()
                Path(folder, "samples.jsonl").write_bytes(b"\n".join([*map(sealed, lines), b""]))
                done = subprocess.run(
                    [PROGRAM, folder], capture_output=True, encoding="utf8", check=False
                )
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                found = table(done.stdout)
                valid = {what: value for what, value in found.items() if value != "invalid"}
                self.assertEqual(valid, expected[str(run)])
                compared += len(valid)
        self.assertGreater(compared, least)
        return found


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[3:]])
