"""List the benchmarks whose kernels differ between two executables, separated by commas.

changed_benchmarks.py OLD NEW     needs cuobjdump

Compared are opcodes and operands of the machine code. Names of kernels contain a hash and a line
number of their file, which are ignored. A kernel that only one build has is a difference.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from code_contract import dump_of, kernels_of_sass
from sass_listing import Instruction, opcodes

Code = dict[str, list[list[Instruction]]]
"""The kernels of each benchmark, in the order of their names."""


def nameless(mangled: str) -> str:
    """The name without its unnamed namespace, which has another one in each compilation."""
    found = re.search(r"(\d+)_GLOBAL__N__", mangled)
    if found is None:
        return mangled
    start = found.start() + len(found[1])
    return mangled[: found.start()] + mangled[start + int(found[1]) :]


def code_of(path: Path) -> Code:
    """The code of an executable."""
    found: dict[str, list[tuple[str, list[Instruction]]]] = {}
    for kernels in kernels_of_sass(dump_of([path])):
        for benchmark, some in kernels.items():
            entries = found.setdefault(benchmark, [])
            entries += [(nameless(name), opcodes(body)) for name, body in some]
    return {name: [body for _, body in sorted(kernels)] for name, kernels in found.items() if name}


def main() -> int:
    old, new = (code_of(Path(path)) for path in sys.argv[1:3])
    if not old or not new:
        print(
            "strata: no machine code found: name the benchmarks with --only",
            file=sys.stderr,
        )
        return 2
    print(
        ",".join(sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name)))
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
