"""Kernels that tinygrad makes of expressions over tensors, with its own renderer of PTX."""

# The package is not ours, and has no types.
# mypy: ignore-errors

from __future__ import annotations

from emitted import TARGET, Emitted, buffer
from tinygrad import Tensor, dtypes
from tinygrad.codegen import to_program
from tinygrad.helpers import Target
from tinygrad.renderer.ptx import PTXRenderer
from tinygrad.uop.ops import Ops

FILLS = {("gather", 1): "random 5, below: 256, element: 4"}
"""What indices hold, by kernel and place of the argument."""


def empty(*shape: int, dtype=dtypes.float32) -> Tensor:
    """A tensor of a device that only plans: nothing is allocated."""
    return Tensor.empty(*shape, dtype=dtype, device="NULL")


def expressions() -> dict[str, Tensor]:
    x, y = empty(256, 256), empty(256, 256)
    index = empty(256, dtype=dtypes.int32)
    image = empty(1, 4, 32, 32)
    return {
        "saxpy": x * 2.0 + y,
        "odd_length": empty(10007) + empty(10007),
        "transpose": x.transpose().contiguous(),
        "row_sum": x.sum(axis=1),
        "column_sum": x.sum(axis=0),
        "total": empty(1 << 16).sum(),
        "softmax": x.softmax(),
        "product": x @ y,
        "half_product": empty(128, 128, dtype=dtypes.half) @ empty(128, 128, dtype=dtypes.half),
        "convolution": image.conv2d(empty(8, 4, 3, 3)),
        "every_third": empty(3000)[::3].contiguous(),
        "gather": x[index],
        "padded": x.pad(((1, 1), (1, 1))).contiguous(),
        "bytes": (empty(4096, dtype=dtypes.uint8) + 1),
        "maxima": image.max_pool2d(),
    }


def make(emitted: Emitted) -> None:
    renderer = PTXRenderer(Target("CUDA", "PTX", f"sm_{TARGET}"))
    for name, expression in expressions().items():
        calls = [one for one in expression.schedule_linear().src if one.src[0].op is Ops.SINK]
        for number, call in enumerate(calls):
            program = to_program(call.src[0], renderer)
            info = program.arg
            text = renderer.compiler.compile(
                next(one.arg for one in program.src if one.op is Ops.SOURCE)
            ).decode()
            operands = [
                buffer(one.buffer.nbytes, FILLS.get((name, place)))
                for place, one in enumerate(call.src[1:])
            ]
            emitted.keep(
                name if len(calls) == 1 else f"{name}_{number}",
                text,
                grid=info.global_size,
                block=info.local_size,
                arguments=operands,
            )
