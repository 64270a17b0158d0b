"""Steps of Papadouli, Markovitsis and Sanchez Cabrera (2026) beside their repetition: one look."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from strata import reference
from strata.figures import Grid
from strata.figures._palette import GREY, INK, hollow_key, invalid_note, legend_above
from strata.ladder import rungs as ladder
from strata.ladder.seeds import FOUR, THESSALY, THESSALY_STEPS, ThessalyStep
from strata.model import units
from strata.run import Row

OWN = "#0072B2"
THEIRS = "#D55E00"
KEY = "papadouli2026nbody"
ROOM = 2 * units.SPACE


@dataclass(frozen=True, slots=True)
class Pair:
    """One step: their value and ours, in one unit; `row` is what ours is made of."""

    step: ThessalyStep
    row: Row
    theirs: float
    own: float
    low: float
    high: float

    @property
    def better(self) -> float:
        """How many times faster we are, whether the value is a rate or a time."""
        ratio = self.own / self.theirs
        return ratio if self.row.unit == "1/s" else 1 / ratio


def grid(pairs: Sequence[Pair]) -> Grid:
    """One panel, a line for each step."""
    return Grid(1, 1, width=7.6, height=1.35 + 0.42 * len(pairs))


def draw(panel: Axes, pairs: Sequence[Pair], label: str) -> None:
    """Theirs open, ours filled (hollow where invalid), joined; how far apart at the right."""
    values = [value for pair in pairs for value in (pair.theirs, pair.low, pair.high)]
    low, high = min(values), max(values)
    span = high / low
    edge = high * span**0.3
    for place, pair in enumerate(pairs):
        panel.hlines(
            place, min(pair.theirs, pair.own), max(pair.theirs, pair.own), color=GREY,
            linewidth=0.8, zorder=1,
        )  # fmt: skip
        panel.plot(
            [pair.theirs], [place], marker="D", markersize=6, markerfacecolor="white",
            markeredgecolor=THEIRS, markeredgewidth=1.3, linestyle="none", label="_published",
        )  # fmt: skip
        panel.hlines(place, pair.low, pair.high, color=OWN, linewidth=2)
        panel.plot(
            [pair.own], [place], marker="o", markersize=6, color=OWN, linestyle="none",
            markerfacecolor=OWN if pair.row.valid else "white",
            label="_valid" if pair.row.valid else "_invalid",
        )  # fmt: skip
        panel.annotate(
            units.factor(pair.better) if pair.row.valid else "–", (edge, place),
            xytext=(-2, 0), textcoords="offset points", ha="right", va="center", fontsize=7.5,
            color=INK,
        )  # fmt: skip
    panel.annotate(
        "faster than theirs", (edge, -0.62), xytext=(-2, 1), textcoords="offset points",
        ha="right", va="bottom", fontsize=7, color=INK, annotation_clip=False,
    )  # fmt: skip
    panel.set_xscale("log")
    panel.set_xlim(low / span**0.05, edge)
    panel.xaxis.set_major_locator(FixedLocator(_ticks(low, high)))
    panel.xaxis.set_minor_locator(NullLocator())
    panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: units.tick(value)))
    panel.set_ylim(len(pairs) - 0.45, -0.6)
    panel.set_yticks(range(len(pairs)), [_name(pair) for pair in pairs], fontsize=7)
    panel.tick_params(axis="y", length=0)
    panel.grid(visible=False, axis="y")
    panel.grid(visible=True, axis="x")
    panel.set_xlabel(label)
    handles: list[Artist] = [
        Line2D([], [], color=THEIRS, marker="D", markersize=6, markerfacecolor="white",
               linestyle="none", label="two K80 and their host"),
        Line2D([], [], color=OWN, marker="o", markersize=6, linestyle="none", label="here"),
    ]  # fmt: skip
    if any(not pair.row.valid for pair in pairs):
        handles.append(hollow_key())
    legend_above(panel, handles)


def _ticks(low: float, high: float) -> list[float]:
    """1, 2, 5 and their powers of ten where there is data."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [digit * 10.0**power for power in powers for digit in (1, 2, 5)]
    return [tick for tick in ticks if 0.9 * low <= tick <= 1.1 * high]


def _name(pair: Pair) -> str:
    """The report's step, and beneath it the rung that redoes it."""
    many = ladder.gpus(pair.row)
    shared = f", {many} GPU{'s' if many > 1 else ''}" if pair.step.hardware == FOUR else ""
    rung = ladder.rung_name(pair.row.benchmark)
    return f"{ROOM}{pair.step.name}\n{ROOM}{rung}, {pair.row.params['layout']}{shared}"


def caption(pairs: Sequence[Pair], what: str) -> str:
    """What the marks are, and which steps the report has besides."""
    shown = {pair.step.name for pair in pairs}
    missing = [name for name, *_ in THESSALY_STEPS if name not in shown]
    sizes = ", ".join(dict.fromkeys(ladder.size_words(pair.row) for pair in pairs))
    words = (
        f"{what} Open: their Table 1, 32 systems on a CPU, on one GPU of two K80 (tiling, one "
        f"launch) and on all four of their GPUs; filled: the rung beneath each name, in the layout "
        f"of the step, here on so many GPUs as stand there ({sizes}; medians, lines: range of the "
        f"samples). The numbers of {THESSALY} {reference.cite(KEY)} are those of its table."
    )
    if missing:
        words += f" Not redone in this run: {', '.join(missing)}."
    return words + invalid_note(pair.step.name for pair in pairs if not pair.row.valid)


def cells(pair: Pair) -> tuple[object, ...]:
    """One line of the data file."""
    return (
        pair.step.name, pair.step.hardware, pair.row.benchmark, pair.theirs, pair.own, pair.low,
        pair.high, pair.row.valid, pair.row.case,
    )  # fmt: skip
