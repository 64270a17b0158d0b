"""What are the latency and bandwidth of each level, here and on other GPUs?"""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from strata.figures._plot import columns, figure, prose
from strata.figures._style import NOTE, hover, in_column, plain_log
from strata.model import atlas
from strata.model.units import short
from strata.reference import cite, published
from strata.reference.published import GENERATIONS, Mark
from strata.run import Row, Run, grouped

LATENCIES = {
    "shared": ("shared memory", "cycles"),
    "l1": ("L1", "cycles"),
    "l2": ("L2", "cycles"),
    "l2_far": ("L2, far part", "cycles"),
    "dram": ("DRAM", "cycles"),
}
"""Title and unit by level."""
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
OWN = "this GPU"


def _cited(marks: Iterable[Mark]) -> str:
    """The sources of several marks in one pair of brackets: `[8, 20]`."""
    keys = {mark.published.origin.keys[0] for mark in marks if mark.published}
    return cite(*keys) if keys else ""


def _tooltip(mark: Mark, title: Any, unit: Any) -> Row | str:
    if not (other := mark.published):
        return mark.own
    ends = f" ({short(mark.low)} to {short(mark.high)})" if mark.low < mark.high else ""
    words = f"{mark.gpu}, {title}: {short(mark.value)} {unit}{ends}; {other.origin.text}"
    return f"{words}, {other.origin.locator} {mark.citation}"


def data(panels: Mapping[str, tuple[str, str]], run: Run) -> pd.DataFrame:
    levels = tuple(panels)
    marks = (
        published.bandwidth_marks(run.rows, levels)
        if panels is BANDWIDTHS
        else published.latency_marks(atlas.own_latencies(run), levels)
    )
    lines = pd.DataFrame(
        [(*mark, *panels[mark.panel]) for mark in marks],
        columns=[*Mark._fields[:-2], "_published", "_row", "_title", "unit"],
    )
    lines["_mark"] = pd.Series(marks, dtype=object)
    lines["ours"] = lines["_published"].isna()
    return columns(
        lines, *Mark._fields[:-2], "unit", "ours", citation="_mark.citation",
        source="_published.origin.text", locator="_published.origin.locator",
        tier="_published.origin.tier", doubt="_mark.doubt", valid="_row.valid", case="_row.case",
    )  # fmt: skip


def caption(words: str, data: pd.DataFrame) -> str:
    marks = [*data["_mark"]]
    doubted = grouped((mark for mark in marks if mark.doubt), lambda mark: mark.doubt)
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
    names = {OWN: OWN}
    for generation in filter({*data.generation}.__contains__, GENERATIONS):
        gpus = data.gpu[data.generation == generation].unique()
        names |= {generation: generation.upper()} | {f"{generation} {gpu}": gpu for gpu in gpus}
    keys = data.generation.str.cat(data.gpu, sep=" ").where(~data.ours, OWN)
    kinds = ["own" if not mark.published else "doubtful" if mark.doubt else "sound"
             for mark in data["_mark"]]  # fmt: skip
    data = data.assign(at=keys.map([*names].index), kind=kinds)
    units = [*data.groupby("unit", sort=False)]
    figure.set_figheight(1.0 + 0.155 * len(names))
    panels = figure.subplots(1, len(units), squeeze=False, sharey=True)[0]
    colours = {title: f"C{place}" for place, title in enumerate(data["_title"].unique())}
    for ax, (unit, here) in zip(panels, units, strict=True):
        for (title, kind), part in here.groupby(["_title", "kind"], sort=False):
            colour, label = colours[title], title if kind == "own" else ""
            (line,) = ax.plot(part.value, part["at"], ls="", c=colour, label=label, **LOOKS[kind])
            hover(line, (_tooltip(mark, title, unit) for mark in part["_mark"]))
            ax.hlines(part["at"], part.low, part.high, color=colour, lw=0.8)
            if kind == "own":
                ax.axvline(part.value.iloc[0], color=colour, lw=0.8, alpha=0.5)
        if unit == "cycles":
            plain_log(ax, "x", (1,) if in_column(figure) else (1, 3))
        else:
            ax.set_xlim(left=0)
        ax.set_xlabel(unit)
        ax.tick_params(axis="y", labelsize=NOTE, length=0)
    ax.set(yticks=range(len(names)), yticklabels=names.values(), ylim=(len(names) - 0.4, -0.8))
    for at, some in data.groupby("at"):
        place = ax.get_yaxis_transform()
        ax.text(1.02, at, _cited(some["_mark"]), transform=place, size=NOTE, va="center")


_WORDS = {
    "latency": "Cycles of one dependent load: the medians of this run (footprints of up to 16 KiB "
    "for shared memory and L1, of 256 KiB to a quarter of the L2 for it, from twice the L2 to the "
    "reach of the TLB for DRAM), by each GPU's own clock.",
    "bandwidth": "Bytes per clock and SM, and for DRAM the share of the pin bandwidth: the best "
    "launch of this run. Published rates of a whole GPU are divided by its SMs and clock, "
    "operations of 32 bits count 4 B, and GB/s are shares of the peak.",
    "constant": "Cycles of one dependent load of a constant whose address is in a register (this "
    "run: largest footprint of 1 KiB, and between 8 and 24 KiB), by each GPU's own clock.",
}
for name, title, order, panels in (
    ("latency", "Latencies", 300, LATENCIES), ("bandwidth", "Bandwidths", 301, BANDWIDTHS),
    ("constant", "Constant caches", 302, CONSTANTS),
):  # fmt: skip
    figure(
        f"published_{name}", f"{title} compared with other GPUs", order=order,
        data=partial(data, panels), caption=partial(caption, _WORDS[name]),
    )(draw)  # fmt: skip
