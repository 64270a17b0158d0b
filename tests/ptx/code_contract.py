"""Hold the generated code of every measuring kernel against what its benchmark declares.

    code_contract.py ptx FILE...     the PTX that nvcc wrote (needs no GPU)
    code_contract.py sass BINARY     the machine code in an executable (needs cuobjdump)
    code_contract.py mutant FILE     succeeds when the contract refuses the PTX in FILE

A folder among the files holds further contracts.

A number from a kernel whose loads were merged, narrowed, dropped or spilled, or whose clock is only
32 bits wide, would be wrong and look right.

What each kernel must hold is declared in contracts/BENCHMARK.py, for the source BENCHMARK.cu.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import dependencies
from contract import Contract, Kernel
from sass_listing import Instruction, in_loops, opcodes

CONTRACTS = Path(__file__).with_name("contracts")


def contracts(*folders: Path) -> dict[str, Contract]:
    """Load the contract of every benchmark, by its name."""
    found = {}
    for path in sorted(path for folder in (CONTRACTS, *folders) for path in folder.glob("*.py")):
        spec = importlib.util.spec_from_file_location(f"contracts.{path.stem}", path)
        if spec is None or spec.loader is None:
            raise RuntimeError(f"{path} cannot be loaded")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        found[path.stem] = module.CONTRACT
    return found


def benchmark_of(mangled: str) -> str | None:
    """Name the benchmark of a kernel by its namespace.

    _ZN6strata10coalescing… is coalescing's, and _ZN6strata5nbody9registers… is the rung registers'.
    Of strata::nbody and strata::fstat themselves there are kernels without a name outside their
    file: nvcc puts the file's into that of the unnamed one, as in
    _GLOBAL__N__1481b8b9_15_measure_rung_cu_1da9dc80.
    """
    match = re.search(r"_ZN6strata(?:5nbody|10neighbours|5fstat)?(\d+)", mangled)
    if match is None:
        return None
    start = match.end()
    name = mangled[start : start + int(match[1])]
    unnamed = re.match(r"_GLOBAL__N__[0-9a-f]+_\d+_(\w+)_cu_", name)
    return unnamed[1] if unnamed else name


def counted(
    kind: str, wanted: dict[str, int], instructions: Sequence[Instruction]
) -> Iterator[str]:
    for pattern, expected in wanted.items():
        found = sum(re.fullmatch(pattern, opcode) is not None for _, opcode, _ in instructions)
        if found != expected:
            yield f"{found} {kind} {pattern}, not {expected}"


def diagnostics_of_ptx(kernel: Kernel, body: str) -> Iterator[str]:
    for pattern, expected in kernel.ptx.items():
        found = len(re.findall(pattern, body))
        if found != expected:
            yield f"{found} of {pattern}, not {expected}"
    if kernel.clock and ("%clock64" not in body or re.search(r"%clock\b(?!64)", body)):
        yield "the clock is not read as %clock64"
    if "ld.local" in body or "st.local" in body:
        yield "uses local memory"
    if kernel.orders:
        code = dependencies.statements(body)
        for order in kernel.orders:
            yield from dependencies.of_ptx(order, code)


def diagnostics_of_sass(kernel: Kernel, body: str) -> Iterator[str]:
    instructions = opcodes(body)
    yield from counted("instructions", kernel.sass, instructions)
    yield from counted("instructions inside loops", kernel.sass_in_loops, in_loops(instructions))
    if kernel.clock:
        if not re.search(r"\bCS2R R\d+, SR_CLOCKLO", body):
            yield "the clock is not read by a 64-bit CS2R"
        if re.search(r"CS2R\.32 R\d+, SR_CLOCKLO|\bS2U?R U?R\d+, SR_CLOCKLO", body):
            yield "the clock is cut to 32 bits"
    if any(opcode.startswith(("LDL", "STL")) for _, opcode, _ in instructions):
        yield "spills to local memory"
    if kernel.orders:
        code = dependencies.machine_code(body)
        for order in kernel.orders:
            yield from dependencies.of_sass(order, code)
    yield from kernel.more(body)


def check(
    kind: str, contract: Contract, kernels: Sequence[tuple[str, str]]
) -> tuple[int, list[str]]:
    """Hold the kernels of one benchmark and one architecture against its contract."""
    found: list[str] = []
    diagnostics = diagnostics_of_ptx if kind == "ptx" else diagnostics_of_sass
    seen: list[Kernel] = []
    for name, body in kernels:
        held = [kernel for kernel in contract.kernels if re.search(kernel.name, name)]
        seen += held
        if not held and not any(re.search(other, name) for other in contract.others):
            found.append(f"{name}: not in the contract, neither measuring nor among the others")
        if len(held) > 1:
            found.append(f"{name}: {len(held)} entries of the contract fit it")
        found += [f"{name}: {what}" for kernel in held for what in diagnostics(kernel, body)]
    found += [f"no kernel {kernel.name}" for kernel in contract.kernels if kernel not in seen]
    return len(seen), found


def kernels_of_ptx(path: Path) -> list[tuple[str, str]]:
    """Name and body of each kernel in what nvcc wrote."""
    # A brace at the beginning of a line may also end a scope of inline asm.
    end = r"\n}\n(?!\s*// end inline asm)"
    return re.findall(rf"\.entry (\S+?)\((.*?){end}", path.read_text(encoding="utf-8"), re.DOTALL)


def by_benchmark(
    kernels: Iterable[tuple[str, str]],
) -> dict[str, list[tuple[str, str]]]:
    """Names and code of kernels, by benchmark. CCCL's, which are in none, need no contract."""
    found: dict[str, list[tuple[str, str]]] = {}
    for name, body in kernels:
        if name.startswith("_ZN3cub"):
            continue
        found.setdefault(benchmark_of(name) or "", []).append((name, body))
    return found


