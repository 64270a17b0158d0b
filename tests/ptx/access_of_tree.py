"""What `strata access` says of every kernel of this tree.

access_of_tree.py STRATA OBJECT...    objects that nvcc wrote, with their PTX as text
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from code_contract import text_of

LEAST_FOLLOWED = 0.7
"""Share of the accesses to global and shared memory whose addresses are followed without a launch."""


def main() -> int:
    strata, *arguments = sys.argv[1:]
    objects = [Path(path) for path in ";".join(arguments).split(";")]
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for one in objects:
            if text := text_of(one):
                files.append(Path(folder) / f"{one.name.split('.')[0]}.ptx")
                files[-1].write_text(text, encoding="utf-8")
        done = subprocess.run(
            [strata, "access", *map(str, files), "--format", "json"],
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
    print(
        f"{len(files)} files, {verdicts.total()} accesses, {dict(verdicts)}: {followed:.1%} followed"
    )
    return 0 if followed >= LEAST_FOLLOWED else 1


if __name__ == "__main__":
    sys.exit(main())
