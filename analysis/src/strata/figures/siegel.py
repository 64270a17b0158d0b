"""Figures 10 and 11 of Siegel, Ributzka and Li (2009), redone at every level of memory."""

from operator import attrgetter
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from strata import reference
from strata.figures import layout_latency
from strata.figures._figure import Columns, attributes
from strata.figures._plot import figure, table
from strata.figures._style import by_layout, hover, points
from strata.ladder import seeds
from strata.ladder.seeds import SIEGEL_GAINS, SIEGEL_LAYOUTS, LayoutGain
from strata.model import Bar, level_name
from strata.model.units import factor
from strata.run import Run

LOADS = {"alone": ("one warp alone", "#0072B2", "o"), "loaded": ("under load", "#E69F00", "s")}
THEIRS = {
    "theirs_cuda_1_0": ("8800 GTX, CUDA 1.0", "D"),
    "theirs_cuda_2_2": ("8800 GTX, CUDA 2.2", "^"),
}
CITED = f"Siegel et al. 2009 {reference.cite('siegel2009gravit')}"


def data_10(run: Run) -> pd.DataFrame:
    """The times of a warp-read of all fields, in the layouts of the paper."""
    columns: Columns = {
        **attributes("level", "layout"),
        "section": lambda bar: SIEGEL_LAYOUTS[bar.layout],
        **attributes("fields", "p5", "p95", "arithmetic", unit="cycles.unit", median="cycles"),
        **attributes(_inner="arithmetic"),
    }
    times = seeds.layout_times(run.of("layout_read"))
    return table(times, columns, row=attrgetter("cycles"), label=_bar)


def _bar(bar: Bar) -> str:
    return f"{level_name(bar.level)} {bar.layout}"


def caption_10(_: pd.DataFrame) -> str:
    """The benchmark of the paper."""
    return (
        f"After Figure 10 of {CITED}, run times of their read benchmarks (sections II-A to II-D): "
        "all seven fields of 32 particles, by one warp at a time, at every level of memory; the "
        "time includes the sum of the fields, as in theirs. Bars: medians over warps; whiskers: "
        "5th to 95th percentile. They read uncached global memory of an 8800 GTX; their cycles are "
        "printed only as bars, so none are drawn here."
    )


def data_11(run: Run) -> pd.DataFrame:
    """The speed of each layout over aos."""
    columns: Columns = {
        **attributes("level", "layout", load="how", speed_over_aos="gain"),
        "theirs_cuda_1_0": lambda gain: SIEGEL_GAINS["CUDA 1.0"].get(gain.layout),
        "theirs_cuda_2_2": lambda gain: SIEGEL_GAINS["CUDA 2.2"].get(gain.layout),
        "valid": attrgetter("valid"),
        "fields": lambda _: "all",
    }
    gains = [one for one in seeds.layout_gains(run.of("layout_read")) if one.layout != "aos"]
    return table(gains, columns, label=_gain)


def _gain(gain: LayoutGain) -> str:
    return f"{level_name(gain.level)} {gain.layout}, {LOADS[gain.how][0]}"


def caption_11(data: pd.DataFrame) -> str:
    """The speeds here and in the paper."""
    best: Any = data[data.valid & (data.layout == "soaoas")].itertuples()
    found = [
        f"{level_name(one.level)} {LOADS[one.load][0]} {factor(one.speed_over_aos)}" for one in best
    ]
    return (
        f"After Figure 11 of {CITED}, speed of reading all seven fields relative to the array of "
        "structures (aos): by the time of one warp at a time, and by the best useful bandwidth of "
        "all block sizes and numbers of warps. Open marks: an 8800 GTX without caches, from the "
        "paper's text (III-A): soa roughly 10 % and soaoas approximately 50 % faster with CUDA "
        "1.0, soaoas roughly 30 % with CUDA 2.2; its other values are bars without numbers."
        + (f" soaoas here: {', '.join(found)}." if found else "")
    )


@figure(
    "siegel_10", "Reads of a particle by layout (Siegel et al. 2009, Figure 10)", order=310,
    data=data_10, caption=caption_10,
)  # fmt: skip
def draw_10(data: pd.DataFrame, figure: Figure) -> None:
    """As the latency of all sets of fields."""
    layout_latency.draw(data, figure)


@figure(
    "siegel_11", "Speed of reads by layout over aos (Siegel et al. 2009, Figure 11)", order=311,
    data=data_11, caption=caption_11,
)  # fmt: skip
def draw_11(data: pd.DataFrame, figure: Figure) -> None:
    """Filled marks: here. Open marks: printed in the paper."""
    for ax, level, here in by_layout(figure, data, "level", line=0.22):
        for how, (label, colour, marker) in LOADS.items():
            part = here[here.load == how]
            part = part.assign(at=part["at"] + (0.15 if how == "alone" else -0.15))
            look: dict[str, Any] = {"color": colour, "marker": marker, "ls": "", "label": label}
            points(ax, part, "speed_over_aos", "at", **look)
        for column, (version, marker) in THEIRS.items():
            printed = here.drop_duplicates("layout").dropna(subset=column)
            look = {"ls": "", "marker": marker, "mfc": "none", "mec": "#D55E00", "ms": 6}
            (line,) = ax.plot(printed[column], printed["at"], label=version, **look)
            hover(line, [f"{version}: {factor(one)} over aos; {CITED}" for one in printed[column]])
        ax.axvline(1, color="black", lw=0.8)
        ax.set_xlim(0, 1.1 * max(data.speed_over_aos.max(), *SIEGEL_GAINS["CUDA 1.0"].values()))
        ax.grid(axis="x")
        ax.set_ylabel(level_name(level), weight="bold")
        ax.set_xlabel("speed over aos (×)")
        ax.label_outer()
