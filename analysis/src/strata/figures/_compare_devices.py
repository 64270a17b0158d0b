"""How do devices differ? A panel for each unit, a line for each thing, a dot for each device."""

from collections.abc import Sequence

from strata.compare.devices import Devices, Group
from strata.figures import _chart as c

LOOKS = tuple(
    c.Look(colour=colour, marker=marker, alpha=0.9)
    for colour, marker in zip(c.COLOURS, ("o", "s", "D", "v", "^", "P", "X", "*"), strict=True)
)
COLUMNS = 2


def chart(found: Devices) -> c.Chart:
    """The panels in two columns; below, in what the runs differ."""
    rows = c.wrapped([_panel(group, found.names) for group in found.groups], COLUMNS)
    heights = [max(len(panel.places.ticks or ()) for panel in row if panel) for row in rows]
    return c.Chart(
        rows=rows,
        width=4.4 * len(rows[0]),
        height=0.4 + sum(0.75 + 0.17 * height for height in heights),
        heights=heights,
        below=[f"WARNING, {warning}" for warning in found.warnings],
    )


def _panel(group: Group, names: Sequence[str]) -> c.Panel:
    marks: list[list[c.Mark]] = [[] for _ in names]
    reaches = []
    for line, (_, numbers) in enumerate(group.lines):
        shown = [(run, one.value) for run, one in enumerate(numbers) if one]
        values = [value for _, value in shown]
        reaches.append(c.Mark(line, values[0], min(values), max(values)))
        for run, value in shown:
            marks[run].append(c.Mark(line, value))
    least, most = min(m.low or 0 for m in reaches), max(m.high or 0 for m in reaches)
    wide = 0 < 20 * least < most
    better = "← better" if group.panel.better == "lower" else "better →"
    places = c.names_axis([label for label, _ in group.lines])
    scale = c.Axis(f"{group.panel.unit}   ({better})", "log" if wide else "linear", zero=True)
    layers = [
        c.Series(reaches, c.Look("#c8c8c8"), spread="bar", order=1),
        *(c.Series(marks[run], LOOKS[run % len(LOOKS)], name) for run, name in enumerate(names)),
    ]
    return c.Panel(layers, places, scale, group.panel.title, sideways=True)
