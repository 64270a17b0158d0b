"""An installed strata, from a folder with a difficult name, on a PATH without a compiler.

package_test.py BUILD_FOLDER SOURCE_FOLDER

It installs what BUILD_FOLDER has. With STRATA_PACKAGE=WHEEL it also installs that wheel, which
tools/package.sh makes, in a new environment (pip then needs the network), and measures with it.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
import tomllib
import unittest
from pathlib import Path

BUILD, SOURCE = (Path(argument).resolve() for argument in sys.argv[1:3])
WHEEL = os.environ.get("STRATA_PACKAGE")
OWN = SOURCE / ".venv/bin/python"
PYTHON = os.environ.get("STRATA_PYTHON", str(OWN if OWN.exists() else sys.executable))
"""One with what the analysis needs, as the program finds it where it is not installed."""
PATIENCE = 900


def run(*words: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """With nothing on the PATH, and nothing else that could find the sources."""
    hidden = ("PYTHONPATH", "PYTHONHOME", "STRATA_PYTHON", "VIRTUAL_ENV")
    kept = {name: value for name, value in os.environ.items() if name not in hidden}
    return subprocess.run(
        words,
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        stdin=subprocess.DEVNULL,
        env={**kept, "PATH": str(cwd), "TMPDIR": str(cwd), **environment},
        check=False,
    )


class Folder(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name) / "größte Mühe  'und Ruhe'"
        self.work = self.folder / "работа"
        self.work.mkdir(parents=True)

    def done(self, *words: str | Path, **environment: str) -> str:
        answer = run(*words, cwd=self.work, **environment)
        self.assertEqual(answer.returncode, 0, answer.stdout + answer.stderr)
        return answer.stdout

    def measures_and_reports(self, strata: Path, **environment: str) -> None:
        self.done(
            strata, "run", "quick", "--device", "host", "--filter", "timer_check", **environment
        )
        [measured] = (self.work / "runs").iterdir()
        self.done(strata, "validate", measured, **environment)
        self.done(strata, "report", measured, **environment)
        self.assertTrue((measured / "report/report.html").is_file())


class Installed(Folder):
    def setUp(self) -> None:
        super().setUp()
        self.prefix = self.folder / "prefix"
        subprocess.run(
            ["cmake", "--install", BUILD, "--prefix", self.prefix],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        self.strata = self.prefix / "bin/strata"

    def test_it_measures_and_reports_with_the_analysis_installed_beside_it(self) -> None:
        self.measures_and_reports(self.strata, STRATA_PYTHON=PYTHON)
        analysis = self.prefix / "share/strata/analysis/strata"
        self.assertFalse(list(analysis.rglob("*.so")))
        (analysis / "__main__.py").write_text("import sys\nprint('installed', *sys.argv[1:])\n")
        expected = "installed report a run\n"
        own = {"STRATA_PYTHON": PYTHON}
        self.assertEqual(self.done(self.strata, "report", "a run", **own), expected)
        # Without the variable, by the Python beside it.
        python = self.prefix / "bin/python3"
        python.write_text(f'#!/bin/sh\nexec "{PYTHON}" "$@"\n')
        python.chmod(0o755)
        self.assertEqual(self.done(self.strata, "report", "a run"), expected)

    def test_a_kernel_is_analysed_by_the_program_beside_it(self) -> None:
        kernels = SOURCE / "tests/data/access/mend.ptx"
        self.assertIn("histogram", self.done(self.strata, "access", kernels))
        (self.strata.parent / "strata-access").unlink()
        answer = run(self.strata, "access", kernels, cwd=self.work)
        self.assertEqual((answer.returncode, answer.stdout), (2, ""))
        self.assertRegex(answer.stderr, r"^strata: cannot start .*/strata-access: .*\n$")

    def test_everything_is_there(self) -> None:
        for folder, names in (
            ("sweeps", {"quick.yaml", "default.yaml", "full.yaml", "ceilings.yaml", "energy.yaml"}),
            ("counters", {"memory.yaml"}),
            ("analysis/strata/reference/data", {"sources.bib", "latency.csv"}),
            (".", {"LICENSE", "NOTICE", "requirements.lock"}),
        ):
            there = {file.name for file in (self.prefix / "share/strata" / folder).iterdir()}
            self.assertLessEqual(names, there)
        self.assertFalse(list(self.prefix.rglob("__pycache__")))

    def test_another_cmake_project_finds_it(self) -> None:
        (self.work / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(other LANGUAGES NONE)\n"
            "find_package(Strata 0.1 REQUIRED)\nget_target_property(at strata::strata LOCATION)\n"
            'message(STATUS "at ${at}, version ${Strata_VERSION}")\n'
        )
        answer = subprocess.run(
            ["cmake", "-S", ".", "-B", "made", f"-DCMAKE_PREFIX_PATH={self.prefix}"],
            cwd=self.work,
            check=True,
            capture_output=True,
            text=True,
        )
        self.assertIn(f"at {self.strata}, version 0.1", answer.stdout)


class Parts(Folder):
    def test_the_command_of_the_wheel_becomes_the_program_and_names_its_python(self) -> None:
        package = self.work / "strata_gpu"
        (package / "bin").mkdir(parents=True)
        start = "__init__.py"
        (package / start).write_text((SOURCE / "tools/package/strata_gpu" / start).read_text())
        program = package / "bin/strata"
        program.write_text('#!/bin/sh\nprintf "%s|" "$STRATA_PYTHON" "$@"\n')
        program.chmod(0o755)
        call = (sys.executable, "-c", "import strata_gpu as s; s.main()", "report", "a b", "ü")
        self.assertEqual(self.done(*call), f"{sys.executable}|report|a b|ü|")
        self.assertEqual(self.done(*call, STRATA_PYTHON="own"), "own|report|a b|ü|")

    def test_the_wheel_needs_what_the_analysis_needs(self) -> None:
        wheel, analysis = (
            tomllib.loads((SOURCE / folder / "pyproject.toml").read_text())["project"]
            for folder in ("tools/package", "analysis")
        )
        for field in ("dependencies", "requires-python"):
            self.assertEqual(wheel[field], analysis[field])

    def test_what_a_program_needs_of_a_machine_is_read(self) -> None:
        file = SOURCE / "tools/package/glibc.py"
        spec = importlib.util.spec_from_file_location("glibc", file)
        assert spec
        assert spec.loader
        glibc = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(glibc)
        headers = (
            "  NEEDED               libm.so.6\n  NEEDED               libcupti.so.13\n"
            "    0x09691974 0x00 05 GLIBC_2.3.4\n    0x069691b4 0x00 04 GLIBC_2.34\n"
            "    0x08922974 0x00 03 GLIBC_PRIVATE\n    0x08922974 0x00 02 GLIBCXX_3.4.30\n"
        )
        self.assertEqual(glibc.needs(headers, "strata"), (["libcupti.so.13"], ["2.3.4", "2.34"]))
        for library in ("libstrata_capture.so", "libstrata_profile.so"):
            self.assertEqual(glibc.needs(headers, library)[0], [])
        real = subprocess.run(
            [sys.executable, file, BUILD / "bin/strata"],
            capture_output=True,
            text=True,
            check=False,
        )
        shared = "libyaml-cpp.so" in real.stderr  # not in a build for a package
        self.assertEqual(real.returncode, int(shared), real.stderr)
        self.assertRegex(real.stdout, r"^2\.\d+\n$")


@unittest.skipUnless(WHEEL, "STRATA_PACKAGE names no wheel")
class Wheel(Folder):
    def test_a_new_environment_measures_and_reports(self) -> None:
        environment = self.folder / "venv"
        subprocess.run([PYTHON, "-m", "venv", environment], check=True)
        python = environment / "bin/python"
        subprocess.run([python, "-m", "pip", "install", "--quiet", str(WHEEL)], check=True)
        strata = environment / "bin/strata"
        self.assertRegex(self.done(strata, "--version"), r"^0\.1\.0 \([0-9a-f]{40}\)\n$")
        self.measures_and_reports(strata)
        self.done(python, "-c", "import strata; strata.load_run")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
