"""Sobel: eight loads of bytes a pixel; nine a word and its sides, or 30 of eight rows of 16."""

from contract import Contract, Kernel

Access = tuple[str, str, int]
"""In PTX, in SASS, and how many."""
BYTE = ("u8", r"\.U8")


def kernel(form: str, loads: tuple[Access, ...], store: Access) -> Kernel:
    """What one form holds: loads, of bytes and of words, and stores."""
    each = sum(count for *_, count in loads)
    return Kernel(
        name=rf"edges_ofINS\w*{form}E",
        ptx={
            **{rf"ld\.global\.{ptx} ": count for ptx, _, count in loads},
            rf"st\.global\.{store[0]} ": store[2],
            r"ld\.global": each,
            r"st\.global": store[2],
        },
        sass={
            **{rf"LDG\.E{sass}": count for _, sass, count in loads},
            rf"STG\.E{store[1]}": store[2],
            r"LDG\..*": each,
            r"STG\..*": store[2],
        },
        clock=False,
    )


CONTRACT = Contract(
    kernels=(
        kernel("8Original", ((*BYTE, 8),), (*BYTE, 1)),
        kernel("8SeedTool", ((*BYTE, 6), ("u32", "", 3)), ("u32", "", 1)),
        kernel("4Best", ((*BYTE, 20), (r"v4\.u32", r"\.128", 10)), (r"v4\.u32", r"\.128", 8)),
    ),
)
