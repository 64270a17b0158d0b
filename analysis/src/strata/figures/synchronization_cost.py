"""What does it cost to wait for other threads, for memory, for a message or for a kernel?"""

import pandas as pd
from matplotlib.figure import Figure

from strata.figures._plot import columns, figure, prose, rows_of, worded
from strata.figures._style import LEVEL, in_column, listed, parts, plain_log, series, stacked
from strata.run import Run

NANO = 1e-9
LOOKS = tuple(zip(LEVEL.values(), "^sDov", strict=True))
GROUPS = {
    "barriers": ("barrier_time", "{kind}{cluster}", "warps", "warps: {}"),
    "fences": ("operation_time", "{operation}{stores}", "scope", "{}"),
    "messages": ("message_time", "through {route}", "order", "{}"),
    "kernel_boundary": ("boundary_seconds", "{start}, {launch}", "grid", "{}"),
}
"""By benchmark: quantity in seconds, words for a line, the axis of the marks, their label."""
WORDS = {
    "cluster": {1: "", 2: " of 2 blocks", 8: " of 8 blocks"},
    "stores": {0: "", 1: ", 1 store before", 8: ", 8 stores before"},
}


def data(run: Run) -> pd.DataFrame:
    """A line for each price, by benchmark; messages between two blocks."""
    found = []
    for benchmark, (quantity, words, by, _) in GROUPS.items():
        axes: dict[str, object] = dict.fromkeys(
            ("kind", "operation", "scope", "route", "order", "start", "launch", "grid"), ""
        )
        axes |= {"warps": 0, "cluster": 0, "stores": 0, "blocks": 0}
        rows = rows_of(run, benchmark, **axes)
        lines = rows[(rows.quantity == quantity) & (rows.method == "event_slope")]
        lines = lines[lines.blocks != 4]
        if lines.empty:
            continue
        named = lines.assign(**{name: lines[name].map(each) for name, each in WORDS.items()})
        prices = [price.replace("_", " ") for price in worded(named, words)]
        seconds = {name: lines[name] / NANO for name in ("value", "minimum", "maximum")}
        found.append(
            lines.assign(
                group=benchmark,
                price=prices,
                of=[f"{value}".replace("_", " ") for value in lines[by]],
                **seconds,
            )
        )
    if not found:
        return pd.DataFrame()
    every = pd.concat(found, ignore_index=True)
    return columns(
        every, "group", "price", "of", nanoseconds="value", low="minimum", high="maximum"
    )


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
def draw(data: pd.DataFrame, figure: Figure) -> None:
    """A panel for each benchmark, a line for each operation, a mark for each scope or size."""
    groups = parts(data, "group")
    axes = stacked(figure, [here.price.nunique() for _, here in groups], 0.2)
    for ax, (group, here) in zip(axes, groups, strict=True):
        names = [*dict.fromkeys(here.price)]
        places = here.assign(at=here.price.map(names.index))
        looks = dict(zip(dict.fromkeys(here.of), LOOKS, strict=False))
        series(ax, places, "of", looks, "nanoseconds", "at", "x", label=GROUPS[group][3], ls="")
        listed(ax, names)
        ax.set_xscale("log")
        ax.set_xlim(data.nanoseconds.min() / 1.5, data.nanoseconds.max() * 1.5)
        plain_log(ax, "x", (1,))
        beside = 2 if in_column(figure) else 4
        ax.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=beside, columnspacing=1)
    axes[-1].set_xlabel("time (ns)")
