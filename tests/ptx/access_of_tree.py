"""What `strata access` says of every kernel of this tree.

access_of_tree.py STRATA FILE...    the PTX that nvcc wrote
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter

LEAST_FOLLOWED = 0.7
"""Share of the accesses to global and shared memory that are followed without a launch."""


def main() -> int:
    strata, *arguments = sys.argv[1:]
    files = ";".join(arguments).split(";")
    done = subprocess.run(
        [strata, "access", *files, "--format", "json"],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0 or done.stderr:
        print(f"exit status {done.returncode}: {done.stderr}")
        return 1
    verdicts: Counter[str] = Counter()
    for kernel in json.loads(done.stdout)["kernels"]:
        for access in kernel["accesses"]:
            if access["space"] in ("global", "shared"):
                verdicts[access["verdict"]] += 1
    followed = 1 - (verdicts["unknown"] + verdicts["unmodelled"]) / verdicts.total()
    print(f"{len(files)} files, {dict(verdicts)}: {followed:.1%} followed")
    return 0 if followed >= LEAST_FOLLOWED else 1


if __name__ == "__main__":
    sys.exit(main())
