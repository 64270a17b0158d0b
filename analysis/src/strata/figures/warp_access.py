"""What does an access pattern cost a warp: sectors of a load, wavefronts in shared memory?

The model predicts them from the addresses alone and the hardware counts them; below, the times.
"""

from functools import partial
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from strata.figures._plot import columns, figure, prose, worded
from strata.figures._style import WIDTHS, grid, marks, parts, points, series
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
STRIDE = "stride from lane to lane (elements)"


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
            lines.append(line | {"_row": shown[0], "_operation": operation})
    found = pd.DataFrame(lines, columns=None if lines else ["operation", *AXES])
    return found.sort_values(["operation", *AXES], ignore_index=True)


def _loads(lines: pd.DataFrame) -> pd.DataFrame:
    words = "{width} bytes, stride {stride}, misalignment {misalignment}"
    return columns(
        lines.assign(_label=worded(lines, words)), "permutation", width_bytes="width",
        stride_elements="stride", misalignment_elements="misalignment",
        sectors_per_request_predicted="_predicted.value",
        sectors_per_request_counted="_counted.value", warp_load_cycles="_cycles.value",
        cycles_low="_cycles.minimum", cycles_high="_cycles.maximum",
        useful_bandwidth="_bandwidth.value",
    )  # fmt: skip


def by_stride(run: Run) -> pd.DataFrame:
    lines = accesses(run, "coalescing")
    return _loads(lines[lines.misalignment == 0])


def by_misalignment(run: Run) -> pd.DataFrame:
    """The loads of adjacent elements; empty unless some are misaligned."""
    lines = accesses(run, "coalescing")
    lines = lines[lines.stride == 1]
    if not (lines.misalignment > 0).any():
        return lines[:0]
    return _loads(lines[lines["_predicted"].notna() | lines["_counted"].notna()])


def conflicts(run: Run) -> pd.DataFrame:
    lines = accesses(run, "bank_conflicts")
    lines = lines[lines.stride > 0]
    return columns(
        lines.assign(_label=worded(lines, "{operation}, {width} bytes, stride {stride}")),
        "operation", width_bytes="width", stride_elements="stride",
        wavefronts_predicted="_predicted.value", wavefronts_counted="_counted.value",
        latency_cycles="_latency.value", latency_low="_latency.minimum",
        latency_high="_latency.maximum", access_cycles="_cycles.value",
        access_low="_cycles.minimum", access_high="_cycles.maximum",
    )  # fmt: skip


def caption(what: str, data: pd.DataFrame) -> str:
    known = data[["_predicted", "_counted"]].dropna()
    both = [(row.value, other.value) for row, other in known.itertuples(index=False)]
    equal = sum(abs(predicted - counted) <= 1e-9 * predicted for predicted, counted in both)
    agreement = f"Counts equal the prediction in {equal} of {len(both)} cases."
    return prose(what, agreement if both else "No counts are available for comparison.")


def _of_rows(data: pd.DataFrame, name: str, axis: str) -> pd.DataFrame:
    """The rows of a hidden column at their places, with width and operation."""
    rows = data[name].dropna()
    lines = data.loc[rows.index].reset_index()
    return marks(rows, lines[axis]).assign(width=lines.width_bytes, operation=lines["_operation"])


def _traffic(ax: Axes, data: pd.DataFrame, axis: str, label: str) -> None:
    """Marks for counts, large ones for loads, dots for stores; above them lines for predictions."""
    predicted = _of_rows(data, "_predicted", axis).sort_values("at")
    for width, here in parts(predicted.drop_duplicates(["width", "at"]), "width"):
        ax.plot(here["at"], here.value, color=WIDTHS.get(width, "k")[0], lw=0.9, zorder=3)
    counted = _of_rows(data, "_counted", axis)
    stores = counted.operation == "store"
    look: dict[str, Any] = {"ls": "", "label": "{} B a lane"}
    series(ax, counted[~stores], "width", WIDTHS, "at", "value", ms=3.4, **look)
    look |= {"label": "counted, stores", "c": "k", "marker": "."}
    points(ax, counted[stores], "at", "value", ms=2.4, **look)
    if len(predicted):
        ax.plot([], color="k", lw=0.9, label="predicted")
    ax.set(ylabel=label, ylim=(0, None))


def _times(ax: Axes, data: pd.DataFrame, name: str, label: str) -> None:
    shown, look = _of_rows(data, name, "stride_elements"), {"label": "{} B a lane", "ms": 3}
    series(ax, shown, "width", WIDTHS, "at", "value", "band", **look)
    ax.set(ylabel=label, ylim=(0, None))


@figure(
    "coalescing", "Sectors of a warp-load by stride", order=60, data=by_stride,
    caption=partial(
        caption,
        "Sectors of 32 bytes per warp load, against the distance between adjacent lanes, "
        "by the width of each lane's read; curves meet where every lane has a separate "
        "sector (32). Lines: predicted from the addresses (compute capability 7.x and later); "
        "marks: counted. Below: cycles of one warp-load, every SM at work; medians, bands: range "
        "of the samples.",
    ),
)  # fmt: skip
def draw_coalescing(data: pd.DataFrame, figure: Figure) -> None:
    known = data[["_predicted", "_counted"]].notna().any(axis=None), data["_cycles"].notna().any()
    figure.set_figheight(0.7 + 2.1 * sum(known))
    panels = figure.subplots(int(sum(known)), sharex=True, squeeze=False)[:, 0]
    if known[0]:
        _traffic(panels[0], data, "stride_elements", "sectors per request")
    if known[1]:
        _times(panels[-1], data, "_cycles", "cycles per warp-load")
    panels[-1].set_xscale("log", base=2)
    panels[-1].xaxis.set_major_formatter("{x:g}")
    panels[-1].set_xlabel(STRIDE)


@figure(
    "misalignment", "Sectors of a warp-load by misalignment", order=61, data=by_misalignment,
    caption=partial(
        caption,
        "Sectors of 32 bytes per warp load when lanes read adjacent elements and the first starts "
        "after the start of a 128-byte line, by the width of each lane's read. Lines: predicted "
        "(compute capability 7.x and later); marks: counted.",
    ),
    size=(7, 2.8),
)  # fmt: skip
def draw_misalignment(data: pd.DataFrame, ax: Axes) -> None:
    _traffic(ax, data, "misalignment_elements", "sectors per request")
    ax.set_xlabel("misalignment of the first lane (elements)")


@figure(
    "bank_conflicts", "Bank conflicts by stride", order=66, data=conflicts,
    caption=partial(
        caption,
        "Wavefronts per warp access to shared memory, against the distance between adjacent "
        "lanes, by the width of each lane's element: the maximum number of words in any of the 32 "
        "banks. Lines: predicted from the addresses; marks: counted. Times: SM cycles of one "
        "access where 32 warps of each SM have eight in flight, and the latency of a single load; "
        "medians, bands: range of the samples.",
    ),
)  # fmt: skip
def draw_conflicts(data: pd.DataFrame, figure: Figure) -> None:
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
        ax.set_xlabel(STRIDE)
