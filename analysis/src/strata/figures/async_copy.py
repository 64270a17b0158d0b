"""What does it cost to bring a tile into shared memory, by each way to do it?

One tile at a time above, as many as the chip takes below.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from strata.figures import AxesGrid, Figure, Grid, _transfers
from strata.figures._palette import GREY, hollow_key, invalid_note, legend_beside
from strata.model import ordered
from strata.model.units import size, tick
from strata.run import Row

RESIDENCIES = {"l2": "from L2", "dram": "from DRAM", "shared": "from another block"}
METHODS = {
    "registers": ("through registers", "#666666", "o"),
    "cp_async_4": ("cp.async, 4 bytes", "#E69F00", "v"),
    "cp_async_8": ("cp.async, 8 bytes", "#D55E00", "^"),
    "cp_async_16": ("cp.async, 16 bytes", "#0072B2", "s"),
    "bulk": ("cp.async.bulk", "#009E73", "D"),
    "tensor": ("cp.async.bulk.tensor", "#56B4E9", "P"),
    "distributed": ("ld.shared::cluster", "#CC79A7", "X"),
}
Dashes = Literal["-", "--", ":"]
_CLUSTER_STYLES: dict[int, Dashes] = {2: "-", 4: "--", 8: ":"}
_QUANTITIES = {"latency": "tile_latency", "bandwidth": "bandwidth_per_sm"}


@dataclass(frozen=True, slots=True)
class Copy:
    """One case: cycles of a tile, or bytes that an SM copies in a cycle."""

    residency: str
    measure: str
    method: str
    bytes: int
    cluster: int
    row: Row


def prepare(rows: Sequence[Row]) -> Sequence[Copy]:
    """Every case, by the clock inside the kernel."""
    found = [
        Copy(
            residency=row.params["residency"],
            measure=row.params["measure"],
            method=row.params["method"],
            bytes=int(row.params["bytes"]),
            cluster=int(row.params["cluster"]),
            row=row,
        )
        for row in rows
        if row.benchmark == "async_copy"
        and row.method == "clock64_slope"
        and row.quantity == _QUANTITIES.get(row.params["measure"])
    ]
    methods = list(METHODS)
    return sorted(
        found,
        key=lambda c: (
            c.measure != "latency",
            c.residency,
            methods.index(c.method) if c.method in methods else len(methods),
            c.cluster,
            c.bytes,
        ),
    )


def _columns(copies: Sequence[Copy]) -> list[str]:
    return ordered((copy.residency for copy in copies), tuple(RESIDENCIES))


def _measures(copies: Sequence[Copy]) -> list[str]:
    return ordered((copy.measure for copy in copies), tuple(_QUANTITIES))


def grid(copies: Sequence[Copy]) -> Grid:
    """Latency above bandwidth; a column per place that tiles come from."""
    rows, columns = len(_measures(copies)), len(_columns(copies))
    return Grid(rows, columns, width=2.2 + 2.4 * columns, height=0.4 + 2.4 * max(rows, 1))


def _style(copy: Copy) -> tuple[str, str, Dashes]:
    _, colour, marker = METHODS.get(copy.method, (copy.method, GREY, "o"))
    return colour, marker, _CLUSTER_STYLES.get(copy.cluster, "-")


def draw(copies: Sequence[Copy], axes: AxesGrid) -> None:
    """Lines: medians. Bands: range of the samples."""
    for row, measure in zip(axes, _measures(copies), strict=True):
        shown = [copy for copy in copies if copy.measure == measure]
        for panel, residency in zip(row, _columns(copies), strict=True):
            here = [copy for copy in shown if copy.residency == residency]
            for key in dict.fromkeys((copy.method, copy.cluster) for copy in here):
                _line([copy for copy in here if (copy.method, copy.cluster) == key], panel)
            if not here:
                panel.text(
                    0.5, 0.5, "not measured", transform=panel.transAxes, ha="center", color=GREY
                )
            _transfers.bytes_axis(panel, [copy.bytes for copy in copies])
            _values_axis(panel, measure, shown)
            panel.set_title(RESIDENCIES.get(residency, residency))
        row[0].set_ylabel(
            "latency of a tile (cycles)" if measure == "latency" else "bytes per cycle and SM"
        )
    for panel in axes[-1]:
        panel.set_xlabel("bytes of a tile")
    legend_beside(axes[0][0], _handles(copies))


def _line(copies: Sequence[Copy], panel: Axes) -> None:
    colour, marker, style = _style(copies[0])
    valid = [copy for copy in copies if copy.row.valid]
    if valid:
        x = [copy.bytes for copy in valid]
        panel.fill_between(
            x, [c.row.minimum for c in valid], [c.row.maximum for c in valid], color=colour,
            alpha=0.18, linewidth=0,
        )  # fmt: skip
        panel.plot(
            x, [copy.row.value for copy in valid], color=colour, marker=marker, markersize=3.6,
            linewidth=1.1, linestyle=style, label="_valid",
        )  # fmt: skip
    invalid = [copy for copy in copies if not copy.row.valid]
    if invalid:
        panel.plot(
            [copy.bytes for copy in invalid], [copy.row.value for copy in invalid],
            linestyle="none", marker=marker, markersize=3.6, color=colour, markerfacecolor="white",
            markeredgewidth=0.7, label="_invalid",
        )  # fmt: skip


def _values_axis(panel: Axes, measure: str, shown: Sequence[Copy]) -> None:
    values = [copy.row.value for copy in shown]
    if measure == "latency":
        panel.set_yscale("log")
        low, high = min(values) / 1.3, max(values) * 1.3
        ticks = [f * 10**e for e in range(8) for f in (1, 2, 5) if low <= f * 10**e <= high]
        panel.set_ylim(low, high)
        panel.yaxis.set_major_locator(FixedLocator(ticks or [values[0]]))
        panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: tick(value)))
        panel.yaxis.set_minor_locator(NullLocator())
    else:
        panel.set_ylim(0, 1.08 * max(values))
        panel.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 4, 5, 8, 10]))


def _handles(copies: Sequence[Copy]) -> list[Artist]:
    handles: list[Artist] = []
    several = len({copy.cluster for copy in copies if copy.method == "distributed"}) > 1
    kinds = {(copy.method, copy.cluster): copy for copy in copies}
    for method in ordered((method for method, _ in kinds), tuple(METHODS)):
        for cluster in sorted(c for m, c in kinds if m == method):
            colour, marker, style = _style(kinds[method, cluster])
            label = METHODS.get(method, (method,))[0]
            if several and method == "distributed":
                label += f", {cluster} blocks"
            handles.append(
                Line2D([], [], color=colour, marker=marker, linestyle=style, label=label)
            )
    if any(not copy.row.valid for copy in copies):
        handles.append(hollow_key())
    return handles


def caption(copies: Sequence[Copy]) -> str:
    """What is drawn, and what is not valid."""
    invalid = invalid_note(
        f"{copy.measure} {RESIDENCIES.get(copy.residency, copy.residency)}, {copy.method}, "
        f"{size(copy.bytes)}"
        for copy in copies
        if not copy.row.valid
    )
    return (
        "A tile on its way into shared memory (medians, bands: range of the samples). Latency: one "
        "block, one tile after the other, from asking for it until all threads may read it. Bytes "
        f"per cycle: a block on every SM, four tiles on their way.{invalid}"
    )


def cells(copy: Copy) -> tuple[object, ...]:
    """One line of the data file."""
    row = copy.row
    return (
        copy.residency, copy.measure, copy.method, copy.bytes, copy.cluster, row.unit, row.value,
        row.minimum, row.maximum, row.valid, row.case,
    )  # fmt: skip


def source(copy: Copy) -> Row:
    """The row behind a point."""
    return copy.row


FIGURE = Figure(
    name="async_copy",
    title="Copies into shared memory",
    order=85,
    prepare=prepare,
    grid=grid,
    draw=draw,
    caption=caption,
    columns=(
        "residency", "measure", "method", "bytes", "cluster", "unit", "value", "low", "high",
        "valid", "case",
    ),
    cells=cells,
    source=source,
)  # fmt: skip
