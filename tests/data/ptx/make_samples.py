"""Makes the PTX beside this file: what Triton, numba-cuda, clang++ and nvcc make of small kernels.

    python tests/data/ptx/make_samples.py [triton] [numba] [clang] [nvcc]

Needs no GPU. The Python packages `triton` and `numba-cuda`, clang++ or nvcc must be there for the
samples that are asked for. Names of folders are taken out, so that a sample says nothing of the
machine that made it.
"""

# Kernels are in languages of their own, and the packages are not ours.
# ruff: noqa: ANN001, ANN202, N803, S607
# mypy: ignore-errors

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
TARGET = 90


def keep(name: str, text: str) -> None:
    """Write a sample: of paths only names are left, of debug information only .debug_str."""
    text = re.sub(r'"[^"\n]*/([^"/\n]+)"', r'"\1"', text)
    text = re.sub(
        r"^\t?\.section\t\.debug_(?!str).*?^\t?\}\n", "", text, flags=re.MULTILINE | re.DOTALL
    )
    text = re.sub(r"^//.*(Build ID|Cuda compilation tools).*\n", "", text, flags=re.MULTILINE)
    (HERE / name).write_text(text.strip() + "\n", encoding="utf-8")


def make_triton() -> None:
    """A masked copy, the sum of a row and a matrix product, as `triton.compile` makes them."""
    import triton
    import triton.language as tl
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    @triton.jit
    def scale(x, y, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(y + i, 2.0 * tl.load(x + i, mask=i < n), mask=i < n)

    @triton.jit
    def row_sum(x, y, columns, BLOCK: tl.constexpr):
        row = tl.program_id(0)
        total = tl.zeros((BLOCK,), dtype=tl.float32)
        for start in range(0, columns, BLOCK):
            i = start + tl.arange(0, BLOCK)
            total += tl.load(x + row * columns + i, mask=i < columns, other=0.0)
        tl.store(y + row, tl.sum(total))

    @triton.jit
    def product(a, b, c, k, N: tl.constexpr):
        i = tl.arange(0, N)
        total = tl.zeros((N, N), dtype=tl.float32)
        for start in range(0, k, N):
            left = tl.load(a + i[:, None] * k + start + i[None, :])
            right = tl.load(b + (start + i[:, None]) * N + i[None, :])
            total = tl.dot(left, right, total)
        tl.store(c + i[:, None] * N + i[None, :], total)

    floats = {"x": "*fp32", "y": "*fp32"}
    halves = {"a": "*fp16", "b": "*fp16", "c": "*fp32"}
    for kernel, signature, constants in (
        (scale, floats | {"n": "i32"}, {"BLOCK": 1024}),
        (row_sum, floats | {"columns": "i32"}, {"BLOCK": 256}),
        (product, halves | {"k": "i32"}, {"N": 64}),
    ):
        types = signature | dict.fromkeys(constants, "constexpr")
        source = ASTSource(fn=kernel, signature=types, constexprs=constants)
        made = triton.compile(source, target=GPUTarget("cuda", TARGET, 32))
        keep(f"triton_{kernel.__name__}.ptx", made.asm["ptx"])


def make_numba() -> None:
    """A transposition through shared memory, as `numba.cuda.compile_ptx` makes it."""
    from numba import cuda, float32, int32

    def transpose(matrix, result, n):
        tile = cuda.shared.array((16, 17), float32)
        x, y = cuda.grid(2)
        if x < n and y < n:
            tile[cuda.threadIdx.y, cuda.threadIdx.x] = matrix[y, x]
        cuda.syncthreads()
        x = cuda.blockIdx.y * 16 + cuda.threadIdx.x
        y = cuda.blockIdx.x * 16 + cuda.threadIdx.y
        if x < n and y < n:
            result[y, x] = tile[cuda.threadIdx.x, cuda.threadIdx.y]

    signature = (float32[:, ::1], float32[:, ::1], int32)
    text, _ = cuda.compile_ptx(transpose, signature, lineinfo=True, cc=(TARGET // 10, 0))
    keep("numba_transpose.ptx", text)


def make_clang() -> None:
    """Without the headers of CUDA, which an older clang++ may not know."""
    flags = [
        "-x",
        "cuda",
        "--cuda-device-only",
        "-nocudainc",
        "-nocudalib",
        "-Wno-unknown-cuda-version",
    ]
    made = subprocess.run(
        [
            "clang++",
            *flags,
            "-S",
            "-O2",
            "-gline-tables-only",
            "--cuda-gpu-arch=sm_80",
            "-o",
            "-",
            HERE / "inlined.cu",
        ],
        check=True,
        capture_output=True,
        text=True,
    )
    keep("clang_inlined.ptx", made.stdout)


def make_nvcc() -> None:
    for name in ("inlined", "declarations"):
        out = HERE / f"nvcc_{name}.ptx"
        subprocess.run(
            [
                "nvcc",
                "-ptx",
                "-lineinfo",
                f"-arch=sm_{TARGET}",
                "-rdc=true",
                "-o",
                out,
                HERE / f"{name}.cu",
            ],
            check=True,
        )
        keep(out.name, out.read_text(encoding="utf-8"))


if __name__ == "__main__":
    for what in sys.argv[1:] or ("triton", "numba", "clang", "nvcc"):
        globals()[f"make_{what}"]()
