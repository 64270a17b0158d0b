"""How many requests reach L2 when several SMs request the same line?

Beside the counts, a model: up to four SMs share a request.
"""

from math import ceil

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from strata.figures._plot import columns, figure, in_order, prose, rows_of, worded
from strata.figures._style import GREY, grid, points
from strata.model.truth.rules import BOUND
from strata.model.units import SPACE, number
from strata.run import Run, beside

SHARERS = 4
"""SMs that share a request, by the model."""
MERGED = 1 - BOUND
"""Requests below this share were merged; the plausibility rule uses the same limit."""
PAIR = 2


def data(run: Run) -> pd.DataFrame:
    rows = rows_of(run, "request_merging", sms=0, delay=0)
    lines = rows[rows.quantity == "l2_sectors_per_missed_sector"].drop_duplicates("case")
    names = ("delay_cycles", "first_load_cycles", "other_load_cycles")
    lines = lines.assign(**{name: beside(lines, rows, name) for name in names})
    lines = in_order(lines.dropna(subset=["delay_cycles"]), "sms", "delay")
    lines["valid"] &= beside(lines, rows, "delay_cycles", "valid").astype(bool)
    lines["model"] = modelled(lines.sms).where(lines.delay == 0)
    lines["_label"] = worded(lines, "{sms} SMs, delay of {delay} cycles")
    return columns(
        lines, "sms", delay_asked_cycles="delay", delay_cycles="delay_cycles",
        share_that_reaches_l2="value", share_by_model="model",
        first_load_cycles="first_load_cycles", other_load_cycles="other_load_cycles",
    )  # fmt: skip


def modelled(sms: "pd.Series[int]") -> "pd.Series[float]":
    """The share if up to four SMs that load simultaneously share a request."""
    return (sms / SHARERS).map(ceil) / sms


def caption(data: pd.DataFrame) -> str:
    valid = data[data.valid]
    at_once = valid[valid.delay_asked_cycles == 0]
    pairs = valid[valid.sms == PAIR]
    is_merged = pairs.share_that_reaches_l2 < MERGED
    merged, alone = pairs.delay_cycles[is_merged].max(), pairs.delay_cycles[~is_merged].min()
    return prose(
        len(at_once)
        and f"When {at_once.sms.iloc[-1]} SMs request one line at the same time, "
        f"{number(100 * at_once.share_that_reaches_l2.iloc[-1])}{SPACE}% of their requests reach "
        "L2: the others are merged on the way, and one answer serves several SMs.",
        bool(merged < alone)
        and f"Requests of two SMs merge if they are {merged:.0f} cycles apart, but not if they are "
        f"{alone:.0f} apart.",
        "SMs of one GPC repeatedly load a line past L1, each time a line that none of them "
        "has loaded yet. Share: sectors that L2 received over sectors that missed L1, both "
        f"counted. Grey line: a model in which up to {SHARERS} SMs share a request. Cycles between "
        "the loads: one SM loads first, the others together so much later (medians, by the clocks "
        "of the SMs).",
    )


@figure("request_merging", "Requests of several SMs for the same line", 22, data, caption)
def draw(data: pd.DataFrame, figure: Figure) -> None:
    left, right = grid(figure, 2)
    data = data.assign(share=100 * data.share_that_reaches_l2)
    at_once = data[data.delay_asked_cycles == 0]
    counts = pd.Series(range(1, 1 + max(at_once.sms, default=1)))
    label = f"one request for every {SHARERS} SMs"
    left.plot(counts, 100 * modelled(counts), color=GREY, lw=0.8, label=label)
    look = {"c": "black", "marker": "o", "ls": "", "label": "counted, all at once"}
    points(left, at_once, "sms", "share", **look)
    later = data[data.sms.isin(data.sms[data.delay_asked_cycles > 0])]
    for place, (sms, part) in enumerate(later.groupby("sms")):
        look = {"color": f"C{place}", "marker": "s", "label": f"counted, {sms} SMs"}
        points(right, part, "delay_cycles", "share", **look)
    for ax, words in ((left, "SMs that load at once"), (right, "cycles between the loads")):
        ax.set(xlabel=words, ylabel="requests that reach L2 (%)", ylim=(0, 108))
    left.xaxis.set_major_locator(MaxNLocator(integer=True))
