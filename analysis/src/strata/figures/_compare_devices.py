"""How do devices differ? A panel per unit, a line per quantity, a dot per device."""

from collections.abc import Sequence
from dataclasses import replace

from strata.compare.devices import Devices, Group, cell, notes
from strata.figures import _chart as c
from strata.figures import _chase as chase
from strata.model.atlas import CHASE

LOOKS = tuple(
    c.Look(colour=colour, marker=marker, alpha=0.9)
    for colour, marker in zip(c.COLOURS, ("o", "s", "D", "v", "^", "P", "X", "*"), strict=True)
)
COLUMNS = 2
APART = 0.78
"""How far the marks of a line are spread, so that equal ones all show."""
SPACES = ("global_ca", "memory")
"""What is walked through all levels, on a GPU and on a CPU."""
PALEST, FINEST = 3.6, 0.9
"""Widths of curves: the first lies broad below the others, so that equal ones all show."""


def latency(found: Devices) -> c.Chart | None:
    """The curve of a dependent load of each run, in cycles and in ns; None without one."""
    layers: list[list[c.Layer]] = [[], []]
    sizes = []
    for at, run in enumerate(found.runs):
        curve = [
            one
            for one in chase.points(run, CHASE, lambda case: case.text("space"))
            if one.curve in SPACES and one.cores == "one" and one.row.valid
        ]
        share = at / max(len(found.runs) - 1, 1)
        width = PALEST + share * (FINEST - PALEST)
        look = replace(LOOKS[at % len(LOOKS)], line="-", marker="", width=width, alpha=1.0)
        timed = [(one, 1e9 * one.seconds) for one in curve if one.seconds]
        times = [c.Mark(one.footprint, time, row=one.row) for one, time in timed]
        cycles = [c.Mark(one.footprint, one.row.value, row=one.row) for one in curve]
        for panel, marks in zip(layers, (cycles, times), strict=True):
            if marks:
                panel.append(c.Series(marks, look, found.names[at]))
        sizes += [one.footprint for one in curve]
    if not sizes:
        return None
    panels = [
        c.Panel(of, c.bytes_axis("footprint", sizes), c.Axis(f"{unit} per load", "log"), title)
        for of, unit, title in zip(
            layers, ("cycles", "ns"), ("In cycles of its own timer", "In time"), strict=True
        )
    ]
    return c.Chart([panels], 8.8, 3.4)


def chart(found: Devices) -> c.Chart:
    """The panels in two columns; below, the differences between the runs."""
    rows = c.wrapped(
        [_panel(group, found.names, len(found.runs)) for group in found.groups], COLUMNS
    )
    heights = [max(len(panel.places.ticks or ()) for panel in row if panel) for row in rows]
    tall = max(0.17, 0.085 * len(found.names))
    return c.Chart(
        rows=rows,
        width=4.4 * len(rows[0]),
        height=0.4 + sum(0.75 + tall * height for height in heights),
        heights=heights,
        below=[*(f"WARNING, {warning}" for warning in found.warnings), *notes(found)],
    )


def _panel(group: Group, names: Sequence[str], runs: int) -> c.Panel:
    marks: list[list[c.Mark]] = [[] for _ in names]
    ends: list[float] = []
    for line, (label, numbers) in enumerate(group.lines):
        for at, one in enumerate(numbers):
            if one:
                place = line + APART * ((at + 0.5) / len(names) - 0.5)
                mark = c.Mark(place, one.value, one.low, one.high, row=one.row)
                told = "" if one.row else f"{label}: {cell(one)} {group.panel.unit}"
                marks[at].append(replace(mark, told=told))
                ends += [one.value, one.low or one.value, one.high or one.value]
    least, most = min(ends), max(ends)
    wide = 0 < 20 * least < most
    better = "← better" if group.panel.better == "lower" else "better →"
    places = c.names_axis([label for label, _ in group.lines], grid=True)
    scale = c.Axis(f"{group.panel.unit}   ({better})", "log" if wide else "linear", zero=True)
    layers = [
        c.Series(marks[at], replace(LOOKS[at % len(LOOKS)], hollow=at >= runs), name, "bar")
        for at, name in enumerate(names)
    ]
    return c.Panel(layers, places, scale, group.panel.title, sideways=True)
