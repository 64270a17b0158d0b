"""The cosine transform: one load for 1, 4 or 16 pixels and as many cosines in the inner loop."""

from contract import Contract, Kernel


def direct(width: int, ptx: str, sass: str, only: str = "") -> Kernel:
    """A thread a coefficient; one cosine more outside the inner loop."""
    return Kernel(
        name=rf"directILj{width}E",
        ptx={
            rf"ld\.global{only}\.{ptx} ": 1,
            r"ld\.global": 1,
            r"st\.global\.u32 ": 1,
            r"cos\.approx": width + 1,
        },
        sass={rf"LDG\.E{sass}": 1, r"LDG\..*": 1, r"STG\.E": 1, r"MUFU\.COS": width + 1},
        sass_in_loops={rf"LDG\.E{sass}": 1},
        clock=False,
    )


def product(name: str, narrow: int) -> Kernel:
    """Two strips a step, of which one may be bytes, and sixteen numbers of a thread."""
    return Kernel(
        name=name,
        ptx={
            r"ld\.global\.u32 ": narrow,
            r"ld\.global\.v4\.u32 ": 2 - narrow,
            r"ld\.global": 2,
            r"st\.global\.v4\.u32 ": 4,
            r"st\.global": 4,
        },
        sass={
            r"LDG\.E": narrow,
            r"LDG\.E\.128": 2 - narrow,
            r"LDG\..*": 2,
            r"STG\.E\.128": 4,
            r"STG\..*": 4,
            r"FFMA.*": 16 * 16,
        },
        sass_in_loops={r"LDS\.128": 32},
        clock=False,
    )


CONTRACT = Contract(
    kernels=(
        direct(1, "u8", r"\.U8"),
        direct(4, "u32", ""),
        direct(16, r"v4\.u32", r"\.128\.CONSTANT", only=r"\.nc"),
        Kernel(
            name="12from_textureE",
            ptx={r"tex\.1d\.v4\.u32\.s32 ": 1, r"ld\.global": 0, r"cos\.approx": 17},
            sass={r"TLD\.LZ.*": 1, r"LDG\..*": 0, r"STG\.E": 1},
            sass_in_loops={r"TLD\.LZ.*": 1},
            clock=False,
        ),
        Kernel(
            name="4bestE",
            ptx={r"ld\.global\.v4\.u32 ": 1, r"ld\.global": 1, r"st\.global\.u32 ": 4},
            sass={r"LDG\.E\.128": 1, r"LDG\..*": 1, r"STG\.E": 4, r"STG\..*": 4},
            clock=False,
        ),
        product("along_rows", 1),
        product("along_columns", 0),
    ),
)
