#!/usr/bin/env python3
"""Redraws the figures of README and the manual as `strata figure` draws them.

A figure `results/report/DEVICE/NAME.png` is of the run that docs/runs.csv assigns to NAME,
otherwise of the first run of that device there. Needs the analysis: PYTHONPATH=analysis/src. Exit
status: 0, 1 a run lacks a figure, 2 bad input.
"""

from __future__ import annotations

import csv
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
SHOWN = re.compile(r"!\[[^\]]*\]\(\S*results/report/([\w-]+)/(\w+)\.png\)")


def shown(root: Path) -> list[tuple[str, str]]:
    """The figures of README and the manual: device and name."""
    pages = (root / "README.md", *(root / "docs").glob("*.md"))
    return sorted({pair for page in pages for pair in SHOWN.findall(page.read_text("utf-8"))})


def run_of(root: Path, device: str, name: str) -> str | None:
    """The folder of the run of a figure, below results; None if there is none."""
    with (root / "docs/runs.csv").open(newline="", encoding="utf-8") as file:
        runs = [line for line in csv.DictReader(file) if line["folder"].startswith(f"{device}/")]
    given = [line["folder"] for line in runs if name in line["figures"].split()]
    return next(iter(given or [line["folder"] for line in runs]), None)


def main() -> int:
    missing = 0
    for device, name in shown(ROOT):
        if not (folder := run_of(ROOT, device, name)):
            print(f"docs/runs.csv has no run of {device}, for its {name}", file=sys.stderr)
            return 2
        to = ROOT / f"results/report/{device}/{name}.png"
        to.parent.mkdir(exist_ok=True)
        draw = [sys.executable, "-P", "-m", "strata", "figure", name, f"results/{folder}"]
        done = subprocess.run([*draw, "--format", "png", "--out", f"{to}"], check=False, cwd=ROOT)
        missing |= done.returncode != 0
    return int(missing)


if __name__ == "__main__":
    sys.exit(main())
