"""What does each rung of the neighbours ladder gain, how does it scale, which cells are best?"""

from collections.abc import Sequence
from textwrap import fill

import pandas as pd
from matplotlib.figure import Figure

from strata import reference
from strata.figures import _ladder, _style
from strata.figures._plot import columns, figure, in_order, prose, worded
from strata.figures._style import GREY, parts, plain_log, points, si_axis, theirs, values_axis
from strata.ladder.phases import Atlas
from strata.model.units import count, short
from strata.reference import Published
from strata.run import Row, Run, beside, tidy

SUITE = "neighbours"
RATES = {
    "boids": "agent_steps_per_second",
    "circles": "agent_steps_per_second",
    "list": "neighbours_per_second",
}
"""The rate of a problem: agents moved, or neighbours written."""
LABELS = {"agent_steps_per_second": "agent steps", "neighbours_per_second": "neighbours"}
PLACE = ["problem", "spread", "world"]
"""The axes of a panel."""
MARKERS = "os^DvPX*<>h"
"""Of the numbers of agents, fewest first, or of rungs."""


def _rows(run: Run) -> pd.DataFrame:
    """Every row of the suite, with the counted `tests` per neighbour of its case."""
    rows = tidy(row for row in run.rows if row.suite == SUITE)
    if rows.empty:
        return rows
    tests = beside(rows, rows[rows.provenance == "counted"], "distance_tests")
    steps, found = (beside(rows, rows, f"{name}_per_second") for name in ("steps", "neighbours"))
    return rows.assign(tests=tests * steps / found)


def _rates(rows: pd.DataFrame, run: Run, quantity: str = "") -> pd.DataFrame:
    """A line for each case: the quantity, or that of its problem, by the first method of the case.

    In the order of the ladder, with the title of its panel.
    """
    if rows.empty:
        return rows
    ladder = [story.name for story in run.context.ladders.get(SUITE, ())]
    wanted = rows.quantity == (quantity or rows.problem.map(RATES))
    lines = rows[wanted & rows.benchmark.isin(ladder)].drop_duplicates("case")
    radius = (", radius " + lines.world.astype(str)).where(lines.world != "fit", "")
    lines["_panel"] = lines.problem + ", " + lines.spread + radius
    lines["rung"] = lines["_row"].map(_ladder.rung_name)
    return in_order(lines, "benchmark", benchmark=ladder)


def _best(lines: pd.DataFrame) -> pd.DataFrame:
    """The best valid case by place, agents and rung, in the order of the ladder."""
    ranked = lines.sort_values(["valid", "value"], ascending=False, kind="stable")
    return ranked.drop_duplicates(["_panel", "agents", "benchmark"]).sort_index()


def data(run: Run) -> pd.DataFrame:
    lines = _rates(_rows(run), run)
    if lines.empty:
        return lines
    lines = _best(lines)
    lines["_place"] = lines["_panel"] + ", " + lines.agents.astype(str)
    lines = _ladder.with_steps(run, lines)
    tests = lines.tests.map(lambda tests: f"   {short(tests)} tests" if tests > 0 else "")
    lines = lines.assign(
        _end=lines.maximum,
        _name=lines.rung + " · " + lines.agents.map(count),
        _words=(lines["_words"] + tests).str.strip(),
        _what=lines.quantity.map(LABELS),
        _label=lines.rung + ", " + lines["_panel"],
    )
    return columns(
        lines.sort_values("_panel", kind="stable"), "rung", *PLACE, "agents", "quantity",
        "rung_before", "speedup_over_it", per_second="value", low="minimum", high="maximum",
        tests_per_neighbour="tests",
    )  # fmt: skip


@figure(
    "neighbours_ladder", "The neighbours ladder", order=201, data=data,
    caption="Agent steps per second, or, where lists are written, neighbours per second, counted "
    "for each agent of a pair. Medians of each rung's best case with that number of agents; lines: "
    "range of the samples. Then the gain over the rung that it changes, with as many agents; "
    "tests: distances that the rung computed per neighbour found.",
)  # fmt: skip
def draw(data: pd.DataFrame, figure: Figure) -> None:
    for _ in _ladder.panels(figure, data):
        pass


# --- by the number of cells -----------------------------------------------------------------------

WORK = {"steps_per_second": "steps (1/s)", "tests_per_neighbour": "tests per neighbour"}


def _lines(lines: pd.DataFrame, axis: str) -> pd.DataFrame:
    """The lines with several values of an axis, by panel and name, and their labels."""
    known = lines.groupby(["_panel", "_name"])[axis]
    lines = lines[known.transform("nunique") > 1]
    order = {name: lines[name].unique() for name in ("_panel", "_name")}
    lines = in_order(lines, *order, axis, **order)
    return lines.assign(_label=worded(lines, f"{{_name}}, {{{axis}}} {axis}, {{_panel}}"))


def data_of_cells(run: Run) -> pd.DataFrame:
    """The cases of rungs with cells, at places with several requested numbers of cells.

    The automatic number (`cells=0`) is not a value of the axis.
    """
    lines = _rates(_rows(run), run, "steps_per_second")
    if "cells" not in lines:
        return lines[:0]
    lines["cells"] = pd.to_numeric(lines.cells).fillna(0).astype(int)
    lines["_name"] = lines.rung + ", " + lines.agents.map(count)
    return columns(
        _lines(lines[lines.cells > 0], "cells"), "rung", *PLACE, "agents", "cells",
        steps_per_second="value", low="minimum", high="maximum", tests_per_neighbour="tests",
    )  # fmt: skip


