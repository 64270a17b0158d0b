"""How accurate is each rung of n-body, and how accurate must it be?"""

import pandas as pd
from matplotlib.axes import Axes

from strata.figures._plot import columns, figure
from strata.figures._style import PROBLEMS, hover, listed, points
from strata.ladder.best import accuracies
from strata.ladder.rungs import rung_name, size_words
from strata.run import Run

LEAST = 1e-9
"""Where an error of nothing is drawn: some systems are so small that every digit is right."""


def data(run: Run) -> pd.DataFrame:
    lines = accuracies(run)
    if not lines.empty:
        lines["_label"] = lines.benchmark.map(rung_name) + " (" + lines.problem + ")"
    return columns(
        lines, "problem", "systems", "bodies", rung="benchmark", relative_rms_error="value",
        bound="bound",
    )  # fmt: skip


@figure(
    "nbody_accuracy", "n-body: error against double precision", order=224, data=data, size=(7, 4),
    caption="Root mean square error of the accelerations of every case of a rung, at its largest "
    "computed size, against double precision and relative to the root mean square of all. Strokes: "
    "the bound, from the roundings of 2⁻²⁴ of a term (8) and of its sum: √n in one running sum, "
    "√256 + √(n/256) in blocks; twice that with an approximate reciprocal square root (Higham "
    "2002, 2.8 and 4.2). A case beyond it is invalid.",
)  # fmt: skip
def draw(data: pd.DataFrame, ax: Axes) -> None:
    rungs = [*data.sort_values("_order").rung.unique()]
    lanes = dict(zip(PROBLEMS, (-0.17, 0, 0.17), strict=True))
    data["at"] = data.rung.map(rungs.index) + data.problem.map(lanes)
    data["error"] = data.relative_rms_error.clip(lower=LEAST)
    for problem, here in data.groupby("problem", sort=False):
        colour, marker = PROBLEMS[f"{problem}"]
        label = " or ".join(here["_row"].map(size_words).unique())
        points(ax, here, "error", "at", ls="", c=colour, marker=marker, label=label)
        (bounds,) = ax.plot(here.bound, here["at"], "|", c=colour, ms=6)
        hover(bounds, (f"bound: {bound:.2g}" for bound in here.bound))
    ax.plot([], [], "k|", ms=9, label="bound")
    ax.set(xscale="log", xlabel="relative root mean square error (ratio)")
    ax.xaxis.set_major_formatter(lambda at, _: f"{at:.0e}".replace("e-0", "e-"))
    listed(ax, map(rung_name, rungs))
