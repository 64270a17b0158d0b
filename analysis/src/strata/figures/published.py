"""What are the latency and bandwidth of each level, here and on other GPUs?"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from strata.figures._figure import Columns, attributes, prose
from strata.figures._plot import figure, table
from strata.figures._style import hover, plain_log
from strata.model import atlas
from strata.model.units import short
from strata.reference import cite, published
from strata.reference.published import GENERATIONS, Mark
from strata.run import Row, Run, grouped

Panels = Mapping[str, tuple[str, str]]
"""Title and unit by level."""
LATENCIES = {
    "shared": ("shared memory", "cycles"),
    "l1": ("L1", "cycles"),
    "l2": ("L2", "cycles"),
    "l2_far": ("L2, far part", "cycles"),
    "dram": ("DRAM", "cycles"),
}
BANDWIDTHS = {
    "shared": ("shared, read", "B/clk/SM"),
    "l1": ("L1, read", "B/clk/SM"),
    "l2": ("L2, read", "B/clk/SM"),
    "dram_read": ("DRAM, read", "% of the pins"),
    "dram_copy": ("DRAM, copy", "% of the pins"),
}
CONSTANTS = {
    "constant_l1": ("constant cache of an SM", "cycles"),
    "constant_l15": ("constant cache behind it (L1.5)", "cycles"),
}
LOOKS: Mapping[str, dict[str, Any]] = {
    "own": {"marker": "D", "ms": 5},
    "sound": {"marker": "o", "mfc": "none"},
    "doubtful": {"marker": "x"},
}


def _kind(mark: Mark) -> str:
    return "own" if mark.published is None else "doubtful" if mark.doubt else "sound"


def _cited(marks: Sequence[Mark]) -> str:
    """The sources of several marks in one pair of brackets: `[8, 20]`."""
    keys = {mark.published.origin.keys[0] for mark in marks if mark.published}
    return cite(*keys) if keys else ""


def _told(mark: Mark, title: str, unit: str) -> Row | str:
    """The tooltip."""
    if not (theirs := mark.published):
        return mark.own
    ends = f" ({short(mark.low)} to {short(mark.high)})" if mark.low < mark.high else ""
    words = f"{mark.gpu}, {title}: {short(mark.value)} {unit}{ends}; {theirs.origin.text}"
    return f"{words}, {theirs.origin.locator} {mark.citation}"


def latencies(panels: Panels, run: Run) -> pd.DataFrame:
    """The latencies of the levels."""
    return lines(panels, published.latency_marks(atlas.own_latencies(run), tuple(panels)))


def bandwidths(panels: Panels, run: Run) -> pd.DataFrame:
    """The bandwidths of the levels."""
    return lines(panels, published.bandwidth_marks(run.rows, tuple(panels)))


def lines(panels: Panels, marks: Sequence[Mark]) -> pd.DataFrame:
    """A line for each mark, by panel and generation."""
    columns: Columns = {
        **attributes("panel", "gpu", "generation", "value", "low", "high"),
        "unit": lambda mark: panels[mark.panel][1],
        "ours": lambda mark: not mark.published,
        **attributes("citation"),
        **attributes(of="published", source="origin.text", locator="origin.locator"),
        **attributes(of="published", tier="origin.tier"),
        **attributes(doubt="doubt", case="own.case"),
        "_title": lambda mark: panels[mark.panel][0],
        "_told": lambda mark: _told(mark, *panels[mark.panel]),
        "_kind": _kind,
        "_mark": lambda mark: mark,
    }
    return table(marks, columns, row=attrgetter("own"))


def caption(words: str, data: pd.DataFrame) -> str:
    """The words of the figure, the sources and their doubts."""
    marks = [*data["_mark"]]
    doubted = grouped((mark for mark in marks if mark.doubt), attrgetter("doubt"))
    doubts = "; ".join(f"{reason} {_cited(found)}" for reason, found in doubted.items())
    sources = _cited(marks)
    return prose(
        words,
        "Filled, with the line through all GPUs: this run; open: published; crosses: published, in "
        "doubt; lines: ranges. Numbers are those of the bibliography.",
        sources and f"Sources: {sources}.",
        doubts and f"In doubt: {doubts}.",
    )


def draw(data: pd.DataFrame, figure: Figure) -> None:
    """A line for each GPU, those of a generation below its name; a panel for each unit."""
    names = {"this GPU": "this GPU"}
    for generation in filter({*data.generation}.__contains__, GENERATIONS):
        gpus = data.gpu[data.generation == generation].unique()
        names |= {generation: generation.upper()} | {f"{generation} {gpu}": gpu for gpu in gpus}
    lines = [*names]
    keys = data.generation.str.cat(data.gpu, sep=" ").where(~data.ours, "this GPU")
    data = data.assign(at=keys.map(lines.index))
    units = [*data.groupby("unit", sort=False)]
    figure.set_figheight(1.0 + 0.155 * len(names))
    panels = figure.subplots(1, len(units), squeeze=False, sharey=True)[0]
    colours = {title: f"C{place}" for place, title in enumerate(data["_title"].unique())}
    for ax, (unit, here) in zip(panels, units, strict=True):
        for (title, kind), part in here.groupby(["_title", "_kind"], sort=False):
            colour, label = colours[title], title if kind == "own" else ""
            (line,) = ax.plot(part.value, part["at"], ls="", c=colour, label=label, **LOOKS[kind])
            hover(line, part["_told"])
            ax.hlines(part["at"], part.low, part.high, color=colour, lw=0.8)
            if kind == "own":
                ax.axvline(part.value.iloc[0], color=colour, lw=0.8, alpha=0.5)
        if unit == "cycles":
            plain_log(ax, "x", (1, 3))
        else:
            ax.set_xlim(left=0)
        ax.set_xlabel(unit)
        ax.tick_params(axis="y", labelsize=7, length=0)
    ax.set(yticks=range(len(names)), yticklabels=names.values(), ylim=(len(names) - 0.4, -0.8))
    for at, some in data.groupby("at"):
        place = ax.get_yaxis_transform()
        ax.text(1.02, at, _cited([*some["_mark"]]), transform=place, size=7, va="center")


def _register(
    name: str, title: str, panels: Panels, words: str, *, order: int,
    data: Callable[[Panels, Run], pd.DataFrame] = latencies,
) -> None:  # fmt: skip
    making = partial(data, panels)
    figure(name, title, order=order, data=making, caption=partial(caption, words))(draw)


_register(
    "published_latency", "Latencies compared with other GPUs", LATENCIES,
    "Cycles of one dependent load: the medians of this run (footprints of up to 16 KiB for shared "
    "memory and L1, of 256 KiB to a quarter of the L2 for it, from twice the L2 to the reach of "
    "the TLB for DRAM; the far part of an L2 of two parts where loads were timed, not atomics). "
    "Cycles are those of each GPU's own clock; latencies published only in nanoseconds are "
    "omitted.",
    order=300,
)  # fmt: skip
_register(
    "published_bandwidth", "Bandwidths compared with other GPUs", BANDWIDTHS,
    "Bytes per clock and SM, and for DRAM the share of the pin bandwidth: the best launch of this "
    "run. Rates of a whole GPU per clock are divided by its number of SMs, operations of 32 bits "
    "count 4 B, and GB/s are shares of the peak from data sheets or the devices themselves; a rate "
    "with unknown clock, SMs or peak, or an uncertain unit, is omitted.",
    order=301, data=bandwidths,
)  # fmt: skip
_register(
    "published_constant", "Constant caches compared with other GPUs", CONSTANTS,
    "Cycles of one dependent load of a constant whose address is in a register (this run: largest "
    "footprint of 1 KiB, and between 8 and 24 KiB). Cycles are those of each GPU's own clock.",
    order=302,
)  # fmt: skip
