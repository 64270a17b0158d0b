"""What does it cost to reach the memory of the GPU beside this one?

Copies by the copy engine and by a kernel, each way and both ways, and a single load beside them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from strata.figures import AxesGrid, Figure, Grid, _transfers
from strata.figures._palette import GREY, INK, hollow_key, invalid_note, legend_beside
from strata.model import ordered
from strata.model.transfer_model import Line, fit
from strata.model.units import quantity, size, unit_name
from strata.run import Row

DIRECTIONS = {"read": "from the peer", "write": "to the peer", "both": "both ways at once"}
WAYS = {
    "copy_engine": ("copy engine", "#0072B2", "s"),
    "kernel": ("kernel", "#009E73", "^"),
    "load_cached": ("one load, peer's L2", "#E69F00", "v"),
    "load_uncached": ("one load, peer's memory", "#D55E00", "D"),
}
_LOADS = {"load_time_cached": "load_cached", "load_time_uncached": "load_uncached"}
_PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


@dataclass(frozen=True, slots=True)
class Access:
    """One copy, or one load: seconds on the device, and bytes moved a second."""

    way: str
    direction: str
    bytes: int
    row: Row
    bandwidth: Row | None


def prepare(rows: Sequence[Row]) -> Sequence[Access]:
    """Times on the device; a load's is the slope between events."""
    here = [row for row in rows if row.benchmark == "peer_copy"]
    rates = {row.case: row for row in here if (row.quantity, row.method) == ("bandwidth", "event")}
    found = [
        Access(
            way=_LOADS.get(row.quantity, row.params["by"]),
            direction=row.params["direction"],
            bytes=int(row.params["bytes"]),
            row=row,
            bandwidth=rates.get(row.case),
        )
        for row in here
        if (row.quantity, row.method) == ("transfer_time", "event") or row.quantity in _LOADS
    ]
    places, ways = list(DIRECTIONS), list(WAYS)
    return sorted(found, key=lambda a: (places.index(a.direction), ways.index(a.way), a.bytes))


def _directions(shown: Sequence[Access]) -> list[str]:
    return ordered((access.direction for access in shown), tuple(DIRECTIONS))


def fits(shown: Sequence[Access]) -> Mapping[tuple[str, str], Line]:
    """By way and direction, the line through the valid copies."""
    result = {}
    for key in dict.fromkeys((access.way, access.direction) for access in shown):
        here = [a for a in shown if (a.way, a.direction) == key and a.row.valid]
        line = fit([a.bytes for a in here], [a.row.value for a in here])
        if line is not None:
            result[key] = line
    return result


def grid(shown: Sequence[Access]) -> Grid:
    """Time above, bandwidth below; a column per direction."""
    return Grid(2, len(_directions(shown)), width=2.2 + 2.5 * len(_directions(shown)), height=4.9)


def draw(shown: Sequence[Access], axes: AxesGrid) -> None:
    """Marks: medians with the range of their samples. Lines: fits above, medians below."""
    fitted = fits(shown)
    rates = [a.bandwidth for a in shown if a.bandwidth and a.bandwidth.valid]
    best = max((row.value for row in rates), default=1.0)
    scale, prefix = next(((s, p) for s, p in _PREFIXES if best >= s), (1.0, ""))
    for column, direction in enumerate(_directions(shown)):
        above, below = axes[0][column], axes[1][column]
        for way, (_, colour, marker) in WAYS.items():
            here = [a for a in shown if (a.way, a.direction) == (way, direction)]
            _marks(here, above, colour, marker)
            if (way, direction) in fitted:
                _transfers.curve(fitted[way, direction], above, colour)
            valid = [(a.bytes, a.bandwidth) for a in here if a.bandwidth and a.bandwidth.valid]
            if valid:
                below.plot(
                    [x for x, _ in valid], [row.value / scale for _, row in valid], color=colour,
                    marker=marker, markersize=3.2, linewidth=1.0, label="_bandwidth",
                )  # fmt: skip
        if not below.lines:
            below.text(0.5, 0.5, "not measured", transform=below.transAxes, ha="center", color=GREY)
        _transfers.seconds_axis(above, [access.row for access in shown])
        below.set_ylim(0, 1.08 * best / scale)
        below.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 4, 5, 8, 10]))
        for panel in (above, below):
            _transfers.bytes_axis(panel, [access.bytes for access in shown])
        above.set_title(DIRECTIONS[direction])
        below.set_xlabel("bytes, each way" if direction == "both" else "bytes")
    axes[0][0].set_ylabel("time on the device (s)")
    axes[1][0].set_ylabel(f"bandwidth ({prefix}{unit_name('B/s')})")
    legend_beside(axes[0][0], _handles(shown, fitted=bool(fitted)))