def check_ptx(files: Sequence[Path], known: dict[str, Contract]) -> tuple[int, list[str]]:
    """A file may hold the kernels of several benchmarks: those of a ladder's rungs."""
    total, found = 0, []
    for name, kernels in by_benchmark(k for file in files for k in kernels_of_ptx(file)).items():
        if name not in known:
            found.append(f"{kernels[0][0]}: no contract; write {CONTRACTS.name}/{name}.py")
            continue
        some, diagnostics = check("ptx", known[name], kernels)
        total += some
        found += diagnostics
    return total, found


def kernels_of_sass(dump: str) -> Iterator[dict[str, list[tuple[str, str]]]]:
    """Of each architecture: name and listing of each kernel, by benchmark."""
    for part in re.split(r"(?m)^.*?arch = ", dump)[1:]:
        functions = (text.partition("\n") for text in part.split("Function : ")[1:])
        yield by_benchmark((name, body) for name, _, body in functions)


def dump_of(files: Sequence[Path]) -> str:
    """The machine code in executables."""
    tool = shutil.which("cuobjdump") or "/usr/local/cuda/bin/cuobjdump"
    return subprocess.run(
        [tool, "-sass", *files], capture_output=True, text=True, check=True
    ).stdout


def check_sass(dump: str, known: dict[str, Contract]) -> tuple[int, list[str]]:
    total, found = 0, []
    for kernels in kernels_of_sass(dump):
        for benchmark in kernels.keys() & known.keys():
            some, diagnostics = check("sass", known[benchmark], kernels[benchmark])
            total += some
            found += diagnostics
    measured = sum(len(contract.kernels) for contract in known.values())
    if total == 0 or total % measured != 0:
        found.append(f"{total} measuring kernels found, not {measured} an architecture")
    return total, found


def asked_for() -> tuple[str, dict[str, Contract], list[Path]]:
    """Of the command line: the kind of code, the contracts in its folders, and the other paths."""
    kind, *arguments = sys.argv[1:]
    paths = [Path(path) for path in ";".join(arguments).split(";")]
    known = contracts(*filter(Path.is_dir, paths))
    return kind, known, [path for path in paths if not path.is_dir()]


def main() -> int:
    kind, known, files = asked_for()
    if kind in ("ptx", "mutant"):
        total, found = check_ptx(files, known)
    else:
        total, found = check_sass(dump_of(files), known)
    if kind == "mutant":
        print("\n".join(found) or "the contract holds, although the kernel was changed")
        return 0 if found else 1
    if total == 0:
        found.append("no measuring kernel found")
    print("\n".join(found) or f"{total} kernels hold their contract")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
