"""Compute shaders in Slang, through the compiler that comes with slangpy.

Slang makes CUDA C++ of them; NVRTC of nvidia-cuda-nvrtc makes the PTX.
"""

# The packages are not ours, and have no types.
# mypy: ignore-errors

from __future__ import annotations

import ctypes
import importlib.util
import re
from pathlib import Path

from by_nvrtc import compiled
from emitted import Emitted, buffer, fields

CUDA_SOURCE = 17
SLANG = 1
COMPUTE = 6
SUCCESS = 0

N = 10_000
KERNELS = {
    "saxpy": """
[shader("compute")][numthreads(256, 1, 1)]
void saxpy(uint3 at: SV_DispatchThreadID, uniform StructuredBuffer<float> x,
           uniform RWStructuredBuffer<float> y, uniform float a, uniform uint n) {
  if (at.x < n) y[at.x] = a * x[at.x] + y[at.x];
}""",
    "globals": """
StructuredBuffer<float4> x;
RWStructuredBuffer<float4> y;
[shader("compute")][numthreads(128, 1, 1)]
void globals(uint3 at: SV_DispatchThreadID, uniform uint n) {
  if (at.x < n) y[at.x] = x[at.x] * 2.0;
}""",
    "bodies": """
struct Body { float3 position; float3 velocity; float mass; };
[shader("compute")][numthreads(256, 1, 1)]
void bodies(uint3 at: SV_DispatchThreadID, uniform RWStructuredBuffer<Body> all, uniform uint n) {
  if (at.x < n) all[at.x].position += all[at.x].velocity * 0.5;
}""",
    "stencil": """
[shader("compute")][numthreads(32, 8, 1)]
void stencil(uint3 at: SV_DispatchThreadID, uniform StructuredBuffer<float> x,
             uniform RWStructuredBuffer<float> y, uniform uint width, uniform uint height) {
  if (at.x == 0 || at.y == 0 || at.x + 1 >= width || at.y + 1 >= height) return;
  uint i = at.y * width + at.x;
  y[i] = x[i - 1] + x[i + 1] + x[i - width] + x[i + width];
}""",
    "transpose_tile": """
groupshared float tile[32][33];
[shader("compute")][numthreads(32, 32, 1)]
void transpose_tile(uint3 t: SV_GroupThreadID, uint3 g: SV_GroupID,
                    uniform StructuredBuffer<float> x, uniform RWStructuredBuffer<float> y,
                    uniform uint n) {
  tile[t.y][t.x] = x[(g.y * 32 + t.y) * n + g.x * 32 + t.x];
  GroupMemoryBarrierWithGroupSync();
  y[(g.x * 32 + t.y) * n + g.y * 32 + t.x] = tile[t.x][t.y];
}""",
    "block_sum": """
groupshared float part[256];
[shader("compute")][numthreads(256, 1, 1)]
void block_sum(uint3 t: SV_GroupThreadID, uint3 g: SV_GroupID,
               uniform StructuredBuffer<float> x, uniform RWStructuredBuffer<float> sums,
               uniform uint n) {
  uint i = g.x * 256 + t.x;
  part[t.x] = i < n ? x[i] : 0.0;
  GroupMemoryBarrierWithGroupSync();
  for (uint half = 128; half > 0; half >>= 1) {
    if (t.x < half) part[t.x] += part[t.x + half];
    GroupMemoryBarrierWithGroupSync();
  }
  if (t.x == 0) sums[g.x] = part[0];
}""",
    "gather": """
[shader("compute")][numthreads(256, 1, 1)]
void gather(uint3 at: SV_DispatchThreadID, uniform StructuredBuffer<uint> index,
            uniform StructuredBuffer<float> x, uniform RWStructuredBuffer<float> y,
            uniform uint n) {
  if (at.x < n) y[at.x] = x[index[at.x]];
}""",
    "histogram": """
groupshared uint bins[256];
[shader("compute")][numthreads(256, 1, 1)]
void histogram(uint3 at: SV_DispatchThreadID, uint3 t: SV_GroupThreadID,
               uniform StructuredBuffer<uint> x, uniform RWStructuredBuffer<uint> counts,
               uniform uint n) {
  bins[t.x] = 0;
  GroupMemoryBarrierWithGroupSync();
  if (at.x < n) InterlockedAdd(bins[x[at.x]], 1);
  GroupMemoryBarrierWithGroupSync();
  InterlockedAdd(counts[t.x], bins[t.x]);
}""",
    "product": """
[shader("compute")][numthreads(16, 16, 1)]
void product(uint3 at: SV_DispatchThreadID, uniform StructuredBuffer<float> a,
             uniform StructuredBuffer<float> b, uniform RWStructuredBuffer<float> c,
             uniform uint n) {
  float total = 0;
  for (uint k = 0; k < n; ++k) total += a[at.y * n + k] * b[k * n + at.x];
  c[at.y * n + at.x] = total;
}""",
}


