"""Compilers and flags that CMake chooses, configured with compilers that work and that fail.

toolchain_test.py SOURCE_FOLDER
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(sys.argv[1]).resolve()
sys.path.insert(0, str(SOURCE / "tools"))
import check_toolkits  # noqa: E402

PATIENCE = 600
#: An nvcc whose host compiler is too new for it: its header crt/host_config.h prints this.
WORDS = "error: #error -- unsupported GNU version! gcc versions later than 15 are not supported!"
FAILING = f"""#!/bin/sh
case " $* " in *" --version "*) echo 'nvcc: NVIDIA (R) Cuda compiler driver'; exit 0;; esac
echo '/usr/local/cuda/include/crt/host_config.h:143:2: {WORDS}' >&2
exit 1
"""
LOGGING = """#!/bin/sh
echo "$*" >> '{log}'
exec '{nvcc}' "$@"
"""


class Toolchain(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name).resolve()

    def compiler(self, name: str, text: str = FAILING) -> Path:
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
        return path

    def configure(self, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Of the whole project, without its tests."""
        hidden = ("CUDACXX", "CUDAHOSTCXX", "CUDAFLAGS", "CUDA_PATH")
        kept = {name: value for name, value in os.environ.items() if name not in hidden}
        build = self.folder / "build"
        shutil.rmtree(build, ignore_errors=True)
        return subprocess.run(
            ["cmake", "-S", SOURCE, "-B", build, "-GNinja", "-DBUILD_TESTING=OFF", *options],
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            env={**kept, **environment},
            check=False,
        )

    def cache(self, name: str) -> str:
        text = (self.folder / "build/CMakeCache.txt").read_text(encoding="utf-8")
        found = [line for line in text.splitlines() if line.startswith(name + ":")]
        return found[0].partition("=")[2] if found else ""

    def assert_fails_with(self, done: subprocess.CompletedProcess[str], nvcc: Path) -> None:
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertIn(f"the CUDA compiler {nvcc} fails", done.stderr)
        self.assertIn(WORDS, done.stderr)
        self.assertIn("-DSTRATA_CUDA=OFF", done.stderr)

    def test_cmake_other_nvcc(self) -> None:
        """The nvcc on PATH is used, and one that is named before it."""
        path = self.compiler("conda/nvcc").parent
        on_path = {"PATH": f"{path}:{os.environ['PATH']}"}
        self.assert_fails_with(self.configure(**on_path), path / "nvcc")
        variable = self.compiler("other")
        self.assert_fails_with(self.configure(**on_path, CUDACXX=str(variable)), variable)
        option = self.compiler("third")
        done = self.configure(f"-DCMAKE_CUDA_COMPILER={option}", **on_path, CUDACXX=str(variable))
        self.assert_fails_with(done, option)

    def test_cmake_other_nvcc_that_works(self) -> None:
        nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
        if not Path(nvcc).exists():
            self.skipTest("no nvcc here")
        log = self.folder / "used.log"
        path = self.compiler("conda/nvcc", LOGGING.format(log=log, nvcc=nvcc)).parent
        done = self.configure(PATH=f"{path}:{os.environ['PATH']}")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(self.cache("CMAKE_CUDA_COMPILER"), str(path / "nvcc"))
        self.assertTrue(log.exists())

    def test_cmake_silent_host_build(self) -> None:
        """A compiler that is named and fails is an error with its output."""
        nvcc = self.compiler("nvcc")
        self.assert_fails_with(self.configure(CUDACXX="./nvcc"), nvcc)
        done = self.configure(CUDACXX="./no-such-nvcc")
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertIn("no-such-nvcc", done.stderr)
        done = self.configure("-DSTRATA_CUDA=OFF", CUDACXX="./nvcc")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def flags(self, compiler: str, *options: str) -> set[tuple[str, ...]]:
        """The warning flags of all sources that are compiled."""
        done = self.configure(
            "-DSTRATA_CUDA=OFF",
            "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON",
            f"-DCMAKE_CXX_COMPILER={compiler}",
            *options,
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        commands = json.loads((self.folder / "build/compile_commands.json").read_text("utf-8"))
        return {
            tuple(word for word in shlex.split(entry["command"]) if word.startswith("-W"))
            for entry in commands
        }

    def test_clang_warnings(self) -> None:
        """Each compiler knows its flags, and warnings are no errors unless requested."""
        compilers = [n for n in ("g++", check_toolkits.clang() or "clang++") if shutil.which(n)]
        if not compilers:
            self.skipTest("neither g++ nor clang++ here")
        for compiler in compilers:
            for flags in self.flags(compiler):
                self.assertNotIn("-Werror", flags)
                done = subprocess.run(
                    [compiler, *flags, "-Werror", "-fsyntax-only", "-xc++", "-"],
                    input="int f(int x) { return x; }\n",
                    capture_output=True,
                    text=True,
                    check=False,
                )
                self.assertEqual((done.returncode, done.stderr), (0, ""), (compiler, flags))
        for flags in self.flags(compilers[0], "-DSTRATA_WERROR=ON"):
            self.assertIn("-Werror", flags)

    def test_cuda_12_compile_error(self) -> None:
        """CMake builds counters for CUDA 12.9 and states why not for 12.4; both compile."""
        include = self.folder / "include"
        include.mkdir()
        why = check_toolkits.why_no_counters("12.4", include)
        self.assertEqual(why, "CUDA 12.4 lacks cupti_range_profiler.h, cudaLibraryLoadData")
        (include / "cupti_range_profiler.h").touch()
        self.assertEqual(check_toolkits.why_no_counters("12.9", include), "")
        self.assertEqual(check_toolkits.why_no_counters("13.5", include), "")
        self.assertIn("cudaLibraryLoadData", check_toolkits.why_no_counters("12.6", include))
        for version, source in (
            ("12.4", "harness/cuda/cuda_check.cpp"),
            ("12.9", "harness/cuda/cupti_tracer.cpp"),
        ):
            headers = check_toolkits.TOOLKITS / version / "include"
            if not headers.exists():
                self.skipTest(f"no headers of CUDA {version}: tools/check_toolkits.py fetches them")
            command = check_toolkits.command(headers, SOURCE / source, "")
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
