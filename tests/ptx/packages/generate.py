"""Writes the PTX that other people's compilers make of small kernels of ours. Needs no GPU.

    python tests/ptx/packages/generate.py OUT [PACKAGE…]
    python tests/ptx/packages/generate.py --samples OUT    after that: copies those of SAMPLES into
                                                           tests/data/ptx/packages

OUT gets a folder a package: NAME.ptx, and NAME.yaml for what `strata access --launch` evaluates.
The packages are those of requirements.lock beside this file; run.sh installs them.
"""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path

from emitted import Emitted

MAKERS = {
    "clang": ("cuda_kernels", "make_clang"),
    "cupy": ("cupy_kernels", "make"),
    "halide": ("halide_kernels", "make"),
    "numba": ("numba_kernels", "make"),
    "nvrtc": ("cuda_kernels", "make_nvrtc"),
    "random": ("cuda_kernels", "make_random"),
    "slang": ("slang_kernels", "make"),
    "tinygrad": ("tinygrad_kernels", "make"),
    "triton": ("triton_kernels", "make"),
    "warp": ("warp_kernels", "make"),
}


SAMPLES = (
    "clang/transpose_tile",
    "cupy/stencil",
    "halide/blur",
    "numba/block_sum",
    "slang/bodies",
    "tinygrad/row_sum",
    "triton/transpose",
    "warp/gather",
)
"""One of each dialect, which the tests of every change read."""


def copy_samples(out: Path) -> None:
    folder = Path(__file__).resolve().parents[2] / "data" / "ptx" / "packages"
    folder.mkdir(exist_ok=True)
    for sample in SAMPLES:
        for kind in (".ptx", ".yaml"):
            made = (out / sample).with_suffix(kind)
            if made.exists():
                text = made.read_text(encoding="utf-8")
                text = re.sub(r"(?m)^//.*(Build ID|compilation tools).*\n", "", text)
                (folder / f"{sample.replace('/', '_')}{kind}").write_text(text, encoding="utf-8")


def make(package: str, folder: Path) -> None:
    module, function = MAKERS[package]
    emitted = Emitted(folder)
    getattr(importlib.import_module(module), function)(emitted)
    print(f"{package}: {emitted.count} kernels", flush=True)


def main() -> int:
    out, *packages = sys.argv[1:]
    if out == "--samples":
        copy_samples(Path(packages[0]))
        return 0
    unknown = sorted(set(packages) - set(MAKERS))
    if unknown:
        print(f"generate.py: no package {unknown[0]}; there are {', '.join(MAKERS)}")
        return 2
    if len(packages) == 1:
        make(packages[0], Path(out) / packages[0])
        return 0
    # A process for each: they bring their own LLVM, CUDA libraries and start-up code.
    failed = [
        package
        for package in packages or MAKERS
        if subprocess.run([sys.executable, __file__, out, package], check=False).returncode != 0
    ]
    if failed:
        print(f"generate.py: failed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
