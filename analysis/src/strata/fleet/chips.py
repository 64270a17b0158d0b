"""Whether all runs of a GPU are of one chip, by the latencies that `chip_map` measured."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from strata.fleet.dataset import Entry
from strata.model import chip_map
from strata.model.chip_map import Cells
from strata.run import RunError, load_run

SAME = 0.5
"""Cycles: maps that differ by more are of two chips. Two runs of an H200 differed by 0.02."""


def map_of(entry: Entry) -> Cells | None:
    """The map of a run, if it has one and its folder is there."""
    if not (entry.folder and entry.sizes.get("chip_map")):
        return None
    try:
        return chip_map.cells(load_run(Path(entry.folder)), "load")
    except RunError:
        return None  # the fleet is judged without it


def exchanged(maps: Sequence[Sequence[Cells]]) -> Iterator[tuple[int, str]]:
    """GPUs whose latest map is unlike all their earlier ones, and why.

    `maps`: of each GPU those of its runs, the latest first. Chips whose SMs are enabled at the same
    places have one map: their exchange is not noticed.
    """
    for gpu, of in enumerate(maps):
        own = min((chip_map.distance(of[0], one) for one in of[1:]), default=0.0)
        if own > SAME:
            why = f"its map of SMs and L2 differs by {own:.2f} cycles from those of earlier runs"
            yield gpu, f"another chip than before: {why}"
