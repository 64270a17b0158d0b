"""What does one warp-read cost in each layout, when nothing else runs?

After Figures 10 and 11 of Siegel et al. 2009, once per level of the hierarchy.
"""

from operator import attrgetter
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from strata.figures._figure import Columns, attributes, prose
from strata.figures._plot import figure, table
from strata.figures._style import by_layout, hover, layout_bars
from strata.model import Bar, fields_name, latency_bars, level_name
from strata.model.units import unit_name
from strata.run import Run

COLUMNS: Columns = attributes(
    "level", "fields", "layout", "p5", "p95", "arithmetic", unit="cycles.unit", median="cycles",
    _inner="arithmetic",
)  # fmt: skip


def data(run: Run) -> pd.DataFrame:
    """A line for each level, set of fields and layout: one warp at a time."""
    bars = latency_bars(run.of("layout_read"))
    return table(bars, COLUMNS, row=attrgetter("cycles"), label=_label)


def _label(bar: Bar) -> str:
    return f"{level_name(bar.level)} {bar.layout}, {fields_name(bar.fields)}"


def caption(data: pd.DataFrame) -> str:
    """The measure, and what whiskers and hatched parts are."""
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


@figure(
    "layout_latency", "Latency of a warp-read by memory layout", order=10,
    data=data, caption=caption,
)  # fmt: skip
def draw(data: pd.DataFrame, figure: Figure) -> None:
    """Medians over warps from zero, their whiskers, and the arithmetic part."""
    for ax, level, here in by_layout(figure, data, "level"):
        layout_bars(ax, here, "median", "p5", "p95")
        inner = here[here.valid & here.arithmetic.notna()]
        part = inner[["arithmetic", "median"]].min(axis=1)
        look: dict[str, Any] = {"fc": "none", "ec": "#333333", "hatch": "/////", "lw": 0}
        hatched = ax.barh(inner["at"], part, 0.7, label="arithmetic", **look)
        for bar, row in zip(hatched, inner["_inner"], strict=True):
            hover(bar, [row])
        ax.set_ylabel(level_name(level), weight="bold")
        ax.set_xlabel(f"{unit_name(data.unit[0])} per warp-read")
        ax.label_outer(remove_inner_ticks=False)
        ax.tick_params(labelbottom=True)
