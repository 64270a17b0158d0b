"""Hold the generated code of every measuring kernel against what its benchmark declares.

    code_contract.py ptx FILE...     the PTX that nvcc wrote (needs no GPU)
    code_contract.py sass BINARY     the machine code in an executable (needs cuobjdump)

A number from a kernel whose loads were merged, narrowed, dropped or spilled, or whose clock is only
32 bits wide, would be wrong and look right.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

# Reads of one particle: layout and fields -> (scalar loads, 16-byte loads). From the layouts'
# declarations in harness/layout/layout.hpp: a read is issued when it holds a wanted field.
READS = {
    ("Aos", "AllFields"): (7, 0),
    ("Aos", "Posmass"): (4, 0),
    ("Soa", "AllFields"): (7, 0),
    ("Soa", "Posmass"): (4, 0),
    ("Aoas", "AllFields"): (0, 2),
    ("Aoas", "Posmass"): (1, 1),  # of the second 16 bytes only the mass is wanted
    ("Soaoas", "AllFields"): (0, 2),
    ("Soaoas", "Posmass"): (0, 1),
    ("Aosoa32", "AllFields"): (7, 0),
    ("Aosoa32", "Posmass"): (4, 0),
}
UNROLL = 4  # of layout_read
WALK = re.compile(r"walkINS_\d(Aos|Soa|Aoas|Soaoas|Aosoa32)ENS_\d+(AllFields|Posmass)ELb([01])E")
CHAIN_UNROLL = 16  # of timer_check, in each of two loops
GATHER = re.compile(r"coalescing.*gatherILj(\d+)E")
GATHER_LOADS = 4  # of coalescing, in one loop
GATHER_PTX = {1: "u8", 2: "u16", 4: "u32", 8: "v2.u32", 16: "v4.u32"}
GATHER_SASS = {1: "LDG.E.U8", 2: "LDG.E.U16", 4: "LDG.E", 8: "LDG.E.64", 16: "LDG.E.128"}
MEASURING_KERNELS = 2 * len(READS) + 1 + len(GATHER_PTX)


def expected_loads(name: str) -> tuple[int, int] | None:
    """Scalar and 16-byte data loads of a kernel, or None when it is not a measuring kernel."""
    if match := WALK.search(name):
        layout, fields, from_memory = match.groups()
        scalar, vector = READS[layout, fields]
        return (UNROLL * scalar, UNROLL * vector) if from_memory == "1" else (0, 0)
    if "timer_check" in name and "follow" in name:
        return (2 * CHAIN_UNROLL, 0)
    if match := GATHER.search(name):
        return (0, GATHER_LOADS) if match[1] == "16" else (GATHER_LOADS, 0)
    return None


def complain(kernel: str, what: str) -> str:
    return f"{kernel}: {what}"


def early_sums(body: str, loads: int) -> str:
    """Say where a walk sums before it has issued every load of a particle, or nothing.

    ptxas may do that to save registers. The read then waits for memory several times in a row
    instead of once: seen on a structure of arrays, whose cycles it doubled.
    """
    opcodes = re.findall(r"^\s+/\*[0-9a-f]+\*/\s+(?:@!?U?P\d+\s+)?(LDG|FADD)", body, re.MULTILINE)
    first_sum = opcodes.index("FADD") if "FADD" in opcodes else len(opcodes)
    if first_sum == len(opcodes) or loads == 0:
        return ""
    per_read = loads // UNROLL
    runs = [len(run) for run in "".join(op[0] for op in opcodes[1:]).split("F") if run]
    if all(run == per_read for run in runs):
        return ""
    return f"sums between the loads of one read: runs of {runs} loads, not of {per_read}"


def loads_in_loops(body: str) -> int:
    """Count the loads that lie between a backward branch and its target.

    ptxas takes a load whose address does not change out of its loop, even one from volatile asm:
    the loop then times nothing, and looks very fast.
    """
    instructions = re.findall(
        r"^\s+/\*([0-9a-f]+)\*/\s+(?:@!?U?P\d+\s+)?([A-Z0-9_.]+)([^;]*);", body, re.MULTILINE
    )
    loops = []
    for address, opcode, rest in instructions:
        target = re.search(r"0x([0-9a-f]+)\s*$", rest) if opcode.startswith("BRA") else None
        if target and int(target[1], 16) < int(address, 16):
            loops.append((int(target[1], 16), int(address, 16)))
    return sum(
        opcode.startswith("LDG") and any(low <= int(address, 16) <= high for low, high in loops)
        for address, opcode, _ in instructions
    )


def check_ptx(text: str) -> tuple[int, list[str]]:
    found: list[str] = []
    kernels = re.findall(r"\.entry (\S+?)\((.*?)\n}\n", text, re.DOTALL)
    checked = 0
    for name, body in kernels:
        loads = expected_loads(name)
        if loads is None:
            continue
        checked += 1
        # The loads written in asm keep this form; the starting group is read with .nc or .u32.
        scalar = len(re.findall(r"ld\.global\.ca\.f32", body))
        vector = len(re.findall(r"ld\.global\.ca\.v4\.f32", body))
        if "follow" in name:
            scalar = len(re.findall(r"ld\.global\.ca\.u32 %\w+, \[address\]", body))
        if match := GATHER.search(name):
            form = re.escape(GATHER_PTX[int(match[1])])
            count = len(re.findall(rf"ld\.global\.cg\.{form} ", body))
            scalar, vector = (0, count) if match[1] == "16" else (count, 0)
        if (scalar, vector) != loads:
            found.append(complain(name, f"{scalar} scalar and {vector} vector loads, not {loads}"))
        if "%clock64" not in body or re.search(r"%clock\b(?!64)", body):
            found.append(complain(name, "the clock is not read as %clock64"))
        if "ld.local" in body or "st.local" in body:
            found.append(complain(name, "uses local memory"))
    return checked, found


def complaints_of_sass(name: str, body: str, loads: tuple[int, int]) -> Iterator[str]:
    opcodes = Counter(
        re.findall(r"^\s+/\*[0-9a-f]+\*/\s+(?:@!?U?P\d+\s+)?([A-Z0-9_.]+)", body, re.MULTILINE)
    )
    vector = sum(n for op, n in opcodes.items() if op.startswith("LDG.E.128"))
    scalar = sum(n for op, n in opcodes.items() if op.startswith("LDG")) - vector
    if "walk" in name:
        scalar -= 1  # the warp's starting group
    if (scalar, vector) != loads:
        yield f"{scalar} scalar and {vector} 16-byte loads, not {loads}"
    if (inside := loads_in_loops(body)) != sum(loads):
        yield f"{inside} loads inside loops, not {sum(loads)}"
    if match := GATHER.search(name):
        # Past L1 by .STRONG.GPU; every load as wide as its element.
        wanted = GATHER_SASS[int(match[1])] + ".STRONG.GPU"
        if opcodes[wanted] != GATHER_LOADS:
            yield f"{opcodes[wanted]} {wanted}, not {GATHER_LOADS}"
    if "walk" in name and (waits := early_sums(body, sum(loads))):
        yield waits
    if not re.search(r"\bCS2R R\d+, SR_CLOCKLO", body):
        yield "the clock is not read by a 64-bit CS2R"
    if re.search(r"CS2R\.32 R\d+, SR_CLOCKLO|\bS2R R\d+, SR_CLOCKLO", body):
        yield "the clock is cut to 32 bits"
    if any(op.startswith(("LDL", "STL")) for op in opcodes):
        yield "spills to local memory"


def check_sass(text: str) -> tuple[int, list[str]]:
    found: list[str] = []
    checked = 0
    for part in text.split("Function : ")[1:]:
        name, _, body = part.partition("\n")
        loads = expected_loads(name)
        if loads is None:
            continue
        checked += 1
        found += [complain(name, what) for what in complaints_of_sass(name, body, loads)]
    return checked, found


def main() -> int:
    kind, *files = sys.argv[1:]
    checked = 0
    found: list[str] = []
    if kind == "ptx":
        for file in ";".join(files).split(";"):
            some, complaints = check_ptx(Path(file).read_text(encoding="utf-8"))
            checked += some
            found += complaints
        expected = MEASURING_KERNELS
    else:
        tool = shutil.which("cuobjdump") or "/usr/local/cuda/bin/cuobjdump"
        dump = subprocess.run([tool, "-sass", *files], capture_output=True, text=True, check=True)
        checked, found = check_sass(dump.stdout)
        architectures = len(set(re.findall(r"arch = (sm_\d+)", dump.stdout)))
        expected = architectures * MEASURING_KERNELS
    if checked != expected or expected == 0:
        found.append(f"{checked} measuring kernels found, {expected} expected")
    print("\n".join(found) or f"{checked} kernels hold their contract")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
