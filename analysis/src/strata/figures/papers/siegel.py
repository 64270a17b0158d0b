"""Figures 10 to 12 of Siegel, Ributzka and Li (2009), redone.

Reads of a particle at every level of memory, and steps of Gravit at several problem sizes.
"""

from itertools import cycle
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from strata import reference
from strata.figures import layouts
from strata.figures._figure import prose
from strata.figures._plot import columns, figure, of_items
from strata.figures._style import WIDTHS, by_layout, listed, lists, plain_log, points, theirs
from strata.ladder import seeds
from strata.ladder.best import copied
from strata.ladder.rungs import rung_name
from strata.model import level_name
from strata.model.units import count, factor, short
from strata.run import Run

LOADS = {"alone": ("one warp alone", "#0072B2", "o"), "loaded": ("under load", "#E69F00", "s")}
PRINTED = {"theirs_cuda_1_0": ("CUDA 1.0", "D"), "theirs_cuda_2_2": ("CUDA 2.2", "^")}
CITED = f"Siegel et al. 2009 {reference.cite('siegel2009gravit')}"


def data_10(run: Run) -> pd.DataFrame:
    """The times of a warp-read of all fields, in the layouts of the paper."""
    data = layouts.data_alone(run)
    if data.empty:
        return data
    data = data[(data.fields == "all") & data.layout.isin(seeds.SIEGEL_LAYOUTS)]
    places = data.level.map(level_name) + " " + data.layout
    return data.assign(section=data.layout.map(seeds.SIEGEL_LAYOUTS), _label=places).reset_index(
        drop=True
    )


def caption_10(_: pd.DataFrame) -> str:
    """The benchmark of the paper."""
    return (
        f"After Figure 10 of {CITED}, run times of their read benchmarks: all seven fields of 32 "
        "particles and their sum, by one warp at a time, at every level of memory. Bars: medians "
        "over warps; whiskers: 5th to 95th percentile. Their cycles are printed only as bars."
    )


def data_11(run: Run) -> pd.DataFrame:
    """The speed of each layout over aos."""
    gains = [one for one in seeds.layout_gains(run.of("layout_read")) if one.layout != "aos"]
    lines = of_items(gains, _gain)
    if lines.empty:
        return lines
    for column, (cuda, _) in PRINTED.items():
        lines[column] = lines.layout.map(seeds.SIEGEL_GAINS[cuda])
    return columns(
        lines, "layout", "fields", *PRINTED, level="residency", load="_item.how",
        speed_over_aos="_item.gain", valid="_item.valid",
    )  # fmt: skip


def _gain(gain: seeds.LayoutGain) -> str:
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
        "all block sizes and numbers of warps. Open marks: an 8800 GTX without caches, as printed "
        "in section III-A; its other values are bars without numbers."
        + (f" soaoas here: {', '.join(found)}." if found else "")
    )


@figure(
    "siegel_10", "Reads of a particle by layout (Siegel et al. 2009, Figure 10)", order=310,
    data=data_10, caption=caption_10,
)  # fmt: skip
def draw_10(data: pd.DataFrame, figure: Figure) -> None:
    """As the latency of all sets of fields."""
    layouts.draw_alone(data, figure)


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
            look: dict[str, Any] = {"color": colour, "marker": marker, "label": label}
            points(ax, part, "speed_over_aos", "at", ls="", **look)
        for column, (cuda, marker) in PRINTED.items():
            printed = here.drop_duplicates("layout").dropna(subset=column)
            label = f"8800 GTX, {cuda}"
            words = [f"{label}: {factor(gain)} over aos; {CITED}" for gain in printed[column]]
            theirs(ax, printed[column], printed["at"], words, marker, label=label, mfc="none")
        ax.axvline(1, color="black", lw=0.8)
        ax.set_xlim(
            0, 1.1 * max(data.speed_over_aos.max(), *seeds.SIEGEL_GAINS["CUDA 1.0"].values())
        )
        ax.grid(axis="x")
        ax.set_ylabel(level_name(level), weight="bold")
        ax.set_xlabel("speed over aos (×)")
        ax.label_outer()


# --- Figure 12: Gravit, copies included -----------------------------------------------------------

