"""Blocks of 16 × 16 pairs, sixteen of them in a turn: a group of 64 and as many others.

Of each block four mma, four transpositions, seven roots of eight by the special function unit, and
four packings of two numbers. Near groups, in the same kernel, have the arithmetic of pair_once.
"""

import re
from collections.abc import Iterator

from contract import Contract, Kernel
from rung_contract import ROOT, SHUFFLE, TWO_SIDED, both, inner_loop, turn

BLOCKS = 16
PRODUCTS = 4 * BLOCKS
TRANSPOSED = 4 * BLOCKS
ROOTS = 7 * BLOCKS
PACKED = 4 * BLOCKS
# The others by a polynomial: r⁻³ − f₀ is one multiply-add after a root, and four there.
MULTIPLY_ADDS = (7 + 4) * BLOCKS
AROUND = 4
"""Distances of the first block and sums of the last one: two mma each; and its transpositions."""
PACKED_ROWS = 8 + 4
"""Pieces and moments of a body of the tile."""
NEAR_PAIRS = 4 * 4
"""Four turns of a warp, in which a lane's two bodies meet two others."""
NEAR_SHUFFLES = 4 * 2 * (4 + 3)
NEAR_BESIDE = 20
"""Counter and branch; and what hands the next bodies on to the next turns."""


def turn_of_blocks(listing: str) -> Iterator[str]:
    """Complain unless a turn of the inner loop holds just these."""
    loop = inner_loop(listing)
    for pattern, expected in {
        r"HMMA\.16816\.F32": PRODUCTS,
        r"MOVM\.16\.MT88": TRANSPOSED,
        ROOT: ROOTS,
        r"F2FP\..*": PACKED,
        r"FFMA(\.FTZ)?": MULTIPLY_ADDS,
    }.items():
        found = sum(re.fullmatch(pattern, opcode) is not None for _, opcode, _ in loop)
        if found != expected:
            yield f"{found} {pattern} in the inner loop, not {expected}"


turn_of_near = turn(
    {opcode: NEAR_PAIRS * count for opcode, count in TWO_SIDED.items()} | {SHUFFLE: NEAR_SHUFFLES},
    beside=NEAR_BESIDE,
    most=SHUFFLE,
)

CONTRACT = Contract(
    kernels=(
        Kernel(
            name="9sum_pairsE",
            ptx={
                r"\bmma\.sync\.aligned\.m16n8k16\.row\.col\.f32\.f16\.f16\.f32\b": PRODUCTS
                + AROUND,
                r"\bmovmatrix\.sync\.aligned\.m8n8\.trans\.b16\b": TRANSPOSED + AROUND,
                # and one for the base value
                r"\brsqrt\.approx\.ftz\.f32\b": ROOTS + 1 + NEAR_PAIRS,
                r"\bcvt\.rn\.f16x2\.f32\b": PACKED + PACKED_ROWS,
                r"\brsqrt\.approx\.f32\b|\bsqrt\.|\b(?:rcp|div)\.(?:rn|approx|full)": 0,
            },
            sass={},
            clock=False,
            more=both(turn_of_blocks, turn_of_near),
        ),
    ),
    others=("12find_centres", "8find_far", "12make_columns", "8end_stepI"),
)
