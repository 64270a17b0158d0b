"""What does one warp-read cost in each layout, when nothing else runs?

After Figures 10 and 11 of Siegel et al. 2009, once per level of the hierarchy.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import TypeVar

from strata.figures import _chart as c
from strata.figures._figure import Figure, attributes, prose
from strata.model import FIELDS, LEVELS, Bar, fields_name, latency_bars, level_name, ordered
from strata.model.units import short, unit_name

T = TypeVar("T")
HATCH = c.Look("white", hollow=True, hatch="/////")


def by_level(
    of: Mapping[str, Sequence[T]], panel: Callable[[str, Sequence[T]], c.Panel]
) -> list[list[c.Panel | None]]:
    """One panel per level, at most three abreast, four as two by two."""
    panels = [panel(level_name(level), of[level]) for level in ordered(of, LEVELS)]
    return c.wrapped(panels, len(of) if len(of) <= 3 else 2)


def chart(bars: Sequence[Bar], sections: Mapping[str, str] | None = None) -> c.Chart:
    """Medians over warps from zero, their whiskers, and the arithmetic part.

    Bars of a set of fields are adjacent; `sections` label them with the names of their layouts and
    what was said of those.
    """
    looks = c.layout_looks(bar.layout for bar in bars)
    layouts, groups = list(looks), ordered((bar.fields for bar in bars), FIELDS)
    places = c.groups_axis([fields_name(fields) for fields in groups], len(layouts))
    if sections:
        places = c.names_axis([f"{one}\n{sections[one]}" for one in layouts], size=7)

    def place(bar: Bar) -> int:
        return groups.index(bar.fields) * (len(layouts) + 1) + layouts.index(bar.layout)

    def mark(bar: Bar) -> c.Mark:
        low, high = (bar.p5.value, bar.p95.value) if bar.p5 and bar.p95 else (None, None)
        row = bar.cycles
        return c.Mark(place(bar), row.value, low, high, row.valid, short(row.value), row=row)

    def panel(title: str, here: Sequence[Bar]) -> c.Panel:
        style = {"spread": "caps", "thick": 0.86, "words_size": 6}
        layers = c.by_look(here, attrgetter("layout"), looks, mark, c.Bars, **style)
        inside = [
            c.Mark(place(bar), min(bar.arithmetic.value, bar.cycles.value), row=bar.arithmetic)
            for bar in here
            if bar.arithmetic and bar.cycles.valid
        ]
        return c.Panel([*layers, c.Bars(inside, HATCH, thick=0.86)], places, values, title)

    values = c.Axis(f"{unit_name(bars[0].cycles.unit)} per warp-read", zero=True)
    rows = by_level(c.grouped(bars, attrgetter("level")), panel)
    hatched = c.Key("arithmetic", replace(HATCH, colour=c.GREY), patch=True)
    keys = [hatched] if any(bar.arithmetic for bar in bars) else []
    return c.Chart(rows, max(3.2 * len(rows[0]), 4.8), 0.5 + 2.5 * len(rows), keys=keys)


def _caption(bars: Sequence[Bar]) -> str:
    row = bars[0].cycles
    core = "core" if row.backend == "host" else "SM"
    where = {"one": f" on one {core}", "all": f" on every {core}"}.get(row.text("cores"), "")
    return prose(
        "Time of one warp-read (32 particles, one per lane) by memory layout, one warp at a time"
        f"{where}. Bars: median over warps.",
        any(bar.p5 for bar in bars) and "Whiskers: 5th to 95th percentile over warps.",
        any(bar.arithmetic for bar in bars)
        and "Hatched: the part for sums and address arithmetic, not loads.",
    )


FIGURE = Figure(
    "layout_latency", "Latency of a warp-read by memory layout", 10,
    lambda run: latency_bars(run.of("layout_read")), chart, _caption,
    attributes("level", "fields", "layout", unit="cycles.unit", median="cycles")
    | attributes("p5", "p95", "arithmetic"),
    row=attrgetter("cycles"),
    label=lambda bar: f"{level_name(bar.level)} {bar.layout}, {fields_name(bar.fields)}",
)  # fmt: skip
