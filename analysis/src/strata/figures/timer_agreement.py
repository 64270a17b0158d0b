"""Do two independent clocks see the same time?

The in-kernel clock and the timer outside the kernel share nothing but the kernel. Where they differ
by more than 2 %, one of them did not time what it was meant to.
"""

import math
from collections import defaultdict
from collections.abc import Sequence

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from strata.figures import AxesGrid, Figure, Grid, flat
from strata.figures._palette import (
    GREY,
    INK,
    hollow_key,
    invalid_note,
    legend_beside,
    level_colour,
)
from strata.model import LEVELS, TIMER_TOLERANCE, Agreement, agreements, level_name, ordered
from strata.model.units import tick, unit_name
from strata.run import Row

WIDEST = 0.25
"""Ratios further than this from 1 are drawn as triangles on the edge of the panel."""

WITHIN = f"{100 * TIMER_TOLERANCE:g} %"
QUANTITIES = {
    "warp_read_cycles_slowest": "slowest warp-read",
    "load_cycles": "dependent load",
    "warp_load_cycles": "warp-load",
}

MARKERS = ("o", "s", "D", "v")
COLUMNS = 4
"""Panels beside each other, at the most."""


def _panels(pairs: Sequence[Agreement]) -> list[tuple[str, str]]:
    return sorted({(pair.reference.benchmark, pair.reference.quantity) for pair in pairs})


def _level(pair: Agreement) -> str | None:
    """The level of what was timed, under either of the two names that benchmarks have for it."""
    return pair.level or pair.reference.params.get("level")


def _methods(pairs: Sequence[Agreement]) -> list[str]:
    return sorted({pair.other.method for pair in pairs})


def _limit(pairs: Sequence[Agreement]) -> float:
    furthest = max(abs(pair.ratio - 1) for pair in pairs)
    return min(max(1.25 * furthest, 0.03), WIDEST)


def grid(pairs: Sequence[Agreement]) -> Grid:
    """One panel per quantity that was measured twice, in rows."""
    panels = len(_panels(pairs))
    columns = min(panels, COLUMNS)
    rows = -(-panels // COLUMNS)
    return Grid(rows, columns, width=1.8 + 2.5 * columns, height=0.5 + 2.1 * max(rows, 1))


def draw(pairs: Sequence[Agreement], axes: AxesGrid) -> None:
    """One point per case, the other method over the in-kernel clock; the band is the gate."""
    methods, limit = _methods(pairs), _limit(pairs)
    panels, shown = flat(axes), _panels(pairs)
    references = len({pair.reference.method for pair in pairs})
    for panel, (benchmark, quantity) in zip(panels, shown, strict=False):
        here = [
            pair
            for pair in pairs
            if (pair.reference.benchmark, pair.reference.quantity) == (benchmark, quantity)
        ]
        panel.axhspan(1 - TIMER_TOLERANCE, 1 + TIMER_TOLERANCE, color="#e8f3ec", zorder=0)
        panel.axhline(1, color=GREY, linewidth=0.7, zorder=1)
        _points(here, methods, limit, panel)
        _axes(panel, here, limit)
        panel.set_xlabel(_words(here[0].reference, named=references > 1))
        panel.set_title(benchmark)
    for panel in panels[len(shown) :]:
        panel.set_visible(False)
    for row in axes:
        row[0].set_ylabel("other method ÷ in-kernel")
    handles: list[Artist] = [
        Patch(facecolor=level_colour(level), label=level_name(level))
        for level in ordered((level for level in map(_level, pairs) if level), LEVELS)
    ]
    if any(_level(pair) is None for pair in pairs):
        handles.append(Patch(facecolor=level_colour(None), label="level not varied"))
    handles += [
        Line2D([], [], color=INK, marker=marker, linestyle="none", label=method)
        for method, marker in zip(methods, MARKERS, strict=False)
    ]
    handles.append(Patch(facecolor="#e8f3ec", label=f"within {WITHIN}"))
    if any(not pair.valid for pair in pairs):
        handles.append(hollow_key())
    legend_beside(panels[0], handles)


def _points(pairs: Sequence[Agreement], methods: Sequence[str], limit: float, panel: Axes) -> None:
    """All pairs of a panel, one artist for those that look alike."""
    alike: dict[tuple[str, str, bool, bool], list[Agreement]] = defaultdict(list)
    for pair in pairs:
        marker, beyond = MARKERS[methods.index(pair.other.method) % len(MARKERS)], False
        if abs(pair.ratio - 1) > limit:
            marker, beyond = "^" if pair.ratio > 1 else "v", True
        alike[level_colour(_level(pair)), marker, beyond, pair.valid].append(pair)
    for (colour, marker, beyond, valid), group in alike.items():
        panel.plot(
            [pair.reference.value for pair in group],
            [min(max(pair.ratio, 1 - limit), 1 + limit) for pair in group],
            linestyle="none", marker=marker, markersize=5 if beyond else 3.4, color=colour,
            markerfacecolor=colour if valid else "white", markeredgewidth=0.7,
            alpha=0.8 if valid else 1, zorder=2 if valid else 3, clip_on=False,
            label="_valid" if valid else "_invalid",
        )  # fmt: skip


def _axes(panel: Axes, pairs: Sequence[Agreement], limit: float) -> None:
    values = [pair.reference.value for pair in pairs]
    panel.set_xscale("log")
    panel.set_xlim(min(values) / 1.5, max(values) * 1.5)
    by_decades = LogLocator(10, subs=(1, 2, 5) if _narrow(values) else (1,))
    # Between two of these ticks it would label every other number, one over the next.
    few = len(_within(panel.get_xlim())) < 2
    panel.xaxis.set_major_locator(MaxNLocator(3) if few else by_decades)
    panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: tick(value)))
    panel.xaxis.set_minor_locator(NullLocator())
    panel.set_ylim(1 - limit, 1 + limit)


