"""Kernels in CUDA C++ of random address expressions, guards, loops and widths; their launches."""

from __future__ import annotations

import random

WIDTHS = {
    "unsigned char": 1,
    "short": 2,
    "float": 4,
    "uint2": 8,
    "double": 8,
    "float4": 16,
}
VALUE = {"uint2": "{0}.x", "float4": "{0}.x"}
MADE = {"uint2": "make_uint2({0}, 1)", "float4": "make_float4({0}, 1, 2, 3)"}
ELEMENTS = 1 << 14  # of each buffer
TILE = 1 << 10  # elements of shared memory


class Kernel:
    """A kernel of random address expressions, guards, loops and widths, and its launch."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.name = f"kernel_{seed}"
        self.block = self.random.choice([(32, 1), (64, 1), (100, 1), (256, 1), (16, 8), (8, 4)])
        self.grid = self.random.choice([(1, 1), (3, 1), (16, 1), (4, 2)])
        self.types = [self.random.choice(list(WIDTHS)) for _ in range(2)]

    def leaf(self) -> str:
        names = [
            "threadIdx.x",
            "threadIdx.y",
            "blockIdx.x",
            "blockIdx.y",
            "blockDim.x",
            "i",
            "n",
        ]
        return self.random.choice([*names, "threadIdx.x", str(self.random.randrange(1, 70))])

    def expression(self, depth: int) -> str:
        if depth == 0:
            return self.leaf()
        left, right = self.expression(depth - 1), self.expression(depth - 1)
        shift = self.random.randrange(1, 7)
        number = self.random.randrange(2, 40)
        return self.random.choice(
            [
                f"({left} + {right})",
                f"({left} + {right})",
                f"({left} - {right})",
                f"({left} * {right})",
                f"({left} * {number}u)",
                f"({left} ^ {right})",
                f"({left} << {shift})",
                f"({left} >> {shift})",
                f"({left} / {number}u)",
                f"({left} % {number}u)",
                f"({left} < {right} ? {left} : {right})",
                f"({left} * 0x9E3779B9u)",  # wraps around
            ]
        )

    def index(self, elements: int) -> str:
        return f"{self.expression(self.random.randrange(1, 4))} & {elements - 1}u"

    def guard(self) -> str:
        return self.random.choice(
            [
                "",
                "",
                f"if ({self.leaf()} < {self.random.randrange(1, 90)}u) ",
                "if (threadIdx.x & 1) ",
            ]
        )

    def source(self) -> str:
        lines = []
        for _ in range(self.random.randrange(1, 4)):
            loaded = f"in[{self.index(ELEMENTS)}]"
            value = VALUE.get(self.types[0], "{0}").format(loaded)
            lines.append(f"    {self.guard()}sum += float({value});")
        if self.random.random() < 0.5:
            lines.append(f"    {self.guard()}tile[{self.index(TILE)}] = sum;")
            lines.append(f"    __syncwarp(); sum += tile[{self.index(TILE)}];")
        made = MADE.get(self.types[1], f"({self.types[1]})({{0}})")
        lines.append(f"    {self.guard()}out[{self.index(ELEMENTS)}] = {made.format('sum')};")
        turns = self.random.choice(["1u", "5u", "n", "threadIdx.x % 7u"])
        body = "\n".join(lines)
        if turns.startswith("threadIdx"):
            # Threads that have left the loop do not come: what such a barrier does is undefined.
            body = body.replace("__syncwarp(); ", "")
        return f"""
extern "C" __global__ void {self.name}({self.types[1]}* __restrict__ out,
                                       const {self.types[0]}* __restrict__ in, unsigned n) {{
  __shared__ volatile float tile[{TILE}];
  float sum = 0;
  for (unsigned i = 0; i < {turns}; ++i) {{
{body}
  }}
}}
"""

    def launch(self) -> str:
        return f"""schema: 1
kernel: {self.name}
grid: [{self.grid[0]}, {self.grid[1]}]
block: [{self.block[0]}, {self.block[1]}]
arguments:
  - {{bytes: {ELEMENTS * WIDTHS[self.types[1]]}}}
  - {{bytes: {ELEMENTS * WIDTHS[self.types[0]]}}}
  - 3
"""