@figure(
    "neighbours_work", "Cells and search work", order=203, data=data_of_cells,
    caption="Steps of all agents per second against the number of cells along each edge of the "
    "world: medians; below: distances that the rung computed per neighbour found. Cells shorter "
    "than the reach are searched further to each side, by whole cells. Markers: the number of "
    "agents, after the rung's name.",
)  # fmt: skip
def draw_cells(data: pd.DataFrame, figure: Figure) -> None:
    rungs, sizes, places = (
        [*data.rung.unique()],
        sorted(data.agents.unique()),
        parts(data, "_panel"),
    )
    shown = [name for name in WORK if data[name].notna().any()]
    figure.set_figheight(0.8 + 2 * len(shown))
    panels = figure.subplots(len(shown), len(places), squeeze=False, sharey="row")
    for row, name in zip(panels, shown, strict=True):
        for ax, (place, here) in zip(row, places, strict=True):
            for label, part in parts(here[here[name].notna()], "_name"):
                colour = f"C{rungs.index(part.rung.iloc[0])}"
                marker = MARKERS[sizes.index(part.agents.iloc[0]) % len(MARKERS)]
                points(ax, part, "cells", name, label=label, color=colour, marker=marker)
            plain_log(ax)
            values_axis(ax, here.cells, 1.25)
            ax.set(xlabel="cells a dimension", ylabel=WORK[name])
            if name == shown[0]:
                ax.set_title(fill(f"{place}", int(9 * figure.get_figwidth() / len(places))))
            ax.label_outer()


# --- by the number of agents ----------------------------------------------------------------------

LIMITS = ("issue_limit", "bytes_limit")
"""In agent steps a second, as the rung's model has them."""


def data_of_sizes(run: Run) -> pd.DataFrame:
    rows = _rows(run)
    lines = _rates(rows, run)
    if lines.empty:
        return lines
    lines = _lines(_best(lines).assign(_name=lines.rung), "agents")
    if lines.empty:
        return lines
    limits = {name: beside(lines, rows, name) for name in LIMITS}
    if rate := Atlas(run).instructions:
        limits["fp32"] = lines.agents * rate / beside(lines, rows, "fp32_instructions")
    # Of lists: neighbours, as many per step as there are.
    of_step = lines.value / beside(lines, rows, "agent_steps_per_second")
    return columns(
        lines.assign(limit=pd.DataFrame(limits).min(axis=1) * of_step), "rung", *PLACE, "agents",
        "quantity", per_second="value", low="minimum", high="maximum", limit_per_second="limit",
    )  # fmt: skip


def published(row: Row) -> Sequence[Published]:
    """Published values for GPUs at the place of a row; none for a CPU."""
    if row.backend != "cuda" or row.text("spread") != "uniform":
        return ()
    there = (search for search in reference.neighbours() if search.problem == row.text("problem"))
    return [search for search in there if search.world in ("", row.text("world"))]


def caption_of_sizes(data: pd.DataFrame) -> str:
    others = dict.fromkeys(search for row in data["_row"] for search in published(row))
    sources = dict.fromkeys(key for search in others for key in search.origin.keys)
    doubts = [
        f"{search.label}, {count(search.agents)} agents: {search.origin.doubt}"
        for search in others
        if search.origin.doubt
    ]
    return prose(
        "Agent steps per second, or, where lists are written, neighbours per second, against "
        "the number of agents, for each rung's best case: medians; bands: range of the "
        "samples.",
        data.limit_per_second.notna().any()
        and "Dotted: the lowest of its known limits: issue of its tests in every cycle, their "
        "floating-point instructions at the best measured rate, and memory that moves what L2 "
        "cannot keep from one step to the next.",
        others
        and f"Open marks: published for other agents on other GPUs {reference.cite(*sources)}.",
        doubts and f"{'; '.join(doubts)}.",
    )


@figure(
    "neighbours_scale", "The neighbours ladder by number of agents", order=204, data=data_of_sizes,
    caption=caption_of_sizes,
)  # fmt: skip
def draw_sizes(data: pd.DataFrame, figure: Figure) -> None:
    rungs = [*data.rung.unique()]
    authors = [*dict.fromkeys(search.label for search in reference.neighbours())]
    for ax, place, here in _style.panels(figure, data, "_panel"):
        for rung, line in parts(here, "rung"):
            at = rungs.index(rung)
            ax.plot(line.agents, line.limit_per_second, ":", c=f"C{at}", lw=0.9)
            look = {"c": f"C{at}", "marker": MARKERS[at % len(MARKERS)], "label": rung}
            points(ax, line, "agents", "per_second", "band", **look)
        others = published(here["_row"].iloc[0])
        for search in others:
            label = f"{search.label}, {search.gpu}"
            look = {"c": "k" if "H100" in search.gpu else GREY, "label": label}
            marker = "DPX*"[authors.index(search.label)]
            theirs(ax, search.agents, search.rate, [f"{label}: published"], marker, **look)
        plain_log(ax)
        si_axis(ax)
        ax.sharey(figure.axes[0])
        values_axis(ax, [*here.agents, *(search.agents for search in others)], 4)
        ax.set(title=place, xlabel="agents", ylabel=f"{LABELS[here.quantity.iloc[0]]} (1/s)")
    if data.limit_per_second.notna().any():
        figure.axes[0].plot([], [], ":", c=GREY, lw=0.9, label="limit")
