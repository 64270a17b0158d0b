"""Kernels in Python, as NVIDIA Warp compiles them."""

# Kernels are in the package's language.
# mypy: ignore-errors

from __future__ import annotations

import tempfile
from pathlib import Path

import warp as wp
from emitted import TARGET, Emitted, buffer, fields

wp.config.quiet = True
wp.config.enable_backward = False


@wp.struct
class Body:
    position: wp.vec3
    velocity: wp.vec3
    mass: wp.float32


@wp.kernel
def saxpy(x: wp.array(dtype=wp.float32), y: wp.array(dtype=wp.float32), a: wp.float32):
    i = wp.tid()
    y[i] = a * x[i] + y[i]


@wp.kernel
def stencil(a: wp.array2d(dtype=wp.float32), out: wp.array2d(dtype=wp.float32)):
    i, j = wp.tid()
    if i > 0 and j > 0 and i < a.shape[0] - 1 and j < a.shape[1] - 1:
        out[i, j] = 0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])


@wp.kernel
def transpose(a: wp.array2d(dtype=wp.float32), out: wp.array2d(dtype=wp.float32)):
    i, j = wp.tid()
    out[j, i] = a[i, j]


@wp.kernel
def product(
    a: wp.array2d(dtype=wp.float32),
    b: wp.array2d(dtype=wp.float32),
    c: wp.array2d(dtype=wp.float32),
):
    i, j = wp.tid()
    total = wp.float32(0.0)
    for k in range(a.shape[1]):
        total += a[i, k] * b[k, j]
    c[i, j] = total


@wp.kernel
def gather(
    index: wp.array(dtype=wp.int32),
    x: wp.array(dtype=wp.float32),
    y: wp.array(dtype=wp.float32),
):
    i = wp.tid()
    y[i] = x[index[i]]


@wp.kernel
def histogram(x: wp.array(dtype=wp.int32), counts: wp.array(dtype=wp.int32)):
    i = wp.tid()
    wp.atomic_add(counts, x[i], 1)


@wp.kernel
def integrate(
    positions: wp.array(dtype=wp.vec3), velocities: wp.array(dtype=wp.vec3), step: wp.float32
):
    i = wp.tid()
    positions[i] = positions[i] + velocities[i] * step


@wp.kernel
def energies(bodies: wp.array(dtype=Body), out: wp.array(dtype=wp.float32)):
    i = wp.tid()
    out[i] = bodies[i].mass * wp.dot(bodies[i].velocity, bodies[i].velocity)


@wp.kernel
def row_maximum(x: wp.array2d(dtype=wp.float32), y: wp.array(dtype=wp.float32)):
    i = wp.tid()
    most = wp.float32(-1.0e30)
    for j in range(x.shape[1]):
        most = wp.max(most, x[i, j])
    y[i] = most


@wp.kernel
def scale_tile(x: wp.array2d(dtype=wp.float32), y: wp.array2d(dtype=wp.float32)):
    i, j = wp.tid()
    tile = wp.tile_load(x, shape=(32, 64), offset=(i * 32, j * 64))
    wp.tile_store(y, tile * wp.float32(2.0), offset=(i * 32, j * 64))


def array(itemsize: int, *shape: int, fill: str | None = None) -> str:
    """wp::array_t: data, gradients, four extents, four strides, dimensions, flags."""
    elements, strides = 1, []
    for extent in reversed(shape):
        strides.insert(0, itemsize * elements)
        elements *= extent
    at = {"_0": buffer(itemsize * elements, fill), "_8": "u64 0", "_48": f"u16 {len(shape)}"}
    at["_50"] = "u16 0"
    for axis in range(4):
        inside = axis < len(shape)
        at[f"_{16 + 4 * axis}"] = f"s32 {shape[axis] if inside else 0}"
        at[f"_{32 + 4 * axis}"] = f"s32 {strides[axis] if inside else 0}"
    return fields(**at)


def bounds(*shape: int, each: int = 1) -> str:
    """wp::launch_bounds_t: extents, their product, threads of each."""
    at = {f"_{4 * axis}": f"u32 {extent}" for axis, extent in enumerate(shape)}
    size = each
    for extent in shape:
        size *= extent
    behind = 8 * ((4 * len(shape) + 7) // 8)
    return fields(**at, **{f"_{behind}": f"u64 {size}", f"_{behind + 8}": f"u64 {each}"})


def make(emitted: Emitted) -> None:
    wp.init()
    n, plane = 10_000, (96, 160)
    line, square = array(4, n), array(4, *plane)
    launches = {
        saxpy: [bounds(n), line, line, "2.0"],
        stencil: [bounds(*plane), square, square],
        transpose: [bounds(*plane), square, array(4, 160, 96)],
        product: [bounds(96, 64), array(4, 96, 32), array(4, 32, 64), array(4, 96, 64)],
        gather: [bounds(n), array(4, n, fill=f"random 5, below: {n}, element: 4"), line, line],
        histogram: [
            bounds(n),
            array(4, n, fill="random 6, below: 100, element: 4"),
            array(4, 100),
        ],
        integrate: [bounds(n), array(12, n), array(12, n), "0.5"],
        energies: [bounds(n), array(28, n), line],
        row_maximum: [bounds(96), square, array(4, 96)],
        scale_tile: [bounds(3, 2, each=256), array(4, 96, 128), array(4, 96, 128)],
    }
    for kernel, arguments in launches.items():
        with tempfile.TemporaryDirectory() as folder:
            module = wp.Module(f"module_{kernel.key}")
            copy = wp.Kernel(kernel.func, key=kernel.key, module=module)
            module.mark_modified()
            wp.compile_aot_module(
                module, arch=TARGET, module_dir=folder, use_ptx=True, strip_hash=True
            )
            del copy
            ptx = next(Path(folder).glob("*.ptx")).read_text(encoding="utf-8")
        emitted.keep(
            kernel.key,
            without_tables(ptx),
            grid=(6 if kernel is scale_tile else 40,),
            block=(256,),
            arguments=arguments,
        )


def without_tables(ptx: str) -> str:
    """Without the contents of tables that every module has and no kernel here reads."""
    return "".join(
        line
        for line in ptx.splitlines(keepends=True)
        if not (line.startswith((".const", ".global")) and len(line) > 1000)
    )
