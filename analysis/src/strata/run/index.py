"""The short names of recorded runs: `results/index.csv` of the sources."""

import csv
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from strata.run.files import is_run, read_text

RESULTS = Path(__file__).parents[4] / "results"
"""The recorded runs; an installed package has none."""


@cache
def recorded() -> Mapping[str, Sequence[Path]]:
    """The run folders of each short name, the main one first; none outside of the sources."""
    index, found = RESULTS / "index.csv", dict[str, list[Path]]()
    if index.exists():
        for line in csv.DictReader(read_text(index).splitlines()):
            found.setdefault(line["name"], []).append(RESULTS / line["device"] / line["run"])
    return found


def folders(name: str) -> Sequence[Path]:
    """The run folders that `name` means: a folder, unless only a recorded run has that name."""
    path = Path(name)
    return [path] if is_run(path) or name not in recorded() else recorded()[name]


def folder(name: str) -> Path:
    """The run folder that `name` means; the main one of a device with several."""
    return folders(name)[0]
