"""What does each step gain for Gravit, including the copies to and from the GPU?

Siegel, Ributzka and Li (2009, Fig. 12), redone: optimisation levels at several problem sizes.
"""

from itertools import cycle

import pandas as pd
from matplotlib.figure import Figure

from strata import reference
from strata.figures._figure import attributes, prose
from strata.figures._plot import figure, table
from strata.figures._style import WIDTHS, hover, listed, lists, plain_log, points
from strata.ladder.best import copied
from strata.ladder.rungs import rung_name
from strata.ladder.seeds import GRAVIT_BASE, GRAVIT_GAINS, GRAVIT_SERIAL
from strata.model.units import count, short
from strata.run import Run

RUNGS = (
    "naive", "tiled", "fast_math", "unrolled", "invariants", "block_size", "register_banks",
    "pair_once",
)  # fmt: skip
"""Those of the paper, and what came after it."""
THEIRS = ("unrolled", "block_size")
"""The rungs of the paper's gains."""
FAR = 50
"""A ratio of times beyond which the axis only has room for powers of ten."""
COLUMNS = (
    attributes(rung="rung", particles="bodies", copied_step_time_seconds="row")
    | attributes(low="row.minimum", high="row.maximum", kernel_seconds="kernel")
    | attributes(_outside="outside")
)


def data(run: Run) -> pd.DataFrame:
    """The rungs at each number of particles, with the speed over the paper's first GPU code."""
    found = [one for one in copied(run) if one.rung in RUNGS]
    lines = table(found, COLUMNS, label=lambda one: f"{rung_name(one.rung)}, {count(one.bodies)}")
    if not lines.empty:
        times, valid = lines.copied_step_time_seconds, lines[lines.valid]
        base = valid[valid.rung == GRAVIT_BASE].set_index("particles").copied_step_time_seconds
        gain = lines.particles.map(base) / times
        lines["speed_over_tiled"] = gain.where(lines.valid & (lines.rung != GRAVIT_BASE))
    return lines


def caption(data: pd.DataFrame) -> str:
    """The measure, and what the paper gained."""
    listing = ", ".join(f"{gain:.2f} times ({what})" for what, gain in GRAVIT_GAINS)
    return prose(
        f"After Figure 12 of Siegel et al. 2009 {reference.cite('siegel2009gravit')}, levels "
        "of optimisation at several problem sizes: the far-field force of Gravit once, by the "
        "best case of some rungs, from the copy of all particles to the GPU to the copy of "
        "their accelerations back, by the host's clock. Marks: medians; lines: range of the "
        "samples. Beside it: the share of that time without the kernel.",
        data.speed_over_tiled.notna().any()
        and f"Last: speed over {rung_name(GRAVIT_BASE)}, which is their first GPU code, at the "
        "same number of particles; open marks: theirs.",
        f"On an 8800 GTX they improved their first GPU code to {listing} its speed, and to "
        f"{GRAVIT_SERIAL} times a serial CPU; their other values are drawn without numbers.",
    )


@figure(
    "nbody_gravit", "n-body: Gravit's step, copies included (Siegel et al. 2009, Figure 12)",
    order=320, data=data, caption=caption,
)  # fmt: skip
def draw(data: pd.DataFrame, figure: Figure) -> None:
    """The levels by their time, its part outside the kernel, and their speed-up."""
    rungs = [rung for rung in RUNGS if rung in {*data.rung}]
    data = data.assign(
        at=data.rung.map(rungs.index),
        time=1e3 * data.copied_step_time_seconds,
        share=100 * data["_outside"].astype(float),
    )
    labels = {
        "time": "time with copies (ms)", "share": "of it not the kernel (%)",
        "speed_over_tiled": f"speed over {rung_name(GRAVIT_BASE)} (×)",
    }  # fmt: skip
    shown = [name for name in labels if data[name].notna().any()]
    panels = lists(figure, [len(rungs)] * len(shown))
    for ax, name in zip(panels, shown, strict=True):
        looks = cycle(WIDTHS.values())
        for (_, here), (colour, marker) in zip(data.groupby("particles"), looks, strict=False):
            look = {"color": colour, "marker": marker, "ls": ""}
            look["label"] = f"{short(here.particles.iloc[0])} particles"
            points(ax, here[here[name].notna()], name, "at", **look)
            if name == "time":
                ax.hlines(here["at"], 1e3 * here.low, 1e3 * here.high, color=colour, lw=0.9)
        listed(ax, map(rung_name, rungs))
        ax.set_xlabel(labels[name])
        if name == "time":
            plain_log(ax, "x", (1,) if data.time.max() > FAR * data.time.min() else (1, 2, 5))
        else:
            ax.set_xlim(0)
    if shown[-1] == "speed_over_tiled":
        for (what, gain), rung in zip(GRAVIT_GAINS, THEIRS, strict=True):
            at = rungs.index(rung) if rung in rungs else 0
            (mark,) = ax.plot(gain, at, "D", c="#D55E00", mfc="white", label="8800 GTX")
            hover(mark, [f"8800 GTX, {what}: {gain:.2f}×"])
