"""Chains of multiply-adds: a body of them between the two clock reads, hardly anything else."""

import re
from collections.abc import Callable, Iterator

from contract import Contract, Kernel
from dependencies import Order

BODY = 512
CHAINS = {"Alternating": 4}
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
# Form of micro/compute/ceilings.hpp -> operations that come in it; what the operands look like.
FLOATS = ("Ffma", "Dfma", "Hfma2", "Bfma2")
FORMS = {
    "Alternating": tuple(OPERATIONS),
    "Steady": FLOATS,
    "Square": FLOATS,
    "Uniform": ("Ffma", "Dfma"),
}
NO_CLOCK = "(?:(?!%clock64).)*"
REGISTER = r"R\d+(?:\.reuse)?"
OPERANDS = {
    # x, x and c in whichever order.
    "Square": rf"(?P<x>R\d+)(?:\.reuse)?, (?P=x)(?:\.reuse)?, {REGISTER}",
    # One of them from a uniform register or from constant memory.
    "Uniform": rf"{REGISTER}, (?:UR\d+|c\[\S+\]\s?\[\S+\]), {REGISTER}",
}


def between_clocks(operation: str, wanted: str, form: str) -> Callable[[str], Iterator[str]]:
    """Complain unless the two clock reads enclose the chains and little else."""

    def diagnostics(listing: str) -> Iterator[str]:
        lines = re.findall(
            r"^\s+/\*[0-9a-f]+\*/\s+(?:@!?U?P\w+\s+)?([A-Z0-9_.]+)([^;]*);", listing, re.MULTILINE
        )
        clocks = [n for n, (_, rest) in enumerate(lines) if "SR_CLOCKLO" in rest]
        if len(clocks) != 2:
            yield f"{len(clocks)} reads of the clock, not 2"
            return
        within = lines[clocks[0] + 1 : clocks[1]]
        timed = [opcode for opcode, _ in within]
        if operation == "Bfma2" and len(timed) < 64:
            return  # chips before 8.0 have no such operation: the kernel is never launched there
        found = sum(re.fullmatch(wanted, opcode) is not None for opcode in timed)
        # ptxas also moves constants by HFMA2.MMA, one or two of them.
        if not BODY <= found <= BODY + 2:
            yield f"{found} timed {wanted}, not {BODY}"
        if len(timed) - found > BESIDE:
            yield f"{len(timed) - found} instructions beside the chains"
        if form in OPERANDS:
            shaped = sum(
                re.fullmatch(wanted, opcode) is not None
                and re.fullmatch(rf"\s*R\d+, {OPERANDS[form]}\s*", operands) is not None
                for opcode, operands in within
            )
            if shaped != BODY:
                yield f"{shaped} of the chains' instructions have the operands of {form}"

    return diagnostics


CONTRACT = Contract(
    kernels=tuple(
        Kernel(
            name=rf"sustain.*{form}.*operations\d+{operation}E",
            # Two clock reads, and the chains stand between them.
            ptx={
                OPERATIONS[operation][0]: BODY,
                "%clock64": 2,
                rf"(?s)%clock64;{NO_CLOCK}{OPERATIONS[operation][0]}{NO_CLOCK}%clock64;": 1,
            },
            sass={},
            order=Order(*OPERATIONS[operation], turn=BODY, chains=CHAINS.get(form, 8), beside=24),
            more=between_clocks(operation, OPERATIONS[operation][1], form),
        )
        for form, operations in FORMS.items()
        for operation in operations
    ),
)
