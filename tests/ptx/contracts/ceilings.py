"""Chains of multiply-adds: a body of them between the two clock reads, hardly anything else."""

import re
from collections.abc import Callable, Iterator

from contract import Contract, Kernel

BODY = 512
BESIDE = 40
"""Instructions between the clocks that close the loop and wait for the ends of the chains."""

# Operation -> PTX; SASS, in any of its forms (ptxas shares half-precision out among two pipes).
OPERATIONS = {
    "Ffma": (r"fma\.rn\.f32", r"FFMA"),
    "Dfma": (r"fma\.rn\.f64", r"DFMA"),
    "Hfma2": (r"fma\.rn\.f16x2", r"HFMA2(\.MMA)?"),
    "Bfma2": (r"fma\.rn\.bf16x2", r"HFMA2(\.MMA)?\.BF16(_V2)?"),
    "Imad": (r"mad\.lo\.u32", r"IMAD"),
    "Dp4a": (r"dp4a\.u32\.u32", r"IDP\.4A\.U8\.U8"),
}


def between_clocks(operation: str, wanted: str) -> Callable[[str], Iterator[str]]:
    """Complain unless the two clock reads enclose the chains and little else."""

    def complaints(listing: str) -> Iterator[str]:
        lines = re.findall(
            r"^\s+/\*[0-9a-f]+\*/\s+(?:@!?U?P\w+\s+)?([A-Z0-9_.]+)([^;]*);", listing, re.MULTILINE
        )
        clocks = [n for n, (_, rest) in enumerate(lines) if "SR_CLOCKLO" in rest]
        if len(clocks) != 2:
            yield f"{len(clocks)} reads of the clock, not 2"
            return
        timed = [opcode for opcode, _ in lines[clocks[0] + 1 : clocks[1]]]
        if operation == "Bfma2" and len(timed) < 64:
            return  # chips before 8.0 have no such operation: the kernel is never launched there
        found = sum(re.fullmatch(wanted, opcode) is not None for opcode in timed)
        # ptxas also moves constants by HFMA2.MMA, one or two of them.
        if not BODY <= found <= BODY + 2:
            yield f"{found} timed {wanted}, not {BODY}"
        if len(timed) - found > BESIDE:
            yield f"{len(timed) - found} instructions beside the chains"

    return complaints


CONTRACT = Contract(
    kernels=tuple(
        Kernel(
            name=rf"sustain.*operations\d+{operation}E",
            # Two clock reads, and the chains stand between them.
            ptx={
                ptx: BODY,
                "%clock64": 2,
                rf"(?s)%clock64;(?:(?!%clock64).)*{ptx}(?:(?!%clock64).)*%clock64;": 1,
            },
            sass={},
            more=between_clocks(operation, sass),
        )
        for operation, (ptx, sass) in OPERATIONS.items()
    ),
)
