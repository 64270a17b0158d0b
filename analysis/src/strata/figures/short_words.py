"""What do uncoalesced accesses and short words cost in a matrix addition, then and now?

Useful bandwidth of each kernel, by element, order and group; and the three speed-ups that van den
Braak, Mesman and Corporaal (2010) published for a GeForce 8800 GT, beside the same ratios here.
"""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from strata.figures import _style
from strata.figures._plot import columns, figure, in_order, prose, rows_of, worded
from strata.figures._style import grid, listed, note, parts, plain_log, points, si_axis, theirs
from strata.model.units import quantity
from strata.reference import cite
from strata.run import Run

METHODS = ("event_slope", "monotonic_slope")
"""Of what is drawn: on a GPU, and on a CPU."""
ORDERS = {"coalesced": ("row by row", "#0072B2"), "uncoalesced": ("column by column", "#D55E00")}
"""Orders of threads, what they are called of a loop on a CPU, and their colours."""
FORMS = {
    "together": ("one access a group", {"ls": "-", "marker": "o", "ms": 4.2}),
    "apart": ("one access an element", {"ls": "--", "marker": "s", "ms": 3.4}),
}
KEY = ["element_bytes", "order", "group_bytes"]
SPEED_UPS = (
    ("32 bits\norder improved", 31, (4, "uncoalesced", 4), (4, "coalesced", 4)),
    ("8 bits\nboth improved", 43, (1, "uncoalesced", 1), (1, "coalesced", 4)),
    ("8 bits\ngrouped", 26, (1, "coalesced", 1), (1, "coalesced", 4)),
)
"""Section VI-C: name, ratio of times, `KEY` of the slow kernel and of the fast one. The first two
are in Table II as well."""


def kernels(run: Run, benchmark: str, **axes: Any) -> pd.DataFrame:
    """A line for each case with a time and a useful bandwidth: `rate`, `_low` and `_high`."""
    rows = rows_of(run, benchmark, **axes)
    rows = rows[(rows.provenance == "timed") & rows.method.isin(METHODS)]
    times, rates = (
        rows[rows.quantity == name].drop_duplicates("case")
        for name in ("kernel_time", "useful_bandwidth")
    )
    names = {"value": "rate", "minimum": "_low", "maximum": "_high", "valid": "sound"}
    rates = rates.set_index("case")[[*names]].rename(columns=names)
    lines = times.join(rates, on="case", how="inner")
    return lines.assign(valid=lines.valid & lines.sound)


def data(run: Run) -> pd.DataFrame:
    lines = kernels(run, "short_words", element=0, order="?", group=0, access="?")
    lines = lines[lines.order.isin(ORDERS) & lines.access.isin(FORMS)]
    lines = in_order(lines, "element", "order", "access", "group")
    lines["_label"] = worded(lines, "{element} B elements, {order}, {group} B {access}")
    return columns(
        lines, "order", "access", element_bytes="element", group_bytes="group",
        kernel_seconds="value", seconds_low="minimum", seconds_high="maximum",
        useful_bandwidth="rate",
    )  # fmt: skip


def ratios(data: pd.DataFrame) -> pd.DataFrame:
    """The published ratios here, with the sample range."""
    kernels = data[data.access == "together"].set_index(KEY)["_row"]
    lines: dict[str, dict[str, object]] = {}
    for name, _, slow_kernel, fast_kernel in SPEED_UPS:
        slow, fast = kernels.get(slow_kernel), kernels.get(fast_kernel)
        if slow is not None and fast is not None:
            times = " ÷ ".join(quantity(row.value, row.unit) for row in (slow, fast))
            value = slow.value / fast.value
            lines[name] = {
                "value": value, "low": slow.minimum / fast.maximum,
                "high": slow.maximum / fast.minimum, "valid": slow.valid and fast.valid,
                "_row": f"{value:.3g}×: {times}",
            }  # fmt: skip
    names = ["value", "low", "high", "valid", "_row"]
    return pd.DataFrame.from_dict(lines, orient="index", columns=names)


def caption(data: pd.DataFrame) -> str:
    return prose(
        "Addition of two matrices of 2 MiB per core: their bytes over the time of one more "
        "addition. Coalesced: row by row; uncoalesced: column by column."
        if data["_row"][0].backend == "host"
        else "Addition of two matrices of 128 MiB, which no cache holds: their bytes over the time "
        "of one launch. Coalesced: adjacent threads take adjacent groups.",
        "Medians, with the range of the samples. Last panel: speed-ups published by van den Braak, "
        f"Mesman and Corporaal (2010), section VI-C and Table II {cite('vandenbraak2010access')}, "
        "for matrices of 512 × 512 elements on a GeForce 8800 GT, and the same ratios here. The "
        "paper does not give the size of groups; here it is four elements.",
    )


@figure("short_words", "Short words and uncoalesced accesses", 64, data, caption)
def draw(data: pd.DataFrame, figure: Figure) -> None:
    host = data["_row"][0].backend == "host"
    shown = data.assign(low=data["_low"], high=data["_high"])
    elements = parts(shown, "element_bytes")
    *panels, last = grid(figure, len(elements) + 1, 2.1)
    for ax, (element, here) in zip(panels, elements, strict=True):
        for (order, access), of in parts(here, ["order", "access"]):
            (loop, colour), (form, look) = ORDERS[order], FORMS[access]
            label = f"{loop if host else order}, {form}"
            points(
                ax, of, "group_bytes", "useful_bandwidth", "y", color=colour, label=label, **look
            )
        ax.sharey(panels[0])
        _style.values_axis(ax, data.group_bytes)
        plain_log(ax)
        si_axis(ax)
        label = f"bytes that {'a turn of the loop' if host else 'a thread'} takes"
        ax.set(title=f"{8 * element}-bit elements", xlabel=label, ylabel="useful bandwidth (B/s)")
    _draw_ratios(last, ratios(data), "this CPU" if host else "this GPU")


def _draw_ratios(ax: Axes, here: pd.DataFrame, device: str) -> None:
    names = [name for name, *_ in SPEED_UPS]
    shown = here.assign(at=[names.index(name) + 0.14 for name in here.index])
    points(ax, shown, "value", "at", "x", color="k", marker="o", ls="", label=device)
    for at, (name, by, *_) in enumerate(SPEED_UPS):
        words = f"{by}×, published {cite('vandenbraak2010access')}"
        theirs(ax, by, at - 0.14, [words], label="published, GeForce 8800 GT")
        note(ax, f"{by}×", by, at - 0.14)
        ours = f"{here.value[name]:.3g}×" if name in here.index else "not timed"
        note(ax, ours, here.high.get(name, 1), at + 0.14)
    plain_log(ax, "x")
    listed(ax, names)
    ax.set(xlim=(1, 200), title="Speed-ups, then and now", xlabel="time of slow kernel ÷ fast one")
