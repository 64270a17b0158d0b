"""kernels.cu by NVRTC, and by clang++ of the system, which needs no headers of CUDA."""

# The packages are not ours, and have no types.
# mypy: ignore-errors

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from emitted import Emitted, buffer

SOURCE = Path(__file__).with_name("kernels.cu")
N = 20_000
BODY = 28
RANDOM = 60
LAUNCHES = {
    "saxpy": ((79,), (256,), [buffer(4 * N), buffer(4 * N), "2.0", N]),
    "grid_stride": ((8,), (256,), [buffer(16 * N), buffer(16 * N), N]),
    "every_third": ((79,), (256,), [buffer(8 * N), buffer(8 * N), N]),
    "stencil": ((7, 13), (32, 8), [buffer(4 * 200 * 100), buffer(4 * 200 * 100), 200, 100]),
    "transpose": ((4, 16), (32, 8), [buffer(4 * 128 * 128), buffer(4 * 128 * 128), 128]),
    "transpose_tile": ((4, 4), (32, 8), [buffer(4 * 128 * 128), buffer(4 * 128 * 128), 128]),
    "product": ((4, 4), (16, 16), [buffer(4 * 64 * 64)] * 3 + [64]),
    "block_sum": ((40,), (256,), [buffer(4 * N), buffer(160), N]),
    "interleaved_sum": ((40,), (256,), [buffer(4 * 256 * 40), buffer(160)]),
    "row_maximum": ((20,), (128,), [buffer(4 * N), buffer(4 * N), 1000]),
    "gather": (
        (79,),
        (256,),
        [buffer(4 * N, f"random 7, below: {N}, element: 4"), buffer(4 * N), buffer(4 * N), N],
    ),
    "histogram": ((8,), (256,), [buffer(N, "random 8, element: 1"), buffer(8192), N]),
    "move_bodies": ((79,), (256,), [buffer(BODY * N), "0.5", N]),
    "energies": ((16,), (256,), [buffer(BODY * N), buffer(4 * N), N]),
}


def keep_all(ptx: str, emitted: Emitted) -> None:
    """One file with all kernels would need one launch each of them: a file a kernel."""
    for name, (grid, block, arguments) in LAUNCHES.items():
        emitted.keep(
            name, only(ptx, name), kernel=name, grid=grid, block=block, arguments=arguments
        )


def only(ptx: str, kernel: str) -> str:
    """The module with no other kernel than this; what stands behind all of them is for all."""
    head, *kernels = ptx.split(".visible .entry ")
    *others, last = kernels
    last, tail = last.split("\n}\n", 1)
    (kept,) = [one for one in (*others, f"{last}\n}}\n") if one.split("(")[0].strip() == kernel]
    return f"{head}.visible .entry {kept}{tail}"


def make_nvrtc(emitted: Emitted) -> None:
    from by_nvrtc import compiled

    keep_all(compiled(SOURCE.read_text(encoding="utf-8"), SOURCE.name), emitted)


def make_random(emitted: Emitted) -> None:
    """Those that tests/gpu/access_run_test.py counts, in blocks of every shape."""
    from by_nvrtc import compiled

    sys.path.insert(0, str(SOURCE.parents[2] / "gpu"))
    from random_kernels import Kernel

    for seed in range(RANDOM):
        kernel = Kernel(seed)
        emitted.keep(kernel.name, compiled(kernel.source(), f"{kernel.name}.cu"))
        launch = emitted.folder / f"{kernel.name}.yaml"
        launch.write_text(kernel.launch(), encoding="utf-8")


def make_clang(emitted: Emitted) -> None:
    words = [
        shutil.which("clang++-14") or "clang++",
        "-x",
        "cuda",
        "--cuda-device-only",
        "-nocudainc",
        "-nocudalib",
        "-Wno-unknown-cuda-version",
        "-S",
        "-O2",
        "-gline-tables-only",
        "--cuda-gpu-arch=sm_80",
        "-o",
        "-",
        str(SOURCE),
    ]
    made = subprocess.run(words, check=True, capture_output=True, text=True)
    keep_all(made.stdout, emitted)
