"""The generated kernels in micro/access are what `strata access mend` makes of their originals.

mended_forms_test.py STRATA_ACCESS SOURCE_FOLDER [--write | unittest flags]

--write generates mended_originals.ptx with the nvcc here, and with STRATA_ACCESS the header of the
optimized kernels: mended_originals.mended.inc.in, and mended_originals.mended.ptx, which CMake puts
into it. The test compares the first only where nvcc is the release that wrote it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ACCESS, SOURCE = (Path(argument).resolve() for argument in sys.argv[1:3])
FOLDER = SOURCE / "micro" / "access"
PTX = FOLDER / "mended_originals.ptx"
HEADER = FOLDER / "mended_originals.mended.inc.in"
MENDED = FOLDER / "mended_originals.mended.ptx"
PLACE = "@mended_ptx@"
"""Where CMake puts MENDED in HEADER."""
NVCC = shutil.which("nvcc", path=f"{os.environ.get('PATH', '')}:/usr/local/cuda/bin")
PTX_VERSION = "6.3"
"""The first with the target sm_75: drivers refuse PTX that is newer than they are."""
WRITE = f"python3 {__file__} {ACCESS} {SOURCE} --write"
CHANGES = ["^(sobel|rotation_.*)$: threads=4", "^dct$: passes=16"] + [
    f"short_words_{element}_{element * threads}_{change}"
    for element in (1, 2, 4)
    for threads in (1, 2, 4, 8, 16)
    for change in (
        f"uncoalesced: exchange=x threads={threads} given=param_4:1",
        f"coalesced: threads={threads} given=param_3:1",
    )
]


def run(*command: str | Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=3000, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{command[0]} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def compiled(nvcc: str, folder: Path) -> str:
    """The PTX of the originals."""
    made = folder / PTX.name
    flags = ("-std=c++20", "--expt-relaxed-constexpr", "-arch=compute_75", "-ptx")
    run(nvcc, *flags, f"-I{SOURCE}", "-o", made, PTX.with_suffix(".cu"))
    text, count = re.subn(
        r"^\.version .*$", f".version {PTX_VERSION}", made.read_text(), flags=re.MULTILINE
    )
    assert count == 1
    return text


def mended(folder: Path) -> dict[Path, str]:
    """What `strata access mend` makes of the committed PTX: the header, and the PTX in it."""
    changes = [word for change in CHANGES for word in ("--change", change)]
    run(ACCESS, "mend", PTX, *changes, "--out", folder, "--quiet")
    header = (folder / "mended_originals.mended.hpp").read_text()
    before, ptx, after = re.split(r'(?<=R"strata\()(.*?)(?=\)strata")', header, flags=re.DOTALL)
    return {HEADER: before + PLACE + after, MENDED: ptx}


class MendedForms(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def assert_same(self, text: str, file: Path) -> None:
        # Not assertEqual, which takes minutes to compare texts of this length.
        self.assertTrue(text == file.read_text(), f"{file} is out of date; write it with: {WRITE}")

    def test_the_header_is_what_the_originals_give(self) -> None:
        for file, text in mended(self.folder).items():
            self.assert_same(text, file)

    def test_the_originals_are_what_nvcc_gives(self) -> None:
        [release] = re.findall(r"release .*", PTX.read_text())
        if NVCC is None or release not in run(NVCC, "--version"):
            self.skipTest(f"not compared: no nvcc of {release}")
        self.assert_same(compiled(NVCC, self.folder), PTX)


if __name__ == "__main__":
    if "--write" in sys.argv:
        if NVCC is None:
            sys.exit("no nvcc on PATH or in /usr/local/cuda/bin; install the CUDA toolkit")
        with tempfile.TemporaryDirectory() as temporary:
            PTX.write_text(compiled(NVCC, Path(temporary)))
            for file, text in mended(Path(temporary)).items():
                file.write_text(text)
    else:
        unittest.main(argv=[sys.argv[0], "-v", *sys.argv[3:]])