def _words(row: Row, *, named: bool) -> str:
    """The quantity with its unit; with its method, where the figure has several."""
    spelt = row.quantity.removesuffix("_cycles").replace("_per_sm", "_per_SM").replace("_", " ")
    quantity = QUANTITIES.get(row.quantity, spelt)
    return f"{quantity} ({unit_name(row.unit)}{f', {row.method}' if named else ''})"


def _within(limits: tuple[float, float]) -> list[float]:
    """The numbers 1, 2, 5, 10, … between the limits."""
    low, high = limits
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [
        one * 10.0**ten for ten in decades for one in (1, 2, 5) if low <= one * 10.0**ten <= high
    ]


def _narrow(values: Sequence[float]) -> bool:
    return max(values) < 100 * min(values)


def caption(pairs: Sequence[Agreement]) -> str:
    """How many pairs agree, and which do not count."""
    within = sum(abs(pair.ratio - 1) <= TIMER_TOLERANCE for pair in pairs)
    limit = _limit(pairs)
    beyond = sum(abs(pair.ratio - 1) > limit for pair in pairs)
    edge = f" Triangles on the edge: {beyond} beyond the panel." if beyond else ""
    reference = " and ".join(sorted({pair.reference.method for pair in pairs}))
    invalid = invalid_note(
        f"{pair.reference.case.partition('/')[2]}, {pair.other.method}"
        for pair in pairs
        if not pair.valid
    )
    return (
        f"Time by an outer method over time by the in-kernel clock ({reference}), one point per "
        f"case: {within} of {len(pairs)} pairs within {WITHIN}.{edge}{invalid}"
    )


def cells(pair: Agreement) -> tuple[object, ...]:
    """One line of the data file."""
    one, two = pair.reference, pair.other
    return (
        one.benchmark, one.quantity, _level(pair) or "", one.unit, one.method, one.value,
        two.method, two.value, pair.ratio, pair.valid, one.case,
    )  # fmt: skip


def source(pair: Agreement) -> Row:
    """The row of the method that is compared with the in-kernel clock."""
    return pair.other


FIGURE = Figure(
    name="timer_agreement",
    title="Agreement of the timers",
    order=40,
    prepare=agreements,
    grid=grid,
    draw=draw,
    caption=caption,
    columns=(
        "benchmark", "quantity", "level", "unit", "reference_method", "reference_value",
        "other_method", "other_value", "ratio", "valid", "case",
    ),
    cells=cells,
    source=source,
)  # fmt: skip
