"""Matrix addition: two loads and a store for each access of a thread, of the declared width.

The accesses of a thread are adjacent: other distances give the same sums from other sectors.
"""

from contract import Contract, Kernel

PTX = {1: "u8", 2: "u16", 4: "u32", 8: r"v2\.u32", 16: r"v4\.u32"}
SASS = {1: r"\.U8", 2: r"\.U16", 4: "", 8: r"\.64", 16: r"\.128"}
WIDTHS = (1, 2, 4, 8, 16)


def kernel(element: int, width: int, parts: int) -> Kernel:
    """What one addition must hold."""
    return Kernel(
        name=rf"3addILj{element}ELj{width}ELj{parts}E",
        ptx={
            rf"ld\.global\.{PTX[width]} ": 2 * parts,
            rf"st\.global\.{PTX[width]} ": parts,
            r"ld\.global": 2 * parts,
            r"st\.global": parts,
            **{rf"add\.s64\s+%rd\d+, %rd\d+, {part * width};": 3 for part in range(1, parts)},
        },
        sass={
            rf"LDG\.E{SASS[width]}": 2 * parts,
            rf"STG\.E{SASS[width]}": parts,
            r"LDG\..*": 2 * parts,
            r"STG\..*": parts,
        },
        clock=False,
    )


CONTRACT = Contract(
    kernels=tuple(
        kernel(element, *form)
        for element in (1, 2, 4)
        for form in (
            *((width, 1) for width in WIDTHS if width >= element),
            *((element, width // element) for width in WIDTHS if width > element),
        )
    ),
)
