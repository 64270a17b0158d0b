"""How many bytes must be in flight on an SM before a level of memory gives all that it can?

A panel a level: every shape of launch is a point, and the line joins the best of them. What
Little's law allows at the latency of the level is a line of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from strata.figures import AxesGrid, Figure, Grid, flat
from strata.figures._palette import GREY, INK, hollow_key, invalid_note, legend_beside
from strata.model import level_name, little, ordered, units
from strata.run import Row

LEVELS = ("shared", "l1", "l2", "dram")
COLUMNS = 2
MARKER = 4.0
TERA = 1e12
LITTLE = (0, (1, 1.2))

# Okabe and Ito's colours, for every eye; reads are what most is known of.
_STYLE = {
    "read": ("#0072B2", "o"),
    "write": ("#D55E00", "s"),
    "copy": ("#009E73", "^"),
    "triad": ("#CC79A7", "D"),
    "update": ("#E69F00", "v"),
}


@dataclass(frozen=True, slots=True)
class Spot:
    """The bandwidth of one shape of launch; `limit` is in B/s, None where nobody knows one.

    `little` is what its bytes in flight allow of reads at the latency of the level, in B/s; None
    where the run has no such latency, and of other operations.
    """

    level: str
    operation: str
    in_flight: float
    bandwidth: Row
    limit: float | None
    little: float | None = None


def prepare(rows: Sequence[Row]) -> Sequence[Spot]:
    """Every timed bandwidth whose bytes in flight are known."""
    mine = [row for row in rows if row.benchmark == "bandwidth" and row.backend == "cuda"]
    in_flight = {row.case: row.value for row in mine if row.quantity == "bytes_in_flight_per_sm"}
    shares = {row.case: row.value for row in mine if row.quantity == "share_of_limit"}
    sms = little.cores(mine)
    latencies = little.latencies(rows) if sms else {}
    spots = []
    for row in mine:
        if row.quantity != "bandwidth" or row.case not in in_flight:
            continue
        share = shares.get(row.case)
        reads = row.params["operation"] == "read"
        latency = latencies.get(row.params["level"]) if reads else None
        flying = (sms or 0) * in_flight[row.case]
        spots.append(
            Spot(
                level=row.params["level"],
                operation=row.params["operation"],
                in_flight=in_flight[row.case],
                bandwidth=row,
                limit=row.value / share if share else None,
                little=little.allowed(flying, latency) if latency else None,
            )
        )
    return sorted(spots, key=lambda s: (LEVELS.index(s.level), s.operation, s.in_flight))


def _levels(spots: Sequence[Spot]) -> list[str]:
    return ordered({spot.level for spot in spots}, LEVELS)


def _operations(spots: Sequence[Spot]) -> list[str]:
    return ordered({spot.operation for spot in spots}, tuple(_STYLE))


def grid(spots: Sequence[Spot]) -> Grid:
    """A panel a level, two beside each other."""
    levels = len(_levels(spots))
    columns = min(COLUMNS, levels)
    rows = -(-levels // COLUMNS)
    return Grid(rows, columns, width=1.6 + 3.0 * columns, height=0.4 + 2.5 * rows)


def best(spots: Sequence[Spot]) -> list[Spot]:
    """The best valid spot of each number of bytes in flight, ascending."""
    found: dict[float, Spot] = {}
    for spot in spots:
        other = found.get(spot.in_flight)
        if spot.bandwidth.valid and (other is None or spot.bandwidth.value > other.bandwidth.value):
            found[spot.in_flight] = spot
    return [found[key] for key in sorted(found)]


def _panel(spots: Sequence[Spot], panel: Axes) -> None:
    for operation in _operations(spots):
        colour, marker = _STYLE[operation]
        here = [spot for spot in spots if spot.operation == operation]
        line = best(here)
        if len(line) > 1:
            panel.plot(
                [s.in_flight for s in line], [s.bandwidth.value / TERA for s in line],
                color=colour, linewidth=1.1, label="_best",
            )  # fmt: skip
        valid = [spot for spot in here if spot.bandwidth.valid]
        if valid:
            middle = [s.bandwidth.value / TERA for s in valid]
            panel.errorbar(
                [s.in_flight for s in valid], middle,
                yerr=(
                    [m - s.bandwidth.minimum / TERA for m, s in zip(middle, valid, strict=True)],
                    [s.bandwidth.maximum / TERA - m for m, s in zip(middle, valid, strict=True)],
                ),
                linestyle="none", marker=marker, markersize=MARKER, color=colour,
                elinewidth=0.6, alpha=0.9, label="_valid",
            )  # fmt: skip
        invalid = [spot for spot in here if not spot.bandwidth.valid]
        if invalid:
            panel.plot(
                [s.in_flight for s in invalid], [s.bandwidth.value / TERA for s in invalid],
                linestyle="none", marker=marker, markersize=MARKER, color=colour,
                markerfacecolor="white", markeredgewidth=0.7, label="_invalid",
            )  # fmt: skip
    _ceiling(spots, panel)
    _axis(spots, panel)
    _little(spots, panel)


def _ceiling(spots: Sequence[Spot], panel: Axes) -> None:
    """The limit and its value; nothing where nobody knows one."""
    limits = [spot.limit for spot in spots if spot.limit is not None]
    top = max(spot.bandwidth.maximum for spot in spots)
    if limits:
        limit = sorted(limits)[len(limits) // 2]
        panel.axhline(limit / TERA, color=INK, linewidth=0.9, linestyle=(0, (5, 2)))
        panel.annotate(
            f"limit {units.quantity(limit, 'B/s')}", xy=(0.02, limit / TERA),
            xycoords=("axes fraction", "data"), xytext=(0, 2), textcoords="offset points",
            color=INK, fontsize="small", va="bottom",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.4, "alpha": 0.85},
        )  # fmt: skip
        top = max(top, limit)
    panel.set_ylim(0, 1.16 * top / TERA)
    panel.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))


def _little(spots: Sequence[Spot], panel: Axes) -> None:
    """Bandwidth in proportion to the bytes in flight, as far as the panel goes."""
    slopes = [spot.little / spot.in_flight for spot in spots if spot.little is not None]
    if not slopes:
        return
    left, right = panel.get_xlim()
    places = [left * (right / left) ** (step / 100) for step in range(101)]
    panel.plot(
        places, [slopes[0] * place / TERA for place in places],
        color=INK, linewidth=0.9, linestyle=LITTLE, zorder=1.5, label="_little",
    )  # fmt: skip
    panel.set_xlim(left, right)


def _axis(spots: Sequence[Spot], panel: Axes) -> None:
    """Powers of two of bytes, every second or third named when there are many."""
    low = min(spot.in_flight for spot in spots)
    high = max(spot.in_flight for spot in spots)
    powers = [power for power in range(64) if low <= 2**power <= high]
    step = -(-len(powers) // 5) or 1
    panel.set_xscale("log", base=2)
    panel.set_xlim(low / 1.3, high * 1.3)
    panel.xaxis.set_major_locator(FixedLocator([2**power for power in powers[::step]] or [low]))
    panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: units.size(int(value))))
    panel.xaxis.set_minor_locator(NullLocator())


def draw(spots: Sequence[Spot], axes: AxesGrid) -> None:
    """Bandwidth against bytes in flight, a panel a level."""
    panels = flat(axes)
    levels = _levels(spots)
    for panel, level in zip(panels, levels, strict=False):
        _panel([spot for spot in spots if spot.level == level], panel)
        panel.set_title(level_name(level))
        panel.set_ylabel("bandwidth (TB/s)")
        panel.set_xlabel("bytes in flight per SM")
    for panel in panels[len(levels) :]:
        panel.set_visible(False)
    handles: list[Artist] = [
        Line2D([], [], color=_STYLE[name][0], marker=_STYLE[name][1], markersize=4, label=name)
        for name in _operations(spots)
    ]
    if any(spot.limit for spot in spots):
        handles.append(Line2D([], [], color=INK, linestyle=(0, (5, 2)), label="limit"))
    if any(spot.little for spot in spots):
        handles.append(Line2D([], [], color=INK, linestyle=LITTLE, label="Little's law"))
    if any(not spot.bandwidth.valid for spot in spots):
        handles.append(hollow_key())
    if not spots:
        panels[0].text(0.5, 0.5, "nothing was timed", color=GREY, ha="center")
    legend_beside(panels[0], handles)


def caption(spots: Sequence[Spot]) -> str:
    """What the points are, and the best of each level."""
    tops = []
    for level in _levels(spots):
        reads = best([s for s in spots if s.level == level and s.operation == "read"])
        if reads:
            top = max(reads, key=lambda spot: spot.bandwidth.value)
            share = (
                f", {100 * top.bandwidth.value / top.limit:.1f} % of its limit" if top.limit else ""
            )
            tops.append(f"{level_name(level)} {units.quantity(top.bandwidth.value, 'B/s')}{share}")
    law = (
        " Little's law: bytes in flight over the latency of a lone dependent load out of the "
        f"level{_needed(spots)}."
        if any(spot.little for spot in spots)
        else ""
    )
    found = f" Best reads: {'; '.join(tops)}." if tops else ""
    return (
        "Bandwidth of the whole chip against the bytes that each SM has in flight at the most, by "
        "the shape of the launch (threads, accesses of a thread, their width). Points: medians of "
        "launches of one shape, bars: range of the samples; lines join the best. Limits: bus width "
        f"times clock for device memory, bytes a cycle for L1 and shared memory.{law}{found}"
        f"{invalid_note(spot.bandwidth.case for spot in spots if not spot.bandwidth.valid)}"
    )


def _needed(spots: Sequence[Spot]) -> str:
    """How much each level needs in flight for the best that it gave, by the law."""
    parts = []
    for level in _levels(spots):
        here = [s for s in spots if s.level == level and s.little and s.bandwidth.valid]
        if here:
            top = max(here, key=lambda spot: spot.bandwidth.value)
            least = top.in_flight * top.bandwidth.value / (top.little or 1)
            parts.append(f"{level_name(level)} {units.size(round(least))}")
    return (
        f", which asks for at least {', '.join(parts)} an SM for the best of each" if parts else ""
    )


def cells(spot: Spot) -> tuple[object, ...]:
    """One line of the data file."""
    row = spot.bandwidth
    return (
        spot.level, spot.operation, row.params["width"], spot.in_flight, row.value, row.minimum,
        row.maximum, "" if spot.limit is None else spot.limit,
        "" if spot.little is None else spot.little, row.valid, row.case,
    )  # fmt: skip


FIGURE = Figure(
    name="bandwidth_surface",
    title="Bandwidth against bytes in flight",
    order=90,
    prepare=prepare,
    grid=grid,
    draw=draw,
    caption=caption,
    columns=(
        "level",
        "operation",
        "width_bytes",
        "bytes_in_flight_per_sm",
        "bandwidth_bytes_per_second",
        "minimum",
        "maximum",
        "limit_bytes_per_second",
        "little_bytes_per_second",
        "valid",
        "case",
    ),
    cells=cells,
    source=lambda spot: spot.bandwidth,
)
