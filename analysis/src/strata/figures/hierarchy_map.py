"""How large, how far and how fast are the memory levels of this device?"""

from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from strata.figures._plot import figure, prose
from strata.figures._style import GREY, LEVEL, NOTE, POINT, QUIET, bytes_axis, hover, pale
from strata.model.hierarchy import WHAT, Hierarchy, Level, Number, hierarchy
from strata.run import Run

LEAST, MOST = 2.0**10, 2.0**50
"""Bytes: where the axis begins, and a size that no level has."""
HEAD, LINE, GAP = 15.0, 23.0, 4.0
"""Points: a title, a number below its label, and between boxes."""
COLUMN = 90.0
"""Points of a column of numbers, at the least."""
FIRST = ("time", "bandwidth")
"""Bold."""


def data(run: Run) -> pd.DataFrame:
    """Every number of every level, including missing ones; none if nothing was measured."""
    return beside([run])


def beside(runs: Sequence[Run]) -> pd.DataFrame:
    """The numbers of several GPUs, or of several CPUs."""
    maps = [hierarchy(run) for run in runs]
    alike = len({run.context.backend for run in runs}) == 1
    found = maps if alike and all(shown.measured for shown in maps) else []
    return pd.DataFrame(
        _line(shown, level, number)
        for shown in found
        for level in shown.levels
        for number in level.numbers.values()
    )


def _line(shown: Hierarchy, level: Level, number: Number) -> dict[str, object]:
    """A number; the words of `_name` are its kind, and of a part the name of the part."""
    row = number.row
    name = WHAT[number.what].replace("core", shown.core)
    fact = " (fact)" if number.source == "fact" else ""
    return {
        "device": shown.device, "run": shown.run.context.run, "level": level.name,
        "number": number.what, "shown": number.text, "value": number.value,
        "source": number.source, "because": number.why, "quantity": row and row.quantity,
        "method": row and row.method, "unit": row and row.unit,
        "valid": number.source != "missing", "case": row.case if row else "",
        "_title": level.title_of(shown.core), "_within": level.part_of or level.name,
        "_name": level.title if level.part_of else f"{name}{fact}", "_core": shown.core,
        "_row": row, "_label": "",
    }  # fmt: skip


def caption(data: pd.DataFrame) -> str:
    core = data["_core"][0]
    return prose(
        "Boxes are the levels, nearest first. Each ends at its size on the logarithmic axis, a "
        "dashed one has none. Latency: one thread's dependent loads. Bandwidth: the best read by "
        f"all {core}s at once, and per {core} and cycle.",
        core == "SM"
        and "Limit: 128 B per cycle for L1 and shared memory, the pins for DRAM. Beside the "
        "device: whole copies of pinned memory. Near and far: loads of lines whose home is on the "
        "SM's side of L2, and on the other. Used by one SM, by all SMs: where their loads begin to "
        "take longer. Half from L2: the far part of L2 serves half of these loads, memory the "
        "rest.",
        "Facts are reported by the device or its host, not measured. The data file has the "
        "reason for each missing number.",
    )


@figure(
    "hierarchy_map", "The levels of memory: size, latency, bandwidth", order=0,
    data=data, caption=caption, beside=beside,
)  # fmt: skip
def draw(data: pd.DataFrame, figure: Figure) -> None:
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
        level, title = here[["level", "_title"]].iloc[0]
        high = HEAD + LINE * -(-len(here) // columns)
        sizes = here.value[(here.number == "size") & here.value.between(LEAST, MOST, "neither")]
        size = next(iter(sizes), 0)
        colour = LEVEL.get(level, GREY)
        look: dict[str, Any] = {"fc": "white", "ec": colour, "ls": "--"}
        look = {"fc": pale(colour, 0.2)} if size else look
        wide = (size or last) - LEAST
        (box,) = ax.barh(top, wide, high, LEAST, align="edge", gid="shade", **look)
        hover(box, [f"{title}: {', '.join(here['_name'] + ' ' + here.shown)}"])
        ax.text(0.01, top + 2, title, transform=across, weight="bold", va="top")
        for place, number in enumerate(here.to_dict("records")):
            x = 0.01 + place % columns / columns
            y = top + HEAD + LINE * (place // columns)
            text: dict[str, Any] = {"transform": across, "va": "top"}
            ax.text(x, y, number["_name"], size=NOTE, color=QUIET, **text)
            weight = "bold" if number["number"] in FIRST else "normal"
            words = ax.text(x, y + 9, number["shown"], weight=weight, **text)
            hover(words, [number["_row"] or number["because"]])
        top += high + GAP
    return top
