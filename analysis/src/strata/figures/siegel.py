"""Figures 10 and 11 of Siegel, Ributzka and Li (2009), redone at every level of memory."""

from collections.abc import Sequence
from dataclasses import replace

from strata import reference
from strata.figures import _chart as c
from strata.figures import layout_latency
from strata.figures._figure import Figure, attributes
from strata.ladder import seeds
from strata.ladder.seeds import SIEGEL_GAINS, SIEGEL_LAYOUTS, LayoutGain
from strata.model import level_name
from strata.model.units import factor

GAINING = [layout for layout in SIEGEL_LAYOUTS if layout != "aos"]
LOADS = {
    "alone": ("one warp alone", c.Look(colour="#0072B2")),
    "loaded": ("under load", c.Look(colour="#56B4E9")),
}
MARKERS = {"CUDA 1.0": "D", "CUDA 2.2": "s"}
BESIDE = {"alone": -0.29, "loaded": 0.01, "theirs": 0.29}
"""Where bars stand about the middle of a layout, and the paper's marks: no bar is behind them."""
CITED = f"Siegel et al. 2009 {reference.cite('siegel2009gravit')}"


def gains_chart(gains: Sequence[LayoutGain]) -> c.Chart:
    """Bars from zero, with aos at 1; open marks for values printed in the paper."""

    def mark(gain: LayoutGain) -> c.Mark:
        place = GAINING.index(gain.layout) + BESIDE[gain.how]
        said = f"{gain.gain:.2f}"
        return c.Mark(place, gain.gain, valid=gain.valid, words=said, row=gain.row)

    def panel(title: str, here: Sequence[LayoutGain]) -> c.Panel:
        bars = c.by_look(here, lambda gain: gain.how, LOADS, mark, c.Bars, thick=0.28, words_size=6)
        places = c.names_axis([f"{one}\n{SIEGEL_LAYOUTS[one]}" for one in GAINING], size=7)
        layers = [*bars, *theirs, c.Rule(1, c.Look(width=0.8), order=1.5)]
        return c.Panel(layers, places, c.Axis("speed over aos (×)", zero=True), title)

    theirs = []
    for version, marker in MARKERS.items():
        printed = [
            (GAINING.index(of), x) for of, x in SIEGEL_GAINS[version].items() if of in GAINING
        ]
        said = f"8800 GTX, {version}: {{}} over aos; {CITED}".format
        marks = [
            c.Mark(at + BESIDE["theirs"], value, told=said(factor(value))) for at, value in printed
        ]
        theirs.append(c.Series(marks, replace(c.THEIRS, marker=marker), f"8800 GTX, {version}"))
    rows = layout_latency.by_level(c.grouped(gains, lambda gain: gain.level), panel)
    return c.Chart(rows, max(2.6 * len(rows[0]), 5.4), 0.6 + 2.2 * len(rows))


def _gains_caption(gains: Sequence[LayoutGain]) -> str:
    best = [gain for gain in gains if gain.valid and gain.layout == "soaoas"]
    told = [f"{level_name(one.level)} {LOADS[one.how][0]} {factor(one.gain)}" for one in best]
    return (
        f"After Figure 11 of {CITED}, speed of reading all seven fields relative to the array "
        "of structures (II-A): by the time of one warp at a time, and by the best useful "
        "bandwidth of all block sizes and numbers of warps. Open marks: an 8800 GTX without "
        "caches, from the paper's text (III-A): soa roughly 10 % and soaoas approximately 50 "
        "% faster with CUDA 1.0, soaoas roughly 30 % with CUDA 2.2; its other values are bars "
        "without numbers." + (f" soaoas here: {', '.join(told)}." if told else "")
    )


FIGURES = (
    Figure(
        "siegel_10",
        "Reads of a particle by layout (Siegel et al. 2009, Figure 10)",
        310,
        lambda run: seeds.layout_times(run.of("layout_read")),
        chart=lambda bars: layout_latency.chart(bars, SIEGEL_LAYOUTS),
        caption=lambda _: (
            f"After Figure 10 of {CITED}, run times of their read benchmarks (sections II-A to "
            "II-D): all seven fields of 32 particles, by one warp at a time, at every level "
            "of memory; the time includes the sum of the fields, as in theirs. Bars: medians "
            "over warps; whiskers: 5th to 95th percentile. They read uncached global memory "
            "of an 8800 GTX, with CUDA 1.0, 1.1 and 2.2; their cycles are printed only as "
            "bars, so none are drawn here."
        ),
        columns=attributes("level", "layout")
        | {"section": lambda bar: SIEGEL_LAYOUTS[bar.layout]}
        | attributes(unit="cycles.unit", median="cycles", p5="p5", p95="p95"),
        row=lambda bar: bar.cycles,
        label=lambda bar: f"{level_name(bar.level)} {bar.layout}",
    ),
    Figure(
        "siegel_11",
        "Speed of reads by layout over aos (Siegel et al. 2009, Figure 11)",
        311,
        lambda run: [g for g in seeds.layout_gains(run.of("layout_read")) if g.layout != "aos"],
        gains_chart,
        _gains_caption,
        attributes("level", "layout", load="how", speed_over_aos="gain")
        | {"theirs_cuda_1_0": lambda gain: SIEGEL_GAINS["CUDA 1.0"].get(gain.layout)}
        | {"theirs_cuda_2_2": lambda gain: SIEGEL_GAINS["CUDA 2.2"].get(gain.layout)},
        label=lambda gain: f"{level_name(gain.level)} {gain.layout}, {LOADS[gain.how][0]}",
    ),
)
