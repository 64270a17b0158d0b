"""How far did every row of every benchmark move, and which rows and families are alarms?

One strip for each benchmark and one dot for each timed row, so that it reads the same with ten rows
and with ten thousand. All changes are changes of time.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import median_high

from strata.compare import words
from strata.compare.changes import VERDICTS, Change, Comparison, Verdict
from strata.figures import _chart as c
from strata.model.units import MINUS
from strata.run import params_text

LOOKS: Mapping[Verdict, c.Look] = {
    "slower": c.Look(colour="#D55E00", marker="^", size=4.5),
    "faster": c.Look(colour="#009E73", marker="v", size=4.5),
    "changed": c.Look(colour="#CC79A7", marker="D", size=4.5),
    "same": c.Look(colour="#0072B2", marker="o", size=1.7, alpha=0.5),
    "undecided": c.Look(colour="#b0b0b0", marker="o", size=1.7, alpha=0.5),
}
TICKS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
LINEAR = 0.003
"""Around no change the axis is linear, beyond it logarithmic."""
NAMED = 12
"""So many alarms are named below the strips; the table has them all."""
GOLDEN = 0.6180339887498949


def chart(comparisons: Sequence[Comparison]) -> c.Chart:
    """A panel for each comparison with common strips; below, differences and changed rows."""
    benchmarks = sorted({each.before.benchmark for found in comparisons for each in found.changes})
    return c.Chart(
        rows=[[_panel(found, benchmarks, titled=len(comparisons) > 1) for found in comparisons]],
        width=2.2 + 6.2 * len(comparisons),
        height=0.27 * max(2, len(benchmarks)) + 0.9,
        keys=[
            c.Key(label=verdict, look=replace(look, size=4.5, alpha=1.0))
            for verdict, look in LOOKS.items()
            if any(found.verdicts()[verdict] for found in comparisons)
        ],
        below=[line for found in comparisons for line in _below(found)],
    )


def _panel(found: Comparison, benchmarks: Sequence[str], *, titled: bool) -> c.Panel:
    least = found.settings.min_change
    far = max((abs(each.as_time(each.change)) for each in found.changes), default=0.0)
    reach = min(max(1.25 * far, 10 * least, LINEAR), 20.0)
    left = -min(reach, 0.95)  # no time can fall by all of itself

    def at(change: float) -> float:
        return math.asinh(min(max(change, left), reach) / LINEAR)

    numbers = {each.before.key: number for number, each in _named(found)}
    marks: dict[Verdict, list[c.Mark]] = {verdict: [] for verdict in VERDICTS}
    close: dict[int, list[tuple[float, int]]] = {strip: [] for strip in range(len(benchmarks))}
    smallest: dict[str, list[float]] = {name: [] for name in benchmarks}
    for each in found.changes:
        strip, here = benchmarks.index(each.before.benchmark), smallest[each.before.benchmark]
        here.append(each.found)
        # Dots of a strip are spread evenly over its height, in an order without a pattern.
        place = strip + 0.7 * ((len(here) * GOLDEN) % 1 - 0.5)
        value, low, high = (at(each.as_time(s)) for s in (each.change, each.low, each.high))
        dot = c.Mark(place, value, row=each.after)
        if number := numbers.get(each.before.key):
            dot = replace(dot, low=low, high=high)
            close[strip].append((value, number))
        marks[each.verdict].append(dot)
    middles = [(k, median_high(here)) for k, here in enumerate(smallest.values()) if here]
    shown = [s * tick for s in (-1, 1) for tick in TICKS if left <= s * tick <= reach]
    texts = [f"{100 * tick:+.3g}".replace("-", MINUS) for tick in shown]
    places = c.names_axis([f"{name} ({len(here)})" for name, here in smallest.items()])
    values = c.Axis(
        "change, as of a time (%): left faster, right slower",
        limits=(at(left), at(reach)), ticks=[at(tick) for tick in (0.0, *shown)],
        names=["0", *texts],
    )  # fmt: skip
    low, high = at(-least / (1 + least)), at(least)
    medians = [
        c.Mark(strip, at(middle), told=f"found from {words.size(middle)} (median row)")
        for strip, middle in middles
        if middle <= reach
    ]
    layers: list[c.Layer] = [
        c.Shade(low, high, "#ededed", f"below {words.size(least)}"),
        c.Rule(0, c.Look(c.GREY, line="-", width=0.7)),
        *(
            c.Series(marks[verdict], LOOKS[verdict], spread="bar", order=order)
            for order, verdict in enumerate(reversed(VERDICTS), start=2)
        ),
        c.Series(medians, c.Look(marker="|", size=14), "found from (median row)", order=8),
        *_numbers(close, at(left), at(reach)),
    ]
    return c.Panel(layers, places, values, found.after.context.run if titled else "", sideways=True)


def _named(found: Comparison) -> Iterator[tuple[int, Change]]:
    return enumerate(found.flagged()[:NAMED], start=1)


def _numbers(
    alarms: Mapping[int, Sequence[tuple[float, int]]], left: float, right: float
) -> Iterator[c.Words]:
    """The numbers of alarms above their strip; adjacent ones share one text."""
    for strip, here in alarms.items():
        groups: list[list[tuple[float, int]]] = []
        for value, number in sorted(here):
            if not groups or value - groups[-1][0][0] > 0.08 * (right - left):
                groups.append([])
            groups[-1].append((value, number))
        for group in groups:
            first, inwards = group[0][0], group[0][0] > left + 0.8 * (right - left)
            yield c.Words(
                place=strip - 0.42, value=first, up="bottom", size=6.0, dx=4 if inwards else -4,
                text=", ".join(map(str, sorted(number for _, number in group))),
                across="right" if inwards else "left",
            )  # fmt: skip


def _below(found: Comparison) -> Iterator[str]:
    """The text below: what differs and which rows changed."""
    yield f"{words.title(found)}. {words.counts(found)}."
    if found.differences:
        yield "WARNING, conditions differ: " + "; ".join(map(str, found.differences))
    for one in found.moved():
        yield f"{one.verdict}, {words.percent(one.change)}: {words.family(one)}, {words.along(one)}"
    for number, change in _named(found):
        row = change.before
        what = f"{words.name(row)}, {params_text(row.params, ' ')}"
        yield f"{number}  {change.verdict}, {words.percent(change.change)}: {what}"
    if (more := len(found.flagged()) - NAMED) > 0:
        yield f"and {more} more, in the table"
