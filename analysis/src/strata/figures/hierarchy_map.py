"""How large, how far and how fast are the memory levels of this device?"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from strata.figures._figure import Columns, attributes, prose
from strata.figures._plot import figure, table
from strata.figures._style import GREY, LEVEL, POINT, bytes_axis, hover, pale
from strata.model.hierarchy import WHAT, Hierarchy, Level, Number, hierarchy
from strata.run import Row, Run

LEAST, MOST = 2.0**10, 2.0**50
"""Bytes: where the axis begins, and a size that no level has."""
HEAD, LINE, GAP = 15.0, 23.0, 4.0
"""Points: a title, a number below its label, and between boxes."""
COLUMN = 78.0
"""Points of a column of numbers, at the least."""
FIRST = ("time", "bandwidth")
"""Bold."""


class Item(NamedTuple):
    """One number of one level of one device."""

    map: Hierarchy
    level: Level
    number: Number

    @property
    def label(self) -> str:
        """The kind of the number, and whether it is a fact; of a part its name."""
        if self.level.part_of:
            return self.level.title
        words = WHAT[self.number.what].replace("core", self.map.core)
        return f"{words} (fact)" if self.number.source == "fact" else words


COLUMNS: Columns = {
    "device": lambda item: item.map.device,
    "run": lambda item: item.map.run.context.run,
    "level": lambda item: item.level.name,
    **attributes(
        number="what", shown="text", value="value", source="source", because="why", of="number"
    ),
    **attributes("quantity", "method", "unit", of="number.row"),
    "valid": lambda item: item.number.source != "missing",
    "_title": lambda item: item.level.title_of(item.map.core),
    "_name": lambda item: item.label,
    "_within": lambda item: item.level.part_of or item.level.name,
    "_core": lambda item: item.map.core,
}


def _row(item: Item) -> Row | None:
    return item.number.row


def data(run: Run) -> pd.DataFrame:
    """Every number of every level, including missing ones; none if nothing was measured."""
    return beside([run])


def beside(runs: Sequence[Run]) -> pd.DataFrame:
    """The numbers of several GPUs, or of several CPUs."""
    maps = [hierarchy(run) for run in runs]
    alike = len({run.context.backend for run in runs}) == 1
    found = maps if alike and all(one.measured for one in maps) else []
    items = [
        Item(one, level, number)
        for one in found
        for level in one.levels
        for number in level.numbers.values()
    ]
    return table(items, COLUMNS, row=_row, label=lambda _: "")


def caption(data: pd.DataFrame) -> str:
    """The meaning of the boxes and of their numbers."""
    core = data["_core"][0]
    return prose(
        "Boxes are the levels, nearest first. Each ends at its size on the logarithmic axis, a "
        "dashed one has none. Latency: one thread's dependent loads. Bandwidth: the best read by "
        f"all {core}s at once, and per {core} and cycle.",
        core == "SM"
        and "Limit: 128 B per cycle for L1 and shared memory, the pins for DRAM. Beside the "
        "device: whole copies of pinned memory.",
        bool((data["_within"] != data.level).any())
        and "Near and far: loads of lines whose home is on the SM's side of L2, and on the "
        "other; ≈ by the SM clock. The latency of L2 is the median of the SMs, if all were "
        "measured; used by one SM, by all SMs: where their loads begin to take longer.",
        bool((data.number == "half_l2").any())
        and "Half from L2: chains of one SM that miss the near part; the far part serves half of "
        "their loads, memory the rest.",
        "Facts are reported by the device or its host, not measured. The data file has the "
        "reason for each missing number.",
    )


@figure(
    "hierarchy_map", "The levels of memory: size, latency, bandwidth", order=0,
    data=data, caption=caption, beside=beside,
)  # fmt: skip
def draw(data: pd.DataFrame, figure: Figure) -> None:
    """A panel for each device, side by side."""
    maps = [here for _, here in data[data.valid].groupby("run", sort=False)]
    wide = POINT * figure.get_figwidth() / len(maps)
    panels = figure.subplots(1, len(maps), squeeze=False, sharex=True)[0]
    sizes = data.value[(data.number == "size") & (data.value < MOST)]
    last = 2 * max(sizes, default=LEAST)
    columns = max(1, int(wide / COLUMN))
    tall = max(_levels(ax, here, columns, last) for ax, here in zip(panels, maps, strict=True))
    figure.set_figheight(tall / POINT + 0.8)
    names = [here.device.iloc[0] for here in maps]
    for ax, name, here in zip(panels, names, maps, strict=True):
        bytes_axis(ax, f"size (of one, where each {data['_core'][0]} has one)")
        ax.set(xlim=(LEAST, last), ylim=(tall, 0), yticks=[])
        ax.grid(visible=False)
        run = f"\n{here.run.iloc[0]}" if names.count(name) > 1 else ""
        ax.set_title(name + run if len(maps) > 1 else "")


def _levels(ax: Axes, data: pd.DataFrame, columns: int, last: float) -> float:
    """The boxes from the top down; gives the lower end in points."""
    top, across = 0.0, ax.get_yaxis_transform()
    for _, here in data.groupby("_within", sort=False):
        first = here.iloc[0]
        high = HEAD + LINE * -(-len(here) // columns)
        size = next((one for one in here.value[here.number == "size"] if LEAST < one < MOST), 0)
        colour = LEVEL.get(first.level, GREY)
        look: dict[str, Any] = {"fc": "white", "ec": colour, "ls": "--"}
        if size:
            look = {"fc": pale(colour, 0.2)}
        (box,) = ax.barh(
            top, (size or last) - LEAST, high, LEAST, align="edge", gid="shade", **look
        )
        hover(box, [f"{first['_title']}: {', '.join(here['_name'] + ' ' + here.shown)}"])
        ax.text(0.01, top + 2, first["_title"], transform=across, weight="bold", va="top")
        for place, one in enumerate(here.to_dict("records")):
            x = 0.01 + place % columns / columns
            y = top + HEAD + LINE * (place // columns)
            ax.text(x, y, one["_name"], transform=across, size=7, color="#595959", va="top")
            bold = "bold" if one["number"] in FIRST else "normal"
            words = ax.text(x, y + 9, one["shown"], transform=across, weight=bold, va="top")
            hover(words, [one["_row"] or one["because"]])
        top += high + GAP
    return top
