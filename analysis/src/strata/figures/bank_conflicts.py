"""What do lanes pay for wanting words of the same bank? Wavefronts and cycles against stride."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, NullLocator

from strata.figures import AxesGrid, Figure, Grid
from strata.figures._palette import GREY, INK, hollow_key, invalid_note, legend_beside, width_style
from strata.figures._series import series
from strata.model.counted import NET
from strata.run import Row

BENCHMARK = "bank_conflicts"
MARKER = 3.2
MARKER_OF = {"load": 4.6, "store": 1.7}


@dataclass(frozen=True, slots=True)
class Access:
    """One case: wavefronts as predicted and as counted, its latency, its cycles among many.

    `width` is in bytes, `stride` in elements of that width; a row is None where it is not there.
    """

    operation: str
    width: int
    stride: int
    predicted: Row | None
    counted: Row | None
    latency: Row | None
    cycles: Row | None

    @property
    def rows(self) -> list[Row]:
        """The rows that are there, the one that says most first."""
        return [r for r in (self.counted, self.predicted, self.cycles, self.latency) if r]


Pick = Callable[[Access], Row | None]


def prepare(rows: Sequence[Row]) -> Sequence[Access]:
    """The loads and stores whose lanes have an element each, by operation, width and stride."""
    cases: dict[str, dict[str, Row]] = {}
    for row in rows:
        if row.benchmark != BENCHMARK or row.params.get("pattern", "stride") != "stride":
            continue
        name = row.quantity
        if name.endswith("_wavefronts_per_access") and row.provenance == "counted":
            if row.method == NET:
                cases.setdefault(row.case, {})["counted"] = row
        elif name == "wavefronts_per_access" and row.provenance == "modelled":
            cases.setdefault(row.case, {})["predicted"] = row
        elif name in ("shared_load_latency", "warp_access_cycles") and row.provenance == "timed":
            found = cases.setdefault(row.case, {})
            if name not in found or row.method == "clock64_slope":
                found[name] = row
    accesses = []
    for found in cases.values():
        params = next(iter(found.values())).params
        width, stride = params.get("width", ""), params.get("stride", "")
        if width.isdecimal() and stride.isdecimal():
            accesses.append(
                Access(
                    operation=params.get("operation", "load"),
                    width=int(width),
                    stride=int(stride),
                    predicted=found.get("predicted"),
                    counted=found.get("counted"),
                    latency=found.get("shared_load_latency"),
                    cycles=found.get("warp_access_cycles"),
                )
            )
    return sorted(accesses, key=lambda one: (one.operation, one.width, one.stride))


def operations(accesses: Sequence[Access]) -> list[str]:
    """Loads, then stores, as far as there are any."""
    return sorted({one.operation for one in accesses})


def _panels(accesses: Sequence[Access]) -> list[tuple[str, str, Pick]]:
    """Operation, label and row of every panel beneath the wavefronts."""
    panels: list[tuple[str, str, Pick]] = [
        (operation, f"SM cycles per {operation}", lambda one: one.cycles)
        for operation in operations(accesses)
        if any(one.cycles for one in accesses if one.operation == operation)
    ]
    if any(one.latency for one in accesses):
        panels.append(("load", "latency of a load\n(cycles)", lambda one: one.latency))
    return panels


def grid(accesses: Sequence[Access]) -> Grid:
    """Wavefronts above, times beneath."""
    panels = 1 + len(_panels(accesses))
    return Grid(panels, 1, width=7.6, height=0.7 + 1.9 * panels)


def _wavefronts(accesses: Sequence[Access], panel: Axes) -> None:
    """Lines: predicted. Marks: counted, hollow where a gate failed; of stores a dot inside."""
    for width in sorted({one.width for one in accesses}):
        colour, marker = width_style(width)
        here = [one for one in accesses if one.width == width]
        line = {one.stride: one.predicted.value for one in here if one.predicted}
        if line:
            panel.plot(
                sorted(line), [line[x] for x in sorted(line)], color=colour, linewidth=0.9,
                label="_model",
            )  # fmt: skip
        for operation in operations(here):
            for valid in (True, False):
                counted = [
                    (one.stride, one.counted.value)
                    for one in here
                    if one.counted and one.operation == operation and one.counted.valid == valid
                ]
                if counted:
                    edge = colour if operation == "load" else INK
                    panel.plot(
                        *zip(*counted, strict=True), linestyle="none", color=edge,
                        marker=marker if operation == "load" else "o",
                        markersize=MARKER_OF[operation], markeredgewidth=0.6,
                        markerfacecolor=edge if valid else "white",
                        zorder=3 if operation == "load" else 4,
                        label="_valid" if valid else "_invalid",
                    )  # fmt: skip
    if not any(one.predicted or one.counted for one in accesses):
        panel.text(
            0.5, 0.5, "neither predicted nor counted", transform=panel.transAxes, ha="center",
            color=GREY,
        )  # fmt: skip
    panel.set_ylabel("wavefronts per access")


def _times(accesses: Sequence[Access], panel: Axes, pick: Pick) -> None:
    """Lines: medians of valid cases. Bands: range of the samples. Hollow: invalid."""
    for width in sorted({one.width for one in accesses}):
        colour, marker = width_style(width)
        timed = [(one.stride, row) for one in accesses if one.width == width and (row := pick(one))]
        series(panel, timed, colour=colour, marker=marker, linewidth=0.9, markersize=MARKER)


def draw(accesses: Sequence[Access], axes: AxesGrid) -> None:
    """Against stride, a curve per width."""
    first, *others = (row[0] for row in axes)
    _wavefronts(accesses, first)
    for panel, (operation, label, pick) in zip(others, _panels(accesses), strict=True):
        _times([one for one in accesses if one.operation == operation], panel, pick)
        panel.set_ylabel(label)
    last = max(one.stride for one in accesses)
    ticks = [1, *range(4, last + 1, 4)]
    for panel in (first, *others):
        panel.set_xlim(0, last + 1)
        panel.set_ylim(bottom=0)
        panel.xaxis.set_major_locator(FixedLocator(ticks))
        panel.xaxis.set_minor_locator(NullLocator())
    (first, *others)[-1].set_xlabel("stride from lane to lane (elements)")
    handles: list[Artist] = []
    for width in sorted({one.width for one in accesses}):
        colour, marker = width_style(width)
        handles.append(
            Line2D([], [], color=colour, marker=marker, markersize=4, label=f"{width} bytes a lane")
        )
    if any(one.predicted for one in accesses):
        handles.append(Line2D([], [], color=INK, linewidth=0.9, label="predicted"))
    for operation, size in (("load", 5.0), ("store", 2.0)):
        if any(one.counted and one.operation == operation for one in accesses):
            handles.append(
                Line2D(
                    [], [], color=INK, marker="o", markersize=size, linestyle="none",
                    label=f"counted, {operation}s",
                )
            )  # fmt: skip
    if any(not row.valid for one in accesses for row in one.rows):
        handles.append(hollow_key())
    legend_beside(first, handles)


def caption(accesses: Sequence[Access]) -> str:
    """What lines and marks are, and whether they agree."""
    both = [(one.predicted, one.counted) for one in accesses if one.predicted and one.counted]
    equal = sum(abs(one.value - two.value) <= 1e-9 * one.value for one, two in both)
    agreement = (
        f" Counted equals predicted in {equal} of {len(both)} cases."
        if both
        else " Nothing was counted to stand beside the prediction."
    )
    timed = (
        " Beneath: SM cycles of one access where 32 warps of each SM have eight in flight, and the "
        "latency of a load alone; medians, bands: range of the samples."
        if _panels(accesses)
        else " Nothing was timed."
    )
    return (
        "Wavefronts that one access of a warp to shared memory takes, against the distance between "
        "neighbouring lanes, by the width of each lane's element: as many as any of the 32 banks "
        "has words to give. Lines: predicted from the addresses. Marks: counted."
        f"{agreement}{timed}"
        + invalid_note(
            f"{one.operation}, {one.width} bytes, stride {one.stride}"
            for one in accesses
            if any(not row.valid for row in one.rows)
        )
    )


def _range(row: Row | None) -> tuple[object, ...]:
    return (row.value, row.minimum, row.maximum) if row else ("", "", "")


def cells(one: Access) -> tuple[object, ...]:
    """One line of the data file."""
    return (
        one.operation, one.width, one.stride,
        one.predicted.value if one.predicted else "",
        one.counted.value if one.counted else "",
        *_range(one.latency), *_range(one.cycles),
        all(row.valid for row in one.rows), one.rows[0].case,
    )  # fmt: skip


def source(one: Access) -> Row:
    """The row that says most of a case."""
    return one.rows[0]


FIGURE = Figure(
    name="bank_conflicts",
    title="Bank conflicts by stride",
    order=66,
    prepare=prepare,
    grid=grid,
    draw=draw,
    caption=caption,
    columns=(
        "operation", "width_bytes", "stride_elements", "wavefronts_predicted", "wavefronts_counted",
        "latency_cycles", "latency_low", "latency_high", "access_cycles", "access_low",
        "access_high", "valid", "case",
    ),
    cells=cells,
    source=source,
)  # fmt: skip
