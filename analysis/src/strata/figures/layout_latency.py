"""What does one warp-read cost in each layout, when nothing else runs?

After Figures 10 and 11 of Siegel et al. 2009, once per level of the hierarchy.
"""

from operator import attrgetter

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from strata.figures._figure import attributes, prose
from strata.figures._plot import figure, table
from strata.figures._style import GREY, LAYOUTS, bars, hover
from strata.model import FIELDS, LEVELS, fields_name, latency_bars, level_name, ordered
from strata.model.units import unit_name
from strata.run import Run

COLUMN = 5.0
"""Inches: in a narrower figure the levels are one below the other."""
COLUMNS = (
    attributes("level", "fields", "layout", unit="cycles.unit", median="cycles")
    | attributes("p5", "p95", "arithmetic", _arithmetic="arithmetic")
    | {"_name": lambda bar: f"{bar.layout}, {fields_name(bar.fields)}"}
)


def data(run: Run) -> pd.DataFrame:
    """A bar for each layout, set of fields and level."""
    found = latency_bars(run.of("layout_read"))
    fields = ordered((bar.fields for bar in found), FIELDS)
    return table(
        sorted(found, key=lambda bar: fields.index(bar.fields)), COLUMNS, row=attrgetter("cycles"),
        label=lambda bar: f"{level_name(bar.level)} {bar.layout}, {fields_name(bar.fields)}",
    )  # fmt: skip


def caption(data: pd.DataFrame) -> str:
    """What bars, whiskers and hatches are."""
    row = data["_row"][0]
    core = "core" if row.backend == "host" else "SM"
    where = {"one": f" on one {core}", "all": f" on every {core}"}.get(row.text("cores"), "")
    return prose(
        "Time of one warp-read (32 particles, one per lane) by memory layout, one warp at a time"
        f"{where}. Bars: median over warps.",
        data.p5.notna().any() and "Whiskers: 5th to 95th percentile over warps.",
        data.arithmetic.notna().any()
        and "Hatched: the part for sums and address arithmetic, not loads.",
    )


def by_level(
    figure: Figure, data: pd.DataFrame, value: str, label: str, colours: list[str]
) -> list[tuple[Axes, pd.DataFrame]]:
    """A panel for each level with its bars; `colours` are those of the lines of the data."""
    levels = ordered(data.level, LEVELS)
    narrow = figure.get_figwidth() < COLUMN
    shown = data.assign(_colour=colours)
    parts = [shown[shown.level == level].reset_index(drop=True) for level in levels]
    tall = [0.17 * len(part) + 0.35 for part in parts]
    figure.set_figheight(0.6 + (sum(tall) if narrow else max(tall)))
    across, down = (1, len(parts)) if narrow else (len(parts), 1)
    panels = figure.subplots(down, across, squeeze=False).flat
    for ax, level, part in zip(panels, levels, parts, strict=True):
        bars(ax, part, "_name", value, color=[*part["_colour"]])
        ax.set_title(level_name(level))
        alike = [*part["_name"]] == [*parts[0]["_name"]]
        ax.tick_params(labelleft=narrow or part is parts[0] or not alike)
    figure.supxlabel(label, size=8)
    return [*zip(figure.axes, parts, strict=True)]


@figure(
    "layout_latency", "Latency of a warp-read by memory layout", order=10, data=data,
    caption=caption,
)  # fmt: skip
def draw(data: pd.DataFrame, figure: Figure) -> None:
    """Medians over warps from zero, their whiskers, and hatched the arithmetic part."""
    label = f"{unit_name(data.unit[0])} per warp-read"
    colours = [LAYOUTS.get(layout, (GREY,))[0] for layout in data.layout]
    for ax, part in by_level(figure, data, "median", label, colours):
        words = [f"{x:,.4g}" for x in part["median"]]
        ax.bar_label(ax.containers[0], words, padding=9)  # type: ignore[arg-type]
        ax.margins(x=0.25)
        whiskers = part[part.p5.notna() & part.p95.notna() & part.valid]
        ends = [whiskers["median"] - whiskers.p5, whiskers.p95 - whiskers["median"]]
        ax.errorbar(
            whiskers["median"], whiskers.index, xerr=ends, fmt="none", ecolor="k", elinewidth=0.8
        )
        inside = part[part["_arithmetic"].notna() & part.valid]
        if len(inside):
            sums = [row.value for row in inside["_arithmetic"]]
            least = np.minimum(sums, inside["median"])
            hatched = ax.barh(
                inside.index, least, 0.66, fc="none", ec="white", hatch="/////", lw=0,
            )  # fmt: skip
            for bar, row in zip(hatched, inside["_arithmetic"], strict=True):
                hover(bar, [row])
