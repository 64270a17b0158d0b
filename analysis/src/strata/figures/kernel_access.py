"""What does each line of a kernel move per request, compared with the least that its bytes need?

`strata access --out` predicts it for a launch and, with `--run`, counts it. Launches are shown side
by side; so are the two runs of a comparison.
"""

import re
from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from strata.figures._plot import figure, prose, rows_of, worded
from strata.figures._style import hover, in_column, listed, mark_rows, stacked
from strata.run import Run

MOST = 24
"""So many lines are drawn of each kind of memory: those that move most in vain."""
MOVED = {"sector": "sectors of 32 bytes a request", "wavefront": "passes through the banks"}
LONG = re.compile(r"(\S{14})\S+(\S{15})")
"""A kernel's name that has no room: only its ends are shown."""
PLACE = re.compile(r"-(\d+(?:\+\d+)*)$")
"""The end of the axis `line`: "inlined.cu-35+40"."""
KEYS = ["line", "launch", "unit"]
TOTALS = [
    "modelled moved", "counted moved", "modelled ideal_moved", "modelled requests",
    "counted executed",
]  # fmt: skip


def place_words(line: str) -> str:
    """`inlined.cu-35+40` shown as `inlined.cu:35 ← 40`."""
    return PLACE.sub(lambda found: ":" + found[1].replace("+", " ← "), line)


def data(run: Run, when: str = "") -> pd.DataFrame:
    """The lines of a run, each summed over the copies of its instruction in one launch.

    Numbers are per request of a warp; without a prediction, per execution. If something was not
    counted, or not for every copy, it is missing. `when` precedes the names of several launches.
    """
    rows = rows_of(
        run, "kernel_access", kernel="?", launch="?", line="?", instruction="?", space="?"
    )
    if rows.empty:
        return rows
    kernel = rows.kernel + " " if len(rows.kernel.unique()) > 1 else ""
    rows["line"] = kernel + rows.line.map(place_words) + "  " + rows.instruction
    if when:
        rows["launch"] = f"{when}, " + rows.launch if len(rows.launch.unique()) > 1 else when
    rows["unit"] = rows.space.eq("shared").map({True: "wavefront", False: "sector"})
    names = zip(rows.provenance, rows.quantity, rows.unit, strict=True)
    rows["what"] = [f"{how} {what.replace(f'{unit}s', 'moved')}" for how, what, unit in names]
    copies = rows.drop_duplicates([*KEYS, "case", "what"]).set_index([*KEYS, "case", "what"])
    of_copies = copies.value.unstack("what", sort=False)  # noqa: PD010  (pivot_table sorts lines)
    of_lines = of_copies.reindex(columns=TOTALS).groupby(KEYS, sort=False)
    total = of_lines.sum().where(of_lines.count().eq(of_lines.size(), axis=0))
    predicted, counted, ideal, requests, executed = (total[name] for name in TOTALS)
    executed = requests.fillna(executed)
    per_request = {
        "predicted_per_request": predicted / executed,
        "counted_per_request": counted / executed,
        "ideal_per_request": ideal / executed,
        "valid": rows.groupby(KEYS).valid.all(),
        "_vain": predicted.fillna(counted) - ideal.fillna(0),
    }
    moved = rows[rows.what.str.endswith(" moved")].drop_duplicates(KEYS).set_index(KEYS)
    reached = pd.DataFrame(per_request).loc[executed[executed > 0].index]
    lines = moved[["case", "_row"]].join(reached, how="inner").reset_index()
    return lines.assign(_label=lines.line + " in " + lines.launch) if len(lines) else lines


def beside(runs: Sequence[Run]) -> pd.DataFrame:
    """The lines of compared runs, side by side if their names match; two are before and after."""
    names = ["before", "after"] if len(runs) == 2 else [run.context.run for run in runs]
    found = [data(run, name) for run, name in zip(runs, names, strict=True)]
    return pd.concat(found, ignore_index=True)


def shown(data: pd.DataFrame) -> Sequence[str]:
    """The drawn lines of one kind of memory, in source order."""
    vain = data.groupby("line", sort=False)["_vain"].max()
    worst = {*vain.sort_values(ascending=False, kind="stable").index[:MOST]}
    return [line for line in vain.index if line in worst]


def caption(data: pd.DataFrame) -> str:
    left = sum(here.line.nunique() - len(shown(here)) for _, here in data.groupby("unit"))
    counted = data[["predicted_per_request", "counted_per_request"]].dropna()
    unlike = (counted.predicted_per_request != counted.counted_per_request).sum()
    return prose(
        "What one warp request moves, by source line; a line with ← was inlined into the next. "
        "Bars: predicted from addresses. Ticks: the minimum for the bytes that its lanes request.",
        len(counted)
        and f"Diamonds: counted on the device, instruction by instruction; {unlike} of "
        f"{len(counted)} lines differ from the prediction.",
        left and f"Not drawn: {left} lines that waste less.",
    )


@figure(
    "kernel_access", "Traffic of a kernel by source line", order=63, data=data, caption=caption,
    beside=beside,
)  # fmt: skip
def draw(data: pd.DataFrame, figure: Figure) -> None:
    sections = [(unit, here) for unit in MOVED if len(here := data[data.unit == unit])]
    line = 0.6 if in_column(figure) else 0.27
    panels = stacked(figure, [len(shown(here)) for _, here in sections], line)
    colours = {launch: f"C{at % 8}" for at, launch in enumerate(data.launch.unique())}
    for ax, (unit, here) in zip(panels, sections, strict=True):
        _draw_lines(ax, here, colours)
        ax.set_xlabel(MOVED[unit])


def _draw_lines(ax: Axes, data: pd.DataFrame, colours: Mapping[str, str]) -> None:
    names = shown(data)
    here = data[data.line.isin(names)]
    beside = here.groupby("line").cumcount()
    count = here.groupby("line").line.transform("size")
    thick = 0.74 / count.max()
    here = here.assign(at=here.line.map(names.index) + thick * (beside - (count - 1) / 2))
    for launch, of in here.dropna(subset="predicted_per_request").groupby("launch", sort=False):
        look: Any = {"color": colours[f"{launch}"], "alpha": 0.75, "label": launch}
        drawn = ax.barh(of["at"], of.predicted_per_request, 0.94 * thick, **look)
        mark_rows(drawn, of.assign(_row=_tooltips(of, "predicted")))
    for what, marker, size in (("ideal", "|", 11), ("counted", "D", 3.6)):
        known = here.dropna(subset=f"{what}_per_request")
        for valid, of in known.groupby(known.valid | (what == "ideal"), sort=True):
            look = {"color": "k", "marker": marker, "ms": size, "ls": "", "zorder": 3}
            look |= {"label": what} if valid else {"mfc": "white"}
            (marks,) = ax.plot(of[f"{what}_per_request"], of["at"], **look)
            hover(marks, _tooltips(of, what))
    shorter = [LONG.sub(r"\1…\2", name) for name in names]
    listed(ax, [fill(name, 20) if in_column(ax) else name for name in shorter])
    ax.set_xlim(0)


def _tooltips(lines: pd.DataFrame, what: str) -> Sequence[str]:
    words = f"{{line}}, {{launch}}, {what}: {{{what}_per_request:.4g}} {{unit}}s a request"
    return worded(lines, words)
