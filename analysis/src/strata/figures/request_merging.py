"""How many requests reach L2 when several SMs request the same line?

Beside the counts, a model: up to four SMs share a request.
"""

from math import ceil

import pandas as pd
from matplotlib.figure import Figure

from strata.figures._figure import Columns, prose
from strata.figures._plot import figure, table
from strata.figures._style import points
from strata.model.cases import CaseRows, by_case
from strata.model.truth.counts import BOUND
from strata.model.units import SPACE, number
from strata.run import Row, Run

SHARERS = 4
"""SMs that share a request, by the model."""
MERGED = 1 - BOUND
"""Requests below this share were merged; the plausibility rule uses the same limit."""
PAIR = 2


def modelled(sms: int) -> float:
    """The share if up to four SMs that load simultaneously share a request."""
    return ceil(sms / SHARERS) / sms


def _share(case: CaseRows) -> Row | None:
    return case.row("l2_sectors_per_missed_sector")


def _valid(case: CaseRows) -> bool:
    share, apart = _share(case), case.row("delay_cycles")
    return bool(share and apart and share.valid and apart.valid)


COLUMNS: Columns = {
    "sms": lambda case: case.count("sms"),
    "delay_asked_cycles": lambda case: case.count("delay"),
    "delay_cycles": lambda case: case.row("delay_cycles"),
    "share_that_reaches_l2": _share,
    "share_by_model": lambda case: None if case.count("delay") else modelled(case.count("sms")),
    "first_load_cycles": lambda case: case.row("first_load_cycles"),
    "other_load_cycles": lambda case: case.row("other_load_cycles"),
    "valid": _valid,
}


def data(run: Run) -> pd.DataFrame:
    """The counted cases, by SMs and by delay."""
    cases = by_case(run.of("request_merging"))
    counted = [case for case in cases if _share(case) and case.row("delay_cycles")]
    counted.sort(key=lambda case: (case.count("sms"), case.count("delay")))
    return table(counted, COLUMNS, row=_share, label=_label)


def _label(case: CaseRows) -> str:
    return f"{case.count('sms')} SMs, delay of {case.count('delay')} cycles"


def later(data: pd.DataFrame) -> pd.DataFrame:
    """The lines of numbers of SMs with several delays."""
    return data[data.sms.isin(data.sms[data.delay_asked_cycles > 0])]


def caption(data: pd.DataFrame) -> str:
    """How many requests merge, and until when."""
    valid = data[data.valid]
    at_once = valid[valid.delay_asked_cycles == 0].sort_values("sms")
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
        "counted; 100 % means that nothing was merged. Left: all SMs load at once; grey line: "
        f"a model in which up to {SHARERS} SMs share a request. Right: one SM loads first, the "
        "others the given number of cycles later (medians, by the clocks of the SMs).",
        bool((later(data).sms > PAIR).any())
        and "The others load together, so their own requests may merge however late they are.",
    )


@figure(
    "request_merging", "Requests of several SMs for the same line", order=22,
    data=data, caption=caption, size=(7.0, 3.0),
)  # fmt: skip
def draw(data: pd.DataFrame, figure: Figure) -> None:
    """Simultaneous loads by the number of SMs; beside them by the cycles between the loads."""
    left, right = figure.subplots(1, 2, sharey=True)
    data = data.assign(share=100 * data.share_that_reaches_l2)
    at_once = data[data.delay_asked_cycles == 0]
    counts = range(1, 1 + max(at_once.sms, default=1))
    model = [100 * modelled(sms) for sms in counts]
    left.plot(counts, model, color="#7a7a7a", lw=0.8, label=f"one request for every {SHARERS} SMs")
    points(
        left, at_once, "sms", "share", c="black", marker="o", ls="", label="counted, all at once"
    )
    for place, (sms, part) in enumerate(later(data).groupby("sms")):
        look = {"color": f"C{place}", "marker": "s", "label": f"counted, {sms} SMs"}
        points(right, part, "delay_cycles", "share", **look)
    left.set(ylabel="requests that reach L2 (%)", ylim=(0, 108), xlabel="SMs that load at once")
    left.xaxis.get_major_locator().set_params(integer=True)
    right.set_xlabel("cycles between the loads")
