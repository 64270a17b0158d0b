"""Do two independent clocks agree?

If they differ by more than 2 %, one of them did not time what it should.
"""

from collections.abc import Sequence
from itertools import cycle

from strata.figures import _chart as c
from strata.figures._figure import Figure, attributes, prose
from strata.model import LEVELS, TIMER_TOLERANCE, Agreement, agreements, level_name, ordered
from strata.model.units import unit_name
from strata.run import Row

WIDEST = 0.25
"""Ratios further than this from 1 are drawn as triangles on the edge of the panel."""
WITHIN = f"{100 * TIMER_TOLERANCE:g} %"
GREEN = "#e8f3ec"


def widest(pairs: Sequence[Agreement]) -> float:
    """The largest distance from 1 in the panels."""
    return min(max(1.25 * max(abs(pair.ratio - 1) for pair in pairs), 0.03), WIDEST)


def chart(pairs: Sequence[Agreement]) -> c.Chart:
    """One panel per quantity, one point per case: the other method over the clock in the kernel."""
    limit = widest(pairs)
    levels = ordered({pair.level for pair in pairs}, (*LEVELS, ""))
    methods = sorted({pair.other.method for pair in pairs})
    markers = dict(zip(methods, cycle("osDP"), strict=False))
    several = len({pair.reference.method for pair in pairs}) > 1

    def look(pair: Agreement) -> c.Look:
        marker, size = markers[pair.other.method], 3.4
        if abs(pair.ratio - 1) > limit:
            marker, size = "^" if pair.ratio > 1 else "v", 5.0
        return c.Look(c.level_colour(pair.level), marker, size=size, alpha=0.8)

    def mark(pair: Agreement) -> c.Mark:
        ratio = min(max(pair.ratio, 1 - limit), 1 + limit)
        return c.Mark(pair.reference.value, ratio, valid=pair.valid, row=pair.other)

    def panel(row: Row, here: Sequence[Agreement]) -> c.Panel:
        name = row.quantity.replace("_cycles", "").replace("_per_sm", "_per_SM").replace("_", " ")
        clock = f", {row.method}" if several else ""
        alike = c.grouped(here, look).items()
        layers: list[c.Layer] = [
            c.Shade(1 - TIMER_TOLERANCE, 1 + TIMER_TOLERANCE, GREEN),
            c.Rule(1, c.Look(c.GREY, width=0.7)),
            *(c.Series([mark(pair) for pair in marked], one) for one, marked in alike),
        ]
        places = c.Axis(f"{name} ({unit_name(row.unit)}{clock})", "log", most=4)
        return c.Panel(layers, places, ratios, row.benchmark)

    ends = (1 - limit, 1 + limit)
    ratios = c.Axis("other method ÷ in-kernel", limits=ends, text="{:.2f}".format)
    of = c.grouped(pairs, lambda pair: (pair.reference.benchmark, pair.reference.quantity))
    rows = c.wrapped([panel(of[name][0].reference, of[name]) for name in sorted(of)], 4)
    patches = [(level_name(one) or "level not varied", c.level_colour(one)) for one in levels]
    keys = [
        *(c.Key(label, c.Look(colour), patch=True) for label, colour in patches),
        *(c.Key(label, c.Look(marker=marker)) for label, marker in markers.items()),
        c.Key(f"within {WITHIN}", c.Look(GREEN), patch=True),
    ]
    return c.Chart(rows, 1.8 + 2.5 * len(rows[0]), 0.5 + 2.1 * len(rows), "beside", keys=keys)


def _caption(pairs: Sequence[Agreement]) -> str:
    gaps, limit = [abs(pair.ratio - 1) for pair in pairs], widest(pairs)
    within = sum(gap <= TIMER_TOLERANCE for gap in gaps)
    beyond = sum(gap > limit for gap in gaps)
    reference = " and ".join(sorted({pair.reference.method for pair in pairs}))
    return prose(
        f"Time by an outer method over time by the in-kernel clock ({reference}), one point "
        f"per case: {within} of {len(pairs)} pairs within {WITHIN}.",
        beyond and f"Triangles on the edge: {beyond} outside the panel.",
    )


COLUMNS = (
    attributes(benchmark="reference.benchmark", quantity="reference.quantity", level="level")
    | attributes(unit="reference.unit", reference_method="reference.method")
    | attributes(reference_value="reference", other_method="other.method", other_value="other")
    | attributes("ratio")
)
FIGURE = Figure(
    "timer_agreement", "Agreement of the timers", 40,
    lambda run: agreements(run.rows), chart, _caption, COLUMNS, row=lambda pair: pair.other,
    label=lambda pair: f"{pair.other.case}, {pair.other.method}",
)  # fmt: skip
