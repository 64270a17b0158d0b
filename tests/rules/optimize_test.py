"""`strata access optimize` as a user meets it: changes, files, the header in a program, messages.

optimize_test.py STRATA SOURCE_FOLDER [unittest flags]
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

STRATA = str(Path(sys.argv[1]).resolve())
DATA = Path(sys.argv[2]).resolve() / "tests" / "data"
KERNELS = DATA / "access" / "mend.ptx"
PATIENCE = 900
"""Seconds after which a command counts as hung: with sanitizers, on a busy machine, it is slow."""
TOOLS = os.pathsep.join([os.environ.get("PATH", ""), "/usr/local/cuda/bin"])

PROGRAM = """
#include "mend.mended.hpp"
#include <cstdio>
int main() {
  using strata::mended::Shape;
  using strata::mended::scale;
  char* const at = reinterpret_cast<char*>(1ULL << 40U);
  const auto tell = [] {
    std::printf("%s %u %u %u\\n", last_launch.kernel, last_launch.grid.x, last_launch.block.x,
                last_launch.blocks);
  };
  const auto launch = [&](unsigned blocks, unsigned threads, char* from, char* to, int n) {
    scale::launch(dim3(blocks), dim3(threads), reinterpret_cast<const float*>(from),
                  reinterpret_cast<float*>(to), 2.0F, n);
    tell();
  };
  launch(7, 64, at, at + 4096, 440);
  launch(7, 64, at + 4, at + 4096, 440);
  launch(7, 64, at, at + 1024, 440);
  launch(7, 96, at, at + 4096, 440);
  launch(0, 64, at, at + 4096, 440);
  launch(7, 2048, at, at + 4096, 440);
  std::printf("%s\\n", scale::why_not(Shape{dim3(7), dim3(64)}, at, at + 64, 2.0F, 440));
  std::printf("%d\\n", last_launch.first_argument == 1ULL << 40U);
}
"""

ROTATION = """
#include "rotation_forward.mended.hpp"
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <new>
unsigned long allocations = 0;
void* operator new(std::size_t bytes) {
  ++allocations;
  return std::malloc(bytes);
}
void operator delete(void* at) noexcept { std::free(at); }
void operator delete(void* at, std::size_t) noexcept { std::free(at); }
struct Turn {
  unsigned width, height;
  int cosine, sine, from_x, from_y;
};
int main() {
  using strata::mended::turned;
  argument_count = 3;
  const auto* const from = reinterpret_cast<const char*>(1ULL << 40U);
  auto* const to = reinterpret_cast<char*>(2ULL << 40U);
  for (const int degrees : {0, 30, 60, 90, 180, 210}) {
    const double angle = degrees * 3.14159265358979 / 180;
    const Turn turn{8192, 8192, static_cast<int>(std::lround(65536 * std::cos(angle))),
                    static_cast<int>(std::lround(65536 * std::sin(angle))), 32768, 32768};
    const strata::mended::Shape shape{dim3(512, 512), dim3(16, 16)};
    const auto before = allocations;
    turned::launch(shape, from, to, turn);
    const char* const why = turned::why_not(shape, from, to, turn);
    std::printf("%d %u %d %d %lu %s\\n", degrees, last_launch.grid.x,
                turned::pays(shape, from, to, turn), turned::does_same(shape, from, to, turn),
                degrees > 0 ? allocations - before : 0, why == nullptr ? "-" : why);
  }
}
"""


class Mend(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = Path(folder.name)

    def answer(self, *arguments: str | Path, code: int = 0) -> subprocess.CompletedProcess[str]:
        answer = subprocess.run(
            [STRATA, "access", "optimize", *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "PATH": TOOLS},
            check=False,
        )
        self.assertEqual(answer.returncode, code, answer.stderr)
        return answer

    def refusal(self, *arguments: str | Path) -> str:
        answer = self.answer(*arguments, code=2)
        self.assertEqual(len(answer.stderr.strip().splitlines()), 1, answer.stderr)
        self.assertEqual(answer.stdout, "")
        return answer.stderr

    def test_it_says_what_it_did_and_why_not(self) -> None:
        launch = self.out / "launch.yaml"
        launch.write_text(
            "schema: 1\nkernel: column_of_block\ngrid: 64\nblock: 32\narguments:\n"
            "  - {bytes: 8192}\n  - {bytes: 8192}\n  - 64\n"
        )
        words = ("--kernel", "column_of_block|from_left", "--launch", launch)
        text = self.answer(KERNELS, *words).stdout
        self.assertIn("optimized: lanes along blockIdx.x instead of threadIdx.x", text)
        self.assertIn("0 bits differ", text)
        self.assertIn("the original is launched where", text)
        self.assertRegex(text, r"refused: line \d+ of the PTX: st.global.f32: .*another thread")
        self.assertIn("2 kernels: 1 optimized, 1 refused", text)
        kernels = json.loads(self.answer(KERNELS, *words, "--format", "json").stdout)["kernels"]
        columns = next(one for one in kernels if one["kernel"] == "column_of_block")
        self.assertEqual(columns["before"]["sectors"], 2 * 64 * 32)
        self.assertEqual(columns["after"]["sectors"], 2 * 64 * 32 // 8)
        self.assertEqual(columns["compared"], 4)

    def test_a_program_launches_what_does_the_same(self) -> None:
        compiler = shutil.which("c++")
        if compiler is None:
            self.skipTest("no C++ compiler")
        self.answer(KERNELS, "--change", "scale: threads=4", "--out", self.out)
        program = self.out / "program.cpp"
        program.write_text(PROGRAM)
        # As old as a program of CUDA 13 may be.
        build = [
            compiler,
            "-std=c++17",
            "-Wall",
            "-Wextra",
            "-Werror",
            f"-I{DATA / 'cuda_stub'}",
        ]
        subprocess.run([*build, str(program), "-o", str(self.out / "program")], check=True)
        told = subprocess.run(
            [str(self.out / "program")], capture_output=True, text=True, check=True
        ).stdout.splitlines()
        self.assertEqual(told[0], "scale_mended 2 64 7")
        shapes = ("7 64 7", "7 64 7", "7 96 7", "0 64 0", "7 2048 7")
        original = [f"scale {shape}" for shape in shapes]
        self.assertEqual(told[1:6], original)
        self.assertIn("may meet", told[6])
        self.assertEqual(told[7], "1")

    def test_a_program_takes_the_original_where_stores_would_scatter(self) -> None:
        """A rotation's angle tells how far apart the lanes of a warp store."""
        compiler = shutil.which("c++")
        if compiler is None:
            self.skipTest("no C++ compiler")
        self.answer(
            DATA / "access" / "rotation_forward.ptx",
            "--kernel",
            "Original",
            "--change",
            "threads=4",
            "--out",
            self.out,
        )
        program = self.out / "rotation.cpp"
        program.write_text(ROTATION)
        build = [compiler, "-std=c++17", "-Wall", "-Wextra", "-Werror", "-O1"]
        build += [f"-I{DATA / 'cuda_stub'}", str(program), "-o", str(self.out / "rotation")]
        subprocess.run(build, check=True)
        told = subprocess.run(
            [str(self.out / "rotation")], capture_output=True, text=True, check=True
        ).stdout.splitlines()
        slower = "its stores would reach more sectors than the original's"
        mended = ("128 1 1 0 -", (0, 90, 180))
        original = (f"512 0 1 0 {slower}", (30, 60, 210))
        expected = {angle: words for words, angles in (mended, original) for angle in angles}
        self.assertEqual(told, [f"{angle} {expected[angle]}" for angle in sorted(expected)])

    def test_ptxas_takes_what_it_writes(self) -> None:
        if shutil.which("ptxas", path=TOOLS) is None:
            self.skipTest("no ptxas")
        changes = [
            "scale: threads=4",
            "bytes: threads=16",
            "rows_sum: passes=16",
            "column_of_block: exchange=x threads=4",
            "ways: threads=2",
            "transpose: swizzle=128",
            "volume: swap=x,z",
        ]
        words = [word for change in changes for word in ("--change", change)]
        kernels = json.loads(
            self.answer(KERNELS, *words, "--assemble", "--out", self.out, "--format", "json").stdout
        )["kernels"]
        mended = [one for one in kernels if one["state"] == "optimized"]
        self.assertEqual(len(mended), len(changes))
        whole = self.out / "mend.mended.ptx"
        command = [
            "ptxas",
            "-arch=sm_90",
            "-O0",
            str(whole),
            "-o",
            str(self.out / "a.cubin"),
        ]
        subprocess.run(command, check=True, env={**os.environ, "PATH": TOOLS})

    def of_fault(self, name: str, *words: str | Path) -> tuple[str, str]:
        """The output, and the state of the kernel in it."""
        words = (DATA / "access" / "faults" / f"{name}.ptx", *words)
        text = self.answer(*words, "--format", "json").stdout
        return self.answer(*words).stdout, json.loads(text)["kernels"][0]["state"]

    def test_usual_launches_have_the_axes_that_the_kernel_reads(self) -> None:
        text, state = self.of_fault("mend_default_grid_3d")
        self.assertEqual(state, "optimized")
        self.assertIn("taken in 32 of 32 usual launches", text)

    def test_a_kernel_that_no_usual_launch_takes_is_unchanged(self) -> None:
        text, state = self.of_fault("loaded_stride")
        self.assertEqual(state, "unchanged")
        self.assertIn("may meet", text)

    def test_blocks_of_a_long_launch_are_sampled(self) -> None:
        launch = DATA / "access" / "faults" / "budget_called_unchanged.yaml"
        text, state = self.of_fault("budget_called_unchanged", "--launch", launch)
        self.assertEqual(state, "optimized")
        self.assertRegex(text, r"\d+ of 256 blocks: requests \d+")
        self.assertIn("threadIdx.x and threadIdx.y swapped", text)

    def test_the_given_launch_is_compared_first(self) -> None:
        launch = DATA / "access" / "faults" / "transpose_not_compared.yaml"
        text, state = self.of_fault("transpose_not_compared", "--launch", launch, "--compare", "1")
        self.assertEqual(state, "optimized")
        # Samples have blocks in which threads race; the given launch has none.
        self.assertIn("compared in 1 launch on the host, 0 bits differ\n", text)

    def test_a_table_of_the_compiler_is_no_variable_of_the_host(self) -> None:
        self.assertNotIn("a variable of the module", self.of_fault("module_table_refused")[0])

    def test_what_was_not_compared_is_not_optimized(self) -> None:
        unmodelled = self.out / "unmodelled.ptx"
        text = (DATA / "access" / "faults" / "mend_default_grid_3d.ptx").read_text()
        unmodelled.write_text(
            text.replace("\tst.global", "\tfns.b32 %r1, %r1, %r1, %r1;\n\tst.global")
        )
        answer = self.answer(unmodelled, "--out", self.out / "optimized")
        self.assertIn("refused: 4 threads in one", answer.stdout)
        self.assertIn("not compared", answer.stdout)
        self.assertEqual(list((self.out / "optimized").iterdir()), [])

    def test_its_old_name_stays(self) -> None:
        words = ("--kernel", "column_of_block")
        old = subprocess.run(
            [STRATA, "access", "mend", str(KERNELS), *words],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=True,
        )
        self.assertEqual(old.stdout, self.answer(KERNELS, *words).stdout)

    def test_bad_input_is_refused_in_one_line(self) -> None:
        self.assertIn("no kernel matches", self.refusal(KERNELS, "--kernel", "scala"))
        self.assertIn("scale", self.refusal(KERNELS, "--kernel", "scala"))
        self.assertIn("no such file", self.refusal("nothing.ptx").lower())
        self.assertIn("'fast=4'", self.refusal(KERNELS, "--change", "scale: fast=4"))
        self.assertIn("an axis", self.refusal(KERNELS, "--change", "scale: swap=x,w"))
        self.assertIn("--compare", self.refusal(KERNELS, "--compare", "-1"))
        (self.out / "file").write_text("")
        told = self.answer(
            KERNELS, "--kernel", "column", "--out", self.out / "file" / "x", code=2
        ).stderr
        self.assertIn("--out", told)
        launch = self.out / "of-another.yaml"
        launch.write_text("schema: 1\ninput: other.ptx\nkernel: scale\ngrid: 1\nblock: 32\n")
        self.assertIn("of-another.yaml:2: input", self.refusal(KERNELS, "--launch", launch))
        self.assertIn("FILES", self.refusal())
        self.assertIn("--launch", self.refusal(KERNELS, "--run"))

    def test_a_missing_device_is_told_in_one_line(self) -> None:
        launch = self.out / "bytes.yaml"
        buffers = "  - {bytes: 2048}\n" * 3
        launch.write_text(
            "schema: 1\nkernel: ^bytes$\ngrid: [8]\nblock: [256]\n"
            f"arguments:\n{buffers}  - u32 2048\n"
        )
        command = [STRATA, "access", "mend", str(KERNELS), "--launch", str(launch), "--run"]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        if done.returncode == 0:
            self.skipTest("there is a device")
        self.assertEqual((done.returncode, done.stderr.count("\n")), (3, 1), done.stderr)

    def test_it_explains_itself(self) -> None:
        text = self.answer("--help").stdout
        for word in (
            "--change",
            "--launch",
            "--out",
            "--compare",
            "--run",
            "exchange=x",
            "Exit status",
        ):
            self.assertIn(word, text)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[3:]])
