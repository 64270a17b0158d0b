"""Sectors per request, predicted and counted: a curve per width of access."""

from collections.abc import Callable, Sequence

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator

from strata.figures._palette import GREY, INK, hollow_key, invalid_note, legend_beside, width_style
from strata.figures._series import series
from strata.model.counted import WarpLoad
from strata.run import Row

Place = Callable[[WarpLoad], int]

SECTORS_LABEL = "sectors per request"
MARKER = 3.4

COLUMNS = (
    "width_bytes", "stride_elements", "misalignment_elements", "permutation",
    "sectors_per_request_predicted", "sectors_per_request_counted", "warp_load_cycles",
    "cycles_low", "cycles_high", "useful_bandwidth", "valid", "case",
)  # fmt: skip


def widths(loads: Sequence[WarpLoad]) -> list[int]:
    """The widths that occur, narrow first."""
    return sorted({load.width for load in loads})


def sectors(loads: Sequence[WarpLoad], panel: Axes, place: Place) -> None:
    """Lines: predicted. Marks: counted, hollow where a gate failed."""
    for width in widths(loads):
        colour, marker = width_style(width)
        here = sorted((load for load in loads if load.width == width), key=place)
        predicted = [(place(load), load.predicted.value) for load in here if load.predicted]
        if predicted:
            panel.plot(*zip(*predicted, strict=True), color=colour, linewidth=1.1, label="_model")
        for valid in (True, False):
            counted = [
                (place(load), load.counted.value)
                for load in here
                if load.counted and load.counted.valid == valid
            ]
            if counted:
                panel.plot(
                    *zip(*counted, strict=True), linestyle="none", marker=marker,
                    markersize=MARKER, color=colour, markerfacecolor=colour if valid else "white",
                    markeredgewidth=0.7, zorder=3 if valid else 4,
                    label="_valid" if valid else "_invalid",
                )  # fmt: skip
    if not any(load.predicted or load.counted for load in loads):
        panel.text(
            0.5, 0.5, "neither predicted nor counted", transform=panel.transAxes, ha="center",
            color=GREY,
        )  # fmt: skip
    panel.set_ylabel(SECTORS_LABEL)
    from_zero(panel, [row.value for load in loads for row in (load.predicted, load.counted) if row])


def times(loads: Sequence[WarpLoad], panel: Axes, place: Place) -> None:
    """Lines: medians. Bands: range of the samples."""
    tops = []
    for width in widths(loads):
        colour, marker = width_style(width)
        here = sorted((load for load in loads if load.width == width), key=place)
        timed = [(place(load), load.cycles) for load in here if load.cycles]
        series(panel, timed, colour=colour, marker=marker, linewidth=1.1, markersize=MARKER)
        tops += [row.maximum if row.valid else row.value for _, row in timed]
    if not tops:
        panel.text(0.5, 0.5, "not timed", transform=panel.transAxes, ha="center", color=GREY)
    panel.set_ylabel("cycles per warp-load")
    from_zero(panel, tops)


def from_zero(panel: Axes, values: Sequence[float]) -> None:
    """A linear axis from zero to a little above the largest value."""
    panel.set_ylim(0, 1.08 * max([1.0, *values]))
    panel.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 4, 5, 8, 10]))


def powers_of_two(panel: Axes, values: Sequence[int]) -> None:
    """A logarithmic axis that names the powers of two."""
    low, high = max(min(values), 1), max(values)
    ticks = [2**power for power in range(high.bit_length() + 1) if low <= 2**power <= high]
    panel.set_xscale("log", base=2)
    panel.set_xlim(low / 1.12, high * 1.12)
    panel.xaxis.set_major_locator(FixedLocator(ticks or [low]))
    panel.xaxis.set_major_formatter("{x:.0f}")
    panel.xaxis.set_minor_locator(NullLocator())


def legend(loads: Sequence[WarpLoad], panel: Axes, *, timed: bool) -> None:
    """Widths, and what lines and marks are."""
    handles: list[Artist] = []
    for width in widths(loads):
        colour, marker = width_style(width)
        label = f"{width} byte{'s' if width > 1 else ''} a lane"
        handles.append(Line2D([], [], color=colour, marker=marker, markersize=4, label=label))
    if any(load.predicted for load in loads):
        handles.append(Line2D([], [], color=INK, linewidth=1.1, label="predicted"))
    if any(load.counted for load in loads):
        handles.append(
            Line2D([], [], color=INK, marker="o", markersize=4, linestyle="none", label="counted")
        )
    if any(not row.valid for load in loads for row in drawn(load, timed=timed)):
        handles.append(hollow_key())
    legend_beside(panel, handles)


def drawn(load: WarpLoad, *, timed: bool) -> list[Row]:
    """The rows of a load that are marks on the figure."""
    return [row for row in (load.counted, load.cycles if timed else None) if row]


def agreement(loads: Sequence[WarpLoad]) -> str:
    """How many predictions the counts confirm, in one sentence of a caption."""
    both = [(load.predicted, load.counted) for load in loads if load.predicted and load.counted]
    if not any(load.predicted or load.counted for load in loads):
        return " In this run they were neither predicted nor counted."
    if not both:
        return " Nothing was counted to stand beside the prediction."
    equal = sum(abs(one.value - two.value) <= 1e-9 * one.value for one, two in both)
    return f" Counted equals predicted in {equal} of {len(both)} cases."


def invalid(loads: Sequence[WarpLoad], *, timed: bool) -> str:
    """The loads that do not count."""
    return invalid_note(
        f"{load.width} bytes, stride {load.stride}, misalignment {load.misalignment}"
        for load in loads
        if any(not row.valid for row in drawn(load, timed=timed))
    )


def cells(load: WarpLoad) -> tuple[object, ...]:
    """One line of the data file."""
    cycles = load.cycles
    return (
        load.width, load.stride, load.misalignment, load.permutation,
        load.predicted.value if load.predicted else "",
        load.counted.value if load.counted else "",
        *((cycles.value, cycles.minimum, cycles.maximum) if cycles else ("", "", "")),
        load.bandwidth.value if load.bandwidth else "", load.row.valid, load.row.case,
    )  # fmt: skip


def source(load: WarpLoad) -> Row:
    """The row that says most of a load."""
    return load.row
