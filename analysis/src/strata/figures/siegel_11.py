"""What does each layout of a 2009 paper still gain over an array of structures?

Figure 11 of Siegel, Ributzka and Li (2009), redone at every level of memory.
"""

from collections.abc import Mapping, Sequence

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from strata import reference
from strata.figures import AxesGrid, Figure, Grid, flat
from strata.figures._palette import GREY, INK, invalid_note
from strata.ladder import seeds as ladder_seeds
from strata.ladder.seeds import SIEGEL_GAINS, SIEGEL_LAYOUTS, LayoutGain
from strata.model import LEVELS, level_name, ordered
from strata.model.units import factor
from strata.run import Row

HOW: Mapping[str, tuple[str, str, float]] = {
    "alone": ("#0072B2", "one warp alone", -0.29),
    "loaded": ("#56B4E9", "under load", 0.01),
}
MARKERS: Mapping[str, str] = {"CUDA 1.0": "D", "CUDA 2.2": "s"}
THEIRS = "#D55E00"
KEY = "siegel2009gravit"
BESIDE = 0.29
"""Where the paper's marks stand: no bar is behind them."""
GAINING = [layout for layout in SIEGEL_LAYOUTS if layout != "aos"]


def prepare(rows: Sequence[Row]) -> Sequence[LayoutGain]:
    """One item per level, layout but aos, and load."""
    return [gain for gain in ladder_seeds.layout_gains(rows) if gain.layout != "aos"]


def grid(gains: Sequence[LayoutGain]) -> Grid:
    """One panel for each level, at most three abreast, four as two by two."""
    levels = len({gain.level for gain in gains})
    columns = levels if levels <= 3 else 2
    rows = -(-levels // columns)
    return Grid(rows, columns, width=max(2.6 * columns, 5.4), height=0.6 + 2.2 * rows)


def draw(gains: Sequence[LayoutGain], axes: AxesGrid) -> None:
    """Bars from zero, aos at 1; open marks for what the paper prints."""
    panels = flat(axes)
    levels = ordered((gain.level for gain in gains), LEVELS)
    for panel, level in zip(panels, levels, strict=False):
        _panel(panel, [gain for gain in gains if gain.level == level])
        panel.set_title(level_name(level))
    for panel in panels[len(levels) :]:
        panel.set_visible(False)
    for row in axes:
        row[0].set_ylabel("speed over aos (×)")
    handles: list[Artist] = [
        Patch(facecolor=colour, label=words)
        for how, (colour, words, _) in HOW.items()
        if any(gain.how == how for gain in gains)
    ]
    handles += [
        Line2D([], [], color=THEIRS, marker=marker, markersize=5.5, markerfacecolor="white",
               linestyle="none", label=f"8800 GTX, {version}")
        for version, marker in MARKERS.items()
    ]  # fmt: skip
    if any(not gain.valid for gain in gains):
        handles.append(
            Patch(facecolor="white", edgecolor=GREY, linestyle="--", label="invalid (hollow)")
        )
    panels[0].figure.legend(handles=handles, loc="outside upper center", ncols=4)


def _panel(panel: Axes, gains: Sequence[LayoutGain]) -> None:
    for gain in gains:
        colour, _, shift = HOW[gain.how]
        place = GAINING.index(gain.layout) + shift
        panel.bar(
            place, gain.gain, 0.28, facecolor=colour if gain.valid else "none", edgecolor=colour,
            linestyle="-" if gain.valid else "--", linewidth=0.8,
            label="_valid" if gain.valid else "_invalid",
        )  # fmt: skip
        panel.annotate(
            f"{gain.gain:.2f}", (place, gain.gain), (0, 2), textcoords="offset points",
            ha="center", va="bottom", fontsize=6.3, color=INK if gain.valid else GREY, zorder=5,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.4},
        )  # fmt: skip
    for version, marks in SIEGEL_GAINS.items():
        here = [
            (GAINING.index(one) + BESIDE, value) for one, value in marks.items() if one != "aos"
        ]
        panel.plot(
            *zip(*here, strict=True), marker=MARKERS[version], markersize=5.5,
            markerfacecolor="white", markeredgecolor=THEIRS, markeredgewidth=1.2,
            linestyle="none", label="_published", zorder=4,
        )  # fmt: skip
    panel.axhline(1, color=INK, linewidth=0.8)
    panel.set_ylim(0, 1.14 * max([gain.gain for gain in gains] + [1.5]))
    panel.set_xlim(-0.55, len(GAINING) - 0.45)
    panel.set_xticks(
        range(len(GAINING)), [f"{one}\n{SIEGEL_LAYOUTS[one]}" for one in GAINING], fontsize=7
    )
    panel.tick_params(axis="x", length=0)


def caption(gains: Sequence[LayoutGain]) -> str:
    """What bars and marks are, and what the paper prints."""
    words = (
        f"After Figure 11 of Siegel et al. 2009 {reference.cite(KEY)}, "
        "speed of reading all seven fields over the array "
        "of structures (II-A): by the time of one warp at a time, and by the best useful bandwidth "
        "of all block sizes and numbers of warps. Open marks: an 8800 GTX without caches, as the "
        "paper's text says (III-A): soa roughly 10 % and soaoas approximately 50 % faster with "
        "CUDA 1.0, soaoas roughly 30 % with CUDA 2.2; its other values are bars without numbers."
    )
    alone = [gain for gain in gains if gain.valid and gain.layout == "soaoas"]
    if alone:
        listed = ", ".join(
            f"{level_name(gain.level)} {HOW[gain.how][1]} {factor(gain.gain)}" for gain in alone
        )
        words += f" soaoas here: {listed}."
    return words + invalid_note(
        f"{level_name(gain.level)} {gain.layout}, {HOW[gain.how][1]}"
        for gain in gains
        if not gain.valid
    )


def cells(gain: LayoutGain) -> tuple[object, ...]:
    """One line of the data file."""
    theirs = [SIEGEL_GAINS[version].get(gain.layout, "") for version in MARKERS]
    return (gain.level, gain.layout, gain.how, gain.gain, *theirs, gain.valid, gain.row.case)


def source(gain: LayoutGain) -> Row:
    """The row of the layout."""
    return gain.row


FIGURE = Figure(
    name="siegel_11",
    title="Speed of reads by layout over aos (Siegel et al. 2009, Figure 11)",
    order=12,
    prepare=prepare,
    grid=grid,
    draw=draw,
    caption=caption,
    columns=(
        "level", "layout", "load", "speed_over_aos", "theirs_cuda_1_0", "theirs_cuda_2_2", "valid",
        "case",
    ),
    cells=cells,
    source=source,
)  # fmt: skip
