"""Reads of a particle, layout by layout, and no sum before the last load of a read."""

import re
from collections.abc import Callable, Iterator

from contract import Contract, Kernel
from dependencies import Order

# Layout and fields -> scalar and 16-byte loads of one read. From the layouts' declarations in
# harness/model/layout.hpp: a read is issued when it holds a wanted field.
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
UNROLL = 4


def no_early_sums(per_read: int) -> Callable[[str], Iterator[str]]:
    """Complain where a walk sums before it has issued every load of a particle.

    ptxas may do that to save registers. The read then waits for memory several times in a row
    instead of once: seen on a structure of arrays, whose cycles it doubled.
    """

    def diagnostics(body: str) -> Iterator[str]:
        found = re.findall(r"^\s+/\*[0-9a-f]+\*/\s+(?:@!?U?P\d+\s+)?(LDG|FADD)", body, re.MULTILINE)
        if "FADD" not in found:
            return
        # The first load is that of the warp's starting group.
        runs = [len(run) for run in "".join(op[0] for op in found[1:]).split("F") if run]
        if any(run != per_read for run in runs):
            yield f"sums between the loads of one read: runs of {runs} loads, not of {per_read}"

    return diagnostics


def walk(layout: str, fields: str) -> Kernel:
    scalar, vector = READS[layout, fields]
    return Kernel(
        name=rf"walkINS_\d{layout}ENS_\d+{fields}ELb1E",
        ptx={
            r"ld\.global\.ca\.f32": UNROLL * scalar,
            r"ld\.global\.ca\.v4\.f32": UNROLL * vector,
        },
        sass={r"LDG\..*": UNROLL * (scalar + vector) + 1},  # one for the warp's starting group
        sass_in_loops={
            r"LDG\.E\.STRONG\.SM": UNROLL * scalar,
            r"LDG\.E\.128\.STRONG\.SM": UNROLL * vector,
        },
        order=Order(
            r"ld\.global\.ca",
            r"LDG\.",
            turn=UNROLL * (scalar + vector),
            chains=1,
            step=UNROLL,
            at_once=scalar + vector,
        ),
        more=no_early_sums(scalar + vector),
    )


def empty_walk(layout: str, fields: str) -> Kernel:
    """The same walk without memory: what is left are the sums and the addresses."""
    return Kernel(
        name=rf"walkINS_\d{layout}ENS_\d+{fields}ELb0E",
        ptx={r"ld\.global\.ca": 0},
        sass={},
        sass_in_loops={r"LDG\..*": 0},
    )


CONTRACT = Contract(
    kernels=tuple(make(*key) for key in READS for make in (walk, empty_walk)),
    others=("15write_particles",),
)
