"""Listing 14.4: a root that knows subnormal numbers; nvcc unrolls the inner loop by four."""

from contract import Contract, Kernel
from rung_contract import turn

PAIRS = 4
REST = 3

CONTRACT = Contract(
    kernels=tuple(
        Kernel(
            name=rf"7computeILj{unroll}E",
            ptx={
                r"\brsqrt\.approx\.f32\b": (PAIRS + REST) * unroll,
                r"\brsqrt\.approx\.ftz\.f32\b": 0,
                r"\bld\.shared\.v4\.f32\b": (PAIRS + REST) * unroll,
                r"\bst\.global\.f32\b": 3,
            },
            sass={},
            clock=False,
            more=turn({r"MUFU\.RSQ": PAIRS, r"LDS(\.U)?\.128": PAIRS}, beside=None),
        )
        for unroll in (1, 2, 4, 8, 16, 32)
    ),
    others=("3padE", "6unpackI"),
)
