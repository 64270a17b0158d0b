"""What are the latency and bandwidth of each level, here and on other GPUs?"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter

from strata.figures import _chart as c
from strata.figures._figure import Figure, attributes, prose
from strata.model import atlas
from strata.model.units import short
from strata.reference import cite, published
from strata.reference.published import GENERATIONS, Mark
from strata.run import Run

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
KINDS = {
    "own": ("this GPU", c.Look("#D55E00", "D", size=4.4)),
    "sound": ("published", c.Look("#0072B2", "o", size=3.8, hollow=True)),
    "doubtful": ("published, in doubt", c.Look(c.GREY, "v", size=3.8, hollow=True)),
}
OWN = c.Look("#D55E00", line="-", width=0.8, alpha=0.5)
THIN, DARK = c.Look(c.PALE, line="-", width=0.5), "#b8b8b8"
GAP = 0.45
"""Between two generations, in lines."""


def _kind(mark: Mark) -> str:
    return "own" if mark.published is None else "doubtful" if mark.doubt else "sound"


def _cited(marks: Sequence[Mark]) -> str:
    """The sources of several marks in one pair of brackets: `[8, 20]`."""
    keys = {mark.published.origin.keys[0] for mark in marks if mark.published}
    return cite(*keys) if keys else ""


def _chart(marks: Sequence[Mark], panels: Mapping[str, tuple[str, str]]) -> c.Chart:
    """The run's own GPU at the top, generations slightly apart, names beside the last panel."""
    generations = c.grouped(marks, attrgetter("generation"))
    lines: dict[str, float] = {}
    beside, guides, first = [], [], 0.0
    for generation in sorted(generations, key=("", *GENERATIONS).index):
        gpus = dict.fromkeys(mark.gpu for mark in generations[generation])
        lines |= {gpu: first + place for place, gpu in enumerate(gpus)}
        last = first + len(gpus) - 1
        beside.append(((first + last) / 2, generation, c.INK))
        guides.append(c.Rule(last + (1 + GAP) / 2, replace(THIN, colour=DARK), of="place"))
        first = last + 1 + GAP
    guides += [c.Rule(at, THIN, of="place") for at in lines.values()]
    names, ticks = ["this GPU", *list(lines)[1:]], list(lines.values())
    places = c.Axis(limits=(-0.7, ticks[-1] + 0.7), ticks=ticks, names=names, size=6.5)

    def panel(name: str, here: Sequence[Mark]) -> c.Panel:
        words = [
            c.Mark(
                lines[gpu], max(m.high for m in some), words=_cited(some) or short(some[0].value)
            )
            for gpu, some in c.grouped(here, attrgetter("gpu")).items()
        ]
        title, unit = panels[name]
        layers = [
            *guides,
            *(c.Rule(mark.value, OWN) for mark in here if not mark.published),
            *c.by_look(here, _kind, KINDS, shown, spread="bar"),
            c.Series(words, c.Look(), words_size=5.6),
        ]
        shares = range(0, 101, 25) if unit.startswith("%") else None
        values = c.Axis(unit, zero=True, most=4, size=6.5, ticks=shares)
        outer = beside if name == marks[-1].panel else ()
        return c.Panel(layers, places, values, title, sideways=True, beside=outer)

    def shown(mark: Mark) -> c.Mark:
        where = c.Mark(lines[mark.gpu], mark.value, mark.low, mark.high)
        if not (theirs := mark.published):
            return replace(where, row=mark.own)
        title, unit = panels[mark.panel]
        ends = f" ({short(mark.low)} to {short(mark.high)})" if mark.low < mark.high else ""
        said = f"{mark.gpu}, {title}: {short(mark.value)} {unit}{ends}; {theirs.origin.text}"
        return replace(where, told=f"{said}, {theirs.origin.locator} {mark.citation}")

    row = [panel(*group) for group in c.grouped(marks, attrgetter("panel")).items()]
    return c.Chart([row], 8.4, 1.25 + 0.185 * (1 + ticks[-1]))


def _latency_marks(run: Run, panels: Sequence[str]) -> Sequence[Mark]:
    return published.latency_marks(atlas.own_latencies(run), panels)


def _figure(
    name: str, title: str,
    panels: Mapping[str, tuple[str, str]],
    marks: Callable[[Run, Sequence[str]], Sequence[Mark]],
    caption: str, *, order: int,
) -> Figure[Mark]:  # fmt: skip
    """The figure of these panels; sources and their doubts follow the caption."""

    def full_caption(marks: Sequence[Mark]) -> str:
        doubted = c.grouped((mark for mark in marks if mark.doubt), attrgetter("doubt"))
        doubts = "; ".join(f"{reason} {_cited(found)}" for reason, found in doubted.items())
        sources = _cited(marks)
        return prose(caption, sources and f"Sources: {sources}.", doubts and f"In doubt: {doubts}.")

    return Figure(
        name, title, order,
        lambda run: marks(run, tuple(panels)),
        lambda marks: _chart(marks, panels),
        full_caption,
        attributes("panel", "gpu", "generation", "value", "low", "high")
        | {"unit": lambda mark: panels[mark.panel][1], "ours": lambda mark: not mark.published}
        | attributes("citation")
        | attributes(of="published", source="origin.text", locator="origin.locator")
        | attributes(of="published", tier="origin.tier")
        | attributes(doubt="doubt", case="own.case"),
        attrgetter("own"),
    )  # fmt: skip


FIGURES = (
    _figure(
        "published_latency", "Latencies compared with other GPUs",
        LATENCIES, _latency_marks,
        "Cycles of one dependent load. Filled, with the line through all GPUs: the medians of "
        "this run (footprints of up to 16 KiB for shared memory and L1, of 256 KiB to a "
        "quarter of the L2 for it, from twice the L2 to the reach of the TLB for DRAM; the "
        "far part of an L2 of two parts where loads were timed, not atomics). Open: "
        "published, with numbers of the bibliography; lines are printed ranges. Cycles are "
        "those of each GPU's own clock; latencies published only in nanoseconds are omitted.",
        order=300,
    ),
    _figure(
        "published_bandwidth", "Bandwidths compared with other GPUs",
        BANDWIDTHS, lambda run, panels: published.bandwidth_marks(run.rows, panels),
        "Bytes per clock and SM, and for DRAM the share of the pin bandwidth. Filled, with "
        "the line through all GPUs: the best launch of this run. Open: published, with "
        "numbers of the bibliography. Rates of a whole GPU per clock are divided by its "
        "number of SMs, operations of 32 bits count 4 B, and GB/s are shares of the peak from "
        "data sheets or the devices themselves; a rate with unknown clock, SMs or peak, or an "
        "uncertain unit, is omitted.",
        order=301,
    ),
    _figure(
        "published_constant", "Constant caches compared with other GPUs",
        CONSTANTS, _latency_marks,
        "Cycles of one dependent load of a constant whose address is in a register. Filled, "
        "with the line through all GPUs: this run (largest footprint of 1 KiB, and between 8 "
        "and 24 KiB). Open: published, with numbers of the bibliography; cycles are those of "
        "each GPU's own clock.",
        order=302,
    ),
)  # fmt: skip
