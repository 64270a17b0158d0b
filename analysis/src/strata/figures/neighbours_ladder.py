"""What does each rung of the neighbours ladder gain, from all pairs to lists?"""

from dataclasses import dataclass

import pandas as pd
from matplotlib.figure import Figure

from strata.figures._figure import attributes, params, prose
from strata.figures._neighbours import (
    LABELS,
    SUITE,
    best,
    place_of,
    rates,
    short,
    tests_per_neighbour,
    title,
)
from strata.figures._plot import figure, table
from strata.figures._style import COLUMN, bars, stacked
from strata.model import units
from strata.run import Row, Run


@dataclass(frozen=True, slots=True)
class Step:
    """The best case of a rung at a place and size, and that of the rung that it changes."""

    row: Row
    before: Row | None
    tests: float | None
    """Distance tests per found neighbour."""

    @property
    def speedup(self) -> float | None:
        """The speed-up of the rung; None if either is invalid, or it has no predecessor."""
        if self.before is None or not (self.row.valid and self.before.valid):
            return None
        return self.row.value / self.before.value

    @property
    def rung(self) -> str:
        """The rung without its suite."""
        return short(self.row)


def _words(step: Step) -> str:
    """The words beside a bar: rate, step, distance tests per neighbour."""
    words = units.significant(step.row.value / 1e6)
    if step.speedup and step.before:
        words += f"   {units.factor(step.speedup)} {short(step.before)}"
    return words + (f"   {units.significant(step.tests)} tests" if step.tests else "")


COLUMNS = (
    attributes("rung")
    | params("problem", "spread", "world", "agents", of="row")
    | attributes(of="row", quantity="quantity", per_second="value", low="minimum", high="maximum")
    | attributes(of="before", rung_before="benchmark")
    | attributes(speedup_over_it="speedup", tests_per_neighbour="tests")
    | {"_words": _words}
)


def data(run: Run) -> pd.DataFrame:
    """One line per rung, place and size, in ladder order."""
    stories = {story.name: story for story in run.context.ladders.get(SUITE, ())}
    found, tests = best(rates(run)), tests_per_neighbour(run)
    steps = [
        Step(row, found.get((place, agents, stories[rung].before)), tests.get(row.case))
        for (place, agents, rung), row in found.items()
    ]
    return table(steps, COLUMNS, label=lambda step: f"{step.rung}, {title(place_of(step.row))}")


def caption(data: pd.DataFrame) -> str:
    """The measures."""
    return prose(
        "Agent steps per second, or, where lists are written, neighbours per second, counted "
        "for each agent of a pair. Bars: medians of each rung's best case with that number of "
        "agents; lines in them: range of the samples.",
        data.speedup_over_it.notna().any()
        and "Then the gain over the rung that it changes, with as many agents.",
        data.tests_per_neighbour.notna().any()
        and "Tests: distances that the rung computed per neighbour found.",
    )


@figure("neighbours_ladder", "The neighbours ladder", order=201, data=data, caption=caption)
def draw(data: pd.DataFrame, figure: Figure) -> None:
    """One panel per problem, distribution and world; bars from zero in ladder order."""
    data["rate"] = data.per_second / 1e6
    data["name"] = [
        f"{rung} · {units.count(int(agents))}"
        for rung, agents in zip(data.rung, data.agents, strict=True)
    ]
    places = sorted(data.groupby(data["_row"].map(place_of)), key=lambda place: place[0])
    for ax, (place, here) in zip(
        stacked(figure, [len(here) for _, here in places]), places, strict=True
    ):
        bars(ax, here, "name", "rate", color="#0072B2")
        low, high = here.low / 1e6, here.high / 1e6
        ax.hlines(range(len(here)), low, high, color="k", lw=0.8)
        for at, (end, words) in enumerate(zip(high, here["_words"], strict=True)):
            text = words if figure.get_figwidth() > COLUMN else words.partition("   ")[0]
            ax.annotate(text, (end, at), (5, 0), textcoords="offset points", va="center")
        ax.set(title=title(place), xlim=(0, 1.45 * high.max()))
        ax.set_xlabel(f"{LABELS[here.quantity.iloc[0]]} (10⁶/s)")
