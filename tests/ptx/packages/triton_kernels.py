"""Kernels over blocks of elements, as Triton compiles them."""

# Kernels are in the package's language.
# ruff: noqa: N803, PLR0917
# mypy: ignore-errors

from __future__ import annotations

from dataclasses import dataclass, field

import triton
import triton.language as tl
from emitted import TARGET, Emitted, buffer
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def saxpy(x, y, a, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    tl.store(y + i, a * tl.load(x + i, mask=inside) + tl.load(y + i, mask=inside), mask=inside)


@triton.jit
def every_other(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + 2 * i, mask=i < n), mask=i < n)


@triton.jit
def row_sum(x, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        i = start + tl.arange(0, BLOCK)
        total += tl.load(x + row * columns + i, mask=i < columns, other=0.0)
    tl.store(y + row, tl.sum(total))


@triton.jit
def softmax(x, y, stride, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * stride + i, mask=i < columns, other=-float("inf"))
    v = tl.exp(v - tl.max(v))
    tl.store(y + row * stride + i, v / tl.sum(v), mask=i < columns)


@triton.jit
def product(
    a, b, c, M, N, K, along_a, along_b, along_c,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        left = tl.load(a + rows[:, None] * along_a + start + k[None, :])
        right = tl.load(b + (start + k[:, None]) * along_b + columns[None, :])
        total = tl.dot(left, right, total)
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c + rows[:, None] * along_c + columns[None, :], total, mask=inside)


@triton.jit
def transpose(x, y, n, BLOCK: tl.constexpr):
    r = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    tile = tl.load(x + r[:, None] * n + c[None, :])
    tl.store(y + c[:, None] * n + r[None, :], tl.trans(tile))


@triton.jit
def stencil(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = (i > 0) & (i < n - 1)
    before = tl.load(x + i - 1, mask=inside)
    behind = tl.load(x + i + 1, mask=inside)
    tl.store(y + i, tl.load(x + i, mask=inside) + before + behind, mask=inside)


@triton.jit
def gather(index, x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at = tl.load(index + i, mask=i < n, other=0)
    tl.store(y + i, tl.load(x + at, mask=i < n), mask=i < n)


@triton.jit
def count(x, counts, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(counts + tl.load(x + i, mask=i < n, other=0), 1, mask=i < n)


@triton.jit
def cumulative(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.cumsum(tl.load(x + i, mask=i < n, other=0.0), 0), mask=i < n)


@triton.jit
def tensor_copy(x, y, rows, columns, BLOCK: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [rows, columns], [columns, 1], [BLOCK, BLOCK])
    target = tl.make_tensor_descriptor(y, [rows, columns], [columns, 1], [BLOCK, BLOCK])
    at = [tl.program_id(0) * BLOCK, tl.program_id(1) * BLOCK]
    target.store(at, source.load(at) * 2.0)


@dataclass(frozen=True)
class Job:
    """A kernel with the types of its arguments; those of `aligned` are multiples of 16."""

    kernel: object
    signature: dict[str, str]
    constants: dict[str, int]
    grid: tuple[int, ...]
    arguments: list[str | int]
    aligned: tuple[int, ...]
    warps: int = 4
    options: dict[str, int] = field(default_factory=dict)


def make(emitted: Emitted) -> None:
    n = 20_000
    line, whole = buffer(4 * n), buffer(4 * 128 * 128)
    floats = {"x": "*fp32", "y": "*fp32"}
    halves = {"a": "*fp16", "b": "*fp16", "c": "*fp32"}
    sizes = dict.fromkeys(("M", "N", "K", "along_a", "along_b", "along_c"), "i32")
    indices = buffer(4 * n, f"random 3, below: {n}, element: 4")
    jobs = [
        Job(
            saxpy, floats | {"a": "fp32", "n": "i32"}, {"BLOCK": 1024}, (20,),
            [line, line, "2.0", n], (0, 1, 3),
        ),
        Job(
            every_other, floats | {"n": "i32"}, {"BLOCK": 512}, (20,),
            [line, line, n // 2], (0, 1, 2),
        ),
        Job(
            row_sum, floats | {"columns": "i32"}, {"BLOCK": 256}, (20,),
            [line, buffer(80), 1000], (0, 1),
        ),
        Job(
            softmax, floats | {"stride": "i32", "columns": "i32"}, {"BLOCK": 1024}, (20,),
            [line, line, 1000, 1000], (0, 1),
        ),
        Job(
            product, halves | sizes, {"BM": 64, "BN": 64, "BK": 32}, (2, 2),
            [buffer(2 * 128 * 64), buffer(2 * 64 * 128), whole, 128, 128, 64, 64, 128, 128],
            (0, 1, 2, 5, 6, 7, 8),
        ),
        Job(
            transpose, floats | {"n": "i32"}, {"BLOCK": 64}, (2, 2), [whole, whole, 128], (0, 1, 2)
        ),
        Job(stencil, floats | {"n": "i32"}, {"BLOCK": 512}, (40,), [line, line, n], (0, 1, 2)),
        Job(
            gather, {"index": "*i32"} | floats | {"n": "i32"}, {"BLOCK": 512}, (40,),
            [indices, line, line, n], (0, 1, 2, 3),
        ),
        Job(
            count, {"x": "*i32", "counts": "*i32", "n": "i32"}, {"BLOCK": 512}, (40,),
            [buffer(4 * n, "random 4, below: 64, element: 4"), buffer(256), n], (0, 1, 2),
        ),
        Job(
            cumulative, floats | {"n": "i32"}, {"BLOCK": 512}, (40,), [line, line, n], (0, 1, 2)
        ),
        Job(
            tensor_copy, floats | {"rows": "i32", "columns": "i32"}, {"BLOCK": 32}, (), [],
            (0, 1, 2, 3),
        ),
    ]  # fmt: skip
    for job in jobs:
        types = job.signature | dict.fromkeys(job.constants, "constexpr")
        source = ASTSource(
            fn=job.kernel,
            signature=types,
            constexprs=job.constants,
            attrs={(place,): [["tt.divisibility", 16]] for place in job.aligned},
        )
        made = triton.compile(
            source, target=GPUTarget("cuda", TARGET, 32), options={"num_warps": job.warps}
        )
        emitted.keep(
            job.kernel.__name__,
            made.asm["ptx"],
            grid=job.grid,
            block=(32 * job.warps,),
            # Behind the kernel's own arguments: scratch memory, and that of the profiler.
            arguments=[*job.arguments, 0, 0],
            shared=made.metadata.shared,
        )
