"""Figures 10 to 12 of Siegel, Ributzka and Li (2009), redone.

Reads of a particle at every level of memory, and steps of Gravit at several problem sizes.
"""

import pandas as pd
from matplotlib.figure import Figure

from strata import reference
from strata.figures import layouts
from strata.figures._plot import columns, figure, of_items, prose
from strata.figures._style import WIDTHS, listed, lists, plain_log, series, theirs
from strata.ladder import seeds
from strata.ladder.best import copied
from strata.ladder.rungs import rung_name, size
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
    data = data.assign(section=data.layout.map(seeds.SIEGEL_LAYOUTS), _label=places)
    return data.reset_index(drop=True)


@figure(
    "siegel_10", "Reads of a particle by layout (Siegel et al. 2009, Figure 10)", order=310,
    data=data_10,
    caption=f"After Figure 10 of {CITED}, run times of their read benchmarks: all seven fields of "
    "32 particles and their sum, by one warp at a time, at every level of memory. Bars: medians "
    "over warps; whiskers: 5th to 95th percentile. Their cycles are printed only as bars.",
)  # fmt: skip
def draw_10(data: pd.DataFrame, figure: Figure) -> None:
    layouts.draw_alone(data, figure)


def data_11(run: Run) -> pd.DataFrame:
    gains = [one for one in seeds.layout_gains(run.of("layout_read")) if one.layout != "aos"]
    lines = of_items(
        gains, lambda gain: f"{level_name(gain.level)} {gain.layout}, {LOADS[gain.how][0]}"
    )
    if lines.empty:
        return lines
    for column, (cuda, _) in PRINTED.items():
        lines[column] = lines.layout.map(seeds.SIEGEL_GAINS[cuda])
    return columns(
        lines, "layout", "fields", *PRINTED, level="residency", load="_item.how",
        speed_over_aos="_item.gain", valid="_item.valid",
    )  # fmt: skip


def caption_11(data: pd.DataFrame) -> str:
    best = data[data.valid & (data.layout == "soaoas")].to_dict("records")
    found = [
        f"{level_name(one['level'])} {LOADS[one['load']][0]} {factor(one['speed_over_aos'])}"
        for one in best
    ]
    return prose(
        f"After Figure 11 of {CITED}, speed of reading all seven fields relative to the array of "
        "structures (aos): by the time of one warp at a time, and by the best useful bandwidth of "
        "all block sizes and numbers of warps. Open marks: an 8800 GTX without caches, as printed "
        "in section III-A; its other values are bars without numbers.",
        found and f"soaoas here: {', '.join(found)}.",
    )


@figure(
    "siegel_11", "Speed of reads by layout over aos (Siegel et al. 2009, Figure 11)", order=311,
    data=data_11, caption=caption_11,
)  # fmt: skip
def draw_11(data: pd.DataFrame, figure: Figure) -> None:
    most = max(data.speed_over_aos.max(), *seeds.SIEGEL_GAINS["CUDA 1.0"].values())
    for ax, _, here in layouts.by_layout(figure, data, "level", line=0.22):
        shown = here.assign(at=here["at"] + here.load.map({"alone": 0.15, "loaded": -0.15}))
        series(ax, shown, "load", LOADS, "speed_over_aos", "at", ls="")
        for column, (cuda, marker) in PRINTED.items():
            printed = here.drop_duplicates("layout").dropna(subset=column)
            label = f"8800 GTX, {cuda}"
            words = [f"{label}: {factor(gain)} over aos; {CITED}" for gain in printed[column]]
            theirs(ax, printed[column], printed["at"], words, marker, label=label, mfc="none")
        ax.axvline(1, color="black", lw=0.8)
        ax.set(xlim=(0, 1.1 * most), xlabel="speed over aos (×)")


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
    steps = copied(run)
    steps = steps[steps.benchmark.isin(RUNGS)]
    names = [f"{rung_name(row.benchmark)}, {count(size(row)[1])}" for row in steps["_row"]]
    lines = columns(
        steps.assign(_label=names), rung="benchmark", particles="bodies",
        copied_step_time_seconds="value", low="minimum", high="maximum",
        kernel_seconds="kernel.value", _outside="outside",
    )  # fmt: skip
    if not lines.empty:
        times, valid = lines.copied_step_time_seconds, lines[lines.valid]
        base = valid[valid.rung == seeds.GRAVIT_BASE].set_index("particles")
        gain = lines.particles.map(base.copied_step_time_seconds) / times
        lines["speed_over_tiled"] = gain.where(lines.valid & (lines.rung != seeds.GRAVIT_BASE))
    return lines


def caption_12(data: pd.DataFrame) -> str:
    listing = ", ".join(f"{gain:.2f} times ({what})" for what, gain in seeds.GRAVIT_GAINS)
    return prose(
        f"After Figure 12 of {CITED}, levels of optimisation at several problem sizes: a step by "
        "the best case of some rungs, from the copy of all particles to the GPU to that of their "
        "accelerations back, and the share of that time without the kernel. Marks: medians; lines: "
        "range of the samples.",
        data.speed_over_tiled.notna().any()
        and f"Last: speed over {rung_name(seeds.GRAVIT_BASE)}, their first GPU code, at as many "
        "particles; open marks: theirs.",
        f"On an 8800 GTX they improved their first GPU code to {listing} its speed.",
    )


@figure(
    "nbody_gravit", "n-body: Gravit's step, copies included (Siegel et al. 2009, Figure 12)",
    order=320, data=data_12, caption=caption_12,
)  # fmt: skip
def draw_12(data: pd.DataFrame, figure: Figure) -> None:
    rungs = [rung for rung in RUNGS if rung in {*data.rung}]
    sizes = dict(zip(sorted({*data.particles}), WIDTHS.values(), strict=False))
    looks = {size: (f"{short(size)} particles", *look) for size, look in sizes.items()}
    data = data.assign(
        at=data.rung.map(rungs.index), time=1e3 * data.copied_step_time_seconds,
        low=1e3 * data.low, high=1e3 * data.high, share=100 * data["_outside"].astype(float),
    )  # fmt: skip
    shown = [name for name in LABELS if data[name].notna().any()]
    panels = lists(figure, [len(rungs)] * len(shown))
    for ax, name in zip(panels, shown, strict=True):
        known, spread = data[data[name].notna()], "x" if name == "time" else ""
        series(ax, known, "particles", looks, name, "at", spread, ls="")
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
