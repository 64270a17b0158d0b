"""The value of a polynomial: two coefficients, of both parts, are read at once."""

from contract import Contract, Kernel
from rung_contract import turn

READS = r"LDG\.E\.128\.CONSTANT"

CONTRACT = Contract(
    kernels=(
        Kernel(
            name="11sum_by_laneE",
            ptx={
                r"\bld\.global\.nc\.v4\.f32\b": 5,
                r"\brcp\.": 0,
                r"\bsin\.approx\.f32\b": 1,
                r"\bcos\.approx\.f32\b": 1,
                r"\batom\.": 2,
            },
            sass={READS: 5},
            clock=False,
            # 2 multiply-additions a coefficient but the highest, 7 of the term.
            more=turn({READS: 5, r"LDS(\.U)?\.128": 2, "FFMA": 25}, beside=28, most=READS),
        ),
    ),
    others=("16make_polynomialsE",),
)
