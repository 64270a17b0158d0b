"""Kernels in Python, as numba-cuda compiles them."""

# Kernels are in the package's language.
# mypy: ignore-errors

from __future__ import annotations

import numpy as np
from emitted import TARGET, Emitted, buffer
from numba import cuda, float32, float64, from_dtype, int32, uint8, uint32

BODY = from_dtype(
    np.dtype(
        [("x", np.float32), ("y", np.float32), ("z", np.float32), ("mass", np.float64)], align=True
    )
)


def array(itemsize: int, *shape: int, fill: str | None = None) -> list[str | int]:
    """An array as a kernel gets it: two owners, elements, bytes of one, data, shape, strides."""
    elements = int(np.prod(shape))
    strides = [itemsize * int(np.prod(shape[axis + 1 :])) for axis in range(len(shape))]
    return [0, 0, elements, itemsize, buffer(itemsize * elements, fill), *shape, *strides]


def saxpy(x, y, a):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]


def grid_stride(x, y):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        y[i] = x[i] * x[i]


def strided_view(x, y):
    i = cuda.grid(1)
    if i < y.size:
        y[i] = x[i]


def stencil(a, out):
    y, x = cuda.grid(2)  # rows along threadIdx.x: what a reader of NumPy writes first
    if 0 < y < a.shape[0] - 1 and 0 < x < a.shape[1] - 1:
        out[y, x] = 0.25 * (a[y - 1, x] + a[y + 1, x] + a[y, x - 1] + a[y, x + 1])


def transpose(a, out):
    tile = cuda.shared.array((16, 16), float32)
    x, y = cuda.grid(2)
    if x < a.shape[1] and y < a.shape[0]:
        tile[cuda.threadIdx.y, cuda.threadIdx.x] = a[y, x]
    cuda.syncthreads()
    x = cuda.blockIdx.y * 16 + cuda.threadIdx.x
    y = cuda.blockIdx.x * 16 + cuda.threadIdx.y
    if x < out.shape[1] and y < out.shape[0]:
        out[y, x] = tile[cuda.threadIdx.x, cuda.threadIdx.y]


def product(a, b, c):
    left = cuda.shared.array((16, 16), float32)
    right = cuda.shared.array((16, 16), float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for k in range(a.shape[1] // 16):
        left[ty, tx] = a[y, k * 16 + tx]
        right[ty, tx] = b[k * 16 + ty, x]
        cuda.syncthreads()
        for j in range(16):
            total += left[ty, j] * right[j, tx]
        cuda.syncthreads()
    c[y, x] = total


def block_sum(x, sums):
    part = cuda.shared.array(256, float64)
    tid = cuda.threadIdx.x
    i = cuda.grid(1)
    part[tid] = x[i] if i < x.size else 0.0
    cuda.syncthreads()
    half = 128
    while half > 0:
        if tid < half:
            part[tid] += part[tid + half]
        cuda.syncthreads()
        half //= 2
    if tid == 0:
        sums[cuda.blockIdx.x] = part[0]


def softmax(x, y):
    part = cuda.shared.array(128, float32)
    row, tid = cuda.blockIdx.x, cuda.threadIdx.x
    total = float32(0)
    for i in range(tid, x.shape[1], 128):
        total += x[row, i]
    part[tid] = total
    cuda.syncthreads()
    if tid == 0:
        for i in range(1, 128):
            part[0] += part[i]
    cuda.syncthreads()
    for i in range(tid, x.shape[1], 128):
        y[row, i] = x[row, i] / part[0]


def gather(index, x, y):
    i = cuda.grid(1)
    if i < index.size:
        y[i] = x[index[i]]


def scatter(index, x, y):
    i = cuda.grid(1)
    if i < index.size:
        y[index[i]] = x[i]


def histogram(x, counts):
    bins = cuda.shared.array(256, uint32)
    tid = cuda.threadIdx.x
    bins[tid] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.add(bins, x[i], 1)
    cuda.syncthreads()
    cuda.atomic.add(counts, tid, bins[tid])


def bodies(records, out):
    i = cuda.grid(1)
    if i < records.size:
        out[i] = records[i].x * records[i].mass


def make(emitted: Emitted) -> None:
    line, grid, plane = float32[::1], float32[:, ::1], [4, 96, 160]
    n = 10_000
    indices = array(4, n, fill=f"random 5, below: {n}, element: 4")
    kernels = [
        (saxpy, (line, line, float32), (40,), (256,), [*array(4, n), *array(4, n), "2.0"]),
        (grid_stride, (line, line), (8,), (128,), [*array(4, n), *array(4, n)]),
        (
            strided_view,
            (float32[:], line),
            (20,),
            (256,),
            [0, 0, 5000, 4, buffer(8 * 5000), 5000, 8, *array(4, 5000)],
        ),
        (stencil, (grid, grid), (6, 10), (16, 16), [*array(*plane), *array(*plane)]),
        (transpose, (grid, grid), (10, 6), (16, 16), [*array(*plane), *array(4, 160, 96)]),
        (
            product,
            (grid, grid, grid),
            (4, 6),
            (16, 16),
            [*array(4, 96, 32), *array(4, 32, 64), *array(4, 96, 64)],
        ),
        (block_sum, (float64[::1], float64[::1]), (40,), (256,), [*array(8, n), *array(8, 40)]),
        (softmax, (grid, grid), (96,), (128,), [*array(*plane), *array(*plane)]),
        (gather, (int32[::1], line, line), (40,), (256,), [*indices, *array(4, n), *array(4, n)]),
        (scatter, (int32[::1], line, line), (40,), (256,), [*indices, *array(4, n), *array(4, n)]),
        (
            histogram,
            (uint8[::1], uint32[::1]),
            (8,),
            (256,),
            [*array(1, n, fill="random 6, element: 1"), *array(4, 256)],
        ),
        (bodies, (BODY[::1], line), (40,), (256,), [*array(BODY.size, n), *array(4, n)]),
    ]
    for kernel, signature, blocks, threads, arguments in kernels:
        ptx, _ = cuda.compile_ptx(kernel, signature, lineinfo=True, cc=(TARGET // 10, TARGET % 10))
        emitted.keep(kernel.__name__, ptx, grid=blocks, block=threads, arguments=arguments)
