"""What does one axis of a rung gain: unrolled bodies, threads of a block, GPUs?

Siegel, Ributzka and Li (2009, IV) and Table 14.2 of the CUDA Handbook, redone.
"""

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from msgspec import structs

from strata.figures._figure import Columns, attributes, params, prose
from strata.figures._plot import figure, table
from strata.figures._style import PROBLEMS, hover, points, values_axis
from strata.ladder.best import AxisPoint, along
from strata.ladder.rungs import SEVERAL, rung_name, size_words
from strata.ladder.seeds import UNROLL_GAINS
from strata.run import Run

WHOLE = 256
"""Bodies of a tile: the factor that leaves no loop."""
GAINS = ((4, "CUDA Handbook, 14.3", "P"), (128, "Siegel et al. 2009", "D"))
"""Factor, who published a speed-up over the loop as it was, marker. The Handbook's 4 is its best
of Table 14.2; Siegel's 128 is the whole of the tile."""
RATE, TERA = "interactions_per_second", 1e12


def _from_one(run: Run, rung: str, axis: str) -> list[AxisPoint]:
    """Problems whose least value of the axis is 1."""
    return [one for one in along(run, rung, axis) if one.first.count(axis) == 1]


def _table(found: Sequence[AxisPoint], axis: str, **more: str) -> pd.DataFrame:
    columns: Columns = params("problem", "systems", "bodies", axis, of="row") | attributes(
        **{RATE: "row"},
        low="row.minimum",
        high="row.maximum",
        **more,
        _at="value",
        _first="first",
        _rung="row.benchmark",
    )
    return table(found, columns, label=lambda one: f"{_named(one)}, {axis} {one.value}")


def _named(one: AxisPoint) -> str:
    return f"{rung_name(one.row.benchmark)}, {size_words(one.row)}"


def _lines(ax: Axes, data: pd.DataFrame, name: str, scale: float | pd.Series = 1.0) -> None:
    """One line per problem against the axis, rates with their bands; ticks at its values."""
    shown = data.assign(y=data[name] / scale, low=data.low / scale, high=data.high / scale)
    for problem, here in shown.dropna(subset=["y"]).groupby("problem", sort=False):
        colour, marker = PROBLEMS[f"{problem}"]
        label = size_words(here["_row"].iloc[0])
        points(ax, here, "_at", "y", color=colour, marker=marker, label=label)
        if name == RATE:
            ax.fill_between(here["_at"], here.low, here.high, color=colour, alpha=0.2, lw=0)
    values_axis(ax, data["_at"])


def unrolled(run: Run) -> pd.DataFrame:
    """The gains of unrolling, valid if both rates are."""
    found = _from_one(run, "unrolled", "unroll")
    rows = [structs.replace(one.row, valid=one.row.valid and one.first.valid) for one in found]
    both = [one._replace(row=row) for one, row in zip(found, rows, strict=True)]
    return _table(both, "unroll", over_unroll_1="gain")


def _unroll_caption(_: pd.DataFrame) -> str:
    return (
        "The rung unrolled: interactions per second by the unroll factor, relative to a loop "
        "with one body per iteration; 256 bodies are the whole tile. Lines: medians; bands: "
        "range of the samples. Open marks, on GPUs of their time: the best of Table 14.2 of the "
        "CUDA Handbook (factor 4: 18 % more) and the full unroll of Siegel, Ributzka and Li "
        "(2009, IV-A: a tile of 128, 18 % more)."
    )


@figure(
    "nbody_unroll", "n-body: unrolling the inner loop", order=222, data=unrolled,
    caption=_unroll_caption, size=(7, 3.2),
)  # fmt: skip
def draw_unroll(data: pd.DataFrame, ax: Axes) -> None:
    """One line per problem over its own loop; open marks for published values."""
    _lines(ax, data, RATE, data["_first"].map(lambda row: row.value))
    for factor, who, marker in GAINS:
        gain = UNROLL_GAINS[factor][0]
        (mark,) = ax.plot(factor, gain, marker, c="#D55E00", mfc="white", ms=6, label=who)
        hover(mark, [f"{who}: {gain:.2f}×"])
    ax.axhline(1, color="k", lw=0.7)
    factors = sorted({*data["_at"], *(factor for factor, *_ in GAINS)})
    ax.set_xticks(factors, [f"{one}\n(all)" if one == WHOLE else one for one in factors])
    ax.set(xlabel="bodies in a turn of the inner loop", ylabel="rate over one body in a turn (×)")


def blocks(run: Run) -> pd.DataFrame:
    """The rates of the rung block size, with their occupancy."""
    return _table(
        along(run, "block_size", "block_size"), "block_size", occupancy_percent="occupancy"
    )


def _block_caption(data: pd.DataFrame) -> str:
    return prose(
        "The rung block size: a block has as many threads as a tile has bodies. Lines: medians; "
        "bands: range of the samples.",
        data.occupancy_percent.notna().any()
        and "Below: counted active warps as a share of the maximum of an SM.",
        "On an 8800 GTX, blocks of 128 threads and one register less raised occupancy from 50 % "
        "to 67 %, and the speed by 6 % (Siegel, Ributzka and Li 2009, IV).",
    )


@figure(
    "nbody_block_size", "n-body: block size and occupancy", order=223, data=blocks,
    caption=_block_caption,
)  # fmt: skip
def draw_blocks(data: pd.DataFrame, figure: Figure) -> None:
    """The rate, and below it the occupancy if counted: one line per problem."""
    rows = 1 + int(data.occupancy_percent.notna().any())
    rate, *below = figure.subplots(rows, 1, squeeze=False, sharex=True)[:, 0]
    _lines(rate, data, RATE, TERA)
    rate.set(ylabel="interactions (10¹²/s)", ylim=(0, 1.08 * rate.dataLim.y1))
    for ax in below:
        _lines(ax, data, "occupancy_percent")
        ax.set(ylabel="occupancy (%)", ylim=(0, 105))
    figure.axes[-1].set_xlabel("threads of a block, and bodies of a tile")


def gpus(run: Run) -> pd.DataFrame:
    """The rates of rungs on several GPUs that were also measured on one."""
    found = [one for rung in SEVERAL for one in _from_one(run, rung, "gpus")]
    return _table(found, "gpus", efficiency="efficiency")


def _gpu_caption(data: pd.DataFrame) -> str:
    several = data[data.efficiency.notna() & (data["_at"] > 1)]
    most = several[~several.duplicated(["_rung", "problem"], keep="last")]
    rungs = most["_rung"].map(rung_name) + ", " + most["_row"].map(size_words)
    found = zip(most.efficiency, most["_at"], rungs, strict=True)
    words = "; ".join(f"{100 * part:.1f} % with {many} ({where})" for part, many, where in found)
    return prose(
        "The rungs several gpus and tensor gpus: systems, or for a single one the bodies and the "
        "pairs, each once, distributed over GPUs. Lines: medians of the best case; bands: range "
        "of the samples. Efficiency is the rate over the number of GPUs times the rate of one "
        "GPU by the same code.",
        words and f"Efficiency: {words}.",
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
        _lines(rate, here, RATE, TERA)
        rate.set(title=rung_name(f"{rung}"), ylabel="interactions (10¹²/s)")
        rate.set_ylim(0, 1.08 * rate.dataLim.y1)
        _lines(share, here.assign(percent=100 * here.efficiency.astype(float)), "percent")
        share.set(ylabel="efficiency (%)", ylim=(0, 112))
    for ax in panels[-1]:
        ax.set_xlabel("GPUs")
