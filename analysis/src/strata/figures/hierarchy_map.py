"""How large, how far and how fast are the memory levels of this device?"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from strata.figures import _chart as c
from strata.figures._figure import Figure, attributes, prose
from strata.figures._levels import LEAST, Drawing
from strata.figures._sheet import POINT
from strata.model.hierarchy import Hierarchy, Level, Number, hierarchy
from strata.model.units import SPACE
from strata.run import Row, Run

LINE = 10.2
"""Points from a line of words to the next: the unit of the panel's height."""


@dataclass(frozen=True, slots=True)
class Item:
    """One number of one level of one device."""

    map: Hierarchy
    level: Level
    number: Number

    @property
    def row(self) -> Row | None:
        """The row of the number; None for a fact."""
        return self.number.row

    @property
    def valid(self) -> bool:
        """Whether the number exists."""
        return self.number.source != "missing"


def items(run: Run) -> Sequence[Item]:
    """Every number of every level, including missing ones; none if nothing was measured."""
    found = hierarchy(run)
    if not found.measured:
        return ()
    return [Item(found, level, one) for level in found.levels for one in level.numbers.values()]


def beside(runs: Sequence[Run]) -> Sequence[Item]:
    """The numbers of several GPUs, or of several CPUs."""
    each = [items(run) for run in runs]
    alike = len({run.context.backend for run in runs}) == 1
    return [item for found in each for item in found] if all(each) and alike else ()


def _maps(found: Sequence[Item]) -> list[Hierarchy]:
    return list({item.map.run.context.run: item.map for item in found}.values())


def chart(found: Sequence[Item]) -> c.Chart:
    """The device to scale; below it what is beside it, and why numbers are missing."""
    maps = _maps(found)
    of = Drawing(maps)
    names = [_name(one, maps) for one in maps] if len(maps) > 1 else []
    keys = [c.Key(name, c.Look(of.colour(at)), patch=True) for at, name in enumerate(names)]
    ends = (LEAST, 1.06 * of.last)
    places = c.bytes_axis(f"size (of one, where each {maps[0].core} has one)", ends, most=10)
    values = c.Axis(limits=(of.tall + 0.15, -0.15), ticks=(), names=())
    panel = c.Panel(of.layers, replace(places, limits=ends), values)
    height = (of.tall + 0.3) * LINE / POINT + (0.9 if keys else 0.62)
    below = [f"{mark}{SPACE}{why}" for why, mark in of.notes.items()]
    return c.Chart([[panel]], of.wide, height, keys=keys, below=below)


def _name(of: Hierarchy, maps: Sequence[Hierarchy]) -> str:
    alike = [one.device for one in maps].count(of.device) > 1
    return f"{of.device} ({of.run.context.run})" if alike else of.device


def _caption(found: Sequence[Item]) -> str:
    core = found[0].map.core
    return prose(
        "Boxes are nested like the levels. Each ends at its size on the logarithmic axis, a "
        "dashed one where there is space. Latency: one thread's dependent loads. Bandwidth: "
        f"the best read by all {core}s at once, and per {core} and cycle.",
        core == "SM"
        and "Limit: 128 B per cycle for L1 and shared memory, the pins for DRAM. Beside the "
        "device: whole copies of pinned memory.",
        any(item.level.part_of for item in found)
        and "Near and far: loads of lines whose home is on the SM's side of L2, and on the "
        "other; ≈ by the SM clock; parts are drawn as halves. The latency of L2 is the median of "
        "the SMs, if all were measured; used by one SM, by all SMs: where their loads begin to "
        "take longer.",
        any(item.number.what == "half_l2" for item in found)
        and "Half from L2: chains of one SM that miss the near part; the far part serves half of "
        "their loads, memory the rest.",
        "Facts are reported by the device or its host, not measured. Small marks: why a "
        "number is missing.",
    )


COLUMNS = {
    "device": lambda item: item.map.device,
    "run": lambda item: item.map.run.context.run,
    "level": lambda item: item.level.name,
    **attributes(
        number="what", shown="text", value="value", source="source", because="why", of="number"
    ),
    **attributes("quantity", "method", "unit", of="row"),
}
TITLE = "The levels of memory: size, latency, bandwidth"
FIGURE = Figure(
    "hierarchy_map", TITLE, 0, items, chart, _caption, COLUMNS, label=lambda _: "", beside=beside
)
