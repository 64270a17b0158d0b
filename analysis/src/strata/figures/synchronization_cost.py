"""What does it cost to wait for other threads, for memory, for a message or for a kernel?"""

import pandas as pd
from matplotlib.axes import Axes

from strata.figures._plot import columns, figure, prose, rows_of
from strata.figures._style import bars, plain_log
from strata.run import Run

NANO = 1e-9
PRICES = {
    "barriers": ("barrier_time", "{kind}, {warps} warps", {"cluster": 1}),
    "fences": ("operation_time", "{operation}, scope {scope}, {stores} stores before", {}),
    "messages": ("message_time", "message through {route}, {order}", {"blocks": 2}),
    "kernel_boundary": ("boundary_seconds", "kernel {start}, {launch}, grid {grid}", {}),
}
"""Quantity in seconds, words for a bar, and axes whose other values get more words."""
MORE = {"cluster": " in {cluster} blocks", "blocks": ", {blocks} blocks"}
USUAL = {"warps": {1, 8, 32}, "stores": {0, 8}, "cluster": {1, 8}, "blocks": {2}}
"""Values that are drawn; the others are in the table of the run."""


def data(run: Run) -> pd.DataFrame:
    """A line for each price, by benchmark."""
    found = []
    for benchmark, (quantity, words, plain) in PRICES.items():
        counts = {axis: 0 for axis in USUAL if axis in words or axis in plain}
        rows = rows_of(
            run, benchmark, **counts, kind="", operation="", scope="", route="", order="",
            start="", launch="", grid="",
        )  # fmt: skip
        lines = rows[(rows.quantity == quantity) & (rows.method == "event_slope")]
        for axis in counts:
            lines = lines[lines[axis].isin(USUAL[axis])]
        labels = [
            (words + "".join(MORE[axis] for axis, one in plain.items() if line[axis] != one))
            .format_map(line)
            .replace("_", " ")
            for line in lines.to_dict("records")
        ]
        numbers = {name: lines[name] / NANO for name in ("value", "minimum", "maximum")}
        found.append(lines.assign(price=labels, **numbers))
    every = pd.concat(found, ignore_index=True)
    return columns(every, "price", nanoseconds="value", low="minimum", high="maximum")


def caption(data: pd.DataFrame) -> str:
    """What was timed."""
    return prose(
        f"{len(data)} prices: time from one operation to the next that waits for it, by events; "
        "the clock of the SM, or the timer that all SMs share, must agree within 2 %. A fence "
        "includes the stores before it, a kernel its own load and store. Medians.",
    )


@figure(
    "synchronization_cost", "Synchronization cost", order=74, data=data, caption=caption,
    size=(7, 9),
)  # fmt: skip
def draw(data: pd.DataFrame, ax: Axes) -> None:
    """A bar for each price, on a logarithmic axis."""
    bars(ax, data, "price", "nanoseconds", words="{:.3g}")
    ax.set_xscale("log")
    plain_log(ax, "x")
    ax.set_xlabel("time (ns)")
