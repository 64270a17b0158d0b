"""What does one axis of a rung gain: unrolled bodies, threads of a block, GPUs?

Siegel, Ributzka and Li (2009, IV) and Table 14.2 of the CUDA Handbook, redone.
"""

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from strata.figures._figure import prose
from strata.figures._plot import columns, figure, of_items
from strata.figures._style import PROBLEMS, points, theirs, values_axis
from strata.ladder.best import AxisPoint, along
from strata.ladder.rungs import SEVERAL, rung_name, size_words
from strata.ladder.seeds import UNROLL_GAINS
from strata.run import Row, Run

WHOLE = 256
"""Bodies of a tile: the factor that leaves no loop."""
GAINS = ((4, "CUDA Handbook, 14.3", "P"), (128, "Siegel et al. 2009", "D"))
"""Factor, who published a speed-up over the loop as it was, marker. The Handbook's 4 is its best
of Table 14.2; Siegel's 128 is the whole of the tile."""
RATE, TERA = "interactions_per_second", 1e12
INTERACTIONS = "interactions (10¹²/s)"


def _words(row: Row) -> str:
    return f"{rung_name(row.benchmark)}, {size_words(row)}"


def _lines(found: Sequence[AxisPoint], axis: str, **more: str) -> pd.DataFrame:
    def label(point: AxisPoint) -> str:
        return f"{_words(point.row)}, {axis} {point.value}"

    return columns(
        of_items(found, label), "problem", "systems", "bodies", axis,
        interactions_per_second="value", low="minimum", high="maximum", **more, _at=axis,
        _rung="benchmark",
    )  # fmt: skip


def _draw_lines(ax: Axes, data: pd.DataFrame, name: str, scale: float | pd.Series = 1.0) -> None:
    """One line per problem against the axis, rates with their bands; ticks at its values."""
    shown = data.assign(y=data[name] / scale, low=data.low / scale, high=data.high / scale)
    for problem, here in shown.dropna(subset=["y"]).groupby("problem", sort=False):
        colour, marker = PROBLEMS[f"{problem}"]
        look = {"color": colour, "marker": marker, "label": size_words(here["_row"].iloc[0])}
        points(ax, here, "_at", "y", "band" if name == RATE else "", **look)
    values_axis(ax, data["_at"])


def _from_one(run: Run, rung: str, axis: str) -> list[AxisPoint]:
    """Problems whose least value of the axis is 1."""
    return [point for point in along(run, rung, axis) if point.first.count(axis) == 1]


def unrolled(run: Run) -> pd.DataFrame:
    """The gains of unrolling, valid if both rates are."""
    found = _from_one(run, "unrolled", "unroll")
    lines = _lines(found, "unroll", over_unroll_1="_item.gain", _first="_item.first.value")
    return lines.assign(valid=[point.row.valid and point.first.valid for point in found])


UNROLLED = (
    "The rung unrolled: interactions per second by the unroll factor, relative to a loop with one "
    "body per iteration. Lines: medians; bands: range of the samples. Open marks, on GPUs of their "
    "time: the best of Table 14.2 of the CUDA Handbook, and the full unroll of a tile of 128 "
    "(Siegel, Ributzka and Li 2009, IV-A)."
)


@figure(
    "nbody_unroll", "n-body: unrolling the inner loop", order=222, data=unrolled,
    caption=lambda _: UNROLLED, size=(7, 3.2),
)  # fmt: skip
def draw_unroll(data: pd.DataFrame, ax: Axes) -> None:
    """One line per problem over its own loop; open marks for published values."""
    _draw_lines(ax, data, RATE, data["_first"])
    for factor, who, marker in GAINS:
        gain = UNROLL_GAINS[factor][0]
        theirs(ax, factor, gain, [f"{who}: {gain:.2f}×"], marker, label=who, ms=6)
    ax.axhline(1, color="k", lw=0.7)
    factors = sorted({*data["_at"], *(factor for factor, *_ in GAINS)})
    ax.set_xticks(factors, [f"{one}\n(all)" if one == WHOLE else one for one in factors])
    ax.set(xlabel="bodies in a turn of the inner loop", ylabel="rate over one body in a turn (×)")


def blocks(run: Run) -> pd.DataFrame:
    """The rates of the rung block size, with their occupancy."""
    found = along(run, "block_size", "block_size")
    return _lines(found, "block_size", occupancy_percent="_item.occupancy.value")


def _block_caption(data: pd.DataFrame) -> str:
    return prose(
        "The rung block size: a block has as many threads as a tile has bodies. Lines: medians; "
        "bands: range of the samples.",
        data.occupancy_percent.notna().any()
        and "Below: counted active warps as a share of the maximum of an SM; on an 8800 GTX, 67 % "
        "instead of 50 % raised the speed by 6 % (Siegel, Ributzka and Li 2009, IV).",
    )


@figure(
    "nbody_block_size", "n-body: block size and occupancy", order=223, data=blocks,
    caption=_block_caption,
)  # fmt: skip
def draw_blocks(data: pd.DataFrame, figure: Figure) -> None:
    """The rate, and below it the occupancy if counted: one line per problem."""
    rows = 1 + int(data.occupancy_percent.notna().any())
    rate, *below = figure.subplots(rows, 1, squeeze=False, sharex=True)[:, 0]
    _draw_lines(rate, data, RATE, TERA)
    rate.set(ylabel=INTERACTIONS, ylim=(0, 1.08 * rate.dataLim.y1))
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


@figure(
    "nbody_gpus", "n-body: several GPUs", order=225, data=gpus, caption=_gpu_caption,
)  # fmt: skip
def draw_gpus(data: pd.DataFrame, figure: Figure) -> None:
    """Rungs one below the other: the rate, and beside it the efficiency."""
    rungs = [*data.groupby("_rung", sort=False)]
    figure.set_figheight(0.6 + 2 * len(rungs))
    panels = figure.subplots(len(rungs), 2, squeeze=False)
    for (rate, share), (rung, here) in zip(panels, rungs, strict=True):
        _draw_lines(rate, here, RATE, TERA)
        rate.set(title=rung_name(f"{rung}"), ylabel=INTERACTIONS)
        rate.set_ylim(0, 1.08 * rate.dataLim.y1)
        _draw_lines(share, here.assign(percent=100 * here.efficiency.astype(float)), "percent")
        share.set(ylabel="efficiency (%)", ylim=(0, 112))
    for ax in panels[-1]:
        ax.set_xlabel("GPUs")