RUNGS = (
    "naive", "tiled", "fast_math", "unrolled", "invariants", "block_size", "register_banks",
    "pair_once",
)  # fmt: skip
"""Those of the paper, and what came after it."""
THEIRS = ("unrolled", "block_size")
"""The rungs of the paper's gains."""
FAR = 50
"""A ratio of times beyond which the axis only has room for powers of ten."""
LABELS = {
    "time": "time with copies (ms)",
    "share": "of it not the kernel (%)",
    "speed_over_tiled": f"speed over {rung_name(seeds.GRAVIT_BASE)} (×)",
}


def data_12(run: Run) -> pd.DataFrame:
    """The rungs at each number of particles, with the speed over the paper's first GPU code."""
    found = [step for step in copied(run) if step.rung in RUNGS]
    lines = columns(
        of_items(found, lambda step: f"{rung_name(step.rung)}, {count(step.bodies)}"),
        rung="benchmark", particles="bodies", copied_step_time_seconds="value", low="minimum",
        high="maximum", kernel_seconds="_item.kernel.value", _outside="_item.outside",
    )  # fmt: skip
    if not lines.empty:
        times, valid = lines.copied_step_time_seconds, lines[lines.valid]
        base = (
            valid[valid.rung == seeds.GRAVIT_BASE].set_index("particles").copied_step_time_seconds
        )
        gain = lines.particles.map(base) / times
        lines["speed_over_tiled"] = gain.where(lines.valid & (lines.rung != seeds.GRAVIT_BASE))
    return lines


def caption_12(data: pd.DataFrame) -> str:
    """The measure, and what the paper gained."""
    listing = ", ".join(f"{gain:.2f} times ({what})" for what, gain in seeds.GRAVIT_GAINS)
    return prose(
        f"After Figure 12 of {CITED}, levels "
        "of optimisation at several problem sizes: a step by the best case of some rungs, from the "
        "copy of all particles to the GPU to that of their accelerations back. Marks: medians; "
        "lines: range of the samples. Beside it: the share of that time without the kernel.",
        data.speed_over_tiled.notna().any()
        and f"Last: speed over {rung_name(seeds.GRAVIT_BASE)}, their first GPU code, at as many "
        "particles; open marks: theirs.",
        f"On an 8800 GTX they improved their first GPU code to {listing} its speed, and to "
        f"{seeds.GRAVIT_SERIAL} times a serial CPU; their other values are drawn without numbers.",
    )


@figure(
    "nbody_gravit", "n-body: Gravit's step, copies included (Siegel et al. 2009, Figure 12)",
    order=320, data=data_12, caption=caption_12,
)  # fmt: skip
def draw_12(data: pd.DataFrame, figure: Figure) -> None:
    """The levels by their time, its part outside the kernel, and their speed-up."""
    rungs = [rung for rung in RUNGS if rung in {*data.rung}]
    data = data.assign(
        at=data.rung.map(rungs.index),
        time=1e3 * data.copied_step_time_seconds, low=1e3 * data.low, high=1e3 * data.high,
        share=100 * data["_outside"].astype(float),
    )  # fmt: skip
    shown = [name for name in LABELS if data[name].notna().any()]
    panels = lists(figure, [len(rungs)] * len(shown))
    for ax, name in zip(panels, shown, strict=True):
        looks = cycle(WIDTHS.values())
        size: Any
        for (size, here), (colour, marker) in zip(data.groupby("particles"), looks, strict=False):
            look = {"color": colour, "marker": marker, "label": f"{short(size)} particles"}
            known = here[here[name].notna()]
            points(ax, known, name, "at", "x" if name == "time" else "", ls="", **look)
        listed(ax, map(rung_name, rungs))
        ax.set_xlabel(LABELS[name])
        if name == "time":
            plain_log(ax, "x", (1,) if data.time.max() > FAR * data.time.min() else (1, 2, 5))
        else:
            ax.set_xlim(0)
    if shown[-1] == "speed_over_tiled":
        for (what, gain), rung in zip(seeds.GRAVIT_GAINS, THEIRS, strict=True):
            at = rungs.index(rung) if rung in rungs else 0
            theirs(ax, gain, at, [f"8800 GTX, {what}: {gain:.2f}×"], label="8800 GTX", ms=6)
