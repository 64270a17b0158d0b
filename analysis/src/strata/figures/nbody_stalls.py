"""What do the warps of each n-body rung wait for?"""

from statistics import mode

import pandas as pd
from matplotlib.figure import Figure

from strata.figures._plot import columns, figure, of_items
from strata.figures._style import in_column, listed, mark_rows
from strata.ladder.rungs import rung_name, size_words
from strata.ladder.stalls import STATES, stalls
from strata.run import Run

GROUPS = {
    "issues": ("#009E73", ["selected"]),
    "ready, another issues": ("#8fd3bd", ["not_selected"]),
    "fixed latency": ("#0072B2", ["wait"]),
    "arithmetic pipe, dispatch": ("#56B4E9", ["math_pipe_throttle", "dispatch_stall"]),
    "shared memory, special functions": ("#E69F00", ["short_scoreboard", "mio_throttle"]),
    "L1, L2, device memory": ("#D55E00", ["long_scoreboard", "lg_throttle"]),
    "constants, instructions": ("#F0E442", ["imc_miss", "no_instruction"]),
    "barrier, branch, other": ("#444444", ["barrier", "branch_resolving", "other"]),
}
"""The colour of each group of states, which wait for the same units, in stacking order."""


def data(run: Run) -> pd.DataFrame:
    """The shares of all states of each rung's fastest case, then of those of another size."""
    found = stalls(run)
    states = [*STATES, "other"]
    shares = pd.DataFrame([one.shares for one in found], columns=states)
    lines = of_items(found, lambda one: rung_name(one.rung), "all_states").join(shares)
    return columns(
        lines, "benchmark", *states, warps_per_instruction="value",
        issue_utilisation_percent="_item.utilisation.value",
    ).rename(columns={"benchmark": "rung"})  # fmt: skip


def caption(data: pd.DataFrame) -> str:
    return (
        "Counted in one step of each rung's fastest case "
        f"({mode(data['_row'].map(size_words))}, or as named): the share of the time of all "
        "active warps spent issuing, ready while another issued, or waiting, by reason. Beside "
        "the bars: cycles in which a scheduler issued, and active warps per issued instruction."
    )


@figure("nbody_stalls", "n-body: what warps wait for", 221, data, caption)
def draw(data: pd.DataFrame, figure: Figure) -> None:
    common = mode(data["_row"].map(size_words))
    data = data.drop_duplicates("rung")
    narrow = in_column(figure)
    figure.set_figheight(1.4 + 0.7 * narrow + 0.24 * len(data))
    ax = figure.add_subplot()
    start = pd.Series(0.0, data.index)
    for label, (colour, states) in GROUPS.items():
        share = 100 * data[states].sum(axis="columns")
        drawn = ax.barh(data.index, share, 0.68, start, color=colour, label=label)
        mark_rows(drawn, data)
        start += share
    warps, busy = data.warps_per_instruction, data.issue_utilisation_percent
    words = busy.map("{:.0f} %, ".format, na_action="ignore").fillna("") + warps.map(
        "{:.3g}".format
    )
    ax.bar_label(drawn, words, padding=4)
    sizes = data["_row"].map(size_words)
    listed(ax, data.rung.map(rung_name) + ("\n" + sizes).where(sizes != common, ""))
    ax.set(xlim=(0, 100), xlabel="time of the warps in flight (%)")
    ax.set_title("issue slots used, warps", loc="right", size=8, weight="normal")
