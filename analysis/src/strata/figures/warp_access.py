"""What does an access pattern cost a warp: sectors of a load, wavefronts in shared memory?

The model predicts them from the addresses alone and the hardware counts them; below, the times.
"""

from functools import partial
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from strata.figures._figure import prose
from strata.figures._plot import columns, figure
from strata.figures._style import WIDTHS, grid, marks, points
from strata.model.cases import NET, by_case
from strata.run import Run

QUANTITIES = {
    "coalescing": ("sectors_per_request", "sectors_per_request", "warp_load_cycles"),
    "bank_conflicts": (
        "wavefronts_per_access", "shared_{}_wavefronts_per_access", "warp_access_cycles",
    ),
}  # fmt: skip
"""Of each benchmark: what is predicted, what is counted (of loads or stores), what is timed."""
AXES = ("width", "misalignment", "stride")
LABEL = "{0.width} bytes, stride {0.stride}, misalignment {0.misalignment}".format
OF_SHARED = "{0.operation}, {0.width} bytes, stride {0.stride}".format
LANES = "stride from lane to lane (elements)"


def accesses(run: Run, benchmark: str) -> pd.DataFrame:
    """Every case with something to show, by width and place; each lane with its own element.

    `width` is in bytes, `stride` and `misalignment` in elements of that width. Hidden are rows: of
    the requests of an access, of its cycles where an SM has many, and of the latency of one.
    """
    predicted, counted, timed = QUANTITIES[benchmark]
    lines = []
    for case in by_case(run.of(benchmark)):
        operation = case.text("operation", "load")
        rows = {
            "_counted": case.row(counted.format(operation), NET, provenance="counted"),
            "_predicted": case.row(predicted, provenance="modelled"),
            "_cycles": case.timed(timed),
            "_latency": case.timed("shared_load_latency"),
        }
        shown = [row for row in rows.values() if row]
        lanes = case.text("pattern", "stride"), case.text("permutation", "identity")
        if shown and case.count("width") and lanes == ("stride", "identity"):
            line: dict[str, Any] = {axis: case.count(axis) for axis in AXES} | rows
            line |= {"operation": operation, "permutation": case.text("permutation")}
            line["_bandwidth"] = case.row("useful_bandwidth", provenance="timed")
            line |= {"valid": all(row.valid for row in shown), "case": shown[0].case}
            lines.append(line | {"_row": shown[0]})
    found = pd.DataFrame(lines, columns=None if lines else ["operation", *AXES])
    return found.sort_values(["operation", *AXES], ignore_index=True)


def _loads(lines: pd.DataFrame) -> pd.DataFrame:
    lines = lines.assign(_label=[LABEL(line) for line in lines.itertuples()])
    return columns(
        lines, "permutation", width_bytes="width", stride_elements="stride",
        misalignment_elements="misalignment", sectors_per_request_predicted="_predicted.value",
        sectors_per_request_counted="_counted.value", warp_load_cycles="_cycles.value",
        cycles_low="_cycles.minimum", cycles_high="_cycles.maximum",
        useful_bandwidth="_bandwidth.value",
    )  # fmt: skip


def by_stride(run: Run) -> pd.DataFrame:
    """The aligned loads."""
    lines = accesses(run, "coalescing")
    return _loads(lines[lines.misalignment == 0])


def by_misalignment(run: Run) -> pd.DataFrame:
    """The loads of adjacent elements; empty unless some are misaligned."""
    lines = accesses(run, "coalescing")
    lines = lines[lines.stride == 1]
    if not (lines.misalignment > 0).any():
        return lines[:0]
    lines = _loads(lines[lines["_predicted"].notna() | lines["_counted"].notna()])
    rows = zip(lines["_counted"], lines["_label"], strict=True)
    return lines.assign(_label=[name if row and not row.valid else "" for row, name in rows])


def conflicts(run: Run) -> pd.DataFrame:
    """The accesses to shared memory."""
    lines = accesses(run, "bank_conflicts")
    lines = lines[lines.stride > 0]
    lines = lines.assign(_label=[OF_SHARED(line) for line in lines.itertuples()])
    return columns(
        lines, "operation", width_bytes="width", stride_elements="stride",
        wavefronts_predicted="_predicted.value", wavefronts_counted="_counted.value",
        latency_cycles="_latency.value", latency_low="_latency.minimum",
        latency_high="_latency.maximum", access_cycles="_cycles.value",
        access_low="_cycles.minimum", access_high="_cycles.maximum",
    )  # fmt: skip


