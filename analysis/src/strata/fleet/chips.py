"""Whether all runs of a GPU are of one chip, by the latencies that `chip_map` measured."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from statistics import median

from strata.fleet.dataset import Entry
from strata.model import chip_map
from strata.model.chip_map import Cells
from strata.run import RunError, load_run


def map_of(entry: Entry) -> Cells | None:
    """The map of a run, if it has one and its folder is there."""
    if not (entry.folder and entry.sizes.get("chip_map")):
        return None
    try:
        return chip_map.cells(load_run(Path(entry.folder)), "load")
    except RunError:
        return None  # the fleet is judged without it


def exchanged(maps: Sequence[Sequence[Cells]]) -> Iterator[tuple[int, str]]:
    """GPUs whose latest map is unlike their earlier ones, and why.

    `maps`: of each GPU those of its runs, the latest first. What is unlike: more than half as far
    as two GPUs are from each other, median over all pairs.
    """
    latest = [of[0] for of in maps if of]
    pairs = [chip_map.distance(one, other) for one, other in combinations(latest, 2)]
    usual = median(pairs) if pairs else float("inf")
    for gpu, of in enumerate(maps):
        own = min((chip_map.distance(of[0], one) for one in of[1:]), default=0.0)
        if own > usual / 2:
            why = f"its map differs by {own:.2f} cycles from that of its earlier runs"
            yield gpu, f"another chip than before: {why}, two GPUs by {usual:.2f}"
