"""Chains of one operation: a whole body of it between the clocks, and hardly anything beside it."""

import re
from collections.abc import Callable, Iterable, Iterator

from contract import Contract, Kernel
from dependencies import Order

# Operation -> operations of a loop's body; PTX instruction, how many of them an operation has; SASS
# opcodes of an operation, with how many. From micro/compute/operations.hpp. Where a chip has
# several forms of an instruction (ptxas shares half-precision out among two pipes) any of them will
# do.
OPERATIONS: dict[str, tuple[int, tuple[str, ...], dict[str, int]]] = {
    "Fadd": (512, (r"add\.rn\.f32",), {r"FADD": 1}),
    "Fmul": (512, (r"mul\.rn\.f32",), {r"FMUL": 1}),
    "Ffma": (512, (r"fma\.rn\.f32",), {r"FFMA": 1}),
    "Fmnmx": (256, (r"min\.f32", r"max\.f32"), {r"FMNMX": 2}),
    "Iadd": (512, (r"add\.u32", r"add\.u32"), {r"IADD3": 1}),
    "Bitwise": (512, (r"lop3\.b32",), {r"LOP3\.LUT": 1}),
    "Shift": (512, (r"shf\.l\.wrap\.b32",), {r"SHF\.L\.W\.U32(\.HI)?": 1}),
    "Compare": (
        256,
        (r"setp\.gt\.u32 above", r"selp\.u32"),
        {r"ISETP\.GT\.U32\.AND": 1, r"SEL": 1},
    ),
    "Imnmx": (256, (r"min\.u32", r"max\.u32"), {r"V?IMNMX\.U32": 2}),
    "Imad": (512, (r"mad\.lo\.u32",), {r"IMAD": 1}),
    "Dp4a": (512, (r"dp4a\.u32\.u32",), {r"IDP\.4A\.U8\.U8": 1}),
    "RcpApprox": (
        256,
        (r"add\.ftz\.f32", r"rcp\.approx\.ftz\.f32"),
        {r"FADD\.FTZ": 1, r"MUFU\.RCP": 1},
    ),
    "RcpIeee": (32, (r"rcp\.rn\.f32",), {r"MUFU\.RCP": 1}),
    "RsqrtApprox": (512, (r"rsqrt\.approx\.ftz\.f32",), {r"MUFU\.RSQ": 1}),
    "SqrtApprox": (512, (r"sqrt\.approx\.ftz\.f32",), {r"MUFU\.SQRT": 1}),
    "SqrtIeee": (32, (r"sqrt\.rn\.f32",), {r"MUFU\.RSQ": 1}),
    "CosApprox": (256, (r"cos\.approx\.ftz\.f32",), {r"FMUL\.RZ": 1, r"MUFU\.COS": 1}),
    "Exp2Approx": (512, (r"ex2\.approx\.ftz\.f32",), {r"MUFU\.EX2": 1}),
    "Dadd": (512, (r"add\.rn\.f64",), {r"DADD": 1}),
    "Dmul": (512, (r"mul\.rn\.f64",), {r"DMUL": 1}),
    "Dfma": (512, (r"fma\.rn\.f64",), {r"DFMA": 1}),
    "Fdiv": (32, (r"div\.rn\.f32",), {r"MUFU\.RCP": 1}),
    "Ddiv": (16, (r"div\.rn\.f64",), {r"MUFU\.RCP64H": 1}),
    "Iadd64": (256, (r"add\.u64", r"add\.u64"), {r"IADD3": 1, r"IADD3\.X": 1}),
    "Imad64": (64, (r"mad\.lo\.u64",), {r"IMAD": 2, r"IADD3": 1, r"IMAD\.WIDE\.U32": 1}),
    "Udiv": (32, (r"div\.u32",), {r"MUFU\.RCP": 1}),
    "IntToFloat": (
        256,
        (r"cvt\.rn\.f32\.u32", r"xor\.b32"),
        {r"I2FP\.F32\.U32": 1, r"LOP3\.LUT": 1},
    ),
    "FloatToInt": (256, (r"cvt\.rni\.s32\.f32", r"xor\.b32"), {r"F2I.*": 1, r"LOP3\.LUT": 1}),
    "Popc": (256, (r"popc\.b32", r"xor\.b32"), {r"POPC": 1, r"LOP3\.LUT": 1}),
    "Hfma2": (512, (r"fma\.rn\.f16x2",), {r"HFMA2(\.MMA)?": 1}),
    "Bfma2": (512, (r"fma\.rn\.bf16x2",), {r"HFMA2(\.MMA)?\.BF16(_V2)?": 1}),
    "Shuffle": (512, (r"shfl\.sync\.idx\.b32",), {r"SHFL\.IDX": 1}),
    "Vote": (
        256,
        (r"setp\.lt\.u32 less", r"vote\.sync\.ballot\.b32"),
        {r"ISETP\..*": 1, r"VOTE\.ANY": 1},
    ),
    "Barrier": (128, (r"bar\.sync 0;",), {r"BAR\.SYNC.*": 1}),
    "SharedLoad": (512, (r"ld\.shared\.u32 %r\d+, \[%r\d+\];",), {r"LDS(\.U)?": 1}),
    "ConstantLoad": (256, (r"ld\.const\.u32",), {r"LDC": 1}),
    "GlobalLoad": (512, (r"ld\.global\.ca\.u64",), {r"LDG\.E\.64\.STRONG\.(SM|CTA)": 1}),
}
ILP = (1, 2, 4, 8)
PROGRAMS = ("RcpIeee", "SqrtIeee", "Fdiv", "Ddiv", "Udiv")
"""Operations that are short programs: other instructions are part of them."""
MULTIPLY_ADDS = ("Ffma", "Imad", "Hfma2", "Bfma2")
"""Operations that read three registers, of which two banks give one each a cycle."""
STRAY = 8
"""Of them, at the ends of the loop, with other registers than the rest."""
BESIDE = 24
"""Instructions between the clocks that close the loop, keep it together and wait for the ends."""


