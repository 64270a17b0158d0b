"""Kernels in Python that cupyx.jit turns into CUDA C++, compiled by NVRTC as CuPy calls it."""

# Kernels are in the package's language.
# mypy: ignore-errors

from __future__ import annotations

from pathlib import Path

import cupy
import numpy as np
from by_nvrtc import compiled
from cupyx import jit
from cupyx.jit import _compile, _cuda_types
from emitted import Emitted, buffer, fields

CONTIGUOUS = (True, True)
"""In memory one row behind the other; indices of 32 bits are enough."""


def saxpy(x, y, a, n):
    i = jit.blockIdx.x * jit.blockDim.x + jit.threadIdx.x
    if i < n:
        y[i] = a * x[i] + y[i]


def grid_stride(x, y, n):
    for i in range(jit.grid(1), n, jit.gridsize(1)):
        y[i] = x[i] + x[i]


def strided(x, y, n):
    i = jit.grid(1)
    if i < n:
        y[i] = x[i, 1]


def stencil(x, y, height, width):
    i = jit.blockIdx.y * jit.blockDim.y + jit.threadIdx.y
    j = jit.blockIdx.x * jit.blockDim.x + jit.threadIdx.x
    if i > 0 and j > 0 and i < height - 1 and j < width - 1:
        y[i, j] = x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1]


def transpose(x, y):
    tile = jit.shared_memory(np.float32, 32 * 33)
    tx, ty = jit.threadIdx.x, jit.threadIdx.y
    for j in range(np.uint32(0), np.uint32(32), np.uint32(8)):
        tile[(ty + j) * 33 + tx] = x[jit.blockIdx.y * 32 + ty + j, jit.blockIdx.x * 32 + tx]
    jit.syncthreads()
    for j in range(np.uint32(0), np.uint32(32), np.uint32(8)):
        y[jit.blockIdx.x * 32 + ty + j, jit.blockIdx.y * 32 + tx] = tile[tx * 33 + ty + j]


def block_sum(x, sums, n):
    part = jit.shared_memory(np.float32, 256)
    tid = jit.threadIdx.x
    total = np.float32(0)
    for i in range(jit.blockIdx.x * 256 + tid, n, 256 * jit.gridDim.x):
        total += x[i]
    part[tid] = total
    jit.syncthreads()
    half = np.uint32(128)
    while half > 0:
        if tid < half:
            part[tid] += part[tid + half]
        jit.syncthreads()
        half = half // 2
    if tid == 0:
        sums[jit.blockIdx.x] = part[0]


def gather(index, x, y, n):
    i = jit.grid(1)
    if i < n:
        y[i] = x[index[i]]


def histogram(x, counts, n):
    bins = jit.shared_memory(np.uint32, 256)
    tid = jit.threadIdx.x
    bins[tid] = np.uint32(0)
    jit.syncthreads()
    i = jit.grid(1)
    if i < n:
        jit.atomic_add(bins, x[i], np.uint32(1))
    jit.syncthreads()
    jit.atomic_add(counts, tid, bins[tid])


def product(a, b, c, depth):
    i = jit.blockIdx.y * jit.blockDim.y + jit.threadIdx.y
    j = jit.blockIdx.x * jit.blockDim.x + jit.threadIdx.x
    total = np.float32(0)
    for k in range(depth):
        total += a[i, k] * b[k, j]
    c[i, j] = total


def array(dtype: type, *shape: int, fill: str | None = None) -> str:
    """CArray: data, elements, extents, strides."""
    itemsize = np.dtype(dtype).itemsize
    elements = int(np.prod(shape))
    at = {"_0": buffer(itemsize * elements, fill), "_8": f"s64 {elements}"}
    for axis, extent in enumerate(shape):
        at[f"_{16 + 8 * axis}"] = f"s64 {extent}"
        stride = itemsize * int(np.prod(shape[axis + 1 :]))
        at[f"_{16 + 8 * (len(shape) + axis)}"] = f"s64 {stride}"
    return fields(**at)


def make(emitted: Emitted) -> None:
    f, i32, n = np.float32, np.int32, 10_000
    line, plane = (f, n), (f, 96, 160)
    jobs = [
        (saxpy, [line, line, f, i32], (40,), (256,), ["2.0", n], {}),
        (grid_stride, [line, line, i32], (8,), (128,), [n], {}),
        (strided, [(f, n, 3), line, i32], (40,), (256,), [n], {}),
        (stencil, [plane, plane, i32, i32], (5, 12), (32, 8), [96, 160], {}),
        (transpose, [plane, (f, 160, 96)], (5, 3), (32, 8), [], {}),
        (block_sum, [line, (f, 8), i32], (8,), (256,), [n], {}),
        (
            gather, [(i32, n), line, line, i32], (40,), (256,), [n],
            {0: f"random 5, below: {n}, element: 4"},
        ),
        (
            histogram, [(i32, n), (np.uint32, 256), i32], (40,), (256,), [n],
            {0: "random 6, below: 256, element: 4"},
        ),
        (
            product, [(f, 96, 32), (f, 32, 64), (f, 96, 64), i32], (4, 6), (16, 16), [32], {}
        ),
    ]  # fmt: skip
    headers = Path(cupy.__file__).parent / "_core" / "include"
    options = (
        f"-I{headers}",
        "--std=c++17",
        "--device-as-default-execution-space",
        "-DCUPY_JIT_MODE",
        *cuda_headers(),
    )
    for function, types, grid, block, numbers, fills in jobs:
        kinds, arguments = [], []
        for place, one in enumerate(types):
            if isinstance(one, tuple):
                dtype, *shape = one
                kinds.append(_cuda_types.CArray(np.dtype(dtype), len(shape), *CONTIGUOUS))
                arguments.append(array(dtype, *shape, fill=fills.get(place)))
            else:
                kinds.append(_cuda_types.Scalar(np.dtype(one)))
        made = _compile.transpile(
            function, ['extern "C"', "__global__"], "cuda", tuple(kinds), _cuda_types.void
        )
        text = compiled(made.code, f"{function.__name__}.cu", *options)
        emitted.keep(
            function.__name__, text, grid=grid, block=block, arguments=[*arguments, *numbers]
        )


def cuda_headers() -> list[str]:
    """The headers that come with NVIDIA's packages."""
    import nvidia

    include = [Path(root) / "cu13" / "include" for root in nvidia.__path__]
    return [f"-I{one}" for folder in include for one in (folder, folder / "cccl")]
