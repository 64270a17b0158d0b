"""What `strata access` says of every kernel of this tree.

access_of_tree.py STRATA FILE...    the PTX that nvcc wrote
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

LEAST_FOLLOWED = {"": 0.93, "strata::neighbours::": 0.3, "strata::fstat::": 0.3}
"""Share of the accesses to global and shared memory that are proved, or exact in a launch, by whose
kernels they are. Whom an agent's cell names is in the data, and so is where that one is found."""

PLACES = 8  # of the ring that the chains of loads walk
RING = 1 << 40  # any address: the ring holds pointers to itself
CHAINS = """schema: 1
kernel: 'chains<.*{operation}, {chains}u>.*'
grid: [2]
block: [64]
arguments:
  - {{bytes: {words}, fill: random 1, below: {places}, element: 8}}
  - {{bytes: {ring_bytes}, address: {ring:#x}, hex: '{pointers}'}}
  - 1
  - {{bytes: 4096}}
  - {{bytes: 4096}}
"""


def launches() -> Iterator[str]:
    """Of the kernels whose addresses are what they loaded: no proof can tell those."""
    after = [RING + 8 * ((place + 3) % PLACES) for place in range(PLACES)]
    pointers = b"".join(one.to_bytes(8, "little") for one in after).hex()
    for operation in ("SharedLoad", "GlobalLoad"):
        for chains in (1, 2, 4, 8):
            yield CHAINS.format(
                operation=operation,
                chains=chains,
                words=(chains + 4) * 32 * 8,
                places=PLACES,
                ring=RING,
                ring_bytes=8 * PLACES,
                pointers=pointers,
            )


def main() -> int:
    strata, *arguments = sys.argv[1:]
    files = ";".join(arguments).split(";")
    words = [strata, "access", *files, "--format", "json"]
    with tempfile.TemporaryDirectory() as folder:
        for number, text in enumerate(launches()):
            launch = Path(folder) / f"{number}.yaml"
            launch.write_text(text, encoding="utf-8")
            words += ["--launch", str(launch)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0 or done.stderr:
        print(f"exit status {done.returncode}: {done.stderr}")
        return 1
    verdicts: dict[str, Counter[str]] = {whose: Counter() for whose in LEAST_FOLLOWED}
    for kernel in json.loads(done.stdout)["kernels"]:
        whose = next((name for name in LEAST_FOLLOWED if name and name in kernel["name"]), "")
        for access in kernel["accesses"]:
            if access["space"] not in ("global", "shared"):
                continue
            is_proved = access["verdict"] not in ("unknown", "unmodelled")
            is_exact = any(one["is_exact"] for one in access["exact"])
            verdicts[whose][access["verdict"] if is_proved or not is_exact else "exact alone"] += 1
    failed = 0
    for whose, found in verdicts.items():
        unfollowed = found["unknown"] + found["unmodelled"]
        share = 1 - unfollowed / found.total()
        print(f"{whose or 'all others'}: {dict(found)}: {share:.1%} followed")
        failed += share < LEAST_FOLLOWED[whose]
    print(f"{len(files)} files")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
