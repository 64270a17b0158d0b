#!/usr/bin/env python3
"""Redraws the figures of README and the manual as `strata report` draws them.

A figure `results/report/DEVICE/NAME.png` is of the run that docs/runs.csv assigns to NAME,
otherwise of the first run of that device there. Needs the analysis: PYTHONPATH=analysis/src. Exit
status: 0, 1 a run lacks a figure, 2 bad input.
"""

from __future__ import annotations

import csv
import re
import shutil
import subprocess
import sys
import tempfile
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
    wanted: dict[str, list[tuple[str, str]]] = {}
    for device, name in shown(ROOT):
        if not (folder := run_of(ROOT, device, name)):
            print(f"docs/runs.csv has no run of {device}, for its {name}", file=sys.stderr)
            return 2
        wanted.setdefault(folder, []).append((device, name))
    missing = 0
    for folder, figures in wanted.items():
        with tempfile.TemporaryDirectory() as out:
            report = [sys.executable, "-P", "-m", "strata", "report", f"results/{folder}"]
            subprocess.run([*report, "--out", out], check=True, cwd=ROOT)
            for device, name in figures:
                drawn, to = Path(out) / f"figures/{name}.png", ROOT / f"results/report/{device}"
                if drawn.exists():
                    to.mkdir(exist_ok=True)
                    shutil.copyfile(drawn, to / drawn.name)
                else:
                    print(f"{folder} has no figure {name}", file=sys.stderr)
                    missing = 1
    return missing


if __name__ == "__main__":
    sys.exit(main())
