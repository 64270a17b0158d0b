"""Sobel: eight loads of bytes a pixel; nine a word and its sides, or 30 of eight rows of 16."""

from contract import Contract, Kernel


def kernel(form: str, words: str, wide: str, loads: int, single: int, stores: int) -> Kernel:
    """What one form holds: loads of words, loads of bytes and stores of words."""
    return Kernel(
        name=rf"edges_ofINS\w*{form}E",
        ptx={
            rf"ld\.global\.{words} ": loads + (single if words == "u8" else 0),
            r"ld\.global\.u8 ": single + (loads if words == "u8" else 0),
            rf"st\.global\.{words} ": stores,
            r"ld\.global": loads + single,
            r"st\.global": stores,
        },
        sass={
            r"LDG\.E\.U8": single + (loads if words == "u8" else 0),
            rf"LDG\.E{wide}": loads + (single if words == "u8" else 0),
            rf"STG\.E{wide}": stores,
            r"LDG\..*": loads + single,
            r"STG\..*": stores,
        },
        clock=False,
    )


CONTRACT = Contract(
    kernels=(
        kernel("8Original", "u8", r"\.U8", 0, 8, 1),
        kernel("8SeedTool", "u32", "", 3, 6, 1),
        kernel("4Best", r"v4\.u32", r"\.128", 10, 20, 8),
    ),
)
