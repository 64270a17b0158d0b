"""Products of tensor cores, as many as a round has, and in as many chains.

Of 8-bit floating point, mma is a program on compute capability 9.0: two products of fp16 each.
"""

from contract import Contract, Kernel
from dependencies import Order

OF_WARP = 128
OF_GROUP = 16
CHAINS = 4
TYPES = ("fp16", "bf16", "tf32", "e4m3", "e5m2", "int8", "fp64")
FP8 = ("e4m3", "e5m2")
FP64 = "fp64"
SMALLEST, LARGEST = 0, 1


def of_warp(type_: str, size: int, *, sparse: bool, chains: int) -> Kernel:
    """What `multiply` must hold."""
    unit = "DMMA" if type_ == FP64 else "IMMA" if type_ == "int8" else "HMMA"
    each = 2 if type_ in FP8 else 1
    return Kernel(
        name=rf"multiplyI.*TypeE{TYPES.index(type_)}E.*SizeE{size}ELb{int(sparse)}E.*ELj{chains}E",
        ptx={
            r"mma(\.sp::ordered_metadata)?\.sync\.aligned": OF_WARP,
            r"mma\.sp": OF_WARP if sparse else 0,
        },
        sass={},
        sass_in_loops={rf"{unit}\.{'SP' if sparse else '(?!SP)'}.*": each * OF_WARP},
        order=Order(
            r"mma(?:\.sp::ordered_metadata)?\.sync",
            "" if type_ in FP8 else rf"{unit}\.",
            turn=OF_WARP,
            chains=chains,
            restarts=True,  # a round begins from zero
        ),
    )


def of_group(type_: str, n: int, source: int, *, sparse: bool, depth: int) -> Kernel:
    """What `multiply_in_group` must hold: all products of a round, and a wait after `depth`."""
    unit = "IGMMA" if type_ == "int8" else "QGMMA" if type_ in FP8 else "HGMMA"
    waits = OF_GROUP // depth
    return Kernel(
        name=rf"multiply_in_groupI.*TypeE{TYPES.index(type_)}ELj{n}E.*SourceE{source}"
        rf"ELb{int(sparse)}E.*ELj{depth}E",
        ptx={
            rf"wgmma\.mma_async(\.sp)?\.sync\.aligned\.m64n{n}k": OF_GROUP,
            r"wgmma\.mma_async\.sp": OF_GROUP if sparse else 0,
            r"wgmma\.wait_group": waits,
        },
        sass={},
        sass_in_loops={
            rf"{unit}\.{'SP' if sparse else '(?!SP)'}.*": OF_GROUP,
            r"WARPGROUP\.ARRIVE": waits,
        },
    )


def chains_of(type_: str) -> tuple[int, ...]:
    """Those of rates and of latencies."""
    return (1,) if type_ == FP64 else (CHAINS, 1)


CONTRACT = Contract(
    kernels=(
        *(
            of_warp(type_, size, sparse=sparse, chains=chains)
            for type_ in TYPES
            for size in (SMALLEST, LARGEST)
            for sparse in (False, True)
            for chains in chains_of(type_)
            if not (type_ in FP8 and (size == SMALLEST or sparse))
            and not (sparse and (type_ == FP64 or size == SMALLEST))
        ),
        *(
            of_group(type_, n, source, sparse=sparse, depth=depth)
            for type_ in TYPES[:-1]
            for n in (64, 128, 256)
            for source in (0, 1)
            for sparse in (False, True)
            for depth in (1, OF_GROUP)
        ),
    ),
)