def between_clocks(
    operation: str, ilp: int, body: int, wanted: dict[str, int]
) -> Callable[[str], Iterator[str]]:
    """Complain unless the first two clock reads enclose the chain and little else."""

    def diagnostics(listing: str) -> Iterator[str]:
        lines = re.findall(
            r"^\s+/\*[0-9a-f]+\*/\s+(?:@!?U?P\w+\s+)?([A-Z0-9_.]+)([^;]*);", listing, re.MULTILINE
        )
        clocks = [n for n, (_, rest) in enumerate(lines) if "SR_CLOCKLO" in rest]
        if len(clocks) != 2:
            yield f"{len(clocks)} reads of the clock, not 2"
            return
        between = lines[clocks[0] + 1 : clocks[1]]
        timed = [opcode for opcode, _ in between]
        if operation == "Bfma2" and len(timed) < 64:
            return  # chips before 8.0 have no such operation: the kernel is never launched there
        rest = len(timed)
        for pattern, each in wanted.items():
            found = sum(re.fullmatch(pattern, opcode) is not None for opcode in timed)
            # Such an instruction may as well end the loop, hold the ends of the chains back or, of
            # half precision, move a constant.
            other = pattern.startswith(("I", "SEL", "VOTE", "LOP3", "HFMA2"))
            spare = 2 * ilp + 6 if other else 0
            if not body * each <= found <= body * each + spare:
                yield f"{found} timed {pattern}, not {body * each}"
            rest -= found
        if operation not in PROGRAMS and rest > BESIDE + 3 * ilp:
            yield f"{rest} instructions beside the chain"
        if operation in MULTIPLY_ADDS and ilp == 1:
            yield from by_chance(
                operands
                for opcode, operands in between
                if any(re.fullmatch(pattern, opcode) for pattern in wanted)
            )

    return diagnostics


def by_chance(chain: Iterable[str]) -> Iterator[str]:
    """Complain where the two sets of operands load different banks.

    Two of three registers are in one bank, which takes two cycles. Where it is the one bank for 16
    steps and the other for the next 16, warps that happen to be at different steps help each other:
    on an H200 an FFMA then took 0.41 cycles of an SM in place of 0.50, on some SMs 4 % more.
    """
    odd = [
        sum(int(register) % 2 for register in registers) >= 2
        for operands in chain
        if len(registers := re.findall(r"\bR(\d+)", operands)[1:]) == 3
    ]
    if min(sum(odd), len(odd) - sum(odd)) > STRAY:
        yield f"{sum(odd)} of {len(odd)} multiply-adds read two registers of the odd bank"


def order(ilp: int, body: int, ptx: tuple[str, ...], sass: dict[str, int]) -> Order:
    """`ilp` chains, of which PTX and SASS are followed by one instruction of each operation."""
    opcode, each = list(sass.items())[-1]
    if opcode == "IADD3":
        opcode += r" R\d+(, PT, PT)?(, R\d+(\.reuse)?){3}$"  # not the loop's own
    return Order(
        ptx[0].rstrip(";"),
        opcode,
        turn=body * ptx.count(ptx[0]),
        turn_of_sass=body * each,
        chains=ilp,
    )


def chain(operation: str, ilp: int) -> Kernel:
    body, ptx, sass = OPERATIONS[operation]
    return Kernel(
        name=rf"chains.*operations\d+{operation}ELj{ilp}E",
        ptx={
            rf"(?m)^\s*(?:\{{ .*?)?{text}\b" if not text.endswith(";") else text: ptx.count(text)
            * body
            for text in ptx
        },
        sass={},
        order=order(ilp, body, ptx, sass if operation not in PROGRAMS else {"": 1})
        if operation != "Barrier"
        else (),
        more=between_clocks(operation, ilp, body, sass),
    )


CONTRACT = Contract(
    kernels=tuple(
        chain(operation, ilp)
        for operation in OPERATIONS
        for ilp in ILP
        if operation != "Barrier" or ilp == 1
    ),
)
