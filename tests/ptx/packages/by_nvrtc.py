"""CUDA C++ to PTX by NVRTC of the package nvidia-cuda-nvrtc."""

# The packages are not ours, and have no types.
# mypy: ignore-errors

from __future__ import annotations

from cuda.bindings import nvrtc
from emitted import TARGET


def compiled(source: str, name: str, *options: str) -> str:
    def done(answer):
        status, *rest = answer
        if int(status) != 0:
            _, size = nvrtc.nvrtcGetProgramLogSize(program)
            log = b" " * size
            nvrtc.nvrtcGetProgramLog(program, log)
            raise RuntimeError(f"NVRTC, {name}: {status}\n{log.decode()}")
        return rest[0] if rest else None

    program = done(nvrtc.nvrtcCreateProgram(source.encode(), name.encode(), 0, [], []))
    words = [f"--gpu-architecture=compute_{TARGET}", "-lineinfo", *options]
    done(nvrtc.nvrtcCompileProgram(program, len(words), [word.encode() for word in words]))
    text = b" " * done(nvrtc.nvrtcGetPTXSize(program))
    done(nvrtc.nvrtcGetPTX(program, text))
    return text.decode()
