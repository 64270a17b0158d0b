"""How does each rung of the neighbours ladder scale with the number of agents?"""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
from matplotlib.figure import Figure

from strata import reference
from strata.figures._figure import attributes, params, prose
from strata.figures._neighbours import LABELS, best, place_of, rates, short, title
from strata.figures._plot import figure, table
from strata.figures._style import COLUMN, GREY, hover, plain_log, points, values_axis
from strata.ladder.phases import Atlas
from strata.model.units import count
from strata.reference import PublishedSearch
from strata.run import Row, Run, grouped

SCALE = 1e6
LIMITS = ("issue_limit", "bytes_limit")
"""In agent steps a second, as the rung's model has them."""
APART = 4
"""Ticks that differ by less stand too near each other."""
FAR = 1000
"""A ratio of rates beyond which the axis only has room for powers of ten."""
PUBLISHED_MARKERS = "DPX*"
"""Of who published them, in the order of the table."""


@dataclass(frozen=True, slots=True)
class Point:
    """The best case of a rung for a number of agents, and its rate limit."""

    row: Row
    limit: float | None
    """The lowest known limit, in the quantity of the row."""

    @property
    def agents(self) -> int:
        """The number of agents."""
        return self.row.count("agents") or 0

    @property
    def rung(self) -> str:
        """The rung without its suite."""
        return short(self.row)


COLUMNS = (
    attributes("rung")
    | params("problem", "spread", "world", of="row")
    | attributes("agents")
    | attributes(of="row", quantity="quantity", per_second="value", low="minimum", high="maximum")
    | attributes(limit_per_second="limit")
)


def data(run: Run) -> pd.DataFrame:
    """The rungs measured with several numbers of agents at one place."""
    rate = Atlas(run).instructions
    of_cases = {
        (row.case, row.quantity, row.method): row.value
        for row in run.rows
        if row.benchmark.startswith("neighbours_")
    }
    known = {(case, quantity): value for (case, quantity, _), value in of_cases.items()}

    def point(row: Row) -> Point:
        limits = [found for name in LIMITS if (found := known.get((row.case, name)))]
        if rate and (work := known.get((row.case, "fp32_instructions"))):
            limits.append((row.count("agents") or 0) * rate / work)
        # For lists: neighbours, as many per step as there are.
        agent_steps = of_cases.get((row.case, "agent_steps_per_second", row.method), row.value)
        return Point(row, min(limits) * row.value / agent_steps if limits else None)

    lines = grouped(best(rates(run)).values(), lambda row: (place_of(row), row.benchmark))
    shown = [
        point(row)
        for line in lines.values()
        if len(line) > 1
        for row in sorted(line, key=lambda row: row.count("agents") or 0)
    ]
    return table(
        shown, COLUMNS,
        label=lambda one: f"{one.rung}, {one.agents} agents, {title(place_of(one.row))}",
    )  # fmt: skip


def published(row: Row) -> Sequence[PublishedSearch]:
    """Published values for GPUs at the place of a row; none for a CPU."""
    problem, spread, world = place_of(row)
    if row.backend != "cuda" or spread != "uniform":
        return ()
    there = (one for one in reference.neighbours() if one.problem == problem)
    return [one for one in there if one.world in ("", world)]


def caption(data: pd.DataFrame) -> str:
    """The measures, the limits, and what is published."""
    theirs = dict.fromkeys(one for row in data["_row"] for one in published(row))
    sources = dict.fromkeys(key for one in theirs for key in one.origin.keys)
    doubts = [
        f"{one.label}, {count(one.agents)} agents: {one.origin.doubt}"
        for one in theirs
        if one.origin.doubt
    ]
    return prose(
        "Agent steps per second, or, where lists are written, neighbours per second, against "
        "the number of agents, for each rung's best case: medians; bands: range of the "
        "samples.",
        data.limit_per_second.notna().any()
        and "Dotted: the lowest of its known limits: warps that issue nothing but tests, "
        "including idle threads, in every cycle; the floating-point instructions of these "
        "at the best rate that the run measured; memory that moves what L2 cannot keep "
        "from one step to the next.",
        theirs
        and f"Open marks: published for other agents on other GPUs {reference.cite(*sources)}.",
        doubts and f"{'; '.join(doubts)}.",
    )


@figure(
    "neighbours_scale", "The neighbours ladder by number of agents", order=204, data=data,
    caption=caption,
)  # fmt: skip
def draw(data: pd.DataFrame, figure: Figure) -> None:
    """One panel per place, one line per rung; dotted in its colour: its limit."""
    shown = data.assign(
        rate=data.per_second / SCALE, limit=data.limit_per_second.astype(float) / SCALE
    )
    looks = {rung: (f"C{at}", "os^DvPX*<>h"[at % 11]) for at, rung in enumerate(data.rung.unique())}
    places = [*shown.groupby(data["_row"].map(place_of), sort=False)]
    columns = min(len(places), 2 if figure.get_figwidth() > COLUMN else 1)
    rows = -(-len(places) // columns)
    figure.set_figheight(0.8 + 2.4 * rows)
    panels = figure.subplots(rows, columns, squeeze=False, sharey=True)
    for ax in panels.flat[len(places) :]:
        ax.remove()
    for ax, (place, here) in zip(panels.flat, places, strict=False):
        for rung, line in here.groupby("rung", sort=False):
            colour, marker = looks[f"{rung}"]
            ax.plot(line.agents, line.limit, ":", c=colour, lw=0.9)
            points(ax, line, "agents", "rate", c=colour, marker=marker, label=rung)
            ax.fill_between(
                line.agents, line.low / SCALE, line.high / SCALE, color=colour, alpha=0.2, lw=0
            )
        sources = list(dict.fromkeys(one.label for one in reference.neighbours()))
        theirs = published(here["_row"].iloc[0])
        for one in theirs:
            label = f"{one.label}, {one.gpu}"
            marker = PUBLISHED_MARKERS[sources.index(one.label)]
            colour = "k" if "H100" in one.gpu else GREY
            (mark,) = ax.plot(
                one.agents, one.rate / SCALE, marker, c=colour, mfc="white", label=label
            )
            hover(mark, [f"{label}: published"])
        ax.set_yscale("log")
        low, high = ax.get_ylim()  # shared
        plain_log(ax, digits=(1,) if high > FAR * low else (1, 2, 5))
        values_axis(ax, [*here.agents, *(one.agents for one in theirs)], APART)
        ax.set(title=title(place), xlabel="agents")
        ax.set_ylabel(f"{LABELS[here.quantity.iloc[0]]} (10⁶/s)")
    if shown.limit.notna().any():
        figure.axes[0].plot([], [], ":", c=GREY, lw=0.9, label="limit")