def structured(itemsize: int, elements: int, fill: str | None = None) -> str:
    """StructuredBuffer: data and elements."""
    return fields(_0=buffer(itemsize * elements, fill), _8=f"u64 {elements}")


def launches() -> dict[str, tuple[tuple[int, ...], tuple[int, ...], list[str | int]]]:
    line, square = structured(4, N), structured(4, 128 * 128)
    return {
        "saxpy": ((40,), (256,), [line, line, "2.0", N]),
        "bodies": ((40,), (256,), [structured(28, N), N]),
        "stencil": ((4, 16), (32, 8), [square, square, 128, 128]),
        "transpose_tile": ((4, 4), (32, 32), [square, square, 128]),
        "block_sum": ((40,), (256,), [line, structured(4, 40), N]),
        "gather": (
            (40,),
            (256,),
            [structured(4, N, f"random 5, below: {N}, element: 4"), line, line, N],
        ),
        "histogram": (
            (40,),
            (256,),
            [structured(4, N, "random 6, below: 256, element: 4"), structured(4, 256), N],
        ),
        "product": ((4, 4), (16, 16), [structured(4, 64 * 64)] * 3 + [64]),
    }


class Compiler:
    """Slang's C interface, as far as it takes to translate one entry point."""

    def __init__(self) -> None:
        folder = Path(importlib.util.find_spec("slangpy").origin).parent
        self.library = ctypes.CDLL(str(next(folder.glob("libslang-compiler.so*"))))
        for name in ("spCreateSession", "spCreateCompileRequest", "spGetEntryPointCode"):
            getattr(self.library, name).restype = ctypes.c_void_p
        self.library.spGetDiagnosticOutput.restype = ctypes.c_char_p
        self.session = ctypes.c_void_p(self.library.spCreateSession(None))

    def cuda_source(self, name: str, source: str) -> str:
        request = ctypes.c_void_p(self.library.spCreateCompileRequest(self.session))
        self.library.spAddCodeGenTarget(request, CUDA_SOURCE)
        unit = self.library.spAddTranslationUnit(request, SLANG, name.encode())
        self.library.spAddTranslationUnitSourceString(
            request, unit, f"{name}.slang".encode(), source.encode()
        )
        entry = self.library.spAddEntryPoint(request, unit, name.encode(), COMPUTE)
        if self.library.spCompile(request) != SUCCESS:
            raise RuntimeError(self.library.spGetDiagnosticOutput(request).decode())
        size = ctypes.c_size_t()
        code = self.library.spGetEntryPointCode(request, entry, ctypes.byref(size))
        return ctypes.string_at(code, size.value).decode()


def make(emitted: Emitted) -> None:
    compiler = Compiler()
    known = launches()
    for name, source in KERNELS.items():
        # A #line would name a file of a folder that is not there.
        cuda = re.sub(r"^#line.*\n", "", compiler.cuda_source(name, source), flags=re.MULTILINE)
        grid, block, arguments = known.get(name, ((), (), []))
        emitted.keep(
            name, compiled(cuda, f"{name}.cu"), grid=grid, block=block, arguments=arguments
        )