def caption(what: str, times: str, data: pd.DataFrame) -> str:
    """The meaning of lines and marks, whether they agree, and which times are beside them."""
    known = data[["_predicted", "_counted"]].dropna()
    both = [(row.value, other.value) for row, other in known.itertuples(index=False)]
    equal = sum(abs(predicted - counted) <= 1e-9 * predicted for predicted, counted in both)
    agreement = f"Counts equal the prediction in {equal} of {len(both)} cases."
    if data["_predicted"].isna().all() and data["_counted"].isna().all():
        agreement = "In this run they were neither predicted nor counted."
    elif not both:
        agreement = "No counts are available for comparison."
    timed = data["_cycles"].notna().any() or data["_latency"].notna().any()
    return prose(
        what, "Marks: counted.", agreement, times and (times if timed else "Nothing was timed.")
    )


def _traffic(ax: Axes, data: pd.DataFrame, axis: str, label: str) -> None:
    """Marks for counts, large ones for loads, dots for stores; above them lines for predictions."""
    width: Any
    for width, here in data.groupby("width_bytes"):
        colour, marker = WIDTHS.get(width, ("k", "o"))
        rows = here["_predicted"].dropna()
        predicted = marks(rows, here[axis][rows.index]).sort_values("at").drop_duplicates("at")
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
        points(ax, shown, "at", "value", "band", color=colour, marker=marker, ms=3)
    ax.set(ylabel=label, ylim=(0, None))


@figure(
    "coalescing", "Sectors of a warp-load by stride", order=60, data=by_stride,
    caption=partial(
        caption,
        "Sectors of 32 bytes per warp load, against the distance between adjacent lanes, "
        "by the width of each lane's read; curves meet where every lane has a separate "
        "sector (32). Lines: predicted from the addresses (compute capability 7.x and later).",
        "Below: cycles of one warp-load, every SM at work; medians, bands: range of the samples.",
    ),
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
    panels[-1].set_xlabel(LANES)


@figure(
    "misalignment", "Sectors of a warp-load by misalignment", order=61, data=by_misalignment,
    caption=partial(
        caption,
        "Sectors of 32 bytes per warp load when lanes read adjacent elements and the first starts "
        "after the start of a 128-byte line, by the width of each lane's read. Lines: predicted "
        "(compute capability 7.x and later).",
        "",
    ),
    size=(7, 2.8),
)  # fmt: skip
def draw_misalignment(data: pd.DataFrame, ax: Axes) -> None:
    """Sectors, one curve per width."""
    _traffic(ax, data, "misalignment_elements", "sectors per request")
    ax.set_xlabel("misalignment of the first lane (elements)")


@figure(
    "bank_conflicts", "Bank conflicts by stride", order=66, data=conflicts,
    caption=partial(
        caption,
        "Wavefronts per warp access to shared memory, against the distance between adjacent "
        "lanes, by the width of each lane's element: the maximum number of words in any of the 32 "
        "banks. Lines: predicted from the addresses.",
        "Times: SM cycles of one access where 32 warps of each SM have eight in flight, and the "
        "latency of a single load; medians, bands: range of the samples.",
    ),
)  # fmt: skip
def draw_conflicts(data: pd.DataFrame, figure: Figure) -> None:
    """Wavefronts and times; one curve per width, a dot inside for stores."""
    timed = [
        (data[(data.operation == operation) & data[name].notna()], name, label)
        for name, operation, label in (
            ("_cycles", "load", "SM cycles per load"), ("_cycles", "store", "SM cycles per store"),
            ("_latency", "load", "latency of a load (cycles)"),
        )
    ]  # fmt: skip
    timed = [part for part in timed if len(part[0])]
    first, *others = grid(figure, 1 + len(timed), 1.8)
    _traffic(first, data, "stride_elements", "wavefronts per access")
    for ax, part in zip(others, timed, strict=True):
        _times(ax, *part)
    for ax in figure.axes:
        ax.set_xlabel(LANES)
