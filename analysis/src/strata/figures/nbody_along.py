"""What does one axis of a rung gain: unrolled bodies, threads of a block, GPUs?

Siegel, Ributzka and Li (2009, IV) and Table 14.2 of the CUDA Handbook, redone.
"""

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from strata.figures._plot import columns, figure, of_items, prose
from strata.figures._style import PROBLEMS, parts, points, si_axis, theirs, values_axis
from strata.ladder.best import AxisPoint, along
from strata.ladder.rungs import SEVERAL, rung_name, size_words
from strata.ladder.seeds import UNROLL_GAINS
from strata.run import Row, Run

WHOLE = 256
"""Bodies of a tile: the factor that leaves no loop."""
GAINS = ((4, "CUDA Handbook, 14.3", "P"), (128, "Siegel et al. 2009", "D"))
"""Factor, who published a speed-up over the loop as it was, marker. The Handbook's 4 is its best
of Table 14.2; Siegel's 128 is the whole of the tile."""
RATE = "interactions_per_second"


def _words(row: Row) -> str:
    return f"{rung_name(row.benchmark)}, {size_words(row)}"


def _lines(found: Sequence[AxisPoint], axis: str, **more: str) -> pd.DataFrame:
    lines = of_items(found, lambda point: f"{_words(point.row)}, {axis} {point.value}")
    return columns(
        lines, "problem", "systems", "bodies", axis, interactions_per_second="value",
        low="minimum", high="maximum", **more, _at=axis, _rung="benchmark",
    )  # fmt: skip


def _draw_lines(ax: Axes, data: pd.DataFrame, name: str, spread: str = "") -> None:
    for problem, here in parts(data.dropna(subset=[name]), "problem"):
        colour, marker = PROBLEMS[problem]
        look = {"color": colour, "marker": marker, "label": size_words(here["_row"].iloc[0])}
        points(ax, here, "_at", name, spread, **look)
    values_axis(ax, data["_at"])


def _draw_rates(ax: Axes, data: pd.DataFrame) -> None:
    _draw_lines(ax, data, RATE, "band")
    si_axis(ax)
    ax.set(ylabel="interactions (1/s)", ylim=(0, 1.08 * ax.dataLim.y1))


def _from_one(run: Run, rung: str, axis: str) -> list[AxisPoint]:
    """Problems whose least value of the axis is 1."""
    return [point for point in along(run, rung, axis) if point.first.count(axis) == 1]


def unrolled(run: Run) -> pd.DataFrame:
    """The gains of unrolling, valid if both rates are."""
    found = _from_one(run, "unrolled", "unroll")
    lines = _lines(found, "unroll", over_unroll_1="_item.gain", _first="_item.first.value")
    return lines.assign(valid=[point.row.valid and point.first.valid for point in found])


@figure(
    "nbody_unroll", "n-body: unrolling the inner loop", order=222, data=unrolled, size=(7, 3.2),
    caption="The rung unrolled: interactions per second by the unroll factor, relative to a loop "
    "with one body per iteration. Lines: medians; bands: range of the samples. Open marks, on GPUs "
    "of their time: the best of Table 14.2 of the CUDA Handbook, and the full unroll of a tile of "
    "128 (Siegel, Ributzka and Li 2009, IV-A).",
)  # fmt: skip
def draw_unroll(data: pd.DataFrame, ax: Axes) -> None:
    numbers = [RATE, "low", "high"]
    _draw_lines(
        ax, data.assign(**{name: data[name] / data["_first"] for name in numbers}), RATE, "band"
    )
    for factor, who, marker in GAINS:
        gain = UNROLL_GAINS[factor][0]
        theirs(ax, factor, gain, [f"{who}: {gain:.2f}×"], marker, label=who, ms=6)
    ax.axhline(1, color="k", lw=0.7)
    factors = sorted({*data["_at"], *(factor for factor, *_ in GAINS)})
    ax.set_xticks(factors, [f"{one}\n(all)" if one == WHOLE else one for one in factors])
    ax.set(xlabel="bodies in a turn of the inner loop", ylabel="rate over one body in a turn (×)")


def blocks(run: Run) -> pd.DataFrame:
    found = along(run, "block_size", "block_size")
    return _lines(found, "block_size", occupancy_percent="_item.occupancy.value")


@figure(
    "nbody_block_size", "n-body: block size and occupancy", order=223, data=blocks,
    caption="The rung block size: a block has as many threads as a tile has bodies. Lines: "
    "medians; bands: range of the samples. Occupancy: counted active warps as a share of the "
    "maximum of an SM; on an 8800 GTX, 67 % instead of 50 % raised the speed by 6 % (Siegel, "
    "Ributzka and Li 2009, IV).",
)  # fmt: skip
def draw_blocks(data: pd.DataFrame, figure: Figure) -> None:
    rows = 1 + int(data.occupancy_percent.notna().any())
    rate, *below = figure.subplots(rows, 1, squeeze=False, sharex=True)[:, 0]
    _draw_rates(rate, data)
    for ax in below:
        _draw_lines(ax, data, "occupancy_percent")
        ax.set(ylabel="occupancy (%)", ylim=(0, 105))
    figure.axes[-1].set_xlabel("threads of a block, and bodies of a tile")


def gpus(run: Run) -> pd.DataFrame:
    """The rates of rungs on several GPUs that were also measured on one."""
    found = [point for rung in SEVERAL for point in _from_one(run, rung, "gpus")]
    return _lines(found, "gpus", efficiency="_item.efficiency")


def _gpu_caption(data: pd.DataFrame) -> str:
    several = data[data.efficiency.notna() & (data["_at"] > 1)]
    most = several.drop_duplicates(["_rung", "problem"], keep="last")
    words = [
        f"{100 * part:.1f} % with {many} ({_words(row)})"
        for part, many, row in zip(most.efficiency, most["_at"], most["_row"], strict=True)
    ]
    return prose(
        "Work distributed over GPUs. Lines: medians of the best case; bands: range of the samples. "
        "Efficiency: the rate over the number of GPUs times the rate of one by the same code.",
        words and f"Efficiency: {'; '.join(words)}.",
    )


@figure("nbody_gpus", "n-body: several GPUs", order=225, data=gpus, caption=_gpu_caption)
def draw_gpus(data: pd.DataFrame, figure: Figure) -> None:
    rungs = parts(data.assign(percent=100 * data.efficiency.astype(float)), "_rung")
    figure.set_figheight(0.6 + 2 * len(rungs))
    panels = figure.subplots(len(rungs), 2, squeeze=False)
    for (rate, share), (rung, here) in zip(panels, rungs, strict=True):
        _draw_rates(rate, here)
        rate.set_title(rung_name(rung))
        _draw_lines(share, here, "percent")
        share.set(ylabel="efficiency (%)", ylim=(0, 112))
    for ax in panels[-1]:
        ax.set_xlabel("GPUs")
