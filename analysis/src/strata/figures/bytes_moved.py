"""How many bytes move for each used byte, in each layout, on each GPU generation?

Figures 10 and 11 of Siegel et al. 2009 show this as time; here it is traffic, by the rules of their
8800 GTX (compute capability 1.0) and of later generations, with the hardware's counts beside.
"""

from itertools import groupby

import pandas as pd
from matplotlib.figure import Figure

from strata.figures._figure import prose
from strata.figures._plot import figure
from strata.figures._style import GREY, by_layout, layout_bars, points
from strata.model import fields_name
from strata.model.counted import GENERATIONS, moved
from strata.run import Run


def data(run: Run) -> pd.DataFrame:
    """The rules of each generation, and the counts."""
    return pd.DataFrame(
        {
            "fields": ratio.fields, "generation": ratio.generation, "layout": ratio.layout,
            "provenance": ratio.row.provenance, "method": ratio.row.method, "low": ratio.low,
            "high": ratio.high, "moved_over_used": ratio.ratio, "valid": ratio.row.valid,
            "case": ratio.row.case, "_counted": ratio.counted, "_row": ratio.row,
            "_label": f"{ratio.layout}, {fields_name(ratio.fields)}",
        }
        for ratio in moved(run.rows)
    )  # fmt: skip


def caption(data: pd.DataFrame) -> str:
    """The rules and the counts."""
    return prose(
        "Bytes moved per byte used by a warp that reads 32 particles, by memory layout. Bars: "
        "by the published rules of each generation (compute capability; those with the same "
        "values together); 1.0-1.1 is that of the 8800 GTX of Siegel et al. 2009 (Figures 10 and "
        "11). Dashed: nothing is moved without being used.",
        "Diamonds: 32 bytes per sector that the loads of layout_read requested from L1, counted "
        "on this device in its L2 cases (median; lines: range over cases)."
        if data["_counted"].any()
        else "No counts are available for comparison.",
    )


def periods(data: pd.DataFrame) -> dict[str, str]:
    """The name of each generation: that of all adjacent ones with the same values."""
    ruled = data[~data["_counted"]].groupby("generation")["moved_over_used"].apply(tuple)
    names: dict[str, str] = {}
    for _, some in groupby(filter(ruled.__contains__, GENERATIONS), ruled.__getitem__):
        alike = [*some]
        first, last = alike[0].partition("-")[0], alike[-1].rpartition("-")[2]
        name = f"{first}-{last}" if len(alike) > 1 else alike[0]
        later = f"{first} and later"
        names |= dict.fromkeys(alike, later if alike[-1] == GENERATIONS[-1] else name)
    return names


@figure("bytes_moved", "Bytes moved per byte used", order=14, data=data, caption=caption)
def draw(data: pd.DataFrame, figure: Figure) -> None:
    """Bars: by the rules of each generation. Diamonds: counted, with the range over cases."""
    data = data.assign(period=data.generation.map(periods(data)))
    for ax, period, here in by_layout(figure, data, "period"):
        ruled, counts = here[~here["_counted"]], here[here["_counted"]]
        layout_bars(ax, ruled.drop_duplicates("layout"), "moved_over_used", "low", "high")
        if len(counts):
            look = {"color": "black", "marker": "D", "ls": "", "label": "counted here"}
            points(ax, counts, "moved_over_used", "at", "x", **look)
        ax.axvline(1, color=GREY, ls="--", lw=0.7)
        ax.set_ylabel(period, weight="bold")
        ax.set(xlabel="bytes moved ÷ used", xlim=(0, 1.2 * data.moved_over_used.max()))
        ax.label_outer()
