"""What does each rung of the F-statistic's ladder bring, from a call a sum to lanes and vectors?"""

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from strata.figures import _ladder
from strata.figures._plot import columns, figure, prose
from strata.figures._style import hover
from strata.ladder import fstat
from strata.run import Run, tidy


def data(run: Run) -> pd.DataFrame:
    """A line for each rung at each place that it has, in the order of the ladder."""
    found = fstat.best(run)
    lines = tidy(row for case in found.values() if (row := case.row(fstat.RATE)))
    if lines.empty:
        return lines
    cores = [case.row("core_seconds_per_sft") for case in found.values()]
    lines["_place"] = pd.Series([place for place, _ in found])
    lines["_panel"] = lines["_place"].map(fstat.title)
    lines["_name"] = lines["_row"].map(_ladder.rung_name)
    lines["_core"] = pd.Series(cores, dtype=object)
    lines["_beside"] = [1 / core.value if core and core.valid else None for core in cores]
    lines = lines.assign(_end=lines.maximum, _what="terms")
    lines = _ladder.with_steps(run, lines)
    lines["_label"] = lines["_name"] + ", " + lines["_panel"]
    return columns(
        lines.sort_values("_place", kind="stable"), "rung", *fstat.AXES, per_second="value",
        low="minimum", high="maximum", rung_before="rung_before",
        speedup_over_it="speedup_over_it",
    )  # fmt: skip


def caption(data: pd.DataFrame) -> str:
    return prose(
        "Terms of the F-statistic in a second: one signal's spectrum for one template, 16 bins. "
        "Medians of the best case of each rung; lines: range of the samples; then the step over "
        "the rung that it changes.",
        data["_core"].notna().any()
        and "Dashed: one core of the GPU's host, as fstat_serial has it.",
    )


@figure("fstat_ladder", "The ladder of the F-statistic", order=205, data=data, caption=caption)
def draw(data: pd.DataFrame, figure: Figure) -> None:
    look: Any = {"color": "#D55E00", "ls": "--", "label": "one core of the host"}
    for ax, here in _ladder.panels(figure, data):
        known = here.dropna(subset="_beside")
        for core, rate in zip(known["_core"][:1], known["_beside"], strict=False):
            hover(ax.axvline(rate, **look), [core, core])
