"""What kernels of both rotations hold: one is the other, loads and stores exchanged."""

from contract import Contract, Kernel

PTX = {1: "u8", 4: "u32"}
SASS = {1: r"\.U8", 4: ""}


def kernel(form: str, loads: tuple[int, int], stores: tuple[int, int]) -> Kernel:
    """What one form holds: how many loads and stores, and of how many bytes."""
    return Kernel(
        name=rf"turnedINS\w*{form}I",
        ptx={
            rf"ld\.global\.{PTX[loads[1]]} ": loads[0],
            rf"st\.global\.{PTX[stores[1]]} ": stores[0],
            r"ld\.global": loads[0],
            r"st\.global": stores[0],
        },
        sass={
            rf"LDG\.E{SASS[loads[1]]}": loads[0],
            rf"STG\.E{SASS[stores[1]]}": stores[0],
            r"LDG\..*": loads[0],
            r"STG\..*": stores[0],
        },
        clock=False,
    )


def rotation(tool_loads: tuple[int, int], tool_stores: tuple[int, int]) -> Contract:
    """All forms; that of the seed's tool has these loads and stores."""
    return Contract(
        kernels=(
            kernel("8Original", (1, 1), (1, 1)),
            kernel("8SeedTool", tool_loads, tool_stores),
            kernel("4Best", (4, 1), (4, 1)),
        ),
    )
