"""What does an access pattern cost a warp: sectors of a load, wavefronts in shared memory?

The model predicts them from the addresses alone and the hardware counts them; below, the times.
"""

from typing import Any, NamedTuple

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from strata.figures._figure import Columns, attributes, params, prose
from strata.figures._plot import figure, table
from strata.figures._style import WIDTHS, marks, points
from strata.model.cases import NET, CaseRows, by_case
from strata.run import Row, Run

QUANTITIES = {
    "coalescing": ("sectors_per_request", "sectors_per_request", "warp_load_cycles"),
    "bank_conflicts": (
        "wavefronts_per_access", "shared_{}_wavefronts_per_access", "warp_access_cycles",
    ),
}  # fmt: skip
"""Of each benchmark: what is predicted, what is counted (of loads or stores), what is timed."""


class Access(NamedTuple):
    """One case: the requests of a warp access, predicted and counted, and its cost.

    `width` is in bytes, `stride` and `misalignment` in elements of that width; `cycles` is the cost
    per access of an SM with many, `latency` that of a single load.
    """

    case: CaseRows
    operation: str
    width: int
    stride: int
    misalignment: int
    predicted: Row | None
    counted: Row | None
    cycles: Row | None
    latency: Row | None

    @property
    def shown(self) -> list[Row]:
        """The existing rows, the most informative first."""
        return [row for row in (self.counted, self.predicted, self.cycles, self.latency) if row]

    @property
    def row(self) -> Row:
        """The most informative row."""
        return self.shown[0]

    @property
    def valid(self) -> bool:
        """Whether everything drawn of it is valid."""
        return all(row.valid for row in self.shown)


def accesses(run: Run, benchmark: str) -> list[Access]:
    """Every case with something to show, by width and place; each lane with its own element."""
    predicted, counted, timed = QUANTITIES[benchmark]
    found = []
    for case in by_case(run.of(benchmark)):
        operation = case.text("operation", "load")
        one = Access(
            case, operation, case.count("width"), case.count("stride"), case.count("misalignment"),
            case.row(predicted, provenance="modelled"),
            case.row(counted.format(operation), NET, provenance="counted"), case.timed(timed),
            case.timed("shared_load_latency"),
        )  # fmt: skip
        lanes = case.text("pattern", "stride"), case.text("permutation", "identity")
        if one.width and one.shown and lanes == ("stride", "identity"):
            found.append(one)
    return sorted(found, key=lambda one: (one.operation, one.width, one.misalignment, one.stride))


HIDDEN = attributes(
    _predicted="predicted", _counted="counted", _cycles="cycles", _latency="latency",
    valid="valid",
)  # fmt: skip
LOAD_COLUMNS: Columns = {
    **attributes(width_bytes="width", stride_elements="stride"),
    **attributes(misalignment_elements="misalignment"),
    **params("permutation", of="case"),
    **attributes(sectors_per_request_predicted="predicted", sectors_per_request_counted="counted"),
    **attributes(
        of="cycles", warp_load_cycles="value", cycles_low="minimum", cycles_high="maximum"
    ),
    "useful_bandwidth": lambda one: one.case.row("useful_bandwidth", provenance="timed"),
    **HIDDEN,
}
CONFLICT_COLUMNS: Columns = {
    **attributes("operation", width_bytes="width", stride_elements="stride"),
    **attributes(wavefronts_predicted="predicted", wavefronts_counted="counted"),
    **attributes(
        of="latency", latency_cycles="value", latency_low="minimum", latency_high="maximum"
    ),
    **attributes(of="cycles", access_cycles="value", access_low="minimum", access_high="maximum"),
    **HIDDEN,
}


def _name(one: Access) -> str:
    return f"{one.width} bytes, stride {one.stride}, misalignment {one.misalignment}"


def by_stride(run: Run) -> pd.DataFrame:
    """The aligned loads."""
    found = [one for one in accesses(run, "coalescing") if not one.misalignment]
    return table(found, LOAD_COLUMNS, label=_name)


def by_misalignment(run: Run) -> pd.DataFrame:
    """The loads of adjacent elements; empty unless some are misaligned."""
    loads = [one for one in accesses(run, "coalescing") if one.stride == 1]
    shown = [one for one in loads if one.predicted or one.counted]
    some = shown if any(one.misalignment for one in shown) else ()

    def label(one: Access) -> str:
        return _name(one) if one.counted and not one.counted.valid else ""

    return table(some, LOAD_COLUMNS, label=label)


def conflicts(run: Run) -> pd.DataFrame:
    """The accesses to shared memory."""
    found = [one for one in accesses(run, "bank_conflicts") if one.stride]
    label = "{0.operation}, {0.width} bytes, stride {0.stride}".format
    return table(found, CONFLICT_COLUMNS, label=label)


def _traffic(ax: Axes, data: pd.DataFrame, axis: str, label: str) -> None:
    """Marks for counts, large ones for loads, dots for stores; above them lines for predictions."""
    width: Any
    for width, here in data.groupby("width_bytes"):
        colour, marker = WIDTHS.get(width, ("k", "o"))
        predicted = marks(rows := here["_predicted"].dropna(), here[axis][rows.index])
        predicted = predicted.sort_values("at").drop_duplicates("at")
        ax.plot(predicted["at"], predicted.value, color=colour, lw=0.9, zorder=3)
        kinds = here.operation if "operation" in here else here.width_bytes * 0
        for operation, of in here.groupby(kinds, sort=False):
            load = operation != "store"
            look = {"ls": "", "color": colour if load else "k", "marker": marker if load else "."}
            counted = of["_counted"].dropna()
            name = f"{width} byte{'s' * (width > 1)} a lane" if load else "counted, stores"
            shown = marks(counted, of[axis][counted.index])
            points(ax, shown, "at", "value", ms=3.4 if load else 2.4, label=name, **look)
    if not (data["_predicted"].notna() | data["_counted"].notna()).any():
        words = "neither predicted nor counted"
        ax.text(0.5, 0.5, words, ha="center", transform=ax.transAxes)
    elif data["_predicted"].notna().any():
        ax.plot([], color="k", lw=0.9, label="predicted")
    ax.set(ylabel=label, ylim=(0, None))


