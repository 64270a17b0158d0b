"""Figures 10 and 11 of Siegel, Ributzka and Li (2009), redone at every level of memory."""

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from strata import reference
from strata.figures import layout_latency
from strata.figures._figure import attributes
from strata.figures._plot import figure, table
from strata.figures._style import hover
from strata.ladder import seeds
from strata.ladder.seeds import SIEGEL_GAINS, SIEGEL_LAYOUTS
from strata.model import level_name
from strata.model.units import factor
from strata.run import Run

LOADS = {"alone": ("one warp alone", "#0072B2"), "loaded": ("under load", "#56B4E9")}
MARKERS = {"CUDA 1.0": "D", "CUDA 2.2": "s"}
CITED = f"Siegel et al. 2009 {reference.cite('siegel2009gravit')}"


def times(run: Run) -> pd.DataFrame:
    """A bar for each layout of the paper, at each level."""
    columns = (
        attributes("level", "layout")
        | {"section": lambda bar: SIEGEL_LAYOUTS[bar.layout]}
        | attributes(unit="cycles.unit", median="cycles", p5="p5", p95="p95")
        | {"_arithmetic": lambda _: None}
        | {"_name": lambda bar: f"{bar.layout} ({SIEGEL_LAYOUTS[bar.layout]})"}
    )
    return table(
        seeds.layout_times(run.of("layout_read")), columns, row=lambda bar: bar.cycles,
        label=lambda bar: f"{level_name(bar.level)} {bar.layout}",
    )  # fmt: skip


def times_caption(_: pd.DataFrame) -> str:
    """What the bars of Figure 10 are."""
    return (
        f"After Figure 10 of {CITED}, run times of their read benchmarks (sections II-A to "
        "II-D): all seven fields of 32 particles, by one warp at a time, at every level "
        "of memory; the time includes the sum of the fields, as in theirs. Bars: medians "
        "over warps; whiskers: 5th to 95th percentile. They read uncached global memory "
        "of an 8800 GTX, with CUDA 1.0, 1.1 and 2.2; their cycles are printed only as "
        "bars, so none are drawn here."
    )


figure(
    "siegel_10", "Reads of a particle by layout (Siegel et al. 2009, Figure 10)", order=310,
    data=times, caption=times_caption,
)(layout_latency.draw)  # fmt: skip


def gains(run: Run) -> pd.DataFrame:
    """Speeds over aos, of one warp alone and under load."""
    found = [one for one in seeds.layout_gains(run.of("layout_read")) if one.layout != "aos"]
    columns = (
        attributes("level", "layout", load="how", speed_over_aos="gain")
        | {"theirs_cuda_1_0": lambda gain: SIEGEL_GAINS["CUDA 1.0"].get(gain.layout)}
        | {"theirs_cuda_2_2": lambda gain: SIEGEL_GAINS["CUDA 2.2"].get(gain.layout)}
        | {
            "_name": lambda gain: (
                f"{gain.layout} ({SIEGEL_LAYOUTS[gain.layout]}), {LOADS[gain.how][0]}"
            )
        }
        | attributes(valid="valid")
    )
    return table(
        sorted(found, key=lambda gain: [*SIEGEL_LAYOUTS].index(gain.layout)), columns,
        label=lambda gain: f"{level_name(gain.level)} {gain.layout}, {LOADS[gain.how][0]}",
    )  # fmt: skip


def gains_caption(data: pd.DataFrame) -> str:
    """What the bars and marks of Figure 11 are, and the gains of soaoas."""
    best = data[data.valid & (data.layout == "soaoas")]
    told = [
        f"{level_name(level)} {LOADS[load][0]} {factor(gain)}"
        for level, load, gain in zip(best.level, best.load, best.speed_over_aos, strict=True)
    ]
    return (
        f"After Figure 11 of {CITED}, speed of reading all seven fields relative to the array "
        "of structures (II-A): by the time of one warp at a time, and by the best useful "
        "bandwidth of all block sizes and numbers of warps. Open marks: an 8800 GTX without "
        "caches, from the paper's text (III-A): soa roughly 10 % and soaoas approximately 50 "
        "% faster with CUDA 1.0, soaoas roughly 30 % with CUDA 2.2; its other values are bars "
        "without numbers." + (f" soaoas here: {', '.join(told)}." if told else "")
    )


@figure(
    "siegel_11", "Speed of reads by layout over aos (Siegel et al. 2009, Figure 11)", order=311,
    data=gains, caption=gains_caption,
)  # fmt: skip
def draw_gains(data: pd.DataFrame, figure: Figure) -> None:
    """Bars from zero, with aos at 1; open marks for values printed in the paper."""
    colours = [LOADS[load][1] for load in data.load]
    panels = layout_latency.by_level(figure, data, "speed_over_aos", "speed over aos (×)", colours)
    theirs = [value for version in SIEGEL_GAINS.values() for value in version.values()]
    for ax, part in panels:
        ax.set_xlim(0, 1.4 * max(*theirs, *data.speed_over_aos))  # with room for the values
        for at, value in enumerate(part.speed_over_aos):
            ax.text(
                1, at, f"{value:.2f}", transform=ax.get_yaxis_transform(), ha="right", va="center"
            )
        ax.axvline(1, color="k", lw=0.8)
        for version, marker in MARKERS.items():
            printed = part[f"theirs_{version.lower().replace(' ', '_').replace('.', '_')}"].dropna()
            look: dict[str, Any] = {
                "mec": "#D55E00",
                "mfc": "none",
                "mew": 1.4,
                "label": f"8800 GTX, {version}",
            }
            (marks,) = ax.plot(printed, printed.index, marker, **look)
            words = f"8800 GTX, {version}: {{}} over aos; {CITED}".format
            hover(marks, [words(factor(value)) for value in printed])