def _marks(here: Sequence[Access], panel: Axes, colour: str, marker: str) -> None:
    for valid in (True, False):
        some = [access for access in here if access.row.valid == valid]
        if not some:
            continue
        x = [access.bytes for access in some]
        if valid:
            panel.vlines(
                x, [a.row.minimum for a in some], [a.row.maximum for a in some], color=colour,
                linewidth=0.8, alpha=0.5,
            )  # fmt: skip
        panel.plot(
            x, [access.row.value for access in some], linestyle="none", marker=marker,
            color=colour, markersize=3.6, markerfacecolor=colour if valid else "white",
            markeredgewidth=0.7, zorder=3 if valid else 4,
            label="_valid" if valid else "_invalid",
        )  # fmt: skip


def _handles(shown: Sequence[Access], *, fitted: bool) -> list[Artist]:
    handles: list[Artist] = [
        Line2D([], [], color=colour, marker=marker, linestyle="none", label=label)
        for way, (label, colour, marker) in WAYS.items()
        if any(access.way == way for access in shown)
    ]
    if fitted:
        handles.append(Line2D([], [], color=INK, linewidth=0.9, label=_transfers.LINE))
    if any(not access.row.valid for access in shown):
        handles.append(hollow_key())
    return handles


def caption(shown: Sequence[Access]) -> str:
    """What is drawn, what a load costs, and the fits."""
    loads = "; ".join(
        f"{WAYS[access.way][0]} {quantity(access.row.value, 's')}"
        for access in shown
        if access.way in _LOADS.values() and access.row.valid
    )
    listed = "; ".join(
        f"{WAYS[way][0]} {DIRECTIONS[direction]} {_transfers.parameters(line)}"
        for (way, direction), line in fits(shown).items()
    )
    invalid = invalid_note(
        f"{WAYS[access.way][0]} {DIRECTIONS[access.direction]}, {size(access.bytes)}"
        for access in shown
        if not access.row.valid
    )
    return (
        "Time on the device of one copy between the memories of two GPUs, alone and queued before "
        "it began (medians, bars: range of the samples), and the bytes a second that it makes, "
        "those of both ways together."
        + (f" Dependent loads: {loads}." if loads else "")
        + (f" Fits, by relative errors, with 95 % intervals: {listed}." if listed else "")
        + invalid
    )


def cells(access: Access) -> tuple[object, ...]:
    """One line of the data file."""
    row = access.row
    return (
        access.way, access.direction, access.bytes, row.value, row.minimum, row.maximum,
        access.bandwidth.value if access.bandwidth else "", row.valid, row.case,
    )  # fmt: skip


def source(access: Access) -> Row:
    """The row behind a point."""
    return access.row


FIGURE = Figure(
    name="peer_copy",
    title="Copies between two GPUs",
    order=92,
    prepare=prepare,
    grid=grid,
    draw=draw,
    caption=caption,
    columns=(
        "way", "direction", "bytes", "seconds", "seconds_low", "seconds_high", "bytes_per_second",
        "valid", "case",
    ),
    cells=cells,
    source=source,
)  # fmt: skip
