"""Which half of L2 is whose, and what does crossing cost?

What every SM needs for a line of its own side and for one of the other. An SM's samples stand in
the record in the order of its number; the record holds none of this where L2 is one cache.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from strata.figures import AxesGrid, Figure, Grid
from strata.figures._palette import INK, hollow_key, invalid_note, legend_above
from strata.model.units import SPACE, number, quantity
from strata.run import Row

BENCHMARK = "l2_partition"
NEAR, FAR = "near_cycles", "far_cycles"
_STYLE = {
    NEAR: ("#0072B2", "o", "line whose home is on the SM's side"),
    FAR: ("#D55E00", "s", "line whose home is on the other side"),
}
SHARE_COLOUR = "#009E73"
BIN = 4.0
"""Cycles from one step of the histograms to the next."""
HEIGHTS = (3.4, 1)


@dataclass(frozen=True, slots=True)
class Split:
    """The rows of the one case; a sample of each but the last is an SM."""

    near: Row
    far: Row
    crossing: Row | None
    share: Row | None
    fabric: Row | None

    def row(self, name: str) -> Row:
        """Of near or far lines."""
        return self.near if name == NEAR else self.far

    @property
    def valid(self) -> bool:
        """Whether both that are compared are."""
        return self.near.valid and self.far.valid


@dataclass(frozen=True, slots=True)
class Core:
    """One SM: cycles of its exchanges, and the share of the lines that are near it."""

    place: int
    near: float
    far: float
    crossing: float
    share: float | None
    rows: Split


def prepare(rows: Sequence[Row]) -> Sequence[Core]:
    """The SMs of the one case, where it found two sides."""
    mine = [row for row in rows if row.benchmark == BENCHMARK]
    found = {row.quantity: row for row in mine if mine and row.case == mine[0].case}
    near, far = found.get(NEAR), found.get(FAR)
    if near is None or far is None or len(near.taken) != len(far.taken):
        return ()
    share = found.get("near_share")
    split = Split(
        near, far, found.get("crossing_cycles"), share, found.get("fabric_sectors_per_access")
    )
    shares = share.taken if share and len(share.taken) == len(near.taken) else None
    return tuple(
        Core(place, one, other, other - one, shares[place] if shares else None, split)
        for place, (one, other) in enumerate(zip(near.taken, far.taken, strict=True))
    )


def _has_shares(cores: Sequence[Core]) -> bool:
    return all(core.share is not None for core in cores)


def grid(cores: Sequence[Core]) -> Grid:
    """SM by SM, and beside it how many; beneath, where it was found, the side of each."""
    rows = 2 if cores and _has_shares(cores) else 1
    return Grid(rows, 2, width=8.4, height=3.3 + 1.0 * (rows - 1))


def draw(cores: Sequence[Core], axes: AxesGrid) -> None:
    """Points and histograms over one scale of cycles, medians across both."""
    split = cores[0].rows
    each, many = axes[0]
    room = each.get_subplotspec().get_gridspec()
    room.set_width_ratios((3, 1))
    room.set_height_ratios(HEIGHTS[: len(axes)])
    values = [value for core in cores for value in (core.near, core.far)]
    low, high = min(values), max(values)
    margin = max(0.06 * (high - low), BIN)
    for name in _STYLE:
        _points(cores, name, each)
        _histogram(cores, name, many)
        if split.row(name).valid:
            for panel in (each, many):
                panel.axhline(
                    split.row(name).value, color=INK, linewidth=0.8, linestyle=(0, (4, 2))
                )
    if split.valid and split.crossing and split.crossing.valid:
        _bracket(split, split.crossing, each, len(cores))
    for panel in (each, many):
        panel.set_ylim(low - margin, high + margin)
    each.set_ylabel("exchange with a word in L2 (cycles)")
    each.set_title("each SM")
    many.set_title("all SMs")
    many.set_xlabel(f"SMs (in {BIN:g} cycles)")
    many.tick_params(axis="y", labelleft=False)
    many.xaxis.set_major_locator(MaxNLocator(4, integer=True))
    if len(axes) > 1:
        _sides(cores, axes[1][0])
        each.tick_params(axis="x", labelbottom=False)
        axes[1][1].set_visible(False)
    axes[-1][0].set_xlabel("SM (in the order of their numbers)")
    for panel in (row[0] for row in axes):
        panel.set_xlim(-0.02 * len(cores) - 0.5, 1.02 * len(cores) - 0.5)
        panel.xaxis.set_major_locator(MaxNLocator(9, integer=True))
    _legend(cores, each)


def _points(cores: Sequence[Core], name: str, panel: Axes) -> None:
    colour, marker, _ = _STYLE[name]
    valid = cores[0].rows.row(name).valid
    panel.plot(
        [core.place for core in cores],
        [core.near if name == NEAR else core.far for core in cores],
        linestyle="none", marker=marker, markersize=3.2, color=colour,
        markerfacecolor=colour if valid else "white", markeredgewidth=0.7,
        label="_valid" if valid else "_invalid",
    )  # fmt: skip


def _histogram(cores: Sequence[Core], name: str, panel: Axes) -> None:
    colour, *_ = _STYLE[name]
    valid = cores[0].rows.row(name).valid
    values = np.array([core.near if name == NEAR else core.far for core in cores])
    first = BIN * np.floor(values.min() / BIN)
    edges = np.arange(first, values.max() + 2 * BIN, BIN)
    panel.hist(
        values, bins=edges.tolist(), orientation="horizontal", edgecolor=colour if not valid else
        "white", facecolor=colour if valid else "white", linewidth=0.4 if valid else 0.8,
        linestyle="-" if valid else "--",
    )  # fmt: skip


def _bracket(split: Split, crossing: Row, panel: Axes, cores: int) -> None:
    """An arrow from median to median, and what the median SM pays."""
    middle = (cores - 1) / 2
    panel.annotate(
        "", xy=(middle, split.far.value), xytext=(middle, split.near.value),
        arrowprops={
            "arrowstyle": "<->", "color": INK, "linewidth": 0.9, "shrinkA": 0, "shrinkB": 0,
        },
    )  # fmt: skip
    panel.annotate(
        f"crossing: {quantity(crossing.value, crossing.unit)} (median of the SMs)",
        xy=(middle, (split.near.value + split.far.value) / 2), xytext=(6, 0),
        textcoords="offset points", va="center", color=INK,
    )  # fmt: skip


def _sides(cores: Sequence[Core], panel: Axes) -> None:
    """The share of the lines that are near each SM: SMs of one side have one share."""
    share = cores[0].rows.share
    valid = share is not None and share.valid
    shares = [100 * core.share for core in cores if core.share is not None]
    panel.plot(
        [core.place for core in cores], shares, linestyle="none", marker="o",
        markersize=2.8, color=SHARE_COLOUR, markerfacecolor=SHARE_COLOUR if valid else "white",
        markeredgewidth=0.7, label="_valid" if valid else "_invalid",
    )  # fmt: skip
    room = max(0.6 * (max(shares) - min(shares)), 1)
    panel.set_ylim(min(shares) - room, max(shares) + room)
    panel.yaxis.set_major_locator(MaxNLocator(3))
    panel.set_ylabel("lines near (%)")


def _legend(cores: Sequence[Core], panel: Axes) -> None:
    handles: list[Artist] = [
        Line2D([], [], color=colour, marker=marker, markersize=3.4, linestyle="none", label=words)
        for colour, marker, words in _STYLE.values()
    ]
    handles.append(
        Line2D([], [], color=INK, linewidth=0.8, linestyle=(0, (4, 2)), label="median of the SMs")
    )
    if _invalid(cores):
        handles.append(hollow_key())
    legend_above(panel, handles)


def _invalid(cores: Sequence[Core]) -> list[str]:
    split = cores[0].rows
    drawn = [split.near, split.far] + ([split.share] if split.share and _has_shares(cores) else [])
    return [f"{row.quantity} ({row.reasons})" for row in drawn if not row.valid]


def _sizes(cores: Sequence[Core]) -> str:
    """How many SMs have which share; empty where that is not known or shows no two sides."""
    share = cores[0].rows.share
    if share is None or not share.valid:
        return ""
    shares = sorted({core.share for core in cores if core.share is not None})
    if len(shares) != 2:
        return ""
    small, large = ([core for core in cores if core.share == one] for one in shares)
    return (
        f" {len(small)} SMs are on the side with {number(100 * shares[0])}{SPACE}% of the lines "
        f"near them, {len(large)} on the other."
    )


def caption(cores: Sequence[Core]) -> str:
    """What is exchanged, what crossing costs, and the witness that counts."""
    split = cores[0].rows
    crossing = split.crossing
    cost = ""
    if split.valid and crossing and crossing.valid:
        cost = (
            f" Crossing costs {quantity(crossing.value, crossing.unit)} in the median, "
            f"{number(crossing.minimum)} to {number(crossing.maximum)} by SM."
        )
    fabric = split.fabric
    counted = (
        f" Counted between the halves: {number(fabric.value)} sectors an exchange, near and far "
        "together."
        if fabric and fabric.valid
        else ""
    )
    beneath = (
        " Beneath: share of the lines that are near; SMs with one share are on one side."
        if _has_shares(cores)
        else ""
    )
    return (
        "Atomic exchanges, which are done where a line has its home, each waiting for the one "
        f"before; one thread on each of {len(cores)} SMs. Points: medians over the lines near an "
        f"SM, and over those far from it.{cost}{counted}{beneath}{_sizes(cores)}"
        f"{invalid_note(_invalid(cores))}"
    )


def cells(core: Core) -> tuple[object, ...]:
    """One line of the data file."""
    split = core.rows
    return (
        core.place, core.near, core.far, core.crossing, "" if core.share is None else core.share,
        "" if split.share is None else split.share.valid, split.valid, split.far.case,
    )  # fmt: skip


def source(core: Core) -> Row:
    """The row of the far lines; that of the near ones is of the same case."""
    return core.rows.far


FIGURE = Figure(
    name="l2_partition",
    title="The halves of L2, and the way between them",
    order=8,
    prepare=prepare,
    grid=grid,
    draw=draw,
    caption=caption,
    columns=(
        "sm", "near_cycles", "far_cycles", "crossing_cycles", "near_share", "near_share_valid",
        "valid", "case",
    ),
    cells=cells,
    source=source,
)  # fmt: skip