def _times(ax: Axes, data: pd.DataFrame, name: str, label: str) -> None:
    """A curve for each width, with the range of its samples."""
    width: Any
    for width, here in data.groupby("width_bytes"):
        colour, marker = WIDTHS.get(width, ("k", "o"))
        shown = marks(here[name], here.stride_elements)
        good = shown[shown.valid]
        low, high = ([getattr(row, end) for row in good["_row"]] for end in ("minimum", "maximum"))
        ax.fill_between(good["at"], low, high, color=colour, alpha=0.2, lw=0)
        points(ax, shown, "at", "value", color=colour, marker=marker, ms=3)
    ax.set(ylabel=label, ylim=(0, None))


def _caption(data: pd.DataFrame, what: str, times: str = "") -> str:
    """The meaning of lines and marks, whether they agree, and which times are beside them."""
    known = data[["_predicted", "_counted"]].dropna()
    both = [(row, other.value) for row, other in known.itertuples(index=False)]
    equal = sum(abs(row.value - counted) <= 1e-9 * row.value for row, counted in both)
    agreement = f"Counts equal the prediction in {equal} of {len(both)} cases."
    if data["_predicted"].isna().all() and data["_counted"].isna().all():
        agreement = "In this run they were neither predicted nor counted."
    elif not both:
        agreement = "No counts are available for comparison."
    timed = data["_cycles"].notna().any() or data["_latency"].notna().any()
    return prose(
        what, "Marks: counted.", agreement, times and (times if timed else "Nothing was timed.")
    )


def _coalescing_caption(data: pd.DataFrame) -> str:
    return _caption(
        data,
        "Sectors of 32 bytes per warp load, against the distance between adjacent lanes, "
        "by the width of each lane's read; curves meet where every lane has a separate "
        "sector (32). Lines: predicted from the addresses (compute capability 7.x and "
        "later).",
        "Below: cycles of one warp-load, every SM at work; medians, bands: range of the samples.",
    )


@figure(
    "coalescing", "Sectors of a warp-load by stride", order=60, data=by_stride,
    caption=_coalescing_caption,
)  # fmt: skip
def draw_coalescing(data: pd.DataFrame, figure: Figure) -> None:
    """Sectors, and below them cycles if any were timed, one curve per width."""
    timed = data[data["_cycles"].notna()]
    rows = 1 + bool(len(timed))
    figure.set_figheight(0.7 + 2.1 * rows)
    panels = figure.subplots(rows, sharex=True, squeeze=False)[:, 0]
    _traffic(panels[0], data, "stride_elements", "sectors per request")
    if len(timed):
        _times(panels[1], timed, "_cycles", "cycles per warp-load")
    panels[-1].set_xscale("log", base=2)
    panels[-1].xaxis.set_major_formatter("{x:g}")
    panels[-1].set_xlabel("stride from lane to lane (elements)")


def _misalignment_caption(data: pd.DataFrame) -> str:
    return _caption(
        data,
        "Sectors of 32 bytes per warp load when lanes read adjacent elements and the "
        "first starts after the start of a 128-byte line, by the width of each lane's "
        "read. Lines: predicted (compute capability 7.x and later).",
    )


@figure(
    "misalignment", "Sectors of a warp-load by misalignment", order=61, data=by_misalignment,
    caption=_misalignment_caption, size=(7, 2.8),
)  # fmt: skip
def draw_misalignment(data: pd.DataFrame, ax: Axes) -> None:
    """Sectors, one curve per width."""
    _traffic(ax, data, "misalignment_elements", "sectors per request")
    ax.set_xlabel("misalignment of the first lane (elements)")


def _conflicts_caption(data: pd.DataFrame) -> str:
    return _caption(
        data,
        "Wavefronts per warp access to shared memory, against the distance between "
        "adjacent lanes, by the width of each lane's element: the maximum number of words "
        "in any of the 32 banks. Lines: predicted from the addresses.",
        "Times: SM cycles of one access where 32 warps of each SM have eight in flight, "
        "and the latency of a single load; medians, bands: range of the samples.",
    )


@figure(
    "bank_conflicts", "Bank conflicts by stride", order=66, data=conflicts,
    caption=_conflicts_caption,
)  # fmt: skip
def draw_conflicts(data: pd.DataFrame, figure: Figure) -> None:
    """Wavefronts and times; one curve per width, a dot inside for stores."""
    kinds = [
        ("_cycles", "load", "SM cycles per load"), ("_cycles", "store", "SM cycles per store"),
        ("_latency", "load", "latency of a load (cycles)"),
    ]  # fmt: skip
    timed = [
        (here, name, label)
        for name, operation, label in kinds
        if len(here := data[(data.operation == operation) & data[name].notna()])
    ]
    columns = 2 if figure.get_figwidth() > 5 and timed else 1
    rows = -(-(1 + len(timed)) // columns)
    figure.set_figheight(0.8 + 1.8 * rows)
    panels = [*figure.subplots(rows, columns, squeeze=False).flat]
    _traffic(panels[0], data, "stride_elements", "wavefronts per access")
    for ax, (here, name, label) in zip(panels[1:], timed, strict=False):
        _times(ax, here, name, label)
    for ax in panels[1 + len(timed) :]:
        ax.remove()
    for ax in figure.axes:
        ax.set_xlabel("stride from lane to lane (elements)")
